// SPDX-License-Identifier: Apache-2.0
// A model without the type of its program.
#include <algorithm>

#include <catch2/catch.hpp>

#include <lamina/io/model_values.hpp>
#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;

TEST_CASE("model values: parameters are read and set without the type of the program") {
  constexpr auto small = lamina::program([](lamina::block& main) {
    return layer::fc<3>(layer::data<"x", float, 4>(main), {.name = "y"});
  });
  const lamina::model first{small, 3};
  const lamina::model_values seen = values_of(first);
  CHECK(seen.count == 2);
  CHECK(seen.describe(1).name == "y.b_0");
  std::vector<float> elements(12);
  seen.copy(seen.model, 0, elements.data());
  CHECK(std::equal(elements.begin(), elements.end(), first.get(0).data()));

  lamina::model second{small, 4};
  const lamina::model_setter to = setter_of(second);
  REQUIRE(to.count == 2);
  const std::vector<float> bias{1, 2, 3};
  const void* const values[] = {elements.data(), bias.data()};
  to.set_all(to.model, values);
  CHECK((second.get(0) == first.get(0)));
  CHECK(second.get(1)(2) == 3);
}
