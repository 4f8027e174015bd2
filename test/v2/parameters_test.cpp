// SPDX-License-Identifier: Apache-2.0
// Parameters of one cost and of several, by name, in archives, and under two trainers.
#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "io/temporary_folder.hpp"
#include <catch2/catch.hpp>

#include <lamina/v2.hpp>
#include <lamina/v2/parameter_tar.hpp>

namespace paddle = lamina::v2;
namespace layer = paddle::layer;
using Catch::Contains;
using paddle::data_type::dense_vector;

namespace {

struct labelled {
  std::array<float, 64> image;
  std::int64_t label;
};
std::vector<labelled> digits(std::size_t first, std::size_t last) {
  std::vector<labelled> all;
  for (const auto& [image, label] : lamina::dataset::digits::train().slice(first, last))
    all.push_back({image, label});
  return all;
}

constexpr auto softmax_regression = [](auto img) {
  return layer::fc<10>(img, {.act = paddle::activation::Softmax(), .name = "predict"});
};
constexpr auto cost = lamina::program([](lamina::block& main) {
  auto images = layer::data<"pixel", dense_vector<64>>(main);
  auto label = layer::data<"label", paddle::data_type::integer_value<10>>(main);
  return layer::cross_entropy_cost(softmax_regression(images), label);
});

// A judge tells real points from forged ones; a forger learns what the judge takes for real.
constexpr auto judge = [](auto point) {
  auto h = layer::fc<8>(point, {.act = paddle::activation::Tanh(), .name = "judge_hidden"});
  return layer::fc<1>(h, {.name = "judge"});
};
constexpr auto judge_cost = lamina::program([](lamina::block& main) {
  auto point = layer::data<"point", dense_vector<2>>(main);
  auto is_real = layer::data<"is_real", dense_vector<1>>(main);
  return layer::mean(layer::sigmoid_cross_entropy_with_logits(judge(point), is_real));
});
constexpr auto forger_cost =
    lamina::transform::freeze<"judge_hidden", "judge">(lamina::program([](lamina::block& main) {
      auto noise = layer::data<"noise", dense_vector<2>>(main);
      auto point = layer::fc<2>(noise, {.name = "forger"});
      return layer::mean(layer::softplus(-judge(point)));
    }));
constexpr auto forged = lamina::program([](lamina::block& main) {
  auto noise = layer::data<"noise", dense_vector<2>>(main);
  return layer::fc<2>(noise, {.name = "forger"});
});

}  // namespace

TEST_CASE("parameters are a dictionary, also of two costs, and go to archives and back") {
  static constexpr auto other = lamina::program([](lamina::block& main) {
    auto images = layer::data<"pixel", paddle::data_type::dense_vector<64>>(main);
    return layer::mean(layer::fc<1>(softmax_regression(images), {.name = "value"}));
  });
  auto parameters = paddle::parameters::create(cost, other);
  CHECK(parameters.names() ==
        std::vector<std::string>{"predict.w_0", "predict.b_0", "value.w_0", "value.b_0"});
  CHECK(parameters.has_key("value.w_0"));
  CHECK_FALSE(parameters.has_key("value"));
  CHECK(parameters.get_shape("predict.w_0") == std::vector<std::size_t>{64, 10});
  parameters["predict.b_0"] = lamina::array<float>({10}, std::vector<float>(10, 0.5f));
  const lamina::array<float> b = parameters["predict.b_0"];
  CHECK(b.flat(9) == 0.5f);
  CHECK(parameters.apply([](const auto& first, const auto& second) {
    return first.memory()[0] == second.memory()[0];
  }));
  CHECK_THROWS_WITH(parameters.set("predict.b_0", lamina::array<float>{1.f}), Contains("[10]"));
  CHECK_THROWS_WITH(parameters.get("fc_0.w_0"),
                    "lamina: v2: parameters: expected the name of a parameter, found 'fc_0.w_0'; "
                    "known are: predict.w_0, predict.b_0, value.w_0, value.b_0");

  // Training one cost changes what the other one has.
  const auto before = parameters.get("predict.w_0"), alone = parameters.get("value.w_0");
  const auto sgd = paddle::optimizer::SGD({.learning_rate = 0.1f});
  paddle::trainer::SGD first(cost, parameters, sgd);
  paddle::trainer::SGD second(other, parameters, sgd);
  first.train(paddle::batch(digits(0, 8), 4));
  CHECK_FALSE(parameters.get("predict.w_0") == before);
  CHECK(parameters.get("value.w_0") == alone);
  std::vector<std::array<float, 64>> images(4, digits(0, 1)[0].image);
  second.train(paddle::batch(images, 4));
  CHECK_FALSE(parameters.get("value.w_0") == alone);

  const temporary_folder folder;
  const std::string all = folder.path() + "/all.tar", part = folder.path() + "/part.tar";
  parameters.to_tar(all);
  first.save_parameter_to_tar(part);
  paddle::init({.seed = 3});
  auto read = paddle::parameters::create(cost, other);
  paddle::init();
  CHECK_FALSE(read.get("value.w_0") == parameters.get("value.w_0"));
  const auto own = read.get("value.w_0");
  CHECK_THROWS_AS(read.from_tar(part), lamina::format_error);
  read.init_from_tar(part);
  CHECK(read.get("predict.w_0") == parameters.get("predict.w_0"));
  CHECK(read.get("value.w_0") == own);
  read.from_tar(all);
  for (const std::string& name : parameters.names()) CHECK(read.get(name) == parameters.get(name));
}

TEST_CASE("two trainers share parameters: each changes its own, and both see the changes") {
  auto parameters = paddle::parameters::create(judge_cost, forger_cost);
  CHECK(parameters.names().size() == 6);
  const auto adam = paddle::optimizer::Adam({.beta1 = 0.5f, .learning_rate = 0.02f});
  paddle::trainer::SGD judging(judge_cost, parameters, adam);
  paddle::trainer::SGD forging(forger_cost, parameters, adam);
  lamina::reader::random random(4, 0, 0);
  const auto draw = [&] { return std::array{random.normal(), random.normal()}; };
  const auto judge_before = parameters.get("judge.w_0");
  for (int step = 0; step < 300; ++step) {
    std::vector<std::array<float, 2>> noise(32);
    for (auto& n : noise) n = draw();
    forging.train(paddle::batch(noise, 32));
    if (step == 0) CHECK(parameters.get("judge.w_0") == judge_before);
    const auto drawn = paddle::infer(forged, parameters, noise);
    std::vector<std::tuple<std::array<float, 2>, float>> points;
    for (std::size_t i = 0; i < noise.size(); ++i) {
      const auto [x, y] = draw();
      points.emplace_back(std::array{3 + 0.5f * x, -2 + 0.5f * y}, 1.f);
      points.emplace_back(std::array{drawn(i, 0), drawn(i, 1)}, 0.f);
    }
    judging.train(paddle::batch(points, 64));
  }
  CHECK_FALSE(parameters.get("judge.w_0") == judge_before);
  std::vector<std::array<float, 2>> noise(400);
  for (auto& n : noise) n = draw();
  const auto drawn = paddle::infer(forged, parameters, noise);
  double x = 0, y = 0;
  for (std::size_t i = 0; i < noise.size(); ++i) {
    x += static_cast<double>(drawn(i, 0)) / 400;
    y += static_cast<double>(drawn(i, 1)) / 400;
  }
  CHECK(x == Approx(3).margin(1));
  CHECK(y == Approx(-2).margin(1));
}
