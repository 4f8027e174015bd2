// SPDX-License-Identifier: Apache-2.0
// Gradients of a model's cost against difference quotients.

#include "model/samples.hpp"

#include <lamina/model/gradient_machine.hpp>

namespace layer = lamina::layer;

namespace {

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto hidden = layer::fc<17>(x, {.act = lamina::activation::tanh, .name = "hidden"});
  layer::fc<2>(hidden, {.name = "aside"});  // no cost depends on it
  auto logits = layer::fc<3>(hidden, {.param = {.trainable = false}, .name = "output"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

template <lamina::fixed_string Name, class Model, class Machine>
double largest_difference(Model& m, Machine& g, const std::vector<test::sample>& samples) {
  g.backward(samples);
  const lamina::array<float> gradient = g.template gradient<Name>();
  const lamina::array<float> value = m.template parameter<Name>();
  double worst = 0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    constexpr float h = 2e-2f;
    lamina::array<float> moved = value;
    moved.data()[i] += h;
    m.template set_parameter<Name>(moved);
    const double above = static_cast<double>(g.backward(samples));
    moved.data()[i] = value.data()[i] - h;
    m.template set_parameter<Name>(moved);
    const double quotient = (above - static_cast<double>(g.backward(samples))) / (2 * h);
    worst = std::max(worst, std::abs(quotient - static_cast<double>(gradient.data()[i])));
  }
  m.template set_parameter<Name>(value);
  return worst;
}

}  // namespace

TEST_CASE("gradients are the derivatives of the cost") {
  lamina::model m{net, 3};
  lamina::gradient_machine g{m};
  for (const int rows : {1, 7, 40}) {
    const auto samples = test::samples(rows);
    CHECK(largest_difference<"hidden.w_0">(m, g, samples) < 2e-4);
    CHECK(largest_difference<"hidden.b_0">(m, g, samples) < 2e-4);
    CHECK(largest_difference<"output.b_0">(m, g, samples) < 2e-4);
  }
}

TEST_CASE("parameters that no gradient reaches have a gradient of zeros") {
  lamina::model m{net, 3};
  lamina::gradient_machine g{m};
  g.backward(test::samples(7));
  CHECK((g.gradient<"aside.w_0">() == lamina::array<float>({17, 2})));
  CHECK((g.gradient<"output.w_0">() == lamina::array<float>({17, 3})));  // frozen
  const auto reached = g.gradient<"output.b_0">();
  CHECK(std::any_of(reached.begin(), reached.end(), [](float x) { return std::abs(x) > 1e-3f; }));
}

TEST_CASE("backward changes no parameter and depends on its samples alone") {
  lamina::model m{net, 3};
  const auto before = test::bytes_of(m);
  lamina::gradient_machine g{m};
  const float cost = g.backward(test::samples(8));
  const lamina::array<float> gradient = g.gradient<"hidden.w_0">();
  g.backward(test::samples(31, 6));
  CHECK(g.backward(test::samples(8)) == cost);
  CHECK((g.gradient<"hidden.w_0">() == gradient));
  CHECK(test::bytes_of(m) == before);
}
