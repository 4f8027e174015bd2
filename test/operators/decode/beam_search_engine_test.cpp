// SPDX-License-Identifier: Apache-2.0
// Steps of a beam search on the engine, beside a search over whole sentences.
#include <algorithm>

#include "laws/kernel_bench.hpp"

#include <lamina/core/numbers/random.hpp>
#include <lamina/operators/decode/beam_search/cpu.hpp>
#include <lamina/operators/decode/beam_search/cpu_decode.hpp>

using Catch::Contains;
using namespace lamina;

using sentence = std::vector<std::int64_t>;

using floats = std::vector<float>;

using integers = std::vector<int>;

namespace {

constexpr int end_id = 0, dictionary = 4;

floats bigram() {
  floats table;
  for (std::size_t i = 0; i < dictionary * dictionary; ++i)
    table.push_back(random_uniform_at(11, 1, i, -3.0f, 0.0f));
  return table;
}

// The score of a word depends on the word before and on the step, so that no two sentences tie.
float score_of(const floats& table, std::int64_t before, std::int64_t word, float weight) {
  return weight * table[static_cast<std::size_t>(before * dictionary + word)];
}

/// Runs the kernels as a program with a loop would.
struct decoder : law::kernel_bench {
  int sources = add_domain(domain_kind::sequence, batch::domain);
  int beam = add_domain(domain_kind::sequence, sources);
  int next_sources = add_domain(domain_kind::sequence, batch::domain);
  int next_beam = add_domain(domain_kind::sequence, next_sources);
  int found_sources = add_domain(domain_kind::sequence, batch::domain);
  int found_tokens = add_domain(domain_kind::sequence, found_sources);
  int ids = add<std::int64_t>(beam, {1}), scores = add<float>(beam, {1});
  int all = add<float>(beam, {dictionary});
  int next_ids = add<std::int64_t>(next_beam, {1}), next_scores = add<float>(next_beam, {1});
  int parents = add<std::int32_t>(next_beam, {1});
  int id_steps = add_array<std::int64_t>(beam, {1}), score_steps = add_array<float>(beam, {1});
  int i = add<std::int64_t>(0, {1});
  int found = add<std::int64_t>(found_tokens, {1}), of_found = add<float>(found_tokens, {1});

  void start(const integers& hypotheses, const sentence& first) {
    feed_rows(batch::domain, static_cast<int>(hypotheses.size()));
    feed_lengths(sources, hypotheses);
    feed_lengths(beam, integers(first.size(), 1));
    set(ids, first);
    set(scores, floats(first.size()));
    write(0);
  }
  void write(int step) {
    set<std::int64_t>(i, {step});
    call<operators::write_to_array>({ids, i}, {id_steps});
    call<operators::write_to_array>({scores, i}, {score_steps});
  }
  void search(int step, int beam_size, float weight, const floats& table) {
    floats candidates;
    const sentence before = get<std::int64_t>(ids);
    const floats so_far = get<float>(scores);
    for (std::size_t r = 0; r < before.size(); ++r)
      for (int k = 0; k < dictionary; ++k)
        candidates.push_back(so_far[r] + score_of(table, before[r], k, weight));
    set(all, candidates);
    call<operators::beam_search>({ids, scores, -1, all}, {next_ids, next_scores, parents},
                                 {0, beam_size, end_id, true});
    const sentence chosen = get<std::int64_t>(next_ids);
    const floats kept = get<float>(next_scores);
    feed_lengths(sources, made(next_sources));
    feed_lengths(beam, made(next_beam));
    set(ids, chosen);
    set(scores, kept);
    write(step);
  }
  integers made(int domain) const { return lengths(domain); }
  void decode(int beam_size) {
    call<operators::beam_search_decode>({id_steps, score_steps}, {found, of_found},
                                        {beam_size, end_id});
  }
};

struct hypothesis {
  sentence ids;
  floats scores;
};

std::vector<hypothesis> searched(std::int64_t start, std::size_t beam, int steps,
                                 const floats& table) {
  std::vector<hypothesis> kept{{{start}, {0}}};
  float weight = 1;
  for (int t = 0; t < steps; ++t, weight *= 1.125f) {
    std::vector<hypothesis> next;
    for (const hypothesis& h : kept) {
      const bool ended = h.ids.back() == end_id;
      if (ended) next.push_back(h);
      for (std::int64_t k = 0; k < dictionary && !ended; ++k) {
        next.push_back(h);
        next.back().ids.push_back(k);
        next.back().scores.push_back(h.scores.back() + score_of(table, h.ids.back(), k, weight));
      }
    }
    std::sort(next.begin(), next.end(),
              [](const auto& a, const auto& b) { return a.scores.back() > b.scores.back(); });
    if (next.size() > beam) next.resize(beam);
    kept = next;
  }
  return kept;
}

void check_decoder(int beam_size, int steps) {
  INFO("beam of " << beam_size << ", " << steps << " steps");
  decoder d;
  const sentence start{1, 2, 3};
  d.start({1, 0, 1, 1}, start);
  float weight = 1;
  for (int t = 0; t < steps; ++t, weight *= 1.125f) d.search(t + 1, beam_size, weight, bigram());
  d.decode(beam_size);
  integers of_source, of_sentence;
  sentence ids;
  floats scores;
  for (std::size_t sample = 0; sample < 4; ++sample) {
    of_source.push_back(0);
    if (sample == 1) continue;
    for (const hypothesis& h : searched(start[sample == 0 ? 0 : sample - 1],
                                        static_cast<std::size_t>(beam_size), steps, bigram())) {
      ++of_source.back();
      of_sentence.push_back(static_cast<int>(h.ids.size()));
      ids.insert(ids.end(), h.ids.begin(), h.ids.end());
      scores.insert(scores.end(), h.scores.begin(), h.scores.end());
    }
  }
  CHECK(d.made(d.found_sources) == of_source);
  CHECK(d.made(d.found_tokens) == of_sentence);
  CHECK(d.get<std::int64_t>(d.found) == ids);
  CHECK(d.get<float>(d.of_found) == scores);
}

}  // namespace

