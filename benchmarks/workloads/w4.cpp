// SPDX-License-Identifier: Apache-2.0
// W4 is a training step with SGD of a recurrence that is written by hand, h = tanh(x_t Wx + h Wh +
// b), of width 64, over 50 steps of 16 sequences.
#include <memory>

#include "../networks/recurrence.hpp"
#include "../workload.hpp"

namespace {

constexpr std::size_t width = networks::recurrence_width, steps = 50, rows = 16;
constexpr auto net =
    lamina::program([](lamina::block& main) { return networks::recurrence(main); });
using program = std::remove_const_t<decltype(net)>;

struct sample {
  std::vector<float> x, y;
};

workload::job train(const std::filesystem::path& path, int threads) {
  const workload::folder to(path);
  const auto x = workload::normal(rows * steps * width, 1);
  const auto y = workload::normal(rows * width, 2, 0.1f);
  std::vector<sample> batch(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    batch[i].x.assign(x.data() + i * steps * width, x.data() + (i + 1) * steps * width);
    batch[i].y.assign(y.data() + i * width, y.data() + (i + 1) * width);
  }
  auto model = std::make_shared<lamina::model<program>>(net);
  to.write("x", x, {rows, steps, width});
  to.write("y", y, {rows, width});
  to.write(*model);
  using sgd = lamina::optimizer::sgd;
  auto trainer = std::make_shared<workload::trainer<program, sgd>>(sgd{.learning_rate = 0.01f},
                                                                   *model, threads);
  auto feeder = std::make_shared<lamina::feeder<program>>();
  feeder->fill(batch);
  return workload::training([model, trainer, feeder] { return trainer->step(feeder->view()); });
}

}  // namespace

int main(int count, char** argument) { return workload::serve(count, argument, {{"W4", train}}); }
