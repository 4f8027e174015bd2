// SPDX-License-Identifier: Apache-2.0
// Whole sentences from the steps of a beam search, by the executor.
#include <algorithm>

#include "executor/shared_executor.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/operators/control/array/layer.hpp>
#include <lamina/operators/control/block/layer_while.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;
using Catch::Contains;
using lamina::block;
using lamina::lod;
using lamina::lod_tensor;
using lamina::tensor;

using levels = std::vector<lod::level>;

using sentence = std::vector<std::int64_t>;

namespace {

constexpr int end_id = 0, dictionary = 4;

// The score of a word depends on the word before and on the step, so that no two sentences tie.
template <int BeamSize, int Steps>
constexpr auto decoder = lamina::program([](block& main) {
  auto ids = layer::nested_sequence<"beam", std::int64_t>(main);
  auto scores = layer::sequence<"scores", float>(ids);
  auto i = layer::fill_constant<std::int64_t>(main, 0);
  auto n = layer::fill_constant<std::int64_t>(main, Steps);
  auto id_steps = layer::array_write(ids, i);
  auto score_steps = layer::array_write(scores, i);
  auto weight = layer::fill_constant<float>(main, 1);
  auto going = layer::less_than(i, n);
  layer::while_loop(going, [&](block&) {
    auto next = layer::embedding<dictionary, dictionary>(ids, {.param = {.name = "bigram"}});
    auto all = layer::elementwise_add<0>(next * weight, scores);
    weight = weight * 1.125f;
    auto selected = layer::beam_search<"beam">(ids, scores, all, BeamSize, end_id);
    ids = std::get<0>(selected);
    scores = std::get<1>(selected);
    layer::increment(i);
    layer::array_write(ids, i, id_steps);
    layer::array_write(scores, i, score_steps);
    layer::less_than(i, n, going);
  });
  return layer::beam_search_decode<"found">(id_steps, score_steps, BeamSize, end_id);
});

constexpr auto unequal = lamina::program([](block& main) {
  auto ids = layer::nested_sequence<"beam", std::int64_t>(main);
  auto scores = layer::sequence<"scores", float>(ids);
  auto i = layer::fill_constant<std::int64_t>(main, 0),
       j = layer::fill_constant<std::int64_t>(main, 1);
  auto id_steps = layer::array_write(ids, i);
  layer::array_write(ids, j, id_steps);
  auto [found, of_found] =
      layer::beam_search_decode<"found">(id_steps, layer::array_write(scores, i), 1, end_id);
  return std::tuple{found, of_found};
});

std::vector<double> bigram() {
  std::vector<double> table;
  for (std::size_t i = 0; i < dictionary * dictionary; ++i)
    table.push_back(lamina::random_uniform_at(11, 1, i, -3.0f, 0.0f));
  return table;
}

lamina::feed_map starts(const levels& lengths, const sentence& ids) {
  const lod l = lod::from_lengths(lengths);
  return {{"beam", lod_tensor(tensor({ids.size(), 1}, ids), l)},
          {"scores", lod_tensor(tensor({ids.size(), 1}, std::vector<double>(ids.size())), l)}};
}

template <class P>
std::vector<lod_tensor> run(P, const lamina::feed_map& feed, const std::vector<double>& table) {
  lamina::basic_executor<double> executor;
  lamina::scope scope;
  scope.var("bigram") = tensor({dictionary, dictionary}, table);
  return executor.run(P::view(), scope, feed);
}

// Whole sentences with the scores of all of their words.
struct hypothesis {
  sentence ids;
  std::vector<double> scores;
  bool ended() const { return ids.back() == end_id; }
};

std::vector<hypothesis> searched(std::int64_t start, std::size_t beam, int steps,
                                 const std::vector<double>& table) {
  std::vector<hypothesis> kept{{{start}, {0}}};
  double weight = 1;
  for (int t = 0; t < steps; ++t, weight *= 1.125) {
    std::vector<hypothesis> next;
    for (const hypothesis& h : kept) {
      if (h.ended()) next.push_back(h);
      for (std::int64_t k = 0; k < dictionary && !h.ended(); ++k) {
        next.push_back(h);
        next.back().ids.push_back(k);
        const double word = table[static_cast<std::size_t>(h.ids.back() * dictionary + k)];
        next.back().scores.push_back(h.scores.back() + weight * word);
      }
    }
    std::sort(next.begin(), next.end(),
              [](const auto& a, const auto& b) { return a.scores.back() > b.scores.back(); });
    if (next.size() > beam) next.resize(beam);
    kept = next;
  }
  return kept;
}

template <int BeamSize, int Steps>
void check_decoder() {
  INFO("beam of " << BeamSize << ", " << Steps << " steps");
  const sentence start{1, 2, 3};
  const auto r = run(decoder<BeamSize, Steps>, starts({{1, 0, 1, 1}, {1, 1, 1}}, start), bigram());
  levels lengths{{}, {}};
  sentence ids;
  std::vector<double> scores;
  for (std::size_t sample = 0; sample < 4; ++sample) {
    lengths[0].push_back(0);
    if (sample == 1) continue;
    for (const hypothesis& h :
         searched(start[sample == 0 ? 0 : sample - 1], BeamSize, Steps, bigram())) {
      ++lengths[0].back();
      lengths[1].push_back(h.ids.size());
      ids.insert(ids.end(), h.ids.begin(), h.ids.end());
      scores.insert(scores.end(), h.scores.begin(), h.scores.end());
    }
  }
  CHECK(r[0].recursive_sequence_lengths() == lengths);
  CHECK(r[1].recursive_sequence_lengths() == lengths);
  const auto found = r[0].template as<std::int64_t>();
  const auto of_found = r[1].template as<double>();
  CHECK(sentence(found.begin(), found.end()) == ids);
  REQUIRE(of_found.size() == scores.size());
  for (std::size_t i = 0; i < scores.size(); ++i) CHECK(of_found.flat(i) == Approx(scores[i]));
}

}  // namespace

