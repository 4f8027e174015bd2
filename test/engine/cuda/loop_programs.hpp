// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/loop_programs.hpp - programs with loops, branches and arrays. For tests on the
// host and for a run on a device.
#pragma once

#include <cstdint>
#include <tuple>

#include "engine/cuda/train_both.hpp"
#include "laws/recorded_pieces.hpp"

#include <lamina/operators/control/array/layer.hpp>
#include <lamina/operators/control/rnn/layer_dynamic.hpp>
#include <lamina/operators/control/rnn/layer_static.hpp>

namespace test {

namespace detail {
using pieces::cost_of;
using pieces::positive;
}  // namespace detail

/// A recurrence over a dimension, with a mask of its own in each step; all states and the last one.
inline constexpr auto steps = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4, 3>(main);
  auto init = layer::data<"init", float, 5>(main);
  auto [out, last] = layer::static_rnn(x, [&](auto& step) {
    auto h = step.memory(init);
    auto c = step.memory(lamina::dims<5>, {.value = 2});
    auto next = layer::tanh(layer::fc<5>(std::tuple{step.input(x), h})) + c;
    step.update(h, layer::dropout(next, 0.25f));
    step.update(c, layer::scale(c, 0.5f));
    return std::tuple{next, step.last(h)};
  });
  return detail::cost_of(out) + detail::cost_of(last);
});

/// Sequences of different length: a memory that begins with a value of the sample, one that does
/// not, a value of the sample in each step, and the last states.
inline constexpr auto ragged = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 4>(main);
  auto sample = layer::data<"sample", float, 3>(main);
  auto begin = layer::tanh(layer::fc<6>(sample));
  auto [out, last] = layer::dynamic_rnn(x, [&](auto& step) {
    auto h = step.memory(begin);
    auto sum = step.memory(lamina::dims<3>);
    auto seen = step.static_input(sample);
    auto next = layer::tanh(layer::fc<6>(std::tuple{step.input(x), h, seen}));
    step.update(h, next);
    step.update(sum, sum + layer::fc<3>(next) * seen);
    return std::tuple{next, step.last(sum)};
  });
  auto whole = layer::sequence_pool(layer::fc<3>(out), {.type = lamina::pooling_type::sum});
  return detail::cost_of(whole) + detail::cost_of(last);
});

/// As many iterations as the values need: none, or some, and each of them known on the device only.
inline constexpr auto halved = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto w = layer::fc<4>(x);
  auto h = layer::scale(w, 3.0f);
  auto size = layer::mean(layer::square(h));
  auto limit = layer::fill_constant<float>(main, 0.2f);
  auto going = layer::greater_than(size, limit);
  layer::while_loop(going, [&](lamina::block&) {
    h = layer::tanh(layer::fc<4>(layer::scale(h, 0.5f)));
    layer::greater_than(layer::mean(layer::square(h)), limit, going);
  });
  return detail::cost_of(h) + detail::cost_of(w);
});

/// Each mini-batch says how often two loops run whose gradients are wanted, and which branches
/// they take: seldom more than a few times, but now and then many.
inline constexpr auto told_by_values = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto h = layer::fc<4>(x);
  auto zero = layer::fill_constant<float>(main, 0);
  auto half = layer::fill_constant<float>(main, 0.5f);
  auto left = layer::scale(layer::square(layer::mean(x)), 1100.0f);
  auto going = layer::greater_than(left, zero);
  layer::while_loop(going, [&](lamina::block&) {
    auto turned = layer::cond(
        detail::positive(layer::mean(h)),
        [&](lamina::block&) { return layer::tanh(layer::fc<4>(h)); },
        [&](lamina::block&) { return layer::dropout(layer::sin(h), 0.25f); });
    h = layer::scale(turned, 0.5f) + layer::scale(h, 0.25f);
    left = left - layer::fill_constant<float>(main, 1);
    layer::greater_than(left, zero, going);
  });
  auto size = layer::mean(layer::square(h));
  auto more = layer::less_than(size, half);
  auto y = layer::tanh(layer::fc<2>(h));
  layer::while_loop(more, [&](lamina::block&) {
    auto before = layer::dropout(y, 0.125f);
    y = before * layer::sigmoid(layer::fc<2>(y)) + layer::tanh(layer::fc<2>(h));
    size = size + layer::scale(layer::square(layer::mean(x)), 2.0f) +
           layer::fill_constant<float>(main, 0.05f);
    layer::less_than(size, half, more);
  });
  return detail::cost_of(h) + detail::cost_of(y);
});

/// Loops inside of loops, with slots that an iteration leaves to the next one.
inline constexpr auto nested = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto zero = layer::fill_constant<std::int64_t>(main, 0), i = zero;
  auto two = layer::fill_constant<std::int64_t>(main, 2);
  auto states = layer::array_write(layer::fc<3>(x), zero);
  auto outer = layer::less_than(i, two);
  layer::while_loop(outer, [&](lamina::block&) {
    auto inside = layer::array_write(layer::tanh(layer::array_read(states, i)), zero);
    auto j = zero;
    auto inner = layer::less_than(j, two);
    layer::while_loop(inner, [&](lamina::block&) {
      auto now = layer::array_read(inside, j);
      layer::increment(j);
      layer::array_write(layer::tanh(layer::fc<3>(now)), j, inside);
      layer::less_than(j, two, inner);
    });
    layer::increment(i);
    layer::array_write(layer::array_read(inside, two) + x, i, states);
    layer::less_than(i, two, outer);
  });
  auto out = layer::array_read(states, two);
  return detail::cost_of(out + layer::cast<float>(layer::array_length(states)));
});

