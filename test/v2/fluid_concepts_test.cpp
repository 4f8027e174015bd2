// SPDX-License-Identifier: Apache-2.0
// Names of variables by Fluid's rules, a weight that a ParamAttr shares, and its learning rate.
#include <cstdint>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "executor/shared_executor.hpp"
#include <catch2/catch.hpp>

#include <lamina/executor/executor.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/optimizer/sgd.hpp>
#include <lamina/program/names.hpp>
#include <lamina/program/program.hpp>
#include <lamina/train/train.hpp>

namespace layer = lamina::layer;
using Catch::Contains;

namespace {

// == names: Names and a shared weight
// words = fluid.layers.data(name='words', shape=[1], dtype='int64', lod_level=1)
// vectors = fluid.layers.embedding(input=words, size=(50, 16))   # embedding_0.w_0
// vectors = fluid.layers.Print(vectors)                          # prints embedding_0.tmp_0
//
// # Two layers of one name with one weight; each has a bias, score.b_0 and score.b_1.
// weight = fluid.ParamAttr(name='weight_of_scores', learning_rate=0.25, trainable=True)
// scores = [
//     fluid.layers.Print(                           # prints score.tmp_1, then score.tmp_3
//         fluid.layers.fc(input=vectors, size=2, name='score', param_attr=weight))
//     for _ in range(2)
// ]
//
// # Layers without a name: fc_0.w_0 and fc_0.b_0, fc_1.w_0 and fc_1.b_0.
// hidden = fluid.layers.Print(fluid.layers.fc(input=vectors, size=3))
// topic = fluid.layers.Print(fluid.layers.fc(input=hidden, size=4))
constexpr lamina::param_attr weight{
    .name = "weight_of_scores", .learning_rate = 0.25f, .trainable = true};
static_assert(weight.name == "weight_of_scores");

constexpr auto main_program = lamina::program([](lamina::block& main) {
  auto words = layer::sequence<"words", std::int64_t>(main);
  auto vectors = layer::embedding<50, 16>(words);  // embedding_0.w_0
  vectors = layer::print(vectors);                 // prints embedding_0.tmp_0

  // Two layers of one name with one weight; each has a bias, score.b_0 and score.b_1.
  const auto score = [&] {
    return layer::print(layer::fc<2>(vectors, {.param = weight, .name = "score"}));
  };
  auto first = score();   // prints score.tmp_1
  auto second = score();  // prints score.tmp_3

  // Layers without a name: fc_0.w_0 and fc_0.b_0, fc_1.w_0 and fc_1.b_0.
  auto hidden = layer::print(layer::fc<3>(vectors));
  auto topic = layer::print(layer::fc<4>(hidden));
  return std::tuple{first, second, hidden, topic};
});
// ==

std::vector<std::string> names(const lamina::program_view& p) {
  std::vector<std::string> all;
  for (int i = 0; i < p.count.variables; ++i) {
    std::string& text = all.emplace_back(static_cast<std::size_t>(lamina::name_length(p, i)), ' ');
    lamina::name_writer w{text.data()};
    lamina::write_name(p, i, w);
  }
  return all;
}

}  // namespace

TEST_CASE("Names of variables in Fluid, all variables of the program have them") {
  CHECK(names(main_program.view()) ==
        std::vector<std::string>{"words",         "embedding_0.w_0",  "embedding_0.tmp_0",
                                 "print_0.tmp_0", "weight_of_scores", "score.tmp_0",
                                 "score.b_0",     "score.tmp_1",      "print_1.tmp_0",
                                 "score.tmp_2",   "score.b_1",        "score.tmp_3",
                                 "print_2.tmp_0", "fc_0.w_0",         "fc_0.tmp_0",
                                 "fc_0.b_0",      "fc_0.tmp_1",       "print_3.tmp_0",
                                 "fc_1.w_0",      "fc_1.tmp_0",       "fc_1.b_0",
                                 "fc_1.tmp_1",    "print_4.tmp_0"});
  CHECK(main_program.view().count.startup == 8);
}

