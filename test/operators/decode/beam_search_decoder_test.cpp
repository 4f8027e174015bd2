// SPDX-License-Identifier: Apache-2.0
// Decoders in a program on the engine, beside a search of each sentence alone.
#include <algorithm>
#include <set>

#include "engine/beam_programs.hpp"
#include "laws/engine_law.hpp"

using namespace test::beam;

namespace {

// The same search, sentence by sentence.
struct search {
  struct hypothesis {
    std::vector<double> ids, scores, state;
    std::size_t parent = 0;
  };
  std::vector<double> ids, scores, states;
  lamina::lod::level of_sentence, of_hypothesis;
  std::vector<std::size_t> made = std::vector<std::size_t>(steps);  // hypotheses of each step
  int ended_early = 0;

  search(lamina::scope& parameters, const lamina::lod_tensor& first_ids,
         const lamina::lod_tensor& first_scores, const lamina::lod_tensor& first_states)
      : words_(values(parameters.var("words"))),
        to_words_(values(parameters.var("to_words"))),
        from_word_(values(parameters.var("from_word"))),
        from_state_(values(parameters.var("from_state"))) {
    const std::vector<double> id = values(first_ids), score = values(first_scores),
                              state = values(first_states);
    const lamina::lod::level sentences = first_ids.lod().absolute(0);
    for (std::size_t s = 0; s + 1 < sentences.size(); ++s) {
      std::vector<hypothesis> best;
      for (std::size_t r = sentences[s]; r < sentences[s + 1]; ++r)
        best.push_back({{id[r]},
                        {score[r]},
                        {state.begin() + static_cast<std::ptrdiff_t>(r) * width,
                         state.begin() + static_cast<std::ptrdiff_t>(r + 1) * width},
                        0});
      keep(decoded(best));
    }
  }
  std::vector<lamina::lod::level> lengths() const { return {of_sentence, of_hypothesis}; }

 private:
  static std::vector<double> values(const lamina::tensor& t) {
    const auto a = t.cast<double>();
    return {a.begin(), a.end()};
  }
  // The hypothesis after one more word, of which ids and scores have not been told.
  hypothesis next(const hypothesis& h) const {
    hypothesis n = h;
    for (std::size_t j = 0; j < width; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < width; ++k)
        sum +=
            words_[static_cast<std::size_t>(h.ids.back()) * width + k] * from_word_[k * width + j] +
            h.state[k] * from_state_[k * width + j];
      n.state[j] = std::tanh(sum);
    }
    return n;
  }
  std::vector<double> log_chances(const std::vector<double>& state) const {
    std::vector<double> chance(known_words);
    double sum = 0;
    for (std::size_t w = 0; w < known_words; ++w) {
      for (std::size_t k = 0; k < width; ++k)
        chance[w] += state[k] * to_words_[k * known_words + w];
      sum += std::exp(chance[w]);
    }
    for (double& c : chance) c -= std::log(sum);
    return chance;
  }
  std::vector<hypothesis> decoded(std::vector<hypothesis> now) {
    for (std::size_t t = 0; t < steps; ++t) {
      std::vector<hypothesis> all;
      bool over = true;
      for (std::size_t i = 0; i < now.size(); ++i) {
        const hypothesis& h = now[i];
        hypothesis n = next(h);
        n.parent = i;
        n.ids.push_back(end_id);
        n.scores.push_back(h.scores.back());
        if (h.ids.back() == end_id) {
          all.push_back(n);
          continue;
        }
        const std::vector<double> chance = log_chances(n.state);
        for (int w = 0; w < known_words; ++w) {
          n.ids.back() = w;
          n.scores.back() = h.scores.back() + chance[static_cast<std::size_t>(w)];
          all.push_back(n);
        }
      }
      std::stable_sort(all.begin(), all.end(), [](const hypothesis& a, const hypothesis& b) {
        return a.scores.back() > b.scores.back();
      });
      if (all.size() > beam_size) all.resize(beam_size);
      for (const hypothesis& h : all)
        over = over && h.ids.back() == end_id && h.ids[h.ids.size() - 2] == end_id;
      if (over) {
        if (!now.empty()) ++ended_early;
        return now;
      }
      made[t] += all.size();
      // They lie behind the hypothesis that they continue.
      std::stable_sort(all.begin(), all.end(), [](const hypothesis& a, const hypothesis& b) {
        return a.parent < b.parent;
      });
      now = all;
    }
    for (const hypothesis& h : now) states.insert(states.end(), h.state.begin(), h.state.end());
    return now;
  }
  void keep(std::vector<hypothesis> found) {
    std::stable_sort(found.begin(), found.end(), [](const hypothesis& a, const hypothesis& b) {
      return a.scores.back() > b.scores.back();
    });
    of_sentence.push_back(found.size());
    for (const hypothesis& h : found) {
      const std::size_t before = ids.size();
      for (std::size_t i = 0; i < h.ids.size(); ++i)
        if (h.ids[i] != end_id || i + 1 == h.ids.size())
          ids.push_back(h.ids[i]), scores.push_back(h.scores[i]);
      of_hypothesis.push_back(ids.size() - before);
    }
  }