TEST_CASE("a loop of beam_search finds what a search over whole sentences does") {
  check_decoder<1, 4>();
  check_decoder<2, 5>();
  check_decoder<3, 4>();
  check_decoder<256, 4>();  // room for every sentence
  check_decoder<2, 0>();
}

TEST_CASE("a source that has ended early is decoded from its last step, with one end") {
  // 1 is followed by the end, 2 by 3, 3 by 3; all else is unlikely.
  std::vector<double> table(dictionary * dictionary, -9);
  table[1 * dictionary + end_id] = table[2 * dictionary + 3] = table[3 * dictionary + 3] = -1;
  const auto r = run(decoder<1, 4>, starts({{1, 1}, {1, 1}}, {1, 2}), table);
  const auto ids = r[0].as<std::int64_t>();
  CHECK(sentence(ids.begin(), ids.end()) == sentence{1, end_id, 2, 3, 3, 3, 3});
  CHECK(r[0].recursive_sequence_lengths() == levels{{1, 1}, {2, 5}});
  CHECK(r[1].as<double>().flat(1) == Approx(-1));
  CHECK(r[1].as<double>().flat(6) == Approx(-1 - 1.125 - 1.125 * 1.125 - 1.125 * 1.125 * 1.125));
  // Both have ended: the last steps select nothing.
  const auto both = run(decoder<1, 4>, starts({{1, 1}, {1, 1}}, {1, 1}), table);
  CHECK(both[0].recursive_sequence_lengths() == levels{{1, 1}, {2, 2}});
}

TEST_CASE("steps that do not belong together are refused") {
  CHECK_THROWS_WITH(run(unequal, starts({{1}, {1}}, {1}), bigram()),
                    Contains("layer beam_search_decode_0") && Contains("found 1 and 2"));
}
