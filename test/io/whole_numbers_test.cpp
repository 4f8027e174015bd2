// SPDX-License-Identifier: Apache-2.0
// Whole numbers beyond 2^24, and doubles, in the files of programs: constants survive, and what a
// float of a file would round is refused.
// Source: zkonduit/ezkl#1036.
#include <cstdint>
#include <string>
#include <tuple>

#include "executor/shared_executor.hpp"
#include "temporary_folder.hpp"
#include <catch2/catch.hpp>

#include <lamina/io/export_onnx.hpp>
#include <lamina/io/inference_model.hpp>
#include <lamina/io/model_files.hpp>
#include <lamina/io/program_desc_json.hpp>
#include <lamina/layers/layers.hpp>

namespace {

namespace layer = lamina::layer;
using Catch::Contains;
using integer = std::int64_t;

constexpr integer large = 16777217, largest = 9007199254740991;  // 2^24 + 1, 2^53 - 1

constexpr auto constants = lamina::program([](lamina::block& main) {
  auto id = layer::data<"id", integer>(main);
  auto a = layer::elementwise_add(id, layer::fill_constant<integer>(main, large), {.name = "a"});
  auto b = layer::elementwise_add(id, layer::fill_constant<integer>(main, -largest), {.name = "b"});
  auto c = layer::fill_constant<double>(main, 0.1, {.name = "c"});
  return std::tuple{a, b, layer::assign(c, {.name = "d"})};
});
template <int Which>
constexpr auto rounded = lamina::program([](lamina::block& main) {
  auto id = layer::data<"id", integer>(main);
  if constexpr (Which == 0) return layer::scale(id, 1, {.bias = large, .name = "y"});
  if constexpr (Which == 1) return layer::scale(id, large, {.name = "y"});
  if constexpr (Which == 2) return layer::increment(layer::assign(id), large, {.name = "y"});
  if constexpr (Which == 3) return layer::clip(id, -5, large, {.name = "y"});
});
constexpr auto kept = lamina::program([](lamina::block& main) {
  auto id = layer::data<"id", integer>(main);
  return layer::increment(layer::assign(id), 16777216, {.name = "y"});
});

std::string bytes_of(integer value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

TEST_CASE("whole numbers beyond 2^24 and doubles: constants survive every file of a program") {
  const temporary_folder folder;
  const lamina::model m{constants};
  const lamina::feed_map feed{{"id", lamina::tensor({1, 1}, std::vector<integer>{3})}};
  const auto check = [&](const auto& program, lamina::scope& scope,
                         const std::vector<std::string>& names) {
    lamina::basic_executor<double> executor;
    const auto found = executor.run(program, scope, feed, names);
    CHECK(found.at(0).template as<integer>().flat(0) == large + 3);
    CHECK(found.at(1).template as<integer>().flat(0) == -largest + 3);
    CHECK(found.at(2).template as<double>().flat(0) == 0.1);
  };
  lamina::scope none;
  const std::vector<std::string> names{"a.tmp_0", "b.tmp_0", "d.tmp_0"};
  check(constants.view(), none, names);
  lamina::save_inference_model(folder.path() + "/model", m, {"a", "b", "d"});
  const auto read = lamina::load_inference_model(folder.path() + "/model");
  check(read.program, *read.variables, names);
  const std::string json = lamina::to_json(lamina::to_program_message(constants)).dump();
  const lamina::loaded_program of_json(lamina::from_json_text(json), "json");
  check(of_json, none, names);
  CHECK_THAT(json,
             Contains("\"16777217\"") && Contains("\"-9007199254740991\"") && Contains("\"0.1\""));
  const std::string onnx = lamina::to_onnx(constants.view(), none, names);
  CHECK(onnx.find(bytes_of(large)) != onnx.npos);
  CHECK(onnx.find(bytes_of(-largest)) != onnx.npos);
  // PaddlePaddle's own spellings.
  for (const auto& [text, value] :
       {std::pair{"16777217", 16777217.0}, {"+2.5", 2.5}, {"inf", 1 / 0.0}, {"1e-3", 1e-3}}) {
    double found = 0;
    CHECK(lamina::detail::read_number(text, found));
    CHECK(found == value);
  }
  double ignored = 0;
  for (const char* text : {"", "1,5", "1.5x", " 1"})
    CHECK_FALSE(lamina::detail::read_number(text, ignored));
}

TEST_CASE("whole numbers beyond 2^24: an attribute that a float rounds is refused, not rounded") {
  const auto refused = [](const auto& program, const char* attribute, integer wanted) {
    const lamina::program_message message = lamina::to_program_message(program);
    CHECK_THROWS_WITH(lamina::to_proto(message), Contains(attribute) &&
                                                     Contains("that a float holds") &&
                                                     Contains("found 16777217"));
    CHECK_THROWS_AS(lamina::to_json(message), lamina::error);
    lamina::scope none;
    const std::string onnx = lamina::to_onnx(program.view(), none, {"y.tmp_0"});
    CHECK(onnx.find(bytes_of(large)) != onnx.npos);
    lamina::executor executor;
    const lamina::feed_map feed{{"id", lamina::tensor({1, 1}, std::vector<integer>{33554435})}};
    CHECK(executor.run(program.view(), none, feed, {"y.tmp_0"})[0].template as<integer>().flat(0) ==
          wanted);
  };
  refused(rounded<0>, "'bias'", 33554435 + large);
  refused(rounded<1>, "'scale'", 33554435 * large);
  refused(rounded<2>, "'step'", 33554435 + large);
  refused(rounded<3>, "'max'", large);
  CHECK(lamina::to_proto(lamina::to_program_message(kept)).size() > 0);
}
