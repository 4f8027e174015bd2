// SPDX-License-Identifier: Apache-2.0
// Kernels that a user adds to an executor.

#include "executor/shared_executor.hpp"
#include <catch2/catch.hpp>

#include <lamina/executor/kernel_table.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/transform/append_backward.hpp>

namespace layer = lamina::layer;
using Catch::Contains;
using lamina::block;
using lamina::tensor;

namespace {

struct without_kernel : lamina::operator_definition {
  static constexpr const char* type = "without_kernel";
  static constexpr auto inputs = lamina::slots_x;
  static constexpr auto outputs = lamina::slots_out;
};

constexpr auto custom = lamina::program([](block& main) {
  return layer::mean(
      layer::detail::same_shape<without_kernel>(layer::data<"x", float, 2>(main), "own", ""));
});

}  // namespace

TEST_CASE("an operator without a kernel is an error until its user adds one") {
  lamina::executor executor;
  lamina::scope scope;
  const lamina::feed_map feed{{"x", tensor({2, 2}, std::vector<float>{1, 2, 3, 4})}};
  CHECK_FALSE(executor.can_run(lamina::schema_of<without_kernel>()));
  CHECK_THROWS_WITH(executor.run(custom.view(), scope, feed),
                    Contains("'without_kernel'") && Contains("kernel"));
  executor.add_kernel("without_kernel", [](lamina::call_context<float>& ctx) {
    auto x = ctx.real("X");
    x *= 2;
    ctx.give("Out", std::move(x));
  });
  CHECK(executor.can_run(lamina::schema_of<without_kernel>()));
  CHECK(executor.run(custom.view(), scope, feed).at(0).as<float>().flat(0) == 5);
}
