// SPDX-License-Identifier: Apache-2.0
// sentiment - does a sentence praise or blame a film: convolutions or stacked LSTMs
//
//   examples/run sentiment [ARCHIVE | DIRECTORY] [--net conv|lstm]
//
// ARCHIVE is aclImdb_v1.tar.gz, the reviews of Maas et al. (2011). DIRECTORY holds rt-polarity.pos
// and rt-polarity.neg, the sentence polarity dataset v1.0 of Pang and Lee (2005). Without either
// the program learns from made-up sentences.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <lamina/dataset/imdb.hpp>
#include <lamina/dataset/movie_reviews.hpp>
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;
namespace reader = lamina::reader;
namespace imdb = lamina::dataset::imdb;
namespace reviews = lamina::dataset::movie_reviews;
using lamina::activation;
using lamina::pooling_type;

constexpr int dictionary_size = 8000;

// Most words are rare: dropout keeps the net from learning single sentences by them.
constexpr auto drop = [](auto x, float probability) {
  return layer::dropout(x, probability,
                        {.implementation = layer::dropout_implementation::upscale_in_train});
};
constexpr auto embed = [](auto words) {
  const auto vectors = layer::embedding<dictionary_size, 128>(
      words, {.param = {.initializer = lamina::init::uniform(-0.25f, 0.25f)}});
  return drop(vectors, 0.3f);
};
// Both nets end in two rows of features a sentence.
constexpr auto decide = [](auto a, auto b, auto label) {
  auto logits = layer::fc<2>(std::tuple{drop(a, 0.5f), drop(b, 0.5f)}, {.name = "logits"});
  layer::accuracy(logits, label, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
};

// The strongest answer of each filter over three and over four words.
constexpr auto conv = lamina::program([](lamina::block& main) {
  auto words = layer::sequence<"words", std::int64_t>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto vectors = embed(words);
  auto of_three = layer::sequence_conv_pool<100, 3>(vectors, {.act = activation::tanh});
  auto of_four = layer::sequence_conv_pool<100, 4>(vectors, {.act = activation::tanh});
  return decide(of_three, of_four, label);
});

// Three LSTMs, one upon the other; the second reads each sentence backwards.
constexpr auto lstm = lamina::program([](lamina::block& main) {
  constexpr int gates = 4 * 64;
  auto words = layer::sequence<"words", std::int64_t>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto sums = layer::fc<gates>(embed(words));
  auto [hidden, cell] = layer::dynamic_lstm<gates>(sums);
  for (const bool backwards : {true, false}) {
    sums = layer::fc<gates>(std::tuple{sums, hidden});
    hidden = std::get<0>(layer::dynamic_lstm<gates>(sums, {.is_reverse = backwards}));
  }
  return decide(layer::sequence_pool(sums, {.type = pooling_type::max}),
                layer::sequence_pool(hidden, {.type = pooling_type::max}), label);
});

// What either source of reviews gives; their types are alike.
struct reviews_to_learn {
  std::vector<reviews::sample> train, test;
};
template <class Source>
reviews_to_learn all_of(const Source& source) {
  reviews_to_learn all;
  for (const auto& [words, label] : source.train()) all.train.push_back({words, label});
  for (const auto& [words, label] : source.test()) all.test.push_back({words, label});
  return all;
}

template <lamina::program_type Net>
double test_accuracy(const Net& net, const reviews_to_learn& data, int passes) {
  lamina::model model{net};
  lamina::optimizer::adam adam{.learning_rate = 1e-3f};
  adam.train(model, data.train | reader::shuffle(data.train.size()) | reader::batch(50),
             {.passes = passes, .on_event = lamina::progress_bar{passes}});
  return lamina::evaluator{model}.test(data.test | reader::batch(50)).metric("accuracy");
}

int main(int count, char** argument) try {
  std::string path, net = "conv";
  for (int i = 1; i < count; ++i)
    if (std::string_view(argument[i]) == "--net" && i + 1 < count)
      net = argument[++i];
    else
      path = argument[i];
  if ((net != "conv" && net != "lstm") || path.starts_with("--")) {
    std::puts("usage: sentiment [ARCHIVE | DIRECTORY] [--net conv|lstm]");
    return 2;
  }
  const bool real = !path.empty();
  if (!real) std::puts("nothing given: using made-up sentences");
  const auto data = !real ? all_of(reviews::twin())
                    : std::filesystem::is_directory(path)
                        ? all_of(reviews::read(path, dictionary_size))
                        : all_of(imdb::read(path));
  const double accuracy = net == "conv" ? test_accuracy(conv, data, real ? 6 : 15)
                                        : test_accuracy(lstm, data, real ? 4 : 10);
  std::printf("test accuracy %.3f\n", accuracy);
  return accuracy >= (real ? 0.72 : 0.9) ? 0 : 1;
} catch (const lamina::error& e) {
  std::puts(e.what());
  return 1;
}
