// SPDX-License-Identifier: Apache-2.0
// label_semantic_roles - who did what to whom: stacked LSTMs and a CRF; takes CoNLL-2005's folder
//
//   examples/run label_semantic_roles [DIRECTORY]
//
// DIRECTORY holds conll05st-tests.tar.gz, wordDict.txt, verbDict.txt and targetDict.txt, and emb if
// the vectors of words are to begin as those of Wikipedia. Without it the program learns made-up
// sentences.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <tuple>

#include "synthetic_conll05.hpp"

#include <lamina/dataset/conll05.hpp>
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;
namespace reader = lamina::reader;
namespace conll05 = lamina::dataset::conll05;
using lamina::activation;
using lamina::recurrent_activation;

// The dictionaries of the original data have no more words. PaddlePaddle's book has 512 gates and
// eight layers.
constexpr int words = 44068, verbs = 3200, roles = 60, word_width = 32, gates = 128, depth = 4;
constexpr int labels = 2 * roles + 1;

// The vectors of the words and of the context are one table.
constexpr auto of_word = [](auto word) {
  return layer::embedding<words, word_width>(word, {.param = {.name = "emb"}, .is_sparse = true});
};
// An LSTM reads a sentence forwards, the one above it backwards, and so on (Zhou and Xu 2015).
template <int Left>
constexpr auto stack(auto sums, auto hidden) {
  if constexpr (Left == 0) {
    return layer::fc<labels>(std::tuple{sums, hidden});
  } else {
    auto above = layer::fc<gates>(std::tuple{sums, hidden});
    auto read =
        std::get<0>(layer::dynamic_lstm<gates>(above, {.is_reverse = (depth - Left) % 2 == 1}));
    return stack<Left - 1>(above, read);
  }
}

constexpr auto tagger = lamina::program([](lamina::block& main) {
  auto word = layer::sequence<"word", std::int64_t>(main);
  auto ctx_n2 = layer::sequence<"ctx_n2", std::int64_t>(word);
  auto ctx_n1 = layer::sequence<"ctx_n1", std::int64_t>(word);
  auto ctx_0 = layer::sequence<"ctx_0", std::int64_t>(word);
  auto ctx_p1 = layer::sequence<"ctx_p1", std::int64_t>(word);
  auto ctx_p2 = layer::sequence<"ctx_p2", std::int64_t>(word);
  auto verb = layer::sequence<"verb", std::int64_t>(word);
  auto mark = layer::sequence<"mark", std::int64_t>(word);
  auto target = layer::sequence<"target", std::int64_t>(word);
  auto sums = layer::fc<gates>(std::tuple{
      of_word(word), of_word(ctx_n2), of_word(ctx_n1), of_word(ctx_0), of_word(ctx_p1),
      of_word(ctx_p2), layer::embedding<verbs, word_width>(verb), layer::embedding<2, 5>(mark)});
  auto hidden = std::get<0>(layer::dynamic_lstm<gates>(sums));
  auto scores = stack<depth - 1>(sums, hidden);
  auto found = layer::crf_decoding(scores, {.param = {.name = "crfw"}});
  auto chunks = layer::chunk_eval<roles>(found, target, {.scheme = layer::chunk_scheme::iob});
  layer::scale(std::get<2>(chunks), 1, {.name = "f1"});
  return layer::mean(layer::linear_chain_crf(scores, target, {.param = {.name = "crfw"}}));
});

int main(int count, char** argument) try {
  const bool real = count > 1;
  if (!real) std::puts("no directory given: using made-up sentences");
  const auto data = real ? conll05::read(argument[1]) : examples::synthetic_conll05::twin(500);
  const std::int64_t outside = data.label_dict().size() - 1;
  if (data.word_dict().size() > words || data.verb_dict().size() > verbs || outside > 2 * roles)
    throw lamina::error(
        "label_semantic_roles: expected the dictionaries of CoNLL-2005, found larger ones");
  // The program has room for more roles: its label O is the last one.
  const auto with_outside = reader::map([outside](conll05::sample s) {
    std::replace(s.target.begin(), s.target.end(), outside, std::int64_t{2 * roles});
    return s;
  });
  // Only the test part of the data is public: PaddlePaddle's book trains with it too.
  const auto all = data.test();
  const std::size_t first = all.size() * 4 / 5;
  const auto train = all.slice(0, first), test = all.slice(first, all.size());
  std::printf("%zu predicates to train with, %zu to test\n", train.size(), test.size());

  lamina::model model{tagger};
  const std::string vectors = real ? argument[1] + std::string("/emb") : "";
  if (real && std::filesystem::exists(vectors)) {
    const auto read = conll05::read_embedding(vectors, data.word_dict().size(), word_width);
    auto table = model.parameter<"emb">();
    std::copy(read.begin(), read.end(), table.begin());
    model.set_parameter<"emb">(table);
  }
  const int passes = real ? 10 : 4;
  lamina::optimizer::adam{.learning_rate = real ? 1e-3f : 3e-3f,
                          .lazy_mode = true,
                          .clip = lamina::clip_by_global_norm(5)}
      .train(model, train | reader::shuffle(train.size()) | with_outside | reader::batch(10),
             {.passes = passes, .on_event = lamina::progress_bar{passes}});
  const double f1 =
      lamina::evaluator{model}.test(test | with_outside | reader::batch(50)).metric("f1");
  std::printf("test F1 of chunks %.4f\n", f1);
  return real || f1 > 0.95 ? 0 : 1;
} catch (const lamina::error& e) {
  std::puts(e.what());
  return 1;
}
