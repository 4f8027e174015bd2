// SPDX-License-Identifier: Apache-2.0
// Options of a run: where numbers stop being finite.
#include <limits>

#include "executor/shared_executor.hpp"
#include <catch2/catch.hpp>

#include <lamina/executor/run_options.hpp>
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

struct session {
  lamina::executor executor;
  lamina::scope scope;
  session() { executor.run_startup(classifier.view(), scope, 7); }
  float cost(const lamina::feed_map& feed, const lamina::run_options& options = {}) {
    return executor.run(classifier.view(), scope, feed, options).at(0).as<float>().flat(0);
  }
};

}  // namespace

TEST_CASE("check_nan names the operator and the variable where numbers stop being finite") {
  session s;
  s.scope.var("out.b_0") =
      tensor({3}, std::vector<float>{0, std::numeric_limits<float>::infinity(), 0});
  const lamina::feed_map feed{{"image", images()}, {"label", labels({0, 1})}};
  CHECK_NOTHROW(s.cost(feed));
  lamina::run_options options;
  options.check_nan = true;
  CHECK_THROWS_WITH(s.cost(feed, options),
                    Contains("layer out:") && Contains("'out.tmp_1'") && Contains("inf"));
}
