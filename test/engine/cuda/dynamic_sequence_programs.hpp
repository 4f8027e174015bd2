// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/dynamic_sequence_programs.hpp - programs that make sequences of new lengths. For
// tests on the host and for a run on a device.
#pragma once

#include <cstdint>
#include <tuple>

#include "engine/cuda/loop_programs.hpp"
#include "laws/recorded_pieces.hpp"

#include <lamina/operators/control/block/layer_while.hpp>
#include <lamina/operators/control/rnn/layer_dynamic.hpp>
#include <lamina/operators/control/rnn/layer_static.hpp>
#include <lamina/operators/control/split_merge/layer.hpp>

namespace test {

namespace detail {
using pieces::pooled;
}  // namespace detail

/// Padded, cut to their second half, in rows of half the width, joined: lengths that depend on
/// lengths, and on values.
inline constexpr auto pieces = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 4>(main);
  auto h = layer::tanh(layer::fc<6>(x));
  auto [padded, length] = layer::sequence_pad<7>(h, 0.5);
  auto half = layer::cast<std::int64_t>(layer::scale(layer::cast<float>(length), 0.5f));
  auto back = layer::sequence_unpad<"back">(layer::scale(padded, 2.0f), length);
  auto first = layer::sequence_slice<"first">(h, half - half, half);
  auto second = layer::sequence_slice<"second">(back, half, length - half);
  auto both = layer::sequence_concat<"both">(std::tuple{second, h, second});
  auto pairs = layer::fc<3>(layer::sequence_reshape<"pairs", 3>(both));
  auto up_to = layer::assign_value<7>(main, {1, 2, 3, 4, 5, 6, 7});
  auto shown =
      layer::matmul(layer::sequence_mask<7, float>(length), layer::sequence_mask<7, float>(up_to));
  auto a = layer::fc<4>(detail::pooled(layer::sequence_reverse(first)));
  auto b = layer::fc<4>(layer::sequence_pool(pairs, {.type = lamina::pooling_type::max}));
  auto c = layer::fc<4>(layer::reshape<42>(padded)) + layer::fc<4>(shown);
  return detail::cost_of(a + b + c);
});

/// Words that are left out, looked at with those behind them, and counted where they say.
inline constexpr auto words = lamina::program([](lamina::block& main) {
  auto word = layer::sequence<"word", std::int64_t>(main);
  auto weight = layer::sequence<"weight", float>(word);
  auto x = layer::data<"x", float, 9>(main);
  auto kept = layer::sequence_erase<"kept">(word, {1, 3});
  auto near = layer::sequence_enumerate<2>(kept, {.pad_value = 4});
  auto e = layer::embedding<5, 6>(layer::reshape<2, 1>(near));
  auto first = detail::pooled(layer::fc<4>(layer::reshape<12>(e)));
  auto counted = layer::sequence_scatter(layer::fc<9>(x), word, layer::fc<1>(weight));
  return detail::cost_of(first + layer::fc<4>(layer::tanh(counted)));
});

/// Whole sequences, as many times as those of another are long.
inline constexpr auto copies = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 3>(main);
  auto y = layer::sequence<"y", float, 2>(main);
  auto h = layer::fc<3>(x);
  auto many = layer::sequence_expand<"copies">(h, y);
  auto each = detail::pooled(layer::fc<2>(many));
  return detail::cost_of(detail::pooled(each * layer::fc<2>(y))) +
         detail::cost_of(layer::sequence_softmax(layer::fc<1>(many, {.bias = false})));
});

/// Three rows that get sequences.
inline constexpr auto parts = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto made = layer::lod_append<"parts", 0, 2, 2, 3>(layer::fc<4>(x));
  return detail::cost_of(layer::sequence_pool(made, {.type = lamina::pooling_type::max}));
});

/// Whole sequences, and their elements, that go one way or the other.
inline constexpr auto ways = lamina::program([](lamina::block& main) {
  auto x = layer::nested_sequence<"x", float, 3>(main);
  auto key = layer::data<"key", float>(main);
  auto h = layer::fc<3>(x);
  auto y = layer::if_else(
      detail::positive(key), [&](auto& yes) { return layer::tanh(layer::fc<5>(yes.input(h))); },
      [&](auto& no) { return layer::square(layer::fc<5>(layer::sequence_reverse(no.input(h)))); });
  auto z = layer::if_else(
      detail::positive(layer::fc<1>(x, {.bias = false})),
      [&](auto& yes) { return layer::tanh(yes.input(h)); },
      [&](auto& no) { return layer::fc<3>(no.input(h)); });
  return detail::cost_of(detail::pooled(y)) + detail::cost_of(detail::pooled(z));
});

