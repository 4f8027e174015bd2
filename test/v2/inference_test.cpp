// SPDX-License-Identifier: Apache-2.0
// infer: what a program returns for samples, with the parameters of others.
#include <array>
#include <cstdint>
#include <tuple>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>
#include <lamina/v2/inference.hpp>

namespace layer = lamina::layer;
namespace paddle = lamina::v2;
using Catch::Contains;

namespace {

constexpr auto cost = lamina::program([](lamina::block& main) {
  auto words = layer::sequence<"words", std::int64_t>(main);
  auto of_words = layer::embedding<10, 3>(words, {.name = "table"});
  return layer::mean(layer::fc<2>(layer::sequence_pool(of_words), {.name = "out"}));
});
// Rows of words, and rows of sentences.
constexpr auto both = lamina::program([](lamina::block& main) {
  auto words = layer::sequence<"words", std::int64_t>(main);
  auto of_words = layer::embedding<10, 3>(words, {.name = "table"});
  return std::tuple{of_words, layer::fc<2>(layer::sequence_pool(of_words), {.name = "out"})};
});
constexpr auto stranger = lamina::program([](lamina::block& main) {
  auto words = layer::sequence<"words", std::int64_t>(main);
  return layer::embedding<10, 3>(words, {.name = "other"});
});

}  // namespace

TEST_CASE("infer returns an array for each variable, with the rows of each") {
  auto parameters = paddle::parameters::create(cost);
  const std::vector<std::vector<std::int64_t>> sentences{{3, 7}, {}, {3}};
  const auto [words, of_sentences] = paddle::infer(both, parameters, sentences);
  REQUIRE(words.shape() == std::vector<std::size_t>{3, 3});
  REQUIRE(of_sentences.shape() == std::vector<std::size_t>{3, 2});
  const auto table = parameters.get("table.w_0");
  for (std::size_t k = 0; k < 3; ++k) {
    CHECK(words(0, k) == table(3, k));
    CHECK(words(1, k) == table(7, k));
    CHECK(words(2, k) == table(3, k));
  }
  CHECK(of_sentences(1, 0) == 0);  // the bias alone
  const auto [largest_of_words, largest] =
      paddle::infer<paddle::field::id>(both, parameters, sentences);
  CHECK(largest_of_words.size() == 3);
  REQUIRE(largest.size() == 3);
  for (std::size_t row = 0; row < 3; ++row)
    CHECK(largest[row] == (of_sentences(row, 1) > of_sentences(row, 0) ? 1 : 0));
}

TEST_CASE("an Inference reads the parameters as they are now, and refuses those it does not find") {
  auto parameters = paddle::parameters::create(cost);
  paddle::inference::Inference inferer(both, parameters);
  const std::vector<std::vector<std::int64_t>> one{{4}};
  parameters["out.b_0"] = lamina::array<float>{0.5f, 2.f};
  parameters["out.w_0"] = lamina::array<float>({3, 2}, std::vector<float>(6));
  const auto out = std::get<1>(inferer.infer(one));
  CHECK(out == lamina::array<float>({1, 2}, {0.5f, 2.f}));
  CHECK_THROWS_WITH(paddle::infer(stranger, parameters, one),
                    "lamina: v2: infer: expected parameters of the output layer, found none of "
                    "name 'other.w_0'");
  CHECK_THROWS_WITH(inferer.infer(std::vector<std::vector<std::int64_t>>{}),
                    "lamina: v2: infer: expected at least one sample, found none");
}
