// SPDX-License-Identifier: Apache-2.0
// custom_operator - a custom pointwise operator with its gradient, in a custom layer
#include <cmath>
#include <cstdio>
#include <vector>

#include <lamina/lamina.hpp>

namespace layer = lamina::layer;
namespace reader = lamina::reader;

// The whole operator: its equation and its gradient, at one place of an array. It is fused with
// what stands before it.
struct bent_identity : lamina::pointwise {
  static constexpr const char* type = "bent_identity";
  template <class T>
  LAMINA_FN static T f(T x) {
    return (lamina::math::sqrt(x * x + T(1)) - T(1)) / T(2) + x;
  }
  template <class T>
  LAMINA_FN static T df(T x, T dy) {
    return (x / (T(2) * lamina::math::sqrt(x * x + T(1))) + T(1)) * dy;
  }
};

// A layer is a function that records operators.
template <class V>
constexpr V bent(V x, std::string_view name = {}) {
  layer::layer_helper helper(*x.builder, "bent_identity", name);
  const int y = helper.output_like(x.id);
  x.builder->add_operator(lamina::schema_of<bent_identity>(), {x.id}, {y});
  return helper.returns(V{x.builder, y});
}

constexpr auto net = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 64>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto hidden = bent(layer::fc<64>(image));
  auto logits = layer::fc<10>(hidden, {.name = "output"});
  layer::accuracy(logits, label, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

int main() {
  lamina::model model{net};
  lamina::optimizer::adam{.learning_rate = 3e-3f}.train(
      model, lamina::dataset::digits::train() | reader::shuffle(2000) | reader::batch(32),
      {.passes = 10});

  // The gradient of a bias, which came through bent_identity, against a difference quotient.
  const auto test = lamina::dataset::digits::test();
  const std::vector<lamina::dataset::digits::sample> samples(test.begin(), test.end());
  lamina::gradient_machine g{model};
  g.backward(samples);
  const float gradient = g.gradient<"fc_0.b_0">()(5);
  auto bias = model.parameter<"fc_0.b_0">();
  const float h = 1e-2f, middle = bias(5);
  bias(5) = middle + h;
  model.set_parameter<"fc_0.b_0">(bias);
  const float above = g.backward(samples);
  bias(5) = middle - h;
  model.set_parameter<"fc_0.b_0">(bias);
  const float quotient = (above - g.backward(samples)) / (2 * h);
  bias(5) = middle;
  model.set_parameter<"fc_0.b_0">(bias);
  std::printf("gradient %.5f, difference quotient %.5f\n", static_cast<double>(gradient),
              static_cast<double>(quotient));

  const double accuracy =
      lamina::evaluator{model}.test(test | reader::batch(64)).metric("accuracy");
  std::printf("test accuracy %.4f\n", accuracy);
  return accuracy >= 0.93 && std::abs(gradient - quotient) < 1e-4f + 0.05f * std::abs(gradient) ? 0
                                                                                                : 1;
}
