// SPDX-License-Identifier: Apache-2.0
// W3 is a training step of an LSTM for sentiment analysis with Adam, on 32 sequences of 10 to 100
// words: an embedding 5000 x 128, an LSTM of width 128, the maximum over time, two classes.
#include <memory>

#include "../networks/sentiment.hpp"
#include "../workload.hpp"

namespace {

using networks::words;
constexpr auto net = lamina::program([](lamina::block& main) { return networks::sentiment(main); });
using program = std::remove_const_t<decltype(net)>;

struct sample {
  std::vector<std::int64_t> words;
  std::int64_t label;
};

workload::job train(const std::filesystem::path& path, int threads) {
  const workload::folder to(path);
  constexpr std::size_t rows = 32;
  std::vector<sample> batch;
  std::vector<std::int64_t> lengths, all;
  for (unsigned i = 0; i < rows; ++i) {
    const std::size_t length = 10 + i * 90 / (rows - 1);
    const auto text = workload::labels(length, words, i + 1);
    lengths.push_back(static_cast<std::int64_t>(length));
    all.insert(all.end(), text.begin(), text.end());
    batch.push_back({text, static_cast<std::int64_t>(i % 2)});
  }
  std::vector<std::int64_t> label;
  for (const sample& s : batch) label.push_back(s.label);
  auto model = std::make_shared<lamina::model<program>>(net);
  to.write("words", all, {all.size()});
  to.write("lengths", lengths, {rows});
  to.write("label", label, {rows});
  to.write(*model);
  using adam = lamina::optimizer::adam;
  auto trainer = std::make_shared<workload::trainer<program, adam>>(adam{.learning_rate = 1e-3f},
                                                                    *model, threads);
  auto feeder = std::make_shared<lamina::feeder<program>>();
  feeder->fill(batch);
  return workload::training([model, trainer, feeder] { return trainer->step(feeder->view()); });
}

}  // namespace

int main(int count, char** argument) { return workload::serve(count, argument, {{"W3", train}}); }
