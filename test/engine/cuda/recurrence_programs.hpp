// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/recurrence_programs.hpp - recurrences written by hand. For tests on the host and
// for a run on a device.
#pragma once

#include <cstdint>
#include <tuple>

#include "engine/cuda/train_both.hpp"
#include "laws/recorded_pieces.hpp"

#include <lamina/operators/control/array/layer.hpp>
#include <lamina/operators/control/rnn/layer_dynamic.hpp>
#include <lamina/operators/control/rnn/layer_static.hpp>
#include <lamina/operators/recurrent/lstm_unit/layer.hpp>

namespace test {

/// A recurrence written by hand, over sequences of different length.
inline constexpr auto recurrence = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 8>(main);
  auto h = layer::dynamic_rnn(x, [&](auto& step) {
    auto before = step.memory(lamina::dims<8>);
    auto next = layer::tanh(layer::fc<8>(std::tuple{step.input(x), before}));
    step.update(before, next);
    return step.last(before);
  });
  return layer::mean(layer::square(h));
});

/// A gated recurrence written by hand, from the last step to the first: products behind each other
/// in a step, and all states.
inline constexpr auto gated = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4, 3>(main);
  auto out = layer::static_rnn(
      x,
      [&](auto& step) {
        auto now = step.input(x);
        auto h = step.memory(lamina::dims<5>, {.value = 0.5f});
        auto update = layer::fc<5>(std::tuple{now, h}, {.act = activation::sigmoid});
        auto reset = layer::fc<5>(std::tuple{now, h}, {.act = activation::sigmoid});
        auto made = layer::fc<5>(std::tuple{now, reset * h}, {.act = activation::tanh});
        auto next = update * h + (1.0f - update) * made;
        step.update(h, next);
        return next;
      },
      {.reverse = true});
  return pieces::cost_of(out);
});

/// Cells written by hand with four matrices of an odd width.
inline constexpr auto broad = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 4>(main);
  auto h = layer::dynamic_rnn(x, [&](auto& step) {
    auto now = step.input(x);
    auto state = step.memory(lamina::dims<101>);
    auto cell = step.memory(lamina::dims<101>);
    const auto gate = [&](activation act) {
      return layer::fc<101>(std::tuple{now, state}, {.act = act});
    };
    auto next_cell =
        gate(activation::sigmoid) * cell + gate(activation::sigmoid) * gate(activation::tanh);
    auto next = gate(activation::sigmoid) * layer::tanh(next_cell);
    step.update(state, next);
    step.update(cell, next_cell);
    return next;
  });
  return pieces::cost_of(layer::sequence_pool(h, {.type = lamina::pooling_type::max}));
});

/// The cells of an operator, over sequences of different length: columns beside each other, and
/// taken apart again on the way back.
inline constexpr auto unit_cells = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 4>(main);
  auto h = layer::dynamic_rnn(x, [&](auto& step) {
    auto state = step.memory(lamina::dims<6>);
    auto cell = step.memory(lamina::dims<6>, {.value = 0.5f});
    auto below = layer::tanh(layer::fc<3>(step.input(x)));
    auto [next, next_cell] = layer::lstm_unit(below, state, cell, {.forget_bias = 1});
    step.update(state, layer::dropout(next, 0.25f));
    step.update(cell, next_cell);
    return std::tuple{next, step.last(cell)};
  });
  return pieces::cost_of(
             layer::sequence_pool(std::get<0>(h), {.type = lamina::pooling_type::max})) +
         pieces::cost_of(std::get<1>(h));
});

/// What a counting loop carries without arrays, and a value that is only read there.
inline constexpr auto carried = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto shift = layer::fc<6>(x);
  auto h = layer::tanh(shift), sum = layer::scale(h, 0.5f);
  auto i = layer::fill_constant<std::int64_t>(main, 0);
  auto four = layer::fill_constant<std::int64_t>(main, 4);
  auto going = layer::less_than(i, four);
  layer::while_loop(going, [&](lamina::block&) {
    h = layer::tanh(layer::fc<6>(h, {.bias = false}) + shift);
    sum = sum + layer::fc<6>(h);
    layer::increment(i);
    layer::less_than(i, four, going);
  });
  return pieces::cost_of(sum);
});

/// A recurrence inside of a loop.
inline constexpr auto repeated = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 3, 4>(main);
  auto state = layer::fc<4>(layer::data<"first", float, 2>(main));
  auto i = layer::fill_constant<std::int64_t>(main, 0);
  auto two = layer::fill_constant<std::int64_t>(main, 2);
  auto going = layer::less_than(i, two);
  layer::while_loop(going, [&](lamina::block&) {
    state = layer::static_rnn(x, [&](auto& step) {
      auto h = step.memory(state);
      auto next = layer::tanh(layer::fc<4>(std::tuple{step.input(x), h}));
      step.update(h, next);
      return step.last(h);
    });
    layer::increment(i);
    layer::less_than(i, two, going);
  });
  return pieces::cost_of(state);
});

}  // namespace test
