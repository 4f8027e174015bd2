// SPDX-License-Identifier: Apache-2.0
// Parameters whose names are those of files.
#include "temporary_folder.hpp"
#include <catch2/catch.hpp>

#include <lamina/io/copy_parameters.hpp>
#include <lamina/io/inference_model.hpp>
#include <lamina/io/model_files.hpp>
#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using Catch::Contains;

TEST_CASE("save inference model: parameters may be called as files, but for the program's") {
  constexpr auto named = lamina::program([](lamina::block& main) {
    auto x = layer::data<"x", float, 4>(main);
    return layer::fc<4>(layer::fc<4>(x, {.param = {.name = "w.writing"}, .bias = false}),
                        {.param = {.name = "w"}, .bias_param = {.name = "__model__"}, .name = "y"});
  });
  const temporary_folder folder;
  const lamina::model first{named, 3};
  lamina::inference_files files{.program = "program"};
  for (int again = 0; again < 2; ++again) {
    lamina::save_inference_model(folder.path() + "/a", first, {"y"}, files);
    const auto read = lamina::load_inference_model(folder.path() + "/a", files);
    lamina::model second{named, 9};
    copy_parameters(*read.variables, second);
    for (int i = 0; i < 3; ++i) CHECK((second.get(i) == first.get(i)));
  }
  CHECK_THROWS_WITH(lamina::save_inference_model(folder.path() + "/b", first, {"y"}),
                    Contains("found '__model__' for both"));
  files.parameters = "program";
  CHECK_THROWS_WITH(lamina::save_inference_model(folder.path() + "/b", first, {"y"}, files),
                    Contains("expected different files for the program and the parameters, found "
                             "'program' for both"));
}
