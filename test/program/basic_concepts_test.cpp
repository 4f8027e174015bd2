// SPDX-License-Identifier: Apache-2.0
// The program of Fluid's page on its basic concepts, statement by statement: every name that the
// page lists, and what its last line returns.
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "executor/shared_executor.hpp"
#include <catch2/catch.hpp>

#include <lamina/executor/fetch_list.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/program/returned_variables.hpp>

namespace layer = lamina::layer;
using Catch::Contains;

namespace {

constexpr lamina::param_attr w_param_attrs{
    .name = "fc_weight", .learning_rate = 0.5f, .trainable = true};
static_assert(w_param_attrs.name == "fc_weight");

constexpr auto program = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", std::int64_t, 1>(main);
  auto emb = layer::embedding<128, 100>(x);  // embedding_0.w_0
  emb = layer::print(emb);                   // Tensor[embedding_0.tmp_0]

  // default name
  auto fc_none = layer::fc<1>(emb);   // fc_0.w_0, fc_0.b_0
  fc_none = layer::print(fc_none);    // Tensor[fc_0.tmp_1]
  auto fc_none1 = layer::fc<1>(emb);  // fc_1.w_0, fc_1.b_0
  fc_none1 = layer::print(fc_none1);  // Tensor[fc_1.tmp_1]

  // name == 'my_fc'
  auto my_fc1 =
      layer::fc<1>(emb, {.param = w_param_attrs, .name = "my_fc"});  // fc_weight, my_fc.b_0
  my_fc1 = layer::print(my_fc1);                                     // Tensor[my_fc.tmp_1]
  auto my_fc2 =
      layer::fc<1>(emb, {.param = w_param_attrs, .name = "my_fc"});  // fc_weight, my_fc.b_1
  my_fc2 = layer::print(my_fc2);                                     // Tensor[my_fc.tmp_3]
  return std::tuple{fc_none, fc_none1, my_fc1, my_fc2};
});

}  // namespace

TEST_CASE("the variables of the page on basic concepts, in order of creation") {
  std::vector<std::string> names;
  const auto view = program.view();
  for (int v = 0; v < view.count.variables; ++v) names.push_back(lamina::variable_name(view, v));
  CHECK(names ==
        std::vector<std::string>{
            "x",           "embedding_0.w_0", "embedding_0.tmp_0", "print_0.tmp_0", "fc_0.w_0",
            "fc_0.tmp_0",  "fc_0.b_0",        "fc_0.tmp_1",        "print_1.tmp_0", "fc_1.w_0",
            "fc_1.tmp_0",  "fc_1.b_0",        "fc_1.tmp_1",        "print_2.tmp_0", "fc_weight",
            "my_fc.tmp_0", "my_fc.b_0",       "my_fc.tmp_1",       "print_3.tmp_0", "my_fc.tmp_2",
            "my_fc.b_1",   "my_fc.tmp_3",     "print_4.tmp_0"});
  // One parameter of both layers, with its own factor on the learning rate.
  int weights = 0;
  for (int i = 0; i < view.count.parameters; ++i) {
    const bool shared =
        lamina::variable_name(view, view.parameters[i].variable) == w_param_attrs.name;
    weights += shared ? 1 : 0;
    CHECK(view.parameters[i].learning_rate == (shared ? 0.5f : 1.0f));
    CHECK(view.parameters[i].trainable);
  }
  CHECK(weights == 1);
}

TEST_CASE("what the program of the page prints and returns") {
  const auto x_data = lamina::tensor({3, 1}, std::vector<std::int64_t>{1, 2, 3});
  const auto x_lod_tensor = lamina::create_lod_tensor(x_data, {{1, 2}});
  lamina::executor exe{lamina::place::cpu()};
  exe.run_startup(program);
  std::ostringstream printed;
  lamina::run_options options;
  options.print_to = &printed;
  const auto [fc_none, fc_none1, my_fc1, my_fc2] = lamina::returned_variables(program);
  const auto ret =
      exe.run(program, {{"x", x_lod_tensor}}, {fc_none, fc_none1, my_fc1, my_fc2}, options);

  std::size_t at = 0;
  for (const char* line : {"Tensor[embedding_0.tmp_0]", "Tensor[fc_0.tmp_1]", "Tensor[fc_1.tmp_1]",
                           "Tensor[my_fc.tmp_1]", "Tensor[my_fc.tmp_3]"}) {
    INFO(printed.str());
    const std::size_t found = printed.str().find(line, at);
    REQUIRE(found != std::string::npos);
    at = found + 1;
  }

  const auto& table = exe.variables().get("embedding_0.w_0").as<float>();
  const char* weights[] = {"fc_0.w_0", "fc_1.w_0", "fc_weight", "fc_weight"};
  for (std::size_t i = 0; i < 4; ++i) {
    REQUIRE(ret[i].shape() == lamina::tensor_shape{3, 1});
    CHECK(ret[i].recursive_sequence_lengths() == std::vector<lamina::lod::level>{{1, 2}});
    const auto& w = exe.variables().get(weights[i]).as<float>();
    for (std::size_t r = 0; r < 3; ++r) {
      double sum = 0;
      for (std::size_t k = 0; k < 100; ++k)
        sum += static_cast<double>(table(r + 1, k)) * static_cast<double>(w(k, 0));
      CHECK(static_cast<double>(ret[i].as<float>()(r, 0)) == Approx(sum).margin(1e-6));
    }
  }
  CHECK(ret[2].as<float>() == ret[3].as<float>());
  CHECK_FALSE(ret[0].as<float>() == ret[1].as<float>());
}
