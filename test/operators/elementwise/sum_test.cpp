// SPDX-License-Identifier: Apache-2.0
// Sums of variables: a variable that is used twice.

#include "executor/shared_executor.hpp"
#include <laws/gradient_check.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using lamina::block;

TEST_CASE("gradient: a variable that is used twice receives the sum of both gradients") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::data<"x", float, 4>(main);
    auto a = layer::fc<4>(x, {.param = {.name = "shared"}});
    auto b = layer::fc<4>(a * x, {.param = {.name = "shared"}});
    return layer::mean(a * b + a);
  }));
}