TEST_CASE("Steps of beam_search find what a search over whole sentences does") {
  check_decoder(1, 4);
  check_decoder(2, 5);
  check_decoder(3, 4);
  check_decoder(256, 4);  // room for every sentence
  check_decoder(2, 0);
}

TEST_CASE("A source that has ended early is decoded from its last step, with one end") {
  // 1 is followed by the end, 2 by 3, 3 by 3; all else is unlikely.
  floats table(dictionary * dictionary, -9);
  table[1 * dictionary + end_id] = table[2 * dictionary + 3] = table[3 * dictionary + 3] = -1;
  decoder d;
  d.start({1, 1}, {1, 2});
  for (int t = 1; t <= 4; ++t) d.search(t, 1, 1, table);
  d.decode(1);
  CHECK(d.get<std::int64_t>(d.found) == sentence{1, end_id, 2, 3, 3, 3, 3});
  CHECK(d.made(d.found_tokens) == integers{2, 5});
  CHECK(d.get<float>(d.of_found) == floats{0, -1, 0, -1, -2, -3, -4});
}

TEST_CASE("Steps that do not belong together are refused") {
  decoder d;
  d.start({1, 1}, {1, 2});
  d.search(1, 2, 1, bigram());
  CHECK_THROWS_WITH(d.decode(1), Contains("expected at most 1 hypotheses of a source, found 2"));
  d.array(d.score_steps).erase(1);
  CHECK_THROWS_WITH(d.decode(2), Contains("two levels of sequences in step 1"));
  d.write(1);
  d.write(2);
  CHECK_THROWS_WITH(d.decode(2), Contains("expected a sequence for each of the 4 hypotheses of 2 "
                                          "sources in step 2, found 2 of 2"));
  d.set<std::int64_t>(d.i, {3});
  d.call<operators::write_to_array>({d.ids, d.i}, {d.id_steps});
  CHECK_THROWS_WITH(d.decode(2), Contains("as many steps of scores as of ids, and one at least, "
                                          "found 3 and 4"));
  CHECK_THROWS_WITH(
      (d.call<operators::beam_search>({d.ids, d.scores, -1, d.all}, {d.next_ids, d.next_scores, -1},
                                      {2, 1, end_id, true})),
      Contains("expected a level below 2, found 2"));
  CHECK_THROWS_WITH(
      (d.call<operators::beam_search>({d.ids, d.scores, -1, d.all}, {d.next_ids, d.next_scores, -1},
                                      {0, 0, end_id, true})),
      Contains("expected a beam_size of at least 1, found 0"));
}