  std::vector<double> words_, to_words_, from_word_, from_state_;
};

// No first hypothesis has ended.
void begin_with_words(lamina::law::fed_values& ids) {
  std::vector<std::int64_t> words(ids.value.size());
  std::memcpy(words.data(), ids.bytes.data(), ids.bytes.size());
  for (std::int64_t& w : words)
    if (w == end_id) w = 1;
  std::memcpy(ids.bytes.data(), words.data(), ids.bytes.size());
  ids.value = lamina::lod_tensor(lamina::tensor(ids.value.shape(), words), ids.value.lod());
}

}  // namespace

TEST_CASE("A decoder that goes on with what it selected") {
  const lamina::law::engine_law_options o{.limit = dictionary, .rows_are_alone = false};
  lamina::law::check_engine(decoder<4, 4, -1>, o);
  lamina::law::check_engine(decoder<12, 3, 0>, o);
  lamina::law::check_engine(decoder<4, 4, -1, double>, o);
}

TEST_CASE("One machine decodes mini-batches of any size") {
  using run_type = lamina::law::engine_run<std::remove_const_t<decltype(decoder<4, 4, -1>)>>;
  const lamina::law::engine_law_options o{.limit = dictionary};
  run_type run(o);
  const std::vector<int> wanted(run_type::desc.outputs + 1,
                                run_type::desc.outputs + run_type::desc.count.outputs);
  for (const int rows : {2, 17, 1, 40, 5}) {
    INFO(rows << " rows");
    run.draw(rows);
    const std::vector<lamina::lod_tensor> expected = run.run_executor<float>(wanted);
    run.run_engine(0, rows);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      lamina::law::require_close(run.on_engine(wanted[i]), expected[i], o.tolerance);
  }
}

TEST_CASE("A decoder finds what a search of each sentence alone does") {
  const lamina::law::engine_law_options o{.low = -1.5f, .high = 1.5f, .limit = known_words};
  using run_type = lamina::law::engine_run<std::remove_const_t<decltype(translator)>>;
  run_type run(o);
  const std::vector<int> wanted(run_type::desc.outputs,
                                run_type::desc.outputs + run_type::desc.count.outputs);
  for (const int rows : {11, 3, 1}) {
    INFO(rows << " rows");
    run.draw(rows);
    begin_with_words(run.feed(0));
    const std::vector<lamina::lod_tensor> on_executor = run.run_executor<double>(wanted);
    run.run_engine(0, rows);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      lamina::law::require_close(run.on_engine(wanted[i]), on_executor[i], o.tolerance);
    const search expected(run.variables(), run.feed(0).value, run.feed(1).value, run.feed(2).value);
    CHECK(on_executor[1].recursive_sequence_lengths() == expected.lengths());
    lamina::law::require_close(expected.ids, on_executor[1], 0);
    lamina::law::require_close(expected.scores, on_executor[2], 1e-5);
    lamina::law::require_close(expected.states, on_executor[4], 1e-5);
    if (rows > 10) {
      // Some sentences end early, and steps have other many hypotheses.
      CHECK(expected.ended_early > 0);
      CHECK(expected.ended_early < rows);
      CHECK(std::set<std::size_t>(expected.made.begin(), expected.made.end()).size() > 2);
    }
  }
}
