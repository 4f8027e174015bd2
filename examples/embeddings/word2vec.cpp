// SPDX-License-Identifier: Apache-2.0
// word2vec - the next word from four: a neural language model; takes simple-examples.tgz (PTB)
//
//   examples/run word2vec [ARCHIVE]
//
// ARCHIVE is the Penn Treebank as Mikolov prepared it. Without it the program learns made-up
// sentences. Words that are used alike get vectors that are alike.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "synthetic_imikolov.hpp"

#include <lamina/dataset/imikolov.hpp>
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;
namespace reader = lamina::reader;
namespace imikolov = lamina::dataset::imikolov;
using lamina::activation;

// The words of the original archive that occur more than 50 times, and "<unk>".
constexpr int dictionary_size = 2073, width = 32, context = 4;

// Bengio et al. (2003), as in PaddlePaddle's book.
constexpr auto language_model = lamina::program([](lamina::block& main) {
  auto words = layer::data<"words", std::int64_t, context + 1>(main);
  auto [before, next] = layer::split<layer::sections<context, 1>>(words);
  auto vectors = layer::embedding<dictionary_size, width>(layer::reshape<context, 1>(before),
                                                          {.param = {.name = "vectors"}});
  auto hidden =
      layer::fc<256>(layer::reshape<context * width>(vectors), {.act = activation::sigmoid});
  auto logits = layer::fc<dictionary_size>(hidden);
  layer::accuracy(logits, next, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, next));
});

// For each word the one whose vector is nearest to its own, by the cosine.
std::vector<std::int64_t> neighbours(const std::vector<float>& vectors, std::int64_t count) {
  const auto product = [&](std::int64_t a, std::int64_t b) {
    return std::inner_product(vectors.begin() + a * width, vectors.begin() + (a + 1) * width,
                              vectors.begin() + b * width, 0.f);
  };
  std::vector<std::int64_t> nearest;
  for (std::int64_t word = 0; word < count; ++word) {
    float largest = -2;
    nearest.push_back(word);
    for (std::int64_t other = 0; other < count; ++other) {
      const float cosine =
          product(word, other) / std::sqrt(product(word, word) * product(other, other));
      if (other != word && cosine > largest) largest = cosine, nearest.back() = other;
    }
  }
  return nearest;
}

int main(int count, char** argument) try {
  const bool real = count > 1;
  if (!real) std::puts("no archive given: using made-up sentences");
  const auto data = real ? imikolov::read(argument[1]) : examples::synthetic_imikolov::twin();
  const auto& words = data.word_dict();
  if (words.size() > dictionary_size)
    throw lamina::error("word2vec: expected at most 2073 words, found more: another archive");
  const auto train = data.train<context + 1>();
  const auto test = data.test<context + 1>();
  std::printf("%zu groups of words to train with, %zu to test\n", train.size(), test.size());
  const int passes = real ? 10 : 4;
  lamina::model model{language_model};
  lamina::optimizer::adagrad{.learning_rate = real ? 3e-3f : 3e-2f,
                             .regularization = lamina::l2_decay(real ? 8e-4f : 0.f)}
      .train(model, train | reader::shuffle(100000) | reader::batch(100),
             {.passes = passes, .on_event = lamina::progress_bar{passes}});
  const auto result = lamina::evaluator{model}.test(test | reader::batch(100));
  std::printf("test loss %.3f nats a word, perplexity %.1f, accuracy %.3f\n", result.cost,
              std::exp(result.cost), result.metric("accuracy"));

  const auto table = model.parameter<"vectors">();
  const auto near = neighbours({table.begin(), table.end()}, words.size());
  int alike = 0, of_kinds = 0;
  for (std::int64_t id = 0; id < words.size(); ++id) {
    const std::string &word = words.word(id),
                      &other = words.word(near[static_cast<std::size_t>(id)]);
    if (id >= 10 && id < 20) std::printf("  %s is used like %s\n", word.c_str(), other.c_str());
    const int kind = examples::synthetic_imikolov::kind_of(word);
    if (kind >= 0) ++of_kinds, alike += kind == examples::synthetic_imikolov::kind_of(other);
  }
  if (real) return 0;
  const double least = examples::synthetic_imikolov::least_loss();
  std::printf("no model has less than %.3f nats; of %d words %d are nearest to one of their kind\n",
              least, of_kinds, alike);
  return result.cost < least + 0.1 && alike >= of_kinds * 9 / 10 ? 0 : 1;
} catch (const lamina::error& e) {
  std::puts(e.what());
  return 1;
}