TEST_CASE("Names of variables in Fluid, the executor runs it, and layers share a weight") {
  std::ostringstream printed;
  lamina::run_options options;
  options.print_to = &printed;
  // == names: Names and a shared weight
  //
  // cpu = fluid.CPUPlace()
  // executor = fluid.Executor(cpu)
  // executor.run(fluid.default_startup_program())
  // ids = numpy.array([7, 0, 49, 7, 3], dtype='int64').reshape(5, 1)
  // sentences = fluid.create_lod_tensor(ids, [[2, 3]], cpu)  # of two words and of three
  // found = executor.run(feed={'words': sentences}, fetch_list=scores + [hidden, topic],
  //                      return_numpy=False)
  lamina::executor executor;  // on the CPU
  lamina::scope scope;
  executor.run_startup(main_program.view(), scope);
  auto ids = lamina::tensor({5, 1}, std::vector<std::int64_t>{7, 0, 49, 7, 3});
  auto sentences = lamina::create_lod_tensor(ids, {{2, 3}});  // of two words and of three
  auto found = executor.run(main_program.view(), scope, {{"words", sentences}}, options);
  // ==
  REQUIRE(found.size() == 4);
  for (const auto& one : found)
    CHECK(one.lod().recursive_sequence_lengths() == std::vector<lamina::lod::level>{{2, 3}});
  // The product of a row of x and a column of a weight.
  const auto product = [&](const auto& x, std::size_t row, const char* name, std::size_t column) {
    const auto w = scope.get(name).as<float>();
    double sum = 0;
    for (std::size_t i = 0; i < w.shape()[0]; ++i)
      sum += static_cast<double>(x(row, i)) * static_cast<double>(w(i, column));
    return sum;
  };
  const auto table = scope.get("embedding_0.w_0").as<float>();
  const auto hidden = found[2].as<float>();
  for (std::size_t k = 0; k < 4; ++k) {
    const char* const weights[] = {"weight_of_scores", "weight_of_scores", "fc_0.w_0", "fc_1.w_0"};
    const std::size_t columns[] = {2, 2, 3, 4};
    REQUIRE(found[k].shape() == lamina::tensor_shape{5, columns[k]});
    for (std::size_t row = 0; row < 5; ++row) {
      const auto id = static_cast<std::size_t>(ids.as<std::int64_t>()(row, 0));
      for (std::size_t column = 0; column < columns[k]; ++column) {
        const double expected = k < 3 ? product(table, id, weights[k], column)
                                      : product(hidden, row, weights[k], column);
        CHECK(found[k].as<float>()(row, column) == Approx(expected).margin(1e-5));
      }
    }
  }
  CHECK((found[0].as<float>() == found[1].as<float>()));
  for (std::size_t i = 0; i < 3; ++i)  // the same word, at two places
    CHECK(hidden(0, i) == hidden(3, i));
  CHECK_FALSE(hidden(0, 0) == hidden(1, 0));
  for (const char* name : {"Tensor[embedding_0.tmp_0]", "Tensor[score.tmp_1]",
                           "Tensor[score.tmp_3]", "Tensor[fc_0.tmp_1]", "Tensor[fc_1.tmp_1]"})
    CHECK_THAT(printed.str(), Contains(name));
  CHECK_THROWS_AS(lamina::create_lod_tensor(ids, {{2, 4}}), lamina::error);
}

TEST_CASE("Names of variables in Fluid, a factor on the learning rate, and a frozen weight") {
  static constexpr auto net = lamina::program([](lamina::block& main) {
    auto x = layer::data<"x", float, 2>(main);
    auto whole = layer::fc<1>(x, {.param = {.name = "whole"}, .bias = false});
    auto quarter = layer::fc<1>(x, {.param = weight, .bias = false});
    auto none = layer::fc<1>(x, {.param = {.name = "none", .trainable = false}, .bias = false});
    return layer::mean(whole + quarter + none);
  });
  lamina::model model{net};
  const auto before = [&] {
    return std::tuple{model.parameter<"whole">(), model.parameter<"weight_of_scores">(),
                      model.parameter<"none">()};
  }();
  using sample = std::array<float, 2>;
  lamina::optimizer::sgd{.learning_rate = 0.5f}.train(
      model, std::vector<std::vector<sample>>{{sample{1, 3}}});
  const auto& [whole, quarter, none] = before;
  CHECK(model.parameter<"none">() == none);
  for (std::size_t i = 0; i < 2; ++i) {
    const float x = i == 0 ? 1.f : 3.f;
    CHECK(model.parameter<"whole">().flat(i) == Approx(whole.flat(i) - 0.5f * x));
    CHECK(model.parameter<"weight_of_scores">().flat(i) == Approx(quarter.flat(i) - 0.125f * x));
  }
}
