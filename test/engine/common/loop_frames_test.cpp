// SPDX-License-Identifier: Apache-2.0
// What iterations on the engine leave for their gradients.

#include "executor/shared_executor.hpp"
#include "laws/engine_law.hpp"
#include "laws/recorded_pieces.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/common/loop_frames.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/operators/control/array/layer.hpp>
#include <lamina/operators/control/block/layer_while.hpp>
#include <lamina/operators/control/rnn/layer_dynamic.hpp>
#include <lamina/operators/control/rnn/layer_static.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;
using lamina::block;
using pieces::cost_of;
using pieces::pooled;

namespace {

// Two reads of one slot, a slot that is written twice, and one that nobody wrote.
constexpr auto slots = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto words = layer::sequence<"words", float, 3>(main);
  auto zero = layer::fill_constant<std::int64_t>(main, 0);
  auto two = layer::fill_constant<std::int64_t>(main, 2);
  auto a = layer::array_write(layer::tanh(layer::fc<3>(x)), zero);
  layer::array_write(layer::sin(x), two, a);
  auto first = layer::array_read(a, two);
  layer::array_write(layer::array_read(a, zero) * layer::array_read(a, zero), two, a);
  auto second = layer::array_read(a, two);
  auto w = layer::array_read(layer::array_write(layer::fc<3>(words), zero), zero);
  return std::tuple{cost_of(first * second) + cost_of(pooled(w)), first, second,
                    layer::array_length(a), w};
});

// Slots keep sequences that an operator made.
constexpr auto made_sequences = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 2>(main);
  auto i = layer::fill_constant<std::int64_t>(main, 0);
  auto n = layer::fill_constant<std::int64_t>(main, 3);
  auto first = layer::sequence_concat<"part">(std::tuple{layer::fc<2>(x), x});
  auto parts = layer::array_write(first, i);
  auto sums = layer::create_array<decltype(pooled(first))>(main);
  auto going = layer::less_than(i, n);
  layer::while_loop(going, [&](block&) {
    auto part = layer::array_read(parts, i);
    layer::array_write(pooled(layer::tanh(part)), i, sums);
    layer::increment(i);
    layer::array_write(layer::scale(part, 0.5f), i, parts);
    layer::less_than(i, n, going);
  });
  auto zero = layer::fill_constant<std::int64_t>(main, 0);
  auto two = layer::fill_constant<std::int64_t>(main, 2);
  auto s = layer::array_read(sums, zero) * layer::array_read(sums, two);
  return std::tuple{cost_of(s), s, layer::array_length(parts)};
});

// A slot that each iteration reads, overwrites and reads again, while what it read before is still
// used; without a cost nothing is kept for gradients.
template <bool Trains>
constexpr auto overwritten = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto zero = layer::fill_constant<std::int64_t>(main, 0), i = zero;
  auto n = layer::fill_constant<std::int64_t>(main, 4);
  auto a = layer::array_write(layer::tanh(layer::fc<3>(x)), zero);
  auto sum = layer::scale(x, 0.5f);
  auto going = layer::less_than(i, n);
  layer::while_loop(going, [&](block&) {
    auto old = layer::array_read(a, zero);
    layer::array_write(layer::tanh(layer::fc<3>(old)) + x, zero, a);
    auto newer = layer::array_read(a, zero);
    sum = sum + layer::sin(old) * newer;
    if (Trains) layer::array_write(layer::sin(newer), zero, a);
    layer::increment(i);
    layer::less_than(i, n, going);
  });
  auto out = sum + layer::array_read(a, zero);
  if constexpr (Trains)
    return std::tuple{cost_of(out), out};
  else
    return std::tuple{layer::array_length(a), out};
});

// An array of each iteration of a loop, which a loop inside fills, and one around both.
constexpr auto arrays_inside = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto zero = layer::fill_constant<std::int64_t>(main, 0), i = zero;
  auto two = layer::fill_constant<std::int64_t>(main, 2);
  auto states = layer::array_write(x, zero);
  auto outer = layer::less_than(i, two);
  layer::while_loop(outer, [&](block&) {
    auto inside = layer::array_write(layer::tanh(layer::array_read(states, i)), zero);
    auto j = zero;
    auto inner = layer::less_than(j, two);
    layer::while_loop(inner, [&](block&) {
      auto now = layer::array_read(inside, j);
      layer::increment(j);
      layer::array_write(layer::tanh(layer::fc<3>(now)), j, inside);
      layer::less_than(j, two, inner);
    });
    layer::increment(i);
    layer::array_write(layer::array_read(inside, two) + layer::array_read(inside, zero), i, states);
    layer::less_than(i, two, outer);
  });
  auto out = layer::array_read(states, two);
  return std::tuple{cost_of(out), out, layer::array_length(states)};
});

// A loop that counts in halves of `Halves`, in numbers of type T.
template <class T, int Halves>
constexpr auto counted = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto i = layer::fill_constant<T>(main, 0), n = layer::fill_constant<T>(main, 3);
  auto going = layer::less_than(i, n);
  layer::while_loop(going, [&](block&) {
    x = layer::tanh(x);
    layer::increment(i, Halves * 0.5f);
    layer::less_than(i, n, going);
  });
  return std::tuple{cost_of(x), x, i};
});

/// How many kernels of a program know single whole numbers only.
template <class P>
constexpr int counting_kernels(const P&) {
  using table = lamina::engine::cpu::schedule_table<P>;
  int n = 0;
  for (int k = 0; k < table::plan_type::kernels; ++k) n += table::counting.of[k] ? 1 : 0;
  return n;
}

}  // namespace

TEST_CASE("Slots that are read and written twice") { lamina::law::check_engine(slots); }

TEST_CASE("Slots that hold sequences") { lamina::law::check_engine(made_sequences); }

TEST_CASE("Slots that a loop overwrites while their values are used") {
  lamina::law::check_engine(overwritten<true>);
  lamina::law::check_engine(overwritten<false>);
}

TEST_CASE("Arrays of an iteration that a loop inside fills") {
  lamina::law::check_engine(arrays_inside);
}

TEST_CASE("What counts in a loop has no code for arrays, unless there is something else to count") {
  lamina::law::check_engine(counted<std::int64_t, 2>);
  lamina::law::check_engine(counted<float, 1>);
  // less_than, increment and two copies of what the loop carries by one kernel.
  STATIC_REQUIRE(counting_kernels(counted<std::int64_t, 2>) == 3);
  STATIC_REQUIRE(counting_kernels(counted<float, 2>) < 3);
}
