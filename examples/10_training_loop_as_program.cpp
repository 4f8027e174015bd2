// SPDX-License-Identifier: Apache-2.0
// training_loop_as_program - reads, goes forward, backward and updates in one loop of a program
//
//   examples/run training_loop_as_program [--cuda]     on a GPU; defines EXAMPLE_CUDA
// clang-format off
#include "helpers/cuda_place.hpp"  // before all others
// clang-format on

#include <cstdio>
#include <tuple>

namespace layer = lamina::layer;
namespace reader = lamina::reader;
using integer = std::int64_t;

// A recurrent net that reads an image of 8 x 8 line by line; its steps are a loop of their own.
template <class Image>
constexpr auto scores(const Image& image) {
  auto lines = layer::reshape<8, 8>(image);
  auto states = layer::static_rnn(lines, [&](auto& step) {
    auto before = step.memory(lamina::dims<48>);
    auto next = layer::tanh(layer::fc<48>(std::tuple{step.input(lines), before}));
    step.update(before, next);
    return next;
  });
  return layer::fc<10>(layer::reshape<8 * 48>(states));
}

// The whole training: 20 passes over the mini-batches of a reader.
constexpr auto training = lamina::program([](lamina::block& main) {
  auto pass = layer::fill_constant<integer>(main, 0),
       passes = layer::fill_constant<integer>(main, 20);
  auto cost_of_pass = layer::fill_constant<float>(main, 0);
  auto going = layer::less_than(pass, passes);
  layer::while_loop(going, [&](lamina::block& body) {
    auto more = layer::fill_constant<bool>(body, true);
    auto sum = layer::fill_constant<float>(body, 0), batches = layer::fill_constant<float>(body, 0);
    layer::while_loop(more, [&](lamina::block& loop) {
      auto [image, label] =
          layer::read_minibatch<"train", lamina::field<float, 64>, lamina::field<integer>>(loop,
                                                                                           more);
      auto cost = layer::mean(layer::softmax_with_cross_entropy(scores(image), label));
      lamina::optimizer::momentum{.learning_rate = 0.05f, .momentum = 0.9f}.minimize(cost);
      sum = sum + cost;
      layer::increment(batches);
    });
    cost_of_pass = sum / batches;
    layer::increment(pass);
    layer::less_than(pass, passes, going);
  });
  return cost_of_pass;
});

// The same net without the loop around it.
constexpr auto test = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 64>(main);
  auto label = layer::data<"label", integer>(main);
  auto logits = scores(image);
  layer::accuracy(logits, label, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

int main() {
  // One call: the program itself counts passes, asks for mini-batches and updates its parameters.
  lamina::model model{training};
  const auto digits = lamina::dataset::digits::train() | reader::shuffle(2000) | reader::batch(32);
  const lamina::run_summary run = lamina::run(model, digits, {.place = examples::place});
  std::printf("%lld mini-batches, %lld samples, cost of the last pass %.4f\n",
              static_cast<long long>(run.minibatches), static_cast<long long>(run.samples),
              static_cast<double>(run.cost));

  lamina::model shared{test, lamina::share_parameters_of(model)};
  lamina::evaluator evaluator{shared};
  const double accuracy =
      evaluator.test(lamina::dataset::digits::test() | reader::batch(64)).metric("accuracy");
  std::printf("test accuracy %.4f\n", accuracy);
  return accuracy >= 0.95 ? 0 : 1;
}
