// SPDX-License-Identifier: Apache-2.0
// Parameters from models to scopes and back.
#include <catch2/catch.hpp>

#include <lamina/io/copy_parameters.hpp>
#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using Catch::Contains;

TEST_CASE("copy parameters: a model and a scope, with other values, types and shapes") {
  constexpr auto small = lamina::program([](lamina::block& main) {
    return layer::fc<3>(layer::data<"x", float, 4>(main), {.name = "y"});
  });
  constexpr auto exact = lamina::program([](lamina::block& main) {
    return layer::fc<3>(layer::data<"x", double, 4>(main), {.name = "y"});
  });
  const lamina::model first{small, 3};
  lamina::scope variables;
  copy_parameters(first, variables);
  CHECK((variables.get("y.w_0").as<float>() == first.get(0)));
  lamina::model other{small, 4};
  const auto before = other.get(0);
  REQUIRE((before != first.get(0)));
  const lamina::tensor bias = variables.get("y.b_0");
  variables.var("y.b_0") = lamina::tensor({2}, std::vector<float>{1, 2});
  CHECK_THROWS_WITH(copy_parameters(variables, other),
                    Contains("parameter y.b_0: expected float32 [3], found float32 [2]"));
  CHECK((other.get(0) == before));
  variables.var("y.b_0") = bias;
  copy_parameters(variables, other);
  CHECK((other.get(0) == first.get(0)));
  lamina::model twice{exact, 4};
  CHECK_THROWS_WITH(copy_parameters(variables, twice),
                    Contains("parameter y.w_0: expected float64 [4, 3], found float32 [4, 3]"));
  copy_parameters(twice, variables);
  CHECK((variables.get("y.w_0").as<double>() == twice.get(0)));
}
