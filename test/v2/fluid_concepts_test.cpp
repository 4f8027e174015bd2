// SPDX-License-Identifier: Apache-2.0
// The example of the document "Fluid, basic concepts": names of variables, shared by ParamAttr.
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

// == concepts: Name
// import paddle.fluid as fluid
// import numpy as np
//
// x = fluid.layers.data(name='x', shape=[1], dtype='int64', lod_level=1)
// emb = fluid.layers.embedding(input=x, size=(128, 100)) # embedding_0.w_0
// emb = fluid.layers.Print(emb) # Tensor[embedding_0.tmp_0]
//
// # default name
// fc_none = fluid.layers.fc(input=emb, size=1) # fc_0.w_0, fc_0.b_0
// fc_none = fluid.layers.Print(fc_none) # Tensor[fc_0.tmp_1]
//
// fc_none1 = fluid.layers.fc(input=emb, size=1) # fc_1.w_0, fc_1.b_0
// fc_none1 = fluid.layers.Print(fc_none1) # Tensor[fc_1.tmp_1]
//
// # name in ParamAttr
// w_param_attrs = fluid.ParamAttr(name="fc_weight", learning_rate=0.5, trainable=True)
// print(w_param_attrs.name) # fc_weight
//
// # name == 'my_fc'
// my_fc1 = fluid.layers.fc(input=emb, size=1, name='my_fc', param_attr=w_param_attrs)
// # fc_weight, my_fc.b_0
// my_fc1 = fluid.layers.Print(my_fc1) # Tensor[my_fc.tmp_1]
//
// my_fc2 = fluid.layers.fc(input=emb, size=1, name='my_fc', param_attr=w_param_attrs)
// # fc_weight, my_fc.b_1
// my_fc2 = fluid.layers.Print(my_fc2) # Tensor[my_fc.tmp_3]
constexpr lamina::param_attr w_param_attrs{
    .name = "fc_weight", .learning_rate = 0.5f, .trainable = true};  // name in ParamAttr
static_assert(w_param_attrs.name == "fc_weight");

constexpr auto main_program = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", std::int64_t>(main);
  auto emb = layer::embedding<128, 100>(x);  // embedding_0.w_0
  emb = layer::print(emb);                   // Tensor[embedding_0.tmp_0]

  // default name
  auto fc_none = layer::fc<1>(emb);  // fc_0.w_0, fc_0.b_0
  fc_none = layer::print(fc_none);   // Tensor[fc_0.tmp_1]

  auto fc_none1 = layer::fc<1>(emb);  // fc_1.w_0, fc_1.b_0
  fc_none1 = layer::print(fc_none1);  // Tensor[fc_1.tmp_1]

  // name == 'my_fc'
  auto my_fc1 = layer::fc<1>(emb, {.param = w_param_attrs, .name = "my_fc"});
  // fc_weight, my_fc.b_0
  my_fc1 = layer::print(my_fc1);  // Tensor[my_fc.tmp_1]

  auto my_fc2 = layer::fc<1>(emb, {.param = w_param_attrs, .name = "my_fc"});
  // fc_weight, my_fc.b_1
  my_fc2 = layer::print(my_fc2);  // Tensor[my_fc.tmp_3]
  return std::tuple{fc_none, fc_none1, my_fc1, my_fc2};
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

TEST_CASE("Fluid, basic concepts, Name: all variables of the program have Fluid's names") {
  CHECK(names(main_program.view()) ==
        std::vector<std::string>{
            "x",           "embedding_0.w_0", "embedding_0.tmp_0", "print_0.tmp_0", "fc_0.w_0",
            "fc_0.tmp_0",  "fc_0.b_0",        "fc_0.tmp_1",        "print_1.tmp_0", "fc_1.w_0",
            "fc_1.tmp_0",  "fc_1.b_0",        "fc_1.tmp_1",        "print_2.tmp_0", "fc_weight",
            "my_fc.tmp_0", "my_fc.b_0",       "my_fc.tmp_1",       "print_3.tmp_0", "my_fc.tmp_2",
            "my_fc.b_1",   "my_fc.tmp_3",     "print_4.tmp_0"});
  CHECK(main_program.view().count.startup == 8);
}

