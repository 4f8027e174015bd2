// SPDX-License-Identifier: Apache-2.0
// Names of variables as Fluid has them.

#include <set>
#include <string>

#include <catch2/catch.hpp>

#include <lamina/lamina.hpp>
#include <lamina/program/variable_name.hpp>

namespace {

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 3>(main);
  return layer::mean(layer::fc<2>(layer::fc<4>(x), {.name = "output"}));
});

}  // namespace

TEST_CASE("variables have the names that Fluid gives them") {
  constexpr auto p = lamina::view_of(net.desc);
  std::set<std::string> names;
  for (int v = 0; v < p.count.variables; ++v) names.insert(lamina::variable_name(p, v));
  CHECK(names.size() == static_cast<std::size_t>(p.count.variables));
  for (const char* const expected : {"x", "fc_0.w_0", "fc_0.b_0", "fc_0.tmp_0", "fc_0.tmp_1",
                                     "output.w_0", "output.tmp_1", "mean_0.tmp_0"})
    CHECK(names.count(expected) == 1);
}