/// A decoder of a translation: each step weighs the source, whose sequences are fewer in each.
inline constexpr auto decoder = lamina::program([](lamina::block& main) {
  auto target = layer::sequence<"target", float, 4>(main);
  auto source = layer::sequence<"source", float, 4>(main);
  auto encoded = layer::tanh(layer::fc<6>(source));
  auto start = layer::sequence_last_step(encoded);
  auto out = layer::dynamic_rnn(target, [&](auto& step) {
    auto in = step.input(target);
    auto h = step.memory(start);
    auto seen = step.static_input(encoded);
    auto asked = layer::sequence_expand(layer::fc<6>(h), seen);
    auto weight = layer::sequence_softmax(layer::fc<1>(layer::tanh(asked + seen), {.bias = false}));
    auto context = detail::pooled(layer::elementwise_mul<0>(seen, weight));
    auto next = layer::tanh(layer::fc<6>(std::tuple{in, context, h}));
    step.update(h, next);
    return next;
  });
  return detail::cost_of(detail::pooled(out));
});

/// Sequences of new lengths in each step, and steps of those that were made.
inline constexpr auto made_in_steps = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4, 2>(main);
  auto source = layer::sequence<"source", float, 2>(main);
  auto h = layer::fc<2>(source);
  auto out = layer::static_rnn(x, [&](auto& step) {
    auto m = step.memory(lamina::dims<2>);
    auto seen = layer::sequence_concat<"seen">(
        std::tuple{h, layer::elementwise_mul<0>(h, layer::sequence_expand(step.input(x), h))});
    auto next = layer::tanh(detail::pooled(seen) + layer::fc<2>(m));
    step.update(m, next);
    return next;
  });
  auto twice = layer::sequence_concat<"twice">(std::tuple{h, h});
  auto states = layer::dynamic_rnn(twice, [&](auto& step) {
    auto m = step.memory(lamina::dims<2>);
    auto next = layer::tanh(layer::fc<2>(m) + step.input(twice));
    step.update(m, next);
    return next;
  });
  return detail::cost_of(out) + detail::cost_of(detail::pooled(states));
});

/// A recurrence over the whole source in each step.
inline constexpr auto steps_in_steps = lamina::program([](lamina::block& main) {
  auto target = layer::sequence<"target", float, 3>(main);
  auto source = layer::sequence<"source", float, 3>(main);
  auto h = layer::fc<3>(source);
  auto out = layer::dynamic_rnn(target, [&](auto& step) {
    auto in = layer::fc<3>(step.input(target));
    auto seen = step.static_input(h);
    auto state = step.memory(lamina::dims<3>);
    auto [inner, last] = layer::dynamic_rnn(seen, [&](auto& inside) {
      auto m = inside.memory(in);
      auto next = layer::tanh(layer::fc<3>(std::tuple{m, inside.input(seen)}));
      inside.update(m, next);
      return std::tuple{next, inside.last(m)};
    });
    auto next = layer::tanh(state + last) + detail::pooled(layer::square(inner));
    step.update(state, layer::scale(next, 0.25f));
    return next;
  });
  return detail::cost_of(detail::pooled(out));
});
/// A recurrence over the sentences that a branch gets: others in each iteration.
inline constexpr auto steps_in_branches = lamina::program([](lamina::block& main) {
  auto x = layer::nested_sequence<"x", float, 3>(main);
  auto key = layer::data<"key", float>(main);
  auto i = layer::fill_constant<std::int64_t>(main, 0);
  auto two = layer::fill_constant<std::int64_t>(main, 2);
  auto h = layer::fc<3>(x);
  auto weight = layer::fill_constant<float>(main, 1);
  auto total = layer::fill_constant<float>(main, 0);
  auto going = layer::less_than(i, two);
  layer::while_loop(going, [&](lamina::block&) {
    auto y = layer::if_else(
        detail::positive(layer::elementwise_mul(key, weight)),
        [&](auto& yes) {
          auto in = yes.input(h);
          return layer::dynamic_rnn(in, [&](auto& step) {
            auto m = step.memory(lamina::dims<3>);
            auto next = layer::tanh(layer::fc<3>(m) + layer::fc<3>(step.input(in)));
            step.update(m, next);
            return next;
          });
        },
        [&](auto& no) { return layer::sin(layer::fc<3>(no.input(h))); });
    total = total + layer::scale(detail::cost_of(detail::pooled(detail::pooled(y))), 0.5f);
    weight = layer::scale(weight, -0.5f);
    layer::increment(i);
    layer::less_than(i, two, going);
  });
  return total;
});

}  // namespace test
