// SPDX-License-Identifier: Apache-2.0
// digits - trains on handwritten digits (--cuda: on a GPU), saves, loads, serves from four threads
#include <array>
#include <cstdio>
#include <thread>
#include <vector>

// `examples/run digits --cuda` defines EXAMPLE_CUDA, and links the kernels.
#if defined(EXAMPLE_CUDA)
#include <lamina/lamina.cuh>
#else
#include <lamina/lamina.hpp>
#endif

namespace layer = lamina::layer;
namespace reader = lamina::reader;
using lamina::activation;

// The program, recorded by the compiler.
constexpr auto digits = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 64>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto hidden = layer::fc<128>(image, {.act = activation::relu});
  auto logits = layer::fc<10>(hidden, {.name = "output"});
  layer::accuracy(logits, label, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

#if defined(EXAMPLE_CUDA)
constexpr lamina::place place = lamina::cuda::place{0};
#else
constexpr lamina::place place{};
#endif

int main() try {
  // Train, and save the parameters.
  constexpr int passes = 30;
  const char* const file = "digits.model";
  {
    lamina::model model{digits};
    lamina::optimizer::adam adam{.learning_rate = 3e-3f};
    adam.train(model, lamina::dataset::digits::train() | reader::shuffle(2000) | reader::batch(16),
               {.passes = passes, .on_event = lamina::progress_bar{passes}, .place = place});
    model.save(file);
  }

  // Load them into another model, as a server would.
  lamina::model model{digits};
  model.load(file);
  std::remove(file);

  // Four threads answer every request, one evaluator each over the one shared model.
  const auto requests = lamina::dataset::digits::test();
  std::array<std::vector<float>, 4> answers;
  std::vector<std::thread> threads;
  for (auto& scores : answers)
    threads.emplace_back([&] {
      lamina::evaluator e{model};
      for (const auto& request : requests) {
        e.forward(lamina::feed<"image">(request.image));
        const auto output = e.activation<"output">();
        for (int i = 0; i < 10; ++i) scores.push_back(output(0, i));
      }
    });
  for (auto& t : threads) t.join();
  for (const auto& scores : answers)
    if (scores.size() != requests.size() * 10 || scores != answers[0]) {
      std::puts("the threads do not agree");
      return 1;
    }
  std::printf("4 threads answered %zu requests each, and agree\n", requests.size());

  lamina::evaluator e{model};
  const double accuracy = e.test(requests | reader::batch(64)).metric("accuracy");
  std::printf("test accuracy %.4f\n", accuracy);
  return accuracy >= 0.97 ? 0 : 1;
} catch (const lamina::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
