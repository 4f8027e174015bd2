// SPDX-License-Identifier: Apache-2.0
// Names of variables with and without names of layers, two layers that share a weight by a
// param_attr, and what such a program prints and returns.
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "executor/shared_executor.hpp"
#include <catch2/catch.hpp>

#include <lamina/executor/run_options.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/program/returned_variables.hpp>

namespace layer = lamina::layer;

namespace {

constexpr lamina::param_attr taste{.name = "taste", .learning_rate = 0.125f, .trainable = true};
static_assert(taste.name == "taste");

// Ratings of the dishes of menus: two by one weight, one of its own, and one of these three.
constexpr auto program = lamina::program([](lamina::block& main) {
  auto dishes = layer::sequence<"dishes", std::int64_t, 1>(main);
  auto features = layer::print(layer::embedding<40, 8>(dishes));
  auto young = layer::print(layer::fc<2>(features, {.param = taste, .name = "rating"}));
  auto critic = layer::print(layer::fc<2>(features));
  auto old = layer::print(layer::fc<2>(features, {.param = taste, .name = "rating"}));
  auto all = layer::print(layer::fc<1>(young + critic + old));
  return std::tuple{young, old, critic, all};
});

}  // namespace

TEST_CASE("layers with names, without names and with one weight, in order of creation") {
  std::vector<std::string> names;
  const auto view = program.view();
  for (int v = 0; v < view.count.variables; ++v) names.push_back(lamina::variable_name(view, v));
  CHECK(names == std::vector<std::string>{"dishes",        "embedding_0.w_0", "embedding_0.tmp_0",
                                          "print_0.tmp_0", "taste",           "rating.tmp_0",
                                          "rating.b_0",    "rating.tmp_1",    "print_1.tmp_0",
                                          "fc_0.w_0",      "fc_0.tmp_0",      "fc_0.b_0",
                                          "fc_0.tmp_1",    "print_2.tmp_0",   "rating.tmp_2",
                                          "rating.b_1",    "rating.tmp_3",    "print_3.tmp_0",
                                          "tmp_0",         "tmp_1",           "fc_1.w_0",
                                          "fc_1.tmp_0",    "fc_1.b_0",        "fc_1.tmp_1",
                                          "print_4.tmp_0"});
  // One parameter of both layers, with its own factor on the learning rate.
  int weights = 0;
  for (int i = 0; i < view.count.parameters; ++i) {
    const bool shared = lamina::variable_name(view, view.parameters[i].variable) == taste.name;
    weights += shared ? 1 : 0;
    CHECK(view.parameters[i].learning_rate == (shared ? 0.125f : 1.0f));
    CHECK(view.parameters[i].trainable);
  }
  CHECK(weights == 1);
}

TEST_CASE("a program with prints: its text, in order, and what it returns") {
  const auto ids = lamina::tensor({6, 1}, std::vector<std::int64_t>{39, 4, 4, 0, 17, 8});
  const auto menus = lamina::create_lod_tensor(ids, {{3, 1, 2}});
  lamina::executor exe{lamina::place::cpu()};
  exe.run_startup(program);
  std::ostringstream printed;
  lamina::run_options options;
  options.print_to = &printed;
  const auto [young, old, critic, all] = lamina::returned_variables(program);
  const auto found = exe.run(program, {{"dishes", menus}}, {young, old, critic, all}, options);

  std::size_t at = 0;
  for (const char* line : {"Tensor[embedding_0.tmp_0]", "Tensor[rating.tmp_1]",
                           "Tensor[fc_0.tmp_1]", "Tensor[rating.tmp_3]", "Tensor[fc_1.tmp_1]"}) {
    INFO(printed.str());
    const std::size_t position = printed.str().find(line, at);
    REQUIRE(position != std::string::npos);
    at = position + 1;
  }

  const auto& table = exe.variables().get("embedding_0.w_0").as<float>();
  const char* weights[] = {"taste", "taste", "fc_0.w_0"};
  const auto& last = exe.variables().get("fc_1.w_0").as<float>();
  for (const auto& rating : found)
    CHECK(rating.recursive_sequence_lengths() == std::vector<lamina::lod::level>{{3, 1, 2}});
  REQUIRE(found[3].shape() == lamina::tensor_shape{6, 1});
  for (std::size_t r = 0; r < 6; ++r) {
    double whole = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      REQUIRE(found[i].shape() == lamina::tensor_shape{6, 2});
      const auto& w = exe.variables().get(weights[i]).as<float>();
      const auto dish = static_cast<std::size_t>(ids.as<std::int64_t>()(r, 0));
      for (std::size_t column = 0; column < 2; ++column) {
        double sum = 0;
        for (std::size_t k = 0; k < 8; ++k)
          sum += static_cast<double>(table(dish, k)) * static_cast<double>(w(k, column));
        CHECK(static_cast<double>(found[i].as<float>()(r, column)) == Approx(sum).margin(1e-6));
        whole += sum * static_cast<double>(last(column, 0));
      }
    }
    CHECK(static_cast<double>(found[3].as<float>()(r, 0)) == Approx(whole).margin(1e-6));
  }
  CHECK(found[0].as<float>() == found[1].as<float>());
  CHECK_FALSE(found[0].as<float>() == found[2].as<float>());
}
