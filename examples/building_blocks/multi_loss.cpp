// SPDX-License-Identifier: Apache-2.0
// multi_loss - a network with two heads and two weighted costs: which digit, and its slant
#include <array>
#include <cstdio>
#include <vector>

#include <lamina/lamina.hpp>

namespace layer = lamina::layer;
namespace reader = lamina::reader;
using lamina::activation;

// What returns one number and has a name is a metric: progress bars and tests report each cost.
constexpr auto net = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 64>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto slant = layer::data<"slant", float>(main);
  auto shared = layer::fc<64>(image, {.act = activation::relu});
  auto logits = layer::fc<10>(shared, {.name = "digit"});
  auto estimate = layer::fc<1>(layer::fc<32>(shared, {.act = activation::relu}));
  layer::accuracy(logits, label, {.name = "accuracy"});
  auto digit_cost =
      layer::mean(layer::softmax_with_cross_entropy(logits, label), {.name = "digit_cost"});
  auto slant_cost = layer::mean(layer::square_error_cost(estimate, slant), {.name = "slant_cost"});
  return digit_cost + 20 * slant_cost;
});

struct sample {
  std::array<float, 64> image;
  std::int64_t label;
  float slant;
};

// How far the ink moves to the left, in pixels, from each row of an image to the one below.
float slant_of(const std::array<float, 64>& image) {
  double ink = 0, x = 0, y = 0, xy = 0, yy = 0;
  for (int i = 0; i < 64; ++i) {
    const double here = image[i], column = i % 8, row = i / 8;
    ink += here, x += here * column, y += here * row;
    xy += here * column * row, yy += here * row * row;
  }
  return static_cast<float>((x * y / ink - xy) / (yy - y * y / ink));
}

template <class Digits>
std::vector<sample> with_slants(const Digits& digits) {
  std::vector<sample> all;
  for (const auto& s : digits) all.push_back({s.image, s.label, slant_of(s.image)});
  return all;
}

int main() {
  constexpr int passes = 20;
  const auto train = with_slants(lamina::dataset::digits::train());
  const auto test = with_slants(lamina::dataset::digits::test());
  lamina::model model{net};
  lamina::optimizer::adam adam{.learning_rate = 3e-3f};
  adam.train(model, train | reader::shuffle(2000) | reader::batch(16),
             {.passes = passes, .on_event = lamina::progress_bar{passes}});

  const lamina::test_result r = lamina::evaluator{model}.test(test | reader::batch(64));
  for (const auto& [name, value] : r.metrics) std::printf("test %s %.4f\n", name.c_str(), value);
  double sum = 0, squares = 0;
  for (const sample& s : test) sum += s.slant, squares += s.slant * s.slant;
  const double n = static_cast<double>(test.size()), variance = squares / n - sum / n * sum / n;
  const double explained = 1 - r.metric("slant_cost") / variance;
  std::printf("explained of the variance of slants: %.3f\n", explained);
  return r.metric("accuracy") >= 0.95 && explained >= 0.9 ? 0 : 1;
}
