// SPDX-License-Identifier: Apache-2.0
// W8: a training step of a transformer's encoder block, width 256, 4 heads, 64 positions, a hidden
// layer of 1024 with gelu, layer_norm behind each half, batch 8, SGD; W8i its inference.
#include <memory>

#include "../workload.hpp"

namespace layer = lamina::layer;
using lamina::activation;

namespace {

constexpr int width = 256, heads = 4, positions = 64, rows = 8;

template <class V>
constexpr auto split_heads(V x) {
  return layer::transpose<0, 2, 1, 3>(layer::reshape<positions, heads, width / heads>(x));
}
template <class V>
constexpr auto attention(V x) {
  auto q = split_heads(layer::fc<width, 2>(x));
  auto k = split_heads(layer::fc<width, 2>(x));
  auto v = split_heads(layer::fc<width, 2>(x));
  constexpr lamina::layer::matmul_form by_rows{.transpose_y = true};
  auto weights = layer::softmax(layer::matmul<by_rows>(q, k, {.alpha = 0.125f}));
  auto seen = layer::transpose<0, 2, 1, 3>(layer::matmul(weights, v));
  return layer::fc<width, 2>(layer::reshape<positions, width>(seen));
}
constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, positions, width>(main);
  auto y = layer::data<"y", float, positions, width>(main);
  auto half = layer::layer_norm<2>(x + attention(x));
  auto wide = layer::fc<4 * width, 2>(half, {.act = activation::gelu});
  auto out = layer::layer_norm<2>(half + layer::fc<width, 2>(wide), {.name = "out"});
  return layer::mean(layer::square_error_cost(out, y));
});
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
  auto trainer = std::make_shared<lamina::trainer<program, sgd>>(sgd{.learning_rate = 0.01f},
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
