// SPDX-License-Identifier: Apache-2.0
// W8 is a training step of the encoder block of a transformer with SGD and batches of 8. The block
// has width 256, 4 heads, 64 positions, a hidden layer of width 1024 with gelu, and a layer_norm
// after each of its two halves. W8i is its inference.
#include <memory>

#include "../networks/encoder.hpp"
#include "../workload.hpp"

namespace {

constexpr int width = networks::encoder_width, positions = networks::encoder_positions, rows = 8;
constexpr auto net = lamina::program([](lamina::block& main) { return networks::encoder(main); });
using program = std::remove_const_t<decltype(net)>;

struct state {
  explicit state(const workload::folder& to) {
    to.write("x", x, {rows, positions, width});
    to.write("y", y, {rows, positions, width});
    to.write(model);
  }
  std::vector<float> x = workload::normal(rows * positions * width, 1);
  std::vector<float> y = workload::normal(rows * positions * width, 2);
  lamina::model<program> model{net};
};

workload::job train(const std::filesystem::path& path, int threads) {
  auto s = std::make_shared<state>(workload::folder(path));
  using sgd = lamina::optimizer::sgd;
  auto trainer = std::make_shared<workload::trainer<program, sgd>>(sgd{.learning_rate = 0.01f},
                                                                   s->model, threads);
  return workload::training([s, trainer] {
    const void* arrays[] = {s->x.data(), s->y.data()};
    return trainer->step(lamina::batch_view<program>::dense(rows, arrays));
  });
}
workload::job infer(const std::filesystem::path& path, int threads) {
  auto s = std::make_shared<state>(workload::folder(path));
  auto e = std::make_shared<lamina::evaluator<program>>(s->model);
  const auto run = [s, e, loops = workload::share_loops(*e, threads)](int n) {
    for (int i = 0; i < n; ++i) e->forward(lamina::feed<"x">(s->x));
  };
  return {[run, e] {
            run(1);
            const auto y = e->activation<"out">();
            return std::vector<float>(y.begin(), y.begin() + 4096);
          },
          run};
}

}  // namespace

int main(int count, char** argument) {
  return workload::serve(count, argument, {{"W8", train}, {"W8i", infer}});
}
