// SPDX-License-Identifier: Apache-2.0
// Kernels of constant size join elements of one byte.
#include <type_traits>

#include <catch2/catch.hpp>

#include <lamina/engine/cpu/static/static_kernels.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/model/bfloat16/bfloat16_machine.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/model/static_evaluator.hpp>

namespace layer = lamina::layer;

namespace {

constexpr auto joined = lamina::program([](lamina::block& main) {
  auto a = layer::data<"a", bool, 3>(main), b = layer::data<"b", bool, 3>(main);
  return layer::concat({a, b}, {.name = "both"});
});

}  // namespace

TEST_CASE("a static evaluator joins elements of one byte") {
  lamina::static_evaluator<std::remove_const_t<decltype(joined)>, 2> s;
  s.input<"a">()[4] = s.input<"b">()[2] = s.input<"b">()[3] = true;
  s.forward();
  const bool expected[2][6] = {{false, false, false, false, false, true},
                               {false, true, false, true, false, false}};
  for (int r = 0; r < 2; ++r)
    for (std::size_t j = 0; j < 6; ++j) CHECK(s.activation<"both">(r)[j] == expected[r][j]);
}
