// SPDX-License-Identifier: Apache-2.0
// A tagger with a conditional random field: trained, then run without gradients.
#include <vector>

#include "model/draws.hpp"
#include <catch2/catch.hpp>

#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

namespace {

// The tag of a word is its third of the dictionary, and never the tag before: then it is 3.
constexpr auto tagger = lamina::program([](lamina::block& main) {
  auto word = layer::sequence<"word", std::int64_t>(main);
  auto tag = layer::sequence<"tag", std::int64_t>(word);
  auto scores = layer::fc<4>(layer::embedding<12, 8>(word));
  return layer::mean(layer::linear_chain_crf(scores, tag, {.name = "cost"}));
});

struct sentence {
  std::vector<std::int64_t> word, tag;
};

std::vector<sentence> sentences(int n) {
  std::vector<sentence> all;
  test::draws draw(5);
  for (int i = 0; i < n; ++i) {
    sentence s;
    for (auto length = draw(7); length > 0; --length) {  // 0 too
      const std::int64_t word = draw(12), third = word / 4;
      const bool repeats = !s.tag.empty() && s.tag.back() == third;
      s.word.push_back(word);
      s.tag.push_back(repeats ? 3 : third);
    }
    all.push_back(s);
  }
  return all;
}

}  // namespace

TEST_CASE("a tagger learns what tags follow each other, and costs the same without gradients") {
  lamina::model model{tagger};
  lamina::evaluator e{model};
  const std::vector<std::vector<std::int64_t>> words = {{1, 5, 9}, {}, {1, 2, 5}, {4}};
  const std::vector<std::vector<std::int64_t>> tags = {{0, 1, 2}, {}, {0, 3, 1}, {1}};
  const auto costs = [&] {
    e.forward(lamina::feed<"word">(words), lamina::feed<"tag">(tags));
    auto cost = e.activation<"cost">();
    REQUIRE(cost.shape(0) == 4);
    return std::vector<float>{cost(0, 0), cost(1, 0), cost(2, 0), cost(3, 0)};
  };
  const std::vector<float> before = costs();
  lamina::optimizer::adam adam{.learning_rate = 0.05f};
  adam.train(model, sentences(600) | lamina::reader::batch(20), {.passes = 8});
  const std::vector<float> after = costs();
  CHECK(before[1] == 0);
  CHECK(after[1] == 0);
  for (std::size_t s : {0u, 2u, 3u}) {
    CHECK(before[s] > 0.5f);
    CHECK(after[s] > 0);
    CHECK(after[s] < 0.2f);
  }
}
