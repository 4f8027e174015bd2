// SPDX-License-Identifier: Apache-2.0
// Sequences of one and of two levels that are fed by name, and their lengths in what is computed.
#include "model/samples.hpp"

#include <lamina/model/any_model.hpp>

namespace layer = lamina::layer;
using Catch::Contains;

namespace {

using lengths = std::vector<int>;

constexpr auto nested = lamina::program([](lamina::block& main) {
  auto words = layer::nested_sequence<"words", std::int64_t>(main);
  auto each = layer::embedding<9, 4>(words, {.name = "each"});
  auto sentences = layer::sequence_pool(each, {.type = lamina::pooling_type::sum, .name = "inner"});
  auto texts =
      layer::sequence_pool(sentences, {.type = lamina::pooling_type::max, .name = "outer"});
  return layer::mean(layer::fc<1>(texts), {.name = "cost"});
});

}  // namespace

TEST_CASE("an any_model takes nested sequences, and tells the lengths of what it computes") {
  lamina::model own{nested, 3};
  lamina::evaluator e{own};
  const std::vector<std::vector<std::vector<std::int64_t>>> words{
      {{1, 2, 3}, {}, {4}}, {}, {{5, 6}}};
  e.forward(lamina::feed<"words">(words));
  const lamina::any_model m{lamina::model{nested, 3}};
  CHECK(m.inputs()[0].levels == 2);
  lamina::any_evaluator a = m.evaluator();
  const std::vector<std::int64_t> all{1, 2, 3, 4, 5, 6};
  const lengths outer{3, 0, 1}, inner{3, 0, 1, 2};
  a.forward({{"words", all, outer, inner}});
  CHECK(a.activation("each") == lamina::array<float>(e.activation<"each">()));
  CHECK(a.activation("inner") == lamina::array<float>(e.activation<"inner">()));
  CHECK(a.activation("outer") == lamina::array<float>(e.activation<"outer">()));
  CHECK(a.lengths("each") == inner);
  CHECK(a.lengths("each", 1) == inner);
  CHECK(a.lengths("each", 0) == outer);
  CHECK(a.lengths("inner") == outer);
  const auto fails = [&](const auto& call, const char* with) {
    CHECK_THAT(test::error_of(call), Contains(with));
  };
  fails([&] { (void)a.lengths("each", 2); },
        "lengths each: expected a level of its sequences, found 2");
  fails([&] { (void)a.lengths("outer"); }, "expected a level of its sequences, found -1");
  fails([&] { (void)a.lengths("words_"); }, "expected one of each, inner, outer");
  const auto refuses = [&](const lengths& above, const lengths& below, const char* with) {
    fails([&] { a.forward({{"words", all, above, below}}); }, with);
  };
  refuses(outer, {3, 0, 1}, "feed words: expected lengths of inner sequences with the sum 6");
  refuses({3, 0}, inner, "feed words: expected lengths with the sum 4, found 3");
  refuses(outer, {7, -1, 0, 0}, "expected lengths of inner sequences of at least 0, found -1");
  refuses(inner, {}, "expected lengths of inner sequences with the sum 6, found 0");
  refuses({2147483647, 2147483647}, inner, "expected lengths with the sum 4, found 4294967294");
}

TEST_CASE("an any_feed of two levels is for nested sequences alone") {
  static constexpr auto net = lamina::program([](lamina::block& main) {
    auto words = layer::sequence<"words", std::int64_t>(main);
    return layer::sequence_pool(layer::embedding<9, 4>(words), {.name = "sum"});
  });
  lamina::any_evaluator e = lamina::any_model{lamina::model{net, 3}}.evaluator();
  const std::vector<std::int64_t> all{1, 2, 3};
  const lengths two{2, 1};
  CHECK_THAT(test::error_of([&] {
               e.forward({{"words", all, two, two}});
             }),
             Contains("feed words: expected no lengths of inner sequences, found 2"));
  e.forward({{"words", all.data(), all.size(), two}});
}
