// SPDX-License-Identifier: Apache-2.0
// machine_translation - an encoder, a decoder with attention, and a beam; takes wmt14.tgz
//
//   examples/run machine_translation [ARCHIVE]
//
// ARCHIVE is WMT-14 as PaddlePaddle distributes it. Without it the program learns made-up
// sentences. It trains the decoder by dynamic_rnn and translates by a beam search in a loop.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "synthetic_wmt14.hpp"

#include <lamina/dataset/wmt14.hpp>
#include <lamina/lamina.hpp>
#include <lamina/metric/bleu.hpp>

namespace layer = lamina::layer;
namespace reader = lamina::reader;
namespace wmt14 = lamina::dataset::wmt14;
using lamina::activation;

constexpr int beam_size = 4, longest = 50;
constexpr std::int64_t start = lamina::dataset::translation::start_id;
constexpr int end = lamina::dataset::translation::end_id;

constexpr lamina::param_attr shared(std::string_view name) { return {.name = name}; }

// The network of Bahdanau et al. (2014), as in PaddlePaddle's book.
template <int Dictionary, int Width>
struct network {
  static constexpr int width = Width;

  static constexpr auto embed(auto words, std::string_view table) {
    return layer::embedding<Dictionary, Width>(words, {.param = shared(table)});
  }
  static constexpr auto read(auto vectors, bool is_reverse, std::string_view in,
                             std::string_view gru, std::string_view bias) {
    return layer::dynamic_gru<Width>(
        layer::fc<3 * Width>(vectors, {.param = shared(in), .bias = false}),
        {.is_reverse = is_reverse, .param = shared(gru), .bias_param = shared(bias)});
  }
  // The source in both directions, what the attention compares of it, and the decoder's first
  // state.
  static constexpr auto encode(auto source) {
    auto vectors = embed(source, "source_words");
    auto forward = read(vectors, false, "forward_in", "forward", "forward_bias");
    auto backward = read(vectors, true, "backward_in", "backward", "backward_bias");
    auto encoded = layer::concat({forward, backward});
    auto compared = layer::fc<Width>(encoded, {.param = shared("compared"), .bias = false});
    auto first = layer::fc<Width>(
        layer::sequence_first_step(backward),
        {.act = activation::tanh, .param = shared("first"), .bias_param = shared("first_bias")});
    return std::tuple{encoded, compared, first};
  }
  // The decoder's state behind a word.
  static constexpr auto next_state(auto vector, auto state, auto encoded, auto compared) {
    auto seen = layer::simple_attention(
        encoded, compared, state,
        {.transform_param = shared("attention"), .softmax_param = shared("attention_score")});
    auto in = layer::fc<3 * Width>(seen, {.param = shared("decoder_seen"), .bias = false}) +
              layer::fc<3 * Width>(vector, {.param = shared("decoder_word"), .bias = false});
    return std::get<0>(layer::gru_unit<3 * Width>(
        in, state, {.param = shared("decoder"), .bias_param = shared("decoder_bias")}));
  }
  static constexpr auto scores(auto state) {
    return layer::fc<Dictionary>(state,
                                 {.param = shared("scores"), .bias_param = shared("scores_bias")});
  }
};

template <class Net>
constexpr auto training = lamina::program([](lamina::block& main) {
  auto source = layer::sequence<"source", std::int64_t>(main);
  auto target = layer::sequence<"target", std::int64_t>(main);
  auto next = layer::sequence<"next", std::int64_t>(target);
  const auto code = Net::encode(source);
  auto encoded = std::get<0>(code);
  auto compared = std::get<1>(code);
  auto first = std::get<2>(code);
  auto vectors = Net::embed(target, "target_words");
  auto states = layer::dynamic_rnn(vectors, [&](auto& step) {
    auto before = step.memory(first);
    auto state = Net::next_state(step.input(vectors), before, step.static_input(encoded),
                                 step.static_input(compared));
    step.update(before, state);
    return state;
  });
  return layer::mean(layer::softmax_with_cross_entropy(Net::scores(states), next));
});

