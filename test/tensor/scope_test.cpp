// SPDX-License-Identifier: Apache-2.0
// scope: variables by name, and those of parents.

#include <catch2/catch.hpp>

#include <lamina/tensor/scope.hpp>
#include <lamina/tensor/tensor.hpp>

using lamina::scope;
using lamina::tensor;

TEST_CASE("a scope finds variables of its parents and hides them by its own") {
  scope outer;
  outer.var("w") = tensor({1}, std::vector<float>{1});
  scope inner(outer);
  REQUIRE(inner.find("w") != nullptr);
  CHECK(inner.get("w").as<float>()(0) == 1);
  inner.var("w") = tensor({1}, std::vector<float>{2});
  CHECK(inner.get("w").as<float>()(0) == 2);
  CHECK(outer.get("w").as<float>()(0) == 1);
  CHECK(inner.drop("w"));
  CHECK_FALSE(inner.drop("w"));
  CHECK(inner.get("w").as<float>()(0) == 1);
  CHECK(inner.names().empty());
  CHECK(outer.names() == std::vector<std::string>{"w"});
}

TEST_CASE("a scope names the variable it has not") {
  scope s;
  CHECK(s.find("x") == nullptr);
  CHECK_THROWS_WITH(s.get("x"), Catch::Contains("'x'") && Catch::Contains("no such variable"));
  lamina::scope around;
  around.var("fc_0.w_0");
  CHECK_THROWS_WITH(lamina::scope(around).get("fc_0.w_1"),
                    Catch::Contains("found no such variable, nearest is 'fc_0.w_0'"));
  s.var("x");
  CHECK_THROWS_WITH(s.get("x"), Catch::Contains("'x'") && Catch::Contains("never assigned"));
}

TEST_CASE("references into a scope survive new variables") {
  scope s;
  tensor& first = s.var("a");
  for (int i = 0; i < 100; ++i) s.var("b" + std::to_string(i));
  first = tensor({1}, std::vector<float>{3});
  CHECK(s.get("a").as<float>()(0) == 3);
}
