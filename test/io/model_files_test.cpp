// SPDX-License-Identifier: Apache-2.0
// Models of the engine in PaddlePaddle's files.
#include "temporary_folder.hpp"
#include <catch2/catch.hpp>
#include <executor/shared_executor.hpp>

#include <lamina/io/arrays/variable_files.hpp>
#include <lamina/io/copy_parameters.hpp>
#include <lamina/io/inference_model.hpp>
#include <lamina/io/model_files.hpp>
#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using Catch::Contains;

namespace {

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
  auto logits =
      layer::fc<3>(layer::fc<5>(x, {.act = lamina::activation::tanh}), {.name = "output"});
  return layer::mean(layer::square(logits));
});

}  // namespace

TEST_CASE("model files: a model's parameters there and back, and its inference program") {
  const temporary_folder folder;
  const lamina::model first{net, 3};
  lamina::save_inference_model(folder.path() + "/inference", first, {"output"});
  const auto read = lamina::load_inference_model(folder.path() + "/inference");
  CHECK(read.program.feed_names() == std::vector<std::string>{"x"});
  CHECK((read.variables->get("fc_0.w_0").as<float>() == first.get(0)));
  lamina::executor executor;
  const lamina::feed_map feed{
      {"x", lamina::tensor({2, 4}, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8})}};
  lamina::scope variables;
  copy_parameters(first, variables);
  CHECK((executor.run(read.program, *read.variables, feed).at(0).as<float>() ==
         executor.run(net.view(), variables, feed, {read.program.fetch_names().at(0)})
             .at(0)
             .as<float>()));

  for (const std::string file : {"", "all"}) {
    lamina::save_persistables(folder.path() + "/parameters", first, file);
    lamina::model second{net, 9};
    CHECK((second.get(0) != first.get(0)));
    lamina::load_persistables(folder.path() + "/parameters", second, file);
    for (int i = 0; i < lamina::model<std::remove_const_t<decltype(net)>>::parameter_arrays(); ++i)
      CHECK((second.get(i) == first.get(i)));
  }
  variables.var("output.b_0") = lamina::tensor({2}, std::vector<float>{1, 2});
  lamina::model other{net, 4};
  const auto before = other.get(0);
  save_variables(folder.path() + "/parameters", variables, {"output.b_0"});
  CHECK_THROWS_WITH(
      lamina::load_persistables(folder.path() + "/parameters", other),
      Contains("parameters/output.b_0, offset 0: expected float32 [3] for variable 'output.b_0', "
               "found float32 [2]"));
  CHECK((other.get(0) == before));
}
