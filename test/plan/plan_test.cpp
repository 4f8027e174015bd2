// SPDX-License-Identifier: Apache-2.0
// Plans of reference networks are as they were accepted.
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include <catch2/catch.hpp>

#include <lamina/inspect/plan_text.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/optimizer/adam.hpp>
#include <lamina/optimizer/sgd.hpp>
#include <lamina/optimizer/training_program.hpp>
#include <lamina/plan/plan.hpp>
#include <lamina/transform/clone_for_test.hpp>

namespace layer = lamina::layer;
using lamina::activation;

namespace {

constexpr auto perceptron = lamina::program([](lamina::block& main) {
  auto x = layer::data<"image", float, 784>(main);
  auto y = layer::data<"label", std::int64_t>(main);
  auto h = layer::fc<64>(layer::fc<128>(x, {.act = activation::relu}), {.act = activation::relu});
  auto logits = layer::fc<10>(h, {.name = "logits"});
  layer::accuracy(logits, y, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, y));
});

constexpr auto regression = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 13>(main);
  auto y = layer::data<"y", float>(main);
  return layer::mean(layer::square_error_cost(layer::fc<1>(x, {.name = "prediction"}), y));
});

constexpr auto residual = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 32>(main);
  auto y = layer::data<"y", std::int64_t>(main);
  auto h = x;
  for (int i = 0; i < 4; ++i) h = h + layer::fc<32>(h, {.act = activation::tanh});
  return layer::mean(layer::softmax_with_cross_entropy(layer::fc<5>(h), y));
});

constexpr auto shared = lamina::program([](lamina::block& main) {
  auto a = layer::data<"a", float, 16>(main);
  auto b = layer::data<"b", float, 16>(main);
  auto y = layer::data<"y", float>(main);
  auto pa = layer::fc<8>(a, {.param = {.name = "projection"}, .bias = false});
  auto pb = layer::fc<8>(b, {.param = {.name = "projection"}, .bias = false});
  return layer::mean(layer::square_error_cost(layer::cos_sim(pa, pb), y));
});

constexpr auto words = lamina::program([](lamina::block& main) {
  auto id = layer::data<"id", std::int64_t>(main);
  auto y = layer::data<"y", std::int64_t>(main);
  auto e = layer::embedding<50, 12>(id);
  auto h = layer::dropout(layer::fc<20>(e, {.act = activation::sigmoid}), 0.3f);
  return layer::mean(layer::softmax_with_cross_entropy(layer::fc<7>(h), y));
});

constexpr auto normalised = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 24>(main);
  auto y = layer::data<"y", std::int64_t>(main);
  auto h = layer::layer_norm(layer::fc<24>(x, {.act = activation::gelu}));
  return layer::mean(layer::softmax_with_cross_entropy(layer::fc<3>(h), y));
});

constexpr auto deep = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 64>(main);
  auto y = layer::data<"y", std::int64_t>(main);
  auto h = x;
  for (int i = 0; i < 16; ++i) h = layer::fc<64>(h, {.act = activation::relu});
  return layer::mean(layer::softmax_with_cross_entropy(layer::fc<10>(h), y));
});

constexpr lamina::optimizer::sgd sgd{};

constexpr lamina::optimizer::adam adam{};

// The plan as it was accepted last lies beside this file. When a change of a plan is wanted, run
// this test with LAMINA_ACCEPT_PLANS=1 and read the difference in version control.
void check(const std::string& name, const std::string& text) {
  const std::string path = std::string(LAMINA_TEST_DIR) + "/plan/" + name + ".plan";
  if (std::getenv("LAMINA_ACCEPT_PLANS") != nullptr) std::ofstream(path) << text;
  std::ifstream in(path);
  std::stringstream accepted;
  accepted << in.rdbuf();
  INFO(path);
  REQUIRE(accepted.str() == text);
}

}  // namespace

TEST_CASE("plans of six reference networks are as they were accepted") {
  using lamina::plan_text;
  using lamina::transform::minimize;
  check("perceptron_sgd", plan_text(minimize(perceptron, sgd)));
  check("perceptron_test", plan_text(lamina::transform::clone_for_test(perceptron)));
  check("regression_adam", plan_text(minimize(regression, adam)));
  check("residual_sgd", plan_text(minimize(residual, sgd)));
  check("shared_sgd", plan_text(minimize(shared, sgd)));
  check("words_adam", plan_text(minimize(words, adam)));
  check("normalised_adam", plan_text(minimize(normalised, adam)));
}

TEST_CASE("layers of equal structure share their kernels") {
  using training = decltype(lamina::transform::minimize(deep, sgd));
  STATIC_REQUIRE(lamina::plan<training>::groups > 60);
  STATIC_REQUIRE(lamina::plan<training>::kernels <= 12);
}
