// SPDX-License-Identifier: Apache-2.0
// semantic_similarity - two towers share one projection; the cosine says how similar texts are
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

#include <lamina/lamina.hpp>

namespace layer = lamina::layer;
namespace reader = lamina::reader;
using lamina::activation;

constexpr int words = 200, topics = 20, meaning_size = 16;

// Both towers name the same parameter, so there is one matrix.
constexpr auto tower = [](auto text) {
  return layer::fc<meaning_size>(
      text, {.act = activation::tanh, .param = {.name = "semantic_projection"}, .bias = false});
};
constexpr auto ranking = lamina::program([](lamina::block& main) {
  auto text_a = layer::data<"text_a", float, words>(main);
  auto text_b = layer::data<"text_b", float, words>(main);
  auto same = layer::data<"same", float, 1>(main);
  auto similarity = layer::cos_sim(tower(text_a), tower(text_b), {.name = "similarity"});
  return layer::mean(layer::square_error_cost(similarity, same));
});
// What a server of vectors needs: one tower, over the ranker's parameters.
constexpr auto embedding = lamina::program([](lamina::block& main) {
  auto text = layer::data<"text", float, words>(main);
  return layer::assign(tower(text), {.name = "meaning"});
});

using bag = std::array<float, words>;
struct pair {
  bag a, b;
  std::array<float, 1> same;
};

// Five words; each comes from the ten of its topic, but every fourth from anywhere.
bag text_of(int topic, std::uint64_t text) {
  bag counts{};
  for (std::uint64_t i = 0; i < 5; ++i) {
    const auto [random] = lamina::philox(7, text, i);
    const auto word = random[0] % 4 == 0 ? random[1] % words : topic * 10u + random[1] % 10;
    counts[word] += 1;
  }
  return counts;
}
std::vector<pair> pairs(std::uint64_t first, std::uint64_t last) {
  std::vector<pair> made;
  for (std::uint64_t i = first; i < last; ++i) {
    const auto [random] = lamina::philox(11, 0, i);
    const int topic = static_cast<int>(random[0] % topics);
    const int other = random[1] % 2 == 0 ? topic : static_cast<int>(random[2] % topics);
    made.push_back(
        {text_of(topic, 2 * i), text_of(other, 2 * i + 1), {topic == other ? 1.f : 0.f}});
  }
  return made;
}

int main() {
  lamina::model ranker{ranking};
  lamina::optimizer::adam{.learning_rate = 3e-3f}.train(
      ranker, pairs(0, 4000) | reader::shuffle(4000) | reader::batch(50), {.passes = 20});

  lamina::evaluator e{ranker};
  const auto score = [&](const bag& a, const bag& b) {
    e.forward(lamina::feed<"text_a">(a), lamina::feed<"text_b">(b));
    return e.activation<"similarity">()(0, 0);
  };
  lamina::model server{embedding, lamina::share_parameters_of(ranker)};
  lamina::evaluator v{server};
  const auto meaning = [&](const bag& text) {
    v.forward(lamina::feed<"text">(text));
    const auto values = v.activation<"meaning">();
    return std::vector<float>(values.begin(), values.end());
  };

  int right = 0, count = 0;
  float asymmetry = 0, difference = 0;
  for (const pair& p : pairs(4000, 5000)) {
    const float s = score(p.a, p.b);
    right += (s > 0.5f) == (p.same[0] == 1.f);
    ++count;
    asymmetry = std::max(asymmetry, std::abs(s - score(p.b, p.a)));
    const std::vector<float> a = meaning(p.a), b = meaning(p.b);
    float ab = 0, aa = 0, bb = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
      ab += a[i] * b[i], aa += a[i] * a[i], bb += b[i] * b[i];
    difference = std::max(difference, std::abs(s - ab / std::sqrt(aa * bb)));
  }
  const double accuracy = static_cast<double>(right) / count;
  std::printf("swapped texts differ by at most %g\n", static_cast<double>(asymmetry));
  std::printf("cosines of served vectors differ by at most %g\n", static_cast<double>(difference));
  std::printf("test accuracy %.3f\n", accuracy);
  return asymmetry == 0 && difference < 1e-5f && accuracy >= 0.9 ? 0 : 1;
}
