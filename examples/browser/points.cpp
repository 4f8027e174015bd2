// SPDX-License-Identifier: Apache-2.0
// points - trains a classifier of points in a web page, as WebAssembly; the page is index.html
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <vector>

#include <lamina/layers/data.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/model/model.hpp>
#include <lamina/operators/loss/cross_entropy/layer_softmax.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>
#include <lamina/optimizer/adam.hpp>
#include <lamina/train/trainer.hpp>

#if defined(__wasm__)
#define EXPORT(name) __attribute__((export_name(#name)))
#else
#define EXPORT(name)
#endif

namespace layer = lamina::layer;
using lamina::activation;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto point = layer::data<"point", float, 2>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto hidden = layer::fc<24>(point, {.act = activation::tanh});
  hidden = layer::fc<24>(hidden, {.act = activation::tanh});
  auto scores = layer::fc<3>(hidden, {.name = "scores"});
  return layer::mean(layer::softmax_with_cross_entropy(scores, label));
});

struct sample {
  std::array<float, 2> point;  // from -1 to 1
  std::int64_t label;          // 0, 1 or 2
};

// Everything that the page trains. A new training replaces it.
struct training {
  lamina::model<decltype(net)> model{net};
  lamina::optimizer::adam adam{.learning_rate = 0.02f};
  lamina::trainer<decltype(net), lamina::optimizer::adam> trainer{model, adam};
  lamina::evaluator<decltype(net)> evaluator{model};
};
std::optional<training> now;
std::vector<sample> samples;
constexpr int side = 80;  // of the picture of all scores, in pixels
std::vector<float> grid;
std::vector<std::uint8_t> pixels;

extern "C" {

// Forgets the parameters; the points stay.
EXPORT(restart) void restart() { now.emplace(); }

EXPORT(clear) void clear() { samples.clear(); }

EXPORT(add) void add(float x, float y, int label) { samples.push_back({{x, y}, label}); }

// Trains with all points, and returns the cost of the last step.
EXPORT(train) float train(int steps) {
  if (!now) restart();
  float cost = 0;
  for (int i = 0; i < steps && !samples.empty(); ++i) cost = now->trainer.step(samples);
  return cost;
}

// Returns the pixels of a picture, red, green, blue and opacity, whose colours are the
// probabilities of the three classes.
EXPORT(draw) const std::uint8_t* draw() {
  if (!now) restart();
  if (grid.empty())
    for (int i = 0; i < side * side; ++i)
      for (const int at : {i % side, i / side})
        grid.push_back((static_cast<float>(at) + 0.5f) / side * 2 - 1);
  now->evaluator.forward(lamina::feed<"point">(grid));
  const auto scores = now->evaluator.activation<"scores">();
  pixels.resize(4 * side * side);
  for (int i = 0; i < side * side; ++i) {
    float e[3], sum = 0;
    for (int c = 0; c < 3; ++c) sum += e[c] = std::exp(std::fmin(scores(i, c), 60.f));
    for (int c = 0; c < 3; ++c)
      pixels[4 * i + c] = static_cast<std::uint8_t>(60 + 195 * e[c] / sum);
    pixels[4 * i + 3] = 255;
  }
  return pixels.data();
}

EXPORT(side_of_picture) int side_of_picture() { return side; }
}

// Outside of a browser, the program trains with a spiral of points per class, as the page does.
#if !defined(__wasm__)
int main() {
  for (int label = 0; label < 3; ++label)
    for (int i = 0; i < 40; ++i) {
      const float radius = 0.1f + 0.02f * static_cast<float>(i);
      const float angle = 0.12f * static_cast<float>(i) + 2.0944f * static_cast<float>(label);
      add(radius * std::cos(angle), radius * std::sin(angle), label);
    }
  const float first = train(1), last = train(300);
  draw();
  std::printf("cost %.4f, then %.4f\n", static_cast<double>(first), static_cast<double>(last));
  return last < 0.1f ? 0 : 1;
}
#endif
