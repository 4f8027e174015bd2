// SPDX-License-Identifier: Apache-2.0
// distributed - trains the digits in two processes (mpirun -n 2), with the bits of two threads
#include <cstdio>
#include <exception>

#include <lamina/distributed/session.hpp>
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;
namespace reader = lamina::reader;
using lamina::activation;

constexpr auto digits = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 64>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto hidden = layer::fc<128>(image, {.act = activation::relu});
  auto logits = layer::fc<10>(hidden, {.name = "output"});
  layer::accuracy(logits, label, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

int main(int argc, char** argv) try {
  // Before anything else; without a launcher it is one process.
  lamina::distributed::session world{argc, argv};

  // Every process reads the same mini-batches and computes its part of each.
  lamina::model model{digits};
  lamina::optimizer::adam adam{.learning_rate = 3e-3f};
  const lamina::train_result trained = adam.train(
      model, lamina::dataset::digits::train() | reader::shuffle(2000) | reader::batch(64),
      {.passes = 30, .world = &world});

  // All processes have the same model now; one of them says how good it is.
  lamina::evaluator evaluator{model};
  const auto test = evaluator.test(lamina::dataset::digits::test() | reader::batch(64));
  if (world.rank() == 0)
    std::printf("%d processes, %lld steps: cost %.4f, accuracy %.4f\n", world.size(),
                static_cast<long long>(trained.steps), test.cost, test.metric("accuracy"));
  return test.metric("accuracy") > 0.95 ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "distributed: %s\n", e.what());
  return 1;
}