TEST_CASE("Fluid, basic concepts, Name: the executor runs it, and layers share a weight") {
  std::ostringstream printed;
  lamina::run_options options;
  options.print_to = &printed;
  // == concepts: Name
  //
  // place = fluid.CPUPlace()
  // x_data = np.array([[1],[2],[3]]).astype("int64")
  // x_lodTensor = fluid.create_lod_tensor(x_data, [[1, 2]], place)
  // exe = fluid.Executor(place)
  // exe.run(fluid.default_startup_program())
  // ret = exe.run(feed={'x': x_lodTensor},
  //               fetch_list=[fc_none, fc_none1, my_fc1, my_fc2], return_numpy=False)
  auto x_data = lamina::tensor({3, 1}, std::vector<std::int64_t>{1, 2, 3});
  auto x_lodTensor = lamina::create_lod_tensor(x_data, {{1, 2}});
  lamina::executor exe;  // on the CPU
  lamina::scope scope;
  exe.run_startup(main_program.view(), scope);
  auto ret = exe.run(main_program.view(), scope, {{"x", x_lodTensor}}, options);
  // ==
  REQUIRE(ret.size() == 4);
  const auto table = scope.get("embedding_0.w_0").as<float>();
  for (std::size_t k = 0; k < 4; ++k) {
    const char* const weights[] = {"fc_0.w_0", "fc_1.w_0", "fc_weight", "fc_weight"};
    CHECK(ret[k].lod().recursive_sequence_lengths() == std::vector<lamina::lod::level>{{1, 2}});
    CHECK(ret[k].shape() == lamina::tensor_shape{3, 1});
    const auto w = scope.get(weights[k]).as<float>();
    for (std::size_t row = 0; row < 3; ++row) {
      double sum = 0;
      for (std::size_t i = 0; i < 100; ++i)
        sum += static_cast<double>(table(row + 1, i)) * static_cast<double>(w(i, 0));
      CHECK(ret[k].as<float>()(row, 0) == Approx(sum).margin(1e-5));
    }
  }
  CHECK((ret[2].as<float>() == ret[3].as<float>()));
  CHECK_FALSE((ret[0].as<float>() == ret[1].as<float>()));
  for (const char* name : {"Tensor[embedding_0.tmp_0]", "Tensor[fc_0.tmp_1]", "Tensor[fc_1.tmp_1]",
                           "Tensor[my_fc.tmp_1]", "Tensor[my_fc.tmp_3]"})
    CHECK_THAT(printed.str(), Contains(name));
  CHECK_THROWS_AS(lamina::create_lod_tensor(x_data, {{1, 3}}), lamina::error);
}

TEST_CASE("Fluid, basic concepts, ParamAttr: a factor on the learning rate, and a frozen weight") {
  static constexpr auto net = lamina::program([](lamina::block& main) {
    auto x = layer::data<"x", float, 2>(main);
    auto whole = layer::fc<1>(x, {.param = {.name = "whole"}, .bias = false});
    auto half = layer::fc<1>(x, {.param = w_param_attrs, .bias = false});
    auto none = layer::fc<1>(x, {.param = {.name = "none", .trainable = false}, .bias = false});
    return layer::mean(whole + half + none);
  });
  lamina::model model{net};
  const auto before = [&] {
    return std::tuple{model.parameter<"whole">(), model.parameter<"fc_weight">(),
                      model.parameter<"none">()};
  }();
  using sample = std::array<float, 2>;
  lamina::optimizer::sgd{.learning_rate = 0.25f}.train(
      model, std::vector<std::vector<sample>>{{sample{1, 3}}});
  const auto& [whole, half, none] = before;
  CHECK(model.parameter<"none">() == none);
  for (std::size_t i = 0; i < 2; ++i) {
    const float x = i == 0 ? 1.f : 3.f;
    CHECK(model.parameter<"whole">().flat(i) == Approx(whole.flat(i) - 0.25f * x));
    CHECK(model.parameter<"fc_weight">().flat(i) == Approx(half.flat(i) - 0.125f * x));
  }
}
