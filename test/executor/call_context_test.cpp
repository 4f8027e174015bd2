// SPDX-License-Identifier: Apache-2.0
// A kernel whose result has another shape than was recorded.

#include "executor/shared_executor.hpp"
#include <catch2/catch.hpp>

#include <lamina/executor/call_context.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/transform/append_backward.hpp>

namespace layer = lamina::layer;
using Catch::Contains;
using lamina::block;
using lamina::tensor;

namespace {

constexpr auto classifier = lamina::program([](block& main) {
  auto image = layer::data<"image", float, 4>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto logits = layer::fc<3>(image, {.act = lamina::activation::relu, .name = "out"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

tensor images(std::size_t rows = 2) {
  std::vector<float> values;
  for (std::size_t i = 0; i < rows * 4; ++i) values.push_back(0.1f * static_cast<float>(i));
  return tensor({rows, 4}, values);
}

tensor labels(std::vector<std::int64_t> values) { return tensor({values.size(), 1}, values); }

}  // namespace

TEST_CASE("a parameter without a value or of another shape is an error") {
  lamina::executor executor;
  lamina::scope scope;
  const lamina::feed_map feed{{"image", images()}, {"label", labels({0, 1})}};
  CHECK_THROWS_WITH(executor.run(classifier.view(), scope, feed),
                    Contains("layer out:") && Contains("'out.w_0'") && Contains("startup"));
  executor.run_startup(classifier.view(), scope);
  scope.var("out.w_0") = tensor({3, 4}, std::vector<float>(12));
  CHECK_THROWS_WITH(
      executor.run(classifier.view(), scope, feed),
      Contains("float32 [4, 3]") && Contains("'out.w_0'") && Contains("found float32 [3, 4]"));
}

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

TEST_CASE("a kernel that gives another shape than was recorded is caught") {
  lamina::executor executor;
  lamina::scope scope;
  executor.add_kernel("without_kernel", [](lamina::call_context<float>& ctx) {
    ctx.give("Out", tensor({3}, std::vector<float>{1, 2, 3}));
  });
  CHECK_THROWS_WITH(
      executor.run(custom.view(), scope, {{"x", tensor({1, 2}, std::vector<float>{1, 2})}}),
      Contains("expected the shape [-1, 2] for variable 'own_0.tmp_0', found [3]"));
}

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
