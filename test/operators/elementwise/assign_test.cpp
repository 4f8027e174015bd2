// SPDX-License-Identifier: Apache-2.0
// increment and assign leave earlier readers the old value.

#include "executor/whole_numbers.hpp"
#include "laws/recorded_pieces.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/operators/control/array/layer.hpp>
#include <lamina/operators/control/block/layer_while.hpp>
#include <lamina/operators/control/rnn/layer_dynamic.hpp>
#include <lamina/operators/control/rnn/layer_static.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;
using lamina::block;

using namespace whole_numbers;

TEST_CASE("increment and assign leave what was read before as it was") {
  constexpr auto net = lamina::program([](block& main) {
    auto i = constant(main, 5), j = i, k = constant(main, 0);
    auto same = layer::increment(i, 2);
    layer::assign(i, k);
    layer::increment(i);
    return std::tuple{i, j, k, same};
  });
  CHECK(all_values(net) == numbers{8, 5, 7, 7});
}
