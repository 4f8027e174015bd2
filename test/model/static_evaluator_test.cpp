// SPDX-License-Identifier: Apache-2.0
// static_evaluator: what an evaluator computes, in its own memory only.
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <tuple>
#include <type_traits>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/model/bfloat16/bfloat16_machine.hpp>
#include <lamina/model/bfloat16/static_bfloat16.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/model/static_evaluator.hpp>

namespace layer = lamina::layer;

namespace {

// Widths that are no whole vectors, two layers that read one, a label that no forward pass needs.
constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 7>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto h = layer::fc<50>(layer::scale(x, 0.5f), {.act = lamina::activation::tanh, .name = "h"});
  auto both = layer::fc<33>(std::tuple{h, x}, {.act = lamina::activation::relu});
  auto y = layer::softmax(layer::fc<5>(both + layer::fc<33>(h)), {.name = "y"});
  return layer::mean(layer::cross_entropy(y, label));
});

using net_type = std::remove_const_t<decltype(net)>;

std::vector<float> numbers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> all(count);
  for (float& x : all) x = normal(random);
  return all;
}

template <int Rows>
void compare_rows() {
  INFO(Rows << " rows");
  const lamina::model model{net, 3};
  const auto x = numbers(Rows * 7, Rows);
  lamina::evaluator e{model};
  e.forward(lamina::feed<"x">(x));
  lamina::static_evaluator<net_type, Rows> s;
  s.load(model);
  std::copy(x.begin(), x.end(), s.template input<"x">().begin());
  s.template forward<"x">();
  for (int r = 0; r < Rows; ++r) {
    const auto row = static_cast<std::size_t>(r);
    for (std::size_t j = 0; j < 50; ++j)
      CHECK(s.template activation<"h">(r)[j] == Approx(e.activation<"h">()(row, j)).margin(1e-6));
    for (std::size_t j = 0; j < 5; ++j)
      CHECK(s.template activation<"y">(r)[j] == Approx(e.activation<"y">()(row, j)).margin(1e-6));
  }
}

template <int Hidden>
constexpr auto step = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto hidden = layer::data<"hidden", float, Hidden>(main);
  auto cell = layer::data<"cell", float, Hidden>(main);
  auto [next_hidden, next_cell] =
      layer::lstm_unit(x, hidden, cell, {.forget_bias = 1, .name = "step"});
  layer::scale(next_cell, 1, {.name = "next_cell"});
  return next_hidden;
});

template <int Hidden, int Rows>
void compare_steps() {
  INFO("hidden " << Hidden << ", " << Rows << " rows");
  using program = std::remove_const_t<decltype(step<Hidden>)>;
  const lamina::model model{step<Hidden>, 5};
  lamina::evaluator<program> e{model};
  lamina::static_evaluator<program, Rows> s;
  s.load(model);
  std::vector<float> hidden(Rows * Hidden), cell(Rows * Hidden);
  for (unsigned t = 0; t < 20; ++t) {
    const auto x = numbers(Rows * 3, t);
    e.forward(lamina::feed<"x">(x), lamina::feed<"hidden">(hidden), lamina::feed<"cell">(cell));
    const auto h = e.template activation<"step">(), c = e.template activation<"next_cell">();
    std::copy(h.begin(), h.end(), hidden.begin());
    std::copy(c.begin(), c.end(), cell.begin());
    std::copy(x.begin(), x.end(), s.template input<"x">().begin());
    s.forward();
    for (int r = 0; r < Rows; ++r) {
      const auto from = s.template activation<"step">(r),
                 state = s.template activation<"next_cell">(r);
      std::copy(from.begin(), from.end(), s.template input<"hidden">().begin() + r * Hidden);
      std::copy(state.begin(), state.end(), s.template input<"cell">().begin() + r * Hidden);
    }
  }
  for (std::size_t i = 0; i < hidden.size(); ++i) {
    CHECK(s.template input<"hidden">()[i] == Approx(hidden[i]).margin(1e-5));
    CHECK(s.template input<"cell">()[i] == Approx(cell[i]).margin(1e-5));
  }
}

// Products over the last of two dimensions, whose parts are rows of a group each, and what follows
// them there.
constexpr auto cut_net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 3, 16>(main);
  auto h = layer::fc<32, 2>(x, {.act = lamina::activation::relu, .name = "h"});
  return layer::fc<5>(layer::sigmoid(layer::fc<16, 2>(h) + x), {.name = "y"});
});

// The same where the dimension before the last is one: rows of no whole vectors.
constexpr auto single_net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 1, 7>(main);
  auto h = layer::fc<12, 2>(x, {.act = lamina::activation::tanh, .name = "h"});
  return layer::fc<5, 2>(h, {.name = "y"});
});

