// SPDX-License-Identifier: Apache-2.0
// Handles are variables of C++: copies, aliases, swaps, arrays and structs.

#include "executor/shared_executor.hpp"
#include "laws/recorded_pieces.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/operators/control/array/layer.hpp>
#include <lamina/operators/control/block/layer_while.hpp>
#include <lamina/operators/control/rnn/layer_dynamic.hpp>
#include <lamina/operators/control/rnn/layer_static.hpp>
#include <lamina/program/block.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::lod_tensor;

using integer = std::int64_t;

using number = lamina::variable<integer, lamina::once, 1>;

using numbers = std::vector<integer>;

namespace {

template <class P>
std::vector<lod_tensor> run(P, const lamina::feed_map& feed = {},
                            const lamina::run_options& options = {}) {
  lamina::basic_executor<double> executor;
  lamina::scope scope;
  executor.run_startup(P::view(), scope);
  return executor.run(P::view(), scope, feed, options);
}

numbers values_of(const lamina::tensor& t) {
  const auto a = t.cast<integer>();
  return {a.begin(), a.end()};
}

template <class P>
numbers all_values(P program, const lamina::feed_map& feed = {}) {
  numbers all;
  for (const lod_tensor& t : run(program, feed))
    for (const integer x : values_of(t)) all.push_back(x);
  return all;
}

constexpr number constant(block& main, integer value) {
  return layer::fill_constant<integer>(main, static_cast<double>(value));
}

}  // namespace

TEST_CASE("handles are variables of C++: copies, aliases, swaps, locals") {
  constexpr auto net = lamina::program([](block& main) {
    auto a = constant(main, 1), b = constant(main, 2), i = constant(main, 0), n = constant(main, 3);
    auto before = a;  // the same variable as a until a changes
    auto follow = a;
    auto untouched = b;
    auto going = layer::less_than(i, n);
    layer::while_loop(going, [&](block&) {
      auto local = a;
      local = local * 100;  // a copy that the body made: a stays
      follow = a;
      a = b;
      b = follow;
      layer::increment(i);
      layer::less_than(i, n, going);
    });
    return std::tuple{a, b, follow, before, untouched};
  });
  CHECK(all_values(net) == numbers{2, 1, 1, 1, 2});
}

TEST_CASE("handles in arrays and structs are carried as well") {
  constexpr auto net = lamina::program([](block& main) {
    struct pair {
      number of[2];
      number sum;
    };
    pair p{{constant(main, 1), constant(main, 1)}, constant(main, 0)};
    auto i = constant(main, 0), n = constant(main, 8);
    auto going = layer::less_than(i, n);
    layer::while_loop(going, [&](block&) {
      auto next = p.of[0] + p.of[1];
      p.of[0] = p.of[1];
      p.of[1] = next;
      p.sum = p.sum + p.of[0];
      layer::increment(i);
      layer::less_than(i, n, going);
    });
    return std::tuple{p.of[1], p.sum};
  });
  CHECK(all_values(net) == numbers{55, 87});
}
