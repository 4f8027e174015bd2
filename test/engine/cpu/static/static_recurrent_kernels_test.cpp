// SPDX-License-Identifier: Apache-2.0
// The steps of a GRU: what an evaluator computes, for widths that are whole vectors or not.
#include <algorithm>
#include <random>
#include <type_traits>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/engine/cpu/static/static_recurrent_kernels.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/model/static_evaluator.hpp>

namespace layer = lamina::layer;

namespace {

template <int Width, bool OriginMode, bool Bias>
constexpr auto step = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2>(main);
  auto hidden = layer::data<"hidden", float, Width>(main);
  auto [next, reset, gates] =
      layer::gru_unit<3 * Width>(layer::fc<3 * Width>(x), hidden,
                                 {.origin_mode = OriginMode,
                                  .bias = Bias,
                                  .bias_param = {.initializer = lamina::init::uniform(-1, 1)}});
  layer::scale(gates, 1, {.name = "gates"});
  layer::scale(reset, 1, {.name = "reset"});
  return layer::scale(next, 1, {.name = "hidden_next"});
});

template <int Width, int Rows, bool OriginMode = false, bool Bias = true>
void compare() {
  INFO("width " << Width << ", " << Rows << " rows");
  constexpr auto& net = step<Width, OriginMode, Bias>;
  const lamina::model model{net, 5};
  lamina::evaluator e{model};
  lamina::static_evaluator<std::remove_cvref_t<decltype(net)>, Rows> s;
  s.load(model);
  std::vector<float> hidden(Rows * Width), x(Rows * 2);
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  for (int t = 0; t < 20; ++t) {
    for (float& v : x) v = normal(random);
    e.forward(lamina::feed<"x">(x), lamina::feed<"hidden">(hidden));
    std::ranges::copy(e.template activation<"hidden_next">(), hidden.begin());
    std::ranges::copy(x, s.template input<"x">().begin());
    s.forward();
    if (t % 2 == 0)
      s.feed_back();
    else
      s.template feed_back<"hidden_next", "hidden">();
  }
  for (std::size_t i = 0; i < hidden.size(); ++i)
    CHECK(s.template input<"hidden">()[i] == Approx(hidden[i]).margin(1e-5));
  const auto gates = e.template activation<"gates">();
  const auto reset = e.template activation<"reset">();
  for (int r = 0; r < Rows; ++r)
    for (std::size_t j = 0; j < 3 * Width; ++j) {
      CHECK(s.template activation<"gates">(r)[j] ==
            Approx(gates(static_cast<std::size_t>(r), j)).margin(1e-5));
      if (j < Width)
        CHECK(s.template activation<"reset">(r)[j] ==
              Approx(reset(static_cast<std::size_t>(r), j)).margin(1e-5));
    }
}

}  // namespace

TEST_CASE("a static evaluator computes the steps of a GRU") {
  compare<8, 1>();
  compare<5, 3>();
  compare<20, 2, true>();
  compare<32, 1, false, false>();
}