/// Rows that go one way or the other, and one of two results for all.
inline constexpr auto branches = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto key = layer::data<"key", float>(main);
  auto h = layer::tanh(layer::fc<4>(x));
  auto y = layer::if_else(
      detail::positive(key), [&](auto& yes) { return layer::fc<4>(yes.input(h)); },
      [&](auto& no) { return layer::tanh(layer::fc<4>(no.input(x))) * no.input(h); });
  auto z = layer::cond(
      detail::positive(layer::mean(y)), [&](lamina::block&) { return layer::tanh(y); },
      [&](lamina::block&) { return layer::fc<4>(layer::square(y)); });
  auto chosen = layer::scale(z, 0.5f);
  layer::switch_case(detail::positive(layer::mean(h)), [&](lamina::block&) {
    chosen = z * h;
  }).otherwise([&](lamina::block&) { chosen = layer::sin(z); });
  return detail::cost_of(chosen) + detail::cost_of(y);
});

/// Branches inside of a loop, over other rows in each iteration.
inline constexpr auto choices = lamina::program([](lamina::block& main) {
  auto h = layer::fc<3>(layer::data<"x", float, 3>(main));
  auto key = layer::data<"key", float>(main);
  auto i = layer::fill_constant<std::int64_t>(main, 0);
  auto three = layer::fill_constant<std::int64_t>(main, 3);
  auto going = layer::less_than(i, three);
  layer::while_loop(going, [&](lamina::block&) {
    auto y = layer::if_else(
        detail::positive(key), [&](auto& yes) { return layer::tanh(layer::fc<3>(yes.input(h))); },
        [&](auto& no) { return layer::sin(no.input(h)); });
    key = layer::scale(key, -0.5f);
    h = y;
    layer::increment(i);
    layer::less_than(i, three, going);
  });
  return detail::cost_of(h);
});

/// Rows that go one way or the other where numbers of the other way are none for it, again inside
/// of a branch, and in each iteration of loops that values decide.
inline constexpr auto parted = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto key = layer::data<"key", float>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto h = layer::tanh(layer::fc<4>(x));
  auto y = layer::if_else(
      detail::positive(key),
      [&](auto& yes) {
        auto some = layer::dropout(layer::softmax(yes.input(h)), 0.25f);
        return layer::fc<4>(std::tuple{layer::log(yes.input(key)), some});
      },
      [&](auto& no) {
        auto mine = no.input(h);
        return layer::if_else(
            detail::positive(layer::reduce_sum<1>(no.input(x), layer::keep_dim)),
            [&](auto& yes) { return layer::layer_norm(layer::fc<4>(yes.input(mine))); },
            [&](auto& still) { return layer::tanh(still.input(mine)); });
      });
  auto limit = layer::fill_constant<float>(main, 0.02f);
  auto going = layer::greater_than(layer::mean(layer::square(h)), limit);
  layer::while_loop(going, [&](lamina::block&) {
    h = layer::if_else(
        detail::positive(key), [&](auto& yes) { return layer::fc<4>(yes.input(h)); },
        [&](auto& no) { return layer::sin(no.input(h)); });
    h = layer::scale(h, 0.5f);
    layer::greater_than(layer::mean(layer::square(h)), limit, going);
  });
  auto cost = layer::if_else(
      detail::positive(layer::scale(key, -1)),
      [&](auto& yes) {
        return layer::softmax_with_cross_entropy(layer::fc<5>(yes.input(y)), yes.input(label));
      },
      [&](auto& no) { return layer::reduce_sum<1>(layer::square(no.input(y)), layer::keep_dim); });
  return layer::mean(cost) + detail::cost_of(h);
});

/// A branch whose result depends on how many rows it has.
inline constexpr auto counted = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto y = layer::if_else(
      detail::positive(layer::data<"key", float>(main)),
      [&](auto& yes) {
        auto h = layer::fc<4>(yes.input(x));
        return h * layer::mean(layer::square(h));
      },
      [&](auto& no) { return layer::fc<4>(no.input(x)); });
  return detail::cost_of(y);
});

/// Branches by values, and loops by values and by counters, whose gradients nobody wants: all of it
/// decided on the device.
inline constexpr auto decided = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto h = layer::fc<4>(x);
  auto z = layer::cond(
      detail::positive(layer::mean(h)), [&](lamina::block&) { return layer::tanh(h); },
      [&](lamina::block&) { return layer::fc<4>(layer::square(h)); });
  auto chosen = layer::scale(z, 0.5f);
  layer::switch_case(detail::positive(layer::mean(z)), [&](lamina::block&) {
    chosen = z * h;
  }).otherwise([&](lamina::block&) { chosen = layer::sin(z); });
  auto factor = layer::scale(x, 4.0f);
  auto zero = layer::fill_constant<std::int64_t>(main, 0);
  auto two = layer::fill_constant<std::int64_t>(main, 2);
  auto limit = layer::fill_constant<float>(main, 0.05f);
  auto going = layer::greater_than(layer::mean(layer::square(factor)), limit);
  layer::while_loop(going, [&](lamina::block&) {
    auto j = zero;
    auto inner = layer::less_than(j, two);
    layer::while_loop(inner, [&](lamina::block&) {
      factor = layer::sin(layer::scale(factor, 0.75f));
      layer::increment(j);
      layer::less_than(j, two, inner);
    });
    layer::greater_than(layer::mean(layer::square(factor)), limit, going);
  });
  return detail::cost_of(chosen) + detail::cost_of(layer::fc<4>(factor) + h);
});

}  // namespace test
