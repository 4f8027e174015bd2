// SPDX-License-Identifier: Apache-2.0
// Rows of sequences: those of inputs, of what operators make, and of sequences of sequences.
#include <catch2/catch.hpp>
#include <codegen/same_program.hpp>

#include <lamina/codegen/native_source.hpp>
#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using Catch::Contains;
using lamina::activation;

namespace {

std::string text_of(const lamina::program_view& p) {
  return lamina::native_source(lamina::loaded_program(same_program::as_saved(p)));
}

}  // namespace

TEST_CASE("native rows: inputs that are read side by side have the rows of the first") {
  constexpr auto net = lamina::program([](lamina::block& main) {
    auto words = layer::sequence<"words", std::int64_t>(main);
    auto tags = layer::sequence<"tags", std::int64_t>(words);
    auto apart = layer::sequence<"apart", float, 3>(main);
    auto p = layer::softmax(layer::fc<5>(layer::embedding<9, 4>(words)));
    return std::tuple{layer::mean(layer::cross_entropy(p, tags)), layer::sequence_pool(apart)};
  });
  const std::string text = text_of(net.view());
  CHECK_THAT(text, Contains("layer::sequence<\"words\", std::int64_t>(main);"));
  CHECK_THAT(text, Contains("layer::sequence<\"tags\", std::int64_t>(words);"));
  CHECK_THAT(text, Contains("layer::sequence<\"apart\", float, 3>(main);"));
}

TEST_CASE("native rows: rows that an operator makes are others, and have parents") {
  constexpr auto net = lamina::program([](lamina::block& main) {
    auto ids = layer::sequence<"ids", std::int64_t>(main);
    auto kept = layer::sequence_erase<"kept">(ids, {2});
    auto deep = layer::nested_sequence<"deep", float, 3>(main);
    auto sentences = layer::sequence_pool(deep);
    auto part = layer::sequence_reverse(sentences);
    return std::tuple{kept, part, layer::sequence_pool(part)};
  });
  const std::string text = text_of(net.view());
  CHECK_THAT(text, Contains("lamina::variable<std::int64_t, lamina::tokens<\"sequence_erase_0\">"));
  CHECK_THAT(text, Contains("auto deep = layer::nested_sequence<\"deep\", float, 3>(main);"));
  CHECK_THAT(text, Contains("auto sequence_pool_0 = layer::sequence_pool(deep);"));
}