template <class Net>
constexpr auto translating = lamina::program([](lamina::block& main) {
  auto source = layer::sequence<"source", std::int64_t>(main);
  auto ids = layer::nested_sequence<"beam", std::int64_t>(main);
  auto scores = layer::sequence<"score", float>(ids);
  auto [encoded, compared, first] = Net::encode(source);
  auto state = layer::sequence_expand(layer::sequence_expand<0>(first, ids), ids);
  auto both = layer::concat(std::tuple{encoded, compared});
  auto i = layer::fill_constant<std::int64_t>(main, 0);
  auto n = layer::fill_constant<std::int64_t>(main, longest);
  auto id_steps = layer::array_write(ids, i);
  auto score_steps = layer::array_write(scores, i);
  auto going = layer::less_than(i, n);
  layer::while_loop(going, [&](lamina::block&) {
    // What there is of a source, for each of its hypotheses.
    auto of_each =
        layer::sequence_expand<"seen", 1>(layer::sequence_expand<"of_source", 0>(both, ids), ids);
    auto [seen, to_compare] = layer::split<layer::sections<2 * Net::width, Net::width>>(of_each);
    auto now = Net::next_state(Net::embed(ids, "target_words"), state, seen, to_compare);
    auto all = layer::elementwise_add<0>(layer::log(layer::softmax(Net::scores(now))), scores);
    auto [selected, score, parent] = layer::beam_search<"beam">(ids, scores, all, beam_size, end);
    ids = selected;
    scores = score;
    state = layer::gather(now, parent);
    layer::increment(i);
    layer::array_write(ids, i, id_steps);
    layer::array_write(scores, i, score_steps);
    layer::less_than(i, n, going);
  });
  return std::get<0>(
      layer::beam_search_decode<"found">(id_steps, score_steps, beam_size, end, {.name = "found"}));
});

std::string text_of(const std::vector<std::int64_t>& ids,
                    const lamina::dataset::vocabulary& words) {
  std::string all;
  for (const std::int64_t id : ids)
    if (id != start && id != end) (all += ' ') += words.word(id);
  return all;
}

template <class Net>
double test_bleu(const wmt14::source& data, int passes, float rate) {
  lamina::model model{training<Net>};
  const auto train = data.train(), test = data.test();
  std::printf("%zu pairs of sentences to train with, %zu to test\n", train.size(), test.size());
  lamina::optimizer::adam{.learning_rate = rate, .clip = lamina::clip_by_global_norm(5)}.train(
      model, train | reader::shuffle(train.size()) | reader::batch(32),
      {.passes = passes, .on_event = lamina::progress_bar{passes}});

  lamina::model searching{translating<Net>, lamina::share_parameters_of(model)};
  lamina::evaluator e{searching};
  lamina::metric::bleu bleu;
  int shown = 0;
  for (const auto& batch : reader::begin_pass(test | reader::batch(50))) {
    std::vector<std::vector<std::int64_t>> sources;
    for (const auto& pair : batch) sources.push_back(pair.source);
    // A first hypothesis of each source: "<s>", with a score of 0.
    const std::vector<std::vector<std::vector<std::int64_t>>> begins(batch.size(), {{start}});
    const std::vector<std::vector<std::vector<float>>> zeros(batch.size(), {{0.f}});
    e.forward(lamina::feed<"source">(sources), lamina::feed<"beam">(begins),
              lamina::feed<"score">(zeros));
    const auto found = e.template activation<"found">();
    const auto hypotheses = e.template sequences<"found", 0>();
    const auto words = e.template sequences<"found">();
    for (int i = 0; i < hypotheses.count; ++i) {
      std::vector<std::int64_t> translation;
      const int best = hypotheses.begin(i);
      for (int t = words.begin(best); t < words.end(best); ++t)
        if (found(t, 0) != start && found(t, 0) != end) translation.push_back(found(t, 0));
      auto expected = batch[static_cast<std::size_t>(i)].next;
      expected.pop_back();
      bleu.update(translation, expected);
      if (shown++ < 3)
        std::printf(" %s\n  ->%s\n",
                    text_of(sources[static_cast<std::size_t>(i)], data.src_dict()).c_str(),
                    text_of(translation, data.trg_dict()).c_str());
    }
  }
  return bleu.eval();
}

int main(int count, char** argument) try {
  const bool real = count > 1;
  if (!real) std::puts("no archive given: using made-up sentences");
  // The dictionaries and the width of PaddlePaddle's book, and what made-up sentences need.
  const double bleu =
      real ? test_bleu<network<30000, 512>>(
                 wmt14::read(argument[1], {.dict_size = 30000, .skip_malformed = true}), 5, 5e-4f)
           : test_bleu<network<64, 32>>(examples::synthetic_wmt14::twin(), 12, 5e-3f);
  std::printf("test BLEU %.4f\n", bleu);
  return real || bleu > 0.9 ? 0 : 1;
} catch (const lamina::error& e) {
  std::puts(e.what());
  return 1;
}
