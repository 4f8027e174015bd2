// SPDX-License-Identifier: Apache-2.0
// Handles are variables of C++: copies, aliases, swaps, arrays and structs.

#include "executor/whole_numbers.hpp"
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

using namespace whole_numbers;

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
