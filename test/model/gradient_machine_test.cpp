// SPDX-License-Identifier: Apache-2.0
// Gradients of a model's cost against difference quotients.

#include <memory>

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

// Its kernels read attributes, an array of a loop and statistics in the machine's own memory.
constexpr auto with_loop = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto hidden = layer::batch_norm(layer::fc<5>(x, {.act = lamina::activation::tanh}));
  auto count = layer::fill_constant<std::int64_t>(main, 0.0);
  auto most = layer::fill_constant<std::int64_t>(main, 3.0);
  auto going = layer::less_than(count, most);
  auto sum = layer::fill_constant<float>(main, 0.0);
  layer::while_loop(going, [&](lamina::block&) {
    sum = sum + layer::scale(layer::mean(hidden), 0.7);
    layer::increment(count);
    layer::less_than(count, most, going);
  });
  auto logits = layer::fc<3>(hidden, {.name = "output"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label)) + layer::scale(sum, 0.3);
});
constexpr auto with_statistics = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto hidden = layer::batch_norm(layer::fc<5>(x, {.act = lamina::activation::tanh}));
  auto logits = layer::fc<3>(layer::scale(hidden, 0.7), {.name = "output"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

// A machine that moves computes what one does that stays where it is.
template <class Machine, class Model, class Run>
void compare_moved(const Model& m, Run run) {
  Machine stays(m);
  auto moves = std::make_unique<Machine>(m);
  for (int i = 0; i < 4; ++i) {
    CHECK(run(*moves) == run(stays));
    // The sanitizer of addresses sees what still reads the old one.
    moves = std::make_unique<Machine>(std::move(*moves));
  }
}

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

TEST_CASE("evaluators and gradient machines can be moved between runs") {
  const auto samples = test::samples(20);
  std::vector<float> x;
  std::vector<std::int64_t> label;
  for (const test::sample& s : samples) {
    x.insert(x.end(), s.x.begin(), s.x.end());
    label.push_back(s.label);
  }
  const auto compare = [&]<class P>(const lamina::model<P>& m) {
    if constexpr (lamina::cost_kind_of<P>() == lamina::cost_kind::number)
      compare_moved<lamina::gradient_machine<P>>(m, [&](auto& g) { return g.backward(samples); });
    compare_moved<lamina::evaluator<P>>(m, [&](auto& e) {
      e.forward(lamina::feed<"x">(x), lamina::feed<"label">(label));
      return e.cost();
    });
  };
  compare(lamina::model{net, 3});
  compare(lamina::model{with_loop, 3});
  compare(lamina::model{with_statistics, 3});
}
