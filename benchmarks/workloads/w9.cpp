// SPDX-License-Identifier: Apache-2.0
// W9 is a training step of the N-gram model of PaddlePaddle's book with a dictionary of a million
// words, with SGD and batches of 100. The embeddings of four words, of width 32, share one table,
// whose gradient is sparse. A hidden layer of width 256 with sigmoid follows, and a softmax over
// the 2000 most frequent words. W9d is the same step; it is compared with programs of other
// libraries whose gradient has all rows.
#include <array>
#include <memory>
#include <string>
#include <tuple>

#include "../workload.hpp"

namespace layer = lamina::layer;
using lamina::activation;

namespace {

constexpr int words = 1'000'000, width = 32, frequent = 2000;
constexpr std::size_t rows = 100;

constexpr auto net = lamina::program([](lamina::block& main) {
  const auto embed = [](auto word) {
    return layer::embedding<words, width>(word, {.param = {.name = "table"}, .is_sparse = true});
  };
  auto first = layer::data<"first", std::int64_t>(main);
  auto second = layer::data<"second", std::int64_t>(main);
  auto third = layer::data<"third", std::int64_t>(main);
  auto fourth = layer::data<"fourth", std::int64_t>(main);
  auto next = layer::data<"next", std::int64_t>(main);
  auto context =
      layer::concat(std::tuple{embed(first), embed(second), embed(third), embed(fourth)});
  auto hidden = layer::fc<256>(context, {.act = activation::sigmoid});
  return layer::mean(layer::softmax_with_cross_entropy(layer::fc<frequent>(hidden), next));
});
using program = std::remove_const_t<decltype(net)>;

struct state {
  explicit state(const workload::folder& to) {
    for (std::size_t i = 0; i < data.size(); ++i) {
      data[i] = workload::labels(rows, i < 4 ? words : frequent, static_cast<unsigned>(i) + 1);
      to.write("word_" + std::to_string(i), data[i], {rows});
    }
    to.write(model);
  }
  std::array<std::vector<std::int64_t>, 5> data;
  lamina::model<program> model{net};
};

workload::job train(const std::filesystem::path& path, int threads) {
  auto s = std::make_shared<state>(workload::folder(path));
  using sgd = lamina::optimizer::sgd;
  auto trainer = std::make_shared<lamina::cpu_trainer<program, sgd>>(sgd{.learning_rate = 0.01f},
                                                                     s->model, threads);
  return workload::training([s, trainer] {
    const void* arrays[5];
    for (std::size_t i = 0; i < 5; ++i) arrays[i] = s->data[i].data();
    return trainer->step(lamina::batch_view<program>::dense(static_cast<int>(rows), arrays));
  });
}

}  // namespace

int main(int count, char** argument) {
  return workload::serve(count, argument, {{"W9", train}, {"W9d", train}});
}