template <int Rows>
void compare_single() {
  INFO(Rows << " rows");
  const lamina::model model{single_net, 3};
  const auto x = numbers(Rows * 7, Rows);
  lamina::evaluator e{model};
  e.forward(lamina::feed<"x">(x));
  lamina::static_evaluator<std::remove_const_t<decltype(single_net)>, Rows> s;
  s.load(model);
  std::copy(x.begin(), x.end(), s.template input<"x">().begin());
  s.forward();
  const auto y = e.activation<"y">();
  for (std::size_t r = 0; r < Rows; ++r)
    for (std::size_t j = 0; j < 5; ++j)
      CHECK(s.template activation<"y">(static_cast<int>(r))[j] == Approx(y(r, 0, j)).margin(1e-6));
}

template <int Rows, auto Storage, class Model, class Evaluator>
void compare_cut(const Model& model, Evaluator& e) {
  INFO(Rows << " rows");
  const auto x = numbers(Rows * 48, Rows);
  e.forward(lamina::feed<"x">(x));
  lamina::static_evaluator<std::remove_const_t<decltype(cut_net)>, Rows, Storage> s;
  s.load(model);
  std::copy(x.begin(), x.end(), s.template input<"x">().begin());
  s.forward();
  const auto h = e.template activation<"h">();
  const auto y = e.template activation<"y">();
  for (std::size_t r = 0; r < Rows; ++r) {
    const auto of_h = s.template activation<"h">(static_cast<int>(r));
    const auto of_y = s.template activation<"y">(static_cast<int>(r));
    for (std::size_t j = 0; j < 96; ++j)
      CHECK(of_h[j] == Approx(h(r, j / 32, j % 32)).margin(1e-6));
    for (std::size_t j = 0; j < 5; ++j) CHECK(of_y[j] == Approx(y(r, j)).margin(1e-6));
  }
}

}  // namespace

TEST_CASE("a static evaluator computes products over the last of several dimensions") {
  const lamina::model model{cut_net, 3};
  lamina::evaluator e{model};
  compare_cut<1, lamina::storage::float32>(model, e);
  compare_cut<5, lamina::storage::float32>(model, e);
  lamina::evaluator narrow{model, lamina::storage::bfloat16};
  compare_cut<1, lamina::storage::bfloat16>(model, narrow);
  compare_cut<5, lamina::storage::bfloat16>(model, narrow);
}

TEST_CASE("a static evaluator computes products over the last of dimensions that are one") {
  compare_single<1>();
  compare_single<6>();
}

TEST_CASE("a static evaluator computes what an evaluator does, few rows and many") {
  compare_rows<1>();
  compare_rows<3>();
  compare_rows<21>();
}

TEST_CASE("a static evaluator computes the steps of an LSTM") {
  compare_steps<3, 1>();
  compare_steps<4, 2>();
  compare_steps<8, 1>();
  compare_steps<20, 2>();
  compare_steps<64, 1>();
}

TEST_CASE("run after run a static evaluator has the same bits") {
  // More weights than a first-level cache holds: every second run reads them from the end.
  static constexpr auto wide = lamina::program([](lamina::block& main) {
    return layer::fc<500>(layer::data<"x", float, 90>(main), {.name = "y"});
  });
  using program = std::remove_const_t<decltype(wide)>;
  const lamina::model model{wide, 5};
  auto s = std::make_unique<lamina::static_evaluator<program>>();
  s->load(model);
  lamina::evaluator e{model};
  const auto x = numbers(90, 4);
  std::copy(x.begin(), x.end(), s->input<"x">().begin());
  std::vector<float> first;
  for (int i = 0; i < 3; ++i) {
    s->forward();
    const auto y = s->activation<"y">();
    if (i == 0) first.assign(y.begin(), y.end());
    CHECK(std::equal(y.begin(), y.end(), first.begin()));
    e.forward(lamina::feed<"x">(x));
    const lamina::array<float> whole = e.activation<"y">();
    for (std::size_t j = 0; j < first.size(); ++j)
      CHECK(first[j] == Approx(whole(0, j)).margin(1e-5));
  }
}

TEST_CASE("a static evaluator takes its parameters from arrays") {
  using evaluator = lamina::static_evaluator<net_type>;
  const lamina::model model{net, 6};
  std::vector<float> all;
  for (int i = 0; i < decltype(model)::parameter_arrays(); ++i) {
    const auto value = model.get(i);
    all.insert(all.end(), value.begin(), value.end());
  }
  REQUIRE(all.size() == evaluator::parameter_elements);
  evaluator from_model, from_array;
  from_model.load(model);
  from_array.load(std::span<const float, evaluator::parameter_elements>(all));
  CHECK(std::memcmp(&from_model, &from_array, sizeof from_model) == 0);

  const std::array<float, 350> weight{};
  from_array.set_parameter<"h.w_0">(std::span(weight));
  std::fill_n(from_array.input<"x">().begin(), 7, 1.0f);
  from_array.forward<"x">();
  for (const float h : from_array.activation<"h">()) CHECK(h == 0);
}
