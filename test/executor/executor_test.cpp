// SPDX-License-Identifier: Apache-2.0
// The reference executor: values by hand, errors that name variable and operator.

#include "executor/shared_executor.hpp"
#include <catch2/catch.hpp>

#include <lamina/executor/executor.hpp>
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

TEST_CASE("a cost with known weights is what one computes by hand") {
  session s;
  s.scope.var("out.w_0") = tensor({4, 3}, std::vector<float>(12, 0.5f));
  CHECK(s.cost({{"image", images()}, {"label", labels({0, 2})}}) == Approx(std::log(3.0)));
  s.scope.var("out.b_0") = tensor({3}, std::vector<float>{1, 0, 0});
  const double row = std::log(1 + 2 * std::exp(-1.0));
  CHECK(s.cost({{"image", images()}, {"label", labels({0, 0})}}) == Approx(row));
  CHECK(s.cost({{"image", images()}, {"label", labels({0, 1})}}) == Approx(row + 0.5));
}

TEST_CASE("float and double agree and temporaries do not stay") {
  session s;
  const lamina::feed_map feed{{"image", images(5)}, {"label", labels({0, 1, 2, 1, 0})}};
  const float in_float = s.cost(feed);
  CHECK(s.scope.names() == std::vector<std::string>{"out.b_0", "out.w_0"});
  lamina::basic_executor<double> twin;
  const auto in_double = twin.run(classifier.view(), s.scope, feed).at(0);
  REQUIRE(in_double.type() == lamina::dtype::float64);
  CHECK(in_float == Approx(in_double.as<double>().flat(0)).epsilon(1e-6));
  CHECK(s.scope.get("out.w_0").type() == lamina::dtype::float64);
  CHECK(s.cost(feed) == Approx(in_float));
}

TEST_CASE("any variable can be fetched by name") {
  session s;
  const auto found =
      s.executor.run(classifier.view(), s.scope, {{"image", images()}, {"label", labels({0, 1})}},
                     {"out.tmp_2", "softmax_with_cross_entropy_0.tmp_0", "label"});
  REQUIRE(found.size() == 3);
  CHECK(found[0].shape() == lamina::tensor_shape{2, 3});
  double sum = 0;
  for (const float p : found[1].as<float>()) sum += p;
  CHECK(sum == Approx(2));
  CHECK(found[2].as<std::int64_t>().flat(1) == 1);
  CHECK_THROWS_WITH(s.executor.run(classifier.view(), s.scope,
                                   {{"image", images()}, {"label", labels({0, 1})}}, {"nothing"}),
                    Contains("'nothing'"));
}

TEST_CASE("a wrong feed is an error that names variable, expected and found") {
  session s;
  CHECK_THROWS_WITH(
      s.cost({{"image", tensor({2, 5}, std::vector<float>(10))}, {"label", labels({0, 1})}}),
      "lamina: executor: expected float32 [-1, 4] to be fed to variable 'image', "
      "found float32 [2, 5]");
  CHECK_THROWS_WITH(s.cost({{"image", images()}, {"label", tensor({2, 1}, std::vector<float>(2))}}),
                    "lamina: executor: expected int64 [-1, 1] to be fed to variable 'label', found "
                    "float32 [2, 1]");
  CHECK_THROWS_WITH(s.cost({{"image", images(3)}, {"label", labels({0, 1})}}),
                    Contains("expected 3 rows") && Contains("'label'") && Contains("found 2"));
  CHECK_THROWS_WITH(s.cost({{"image", images()}, {"lable", labels({0, 1})}}),
                    Contains("'image', 'label'") && Contains("found 'lable'"));
  CHECK_THROWS_WITH(s.cost({{"image", images()}}), Contains("softmax_with_cross_entropy_0") &&
                                                       Contains("'label'") && Contains("feed it"));
}

TEST_CASE("a label out of range is an error that names variable, value and range") {
  session s;
  CHECK_THROWS_WITH(s.cost({{"image", images()}, {"label", labels({0, 3})}}),
                    "lamina: executor: layer softmax_with_cross_entropy_0: expected values from 0 "
                    "to 2 in feed 'label', found 3 in row 1");
  CHECK_THROWS_WITH(s.cost({{"image", images()}, {"label", labels({-1, 0})}}),
                    Contains("'label', found -1"));
}
