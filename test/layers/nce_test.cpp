// SPDX-License-Identifier: Apache-2.0
// nce: values by hand.
#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/layers/nce.hpp>
#include <lamina/model/gradient_machine.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::program;

namespace {

template <int Classes, int Samples>
constexpr auto sampled = program([](block& main) {
  auto x = layer::data<"x", float, 9>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto y = layer::nce<Classes, Samples>(x, label, {.seed = 5, .name = "y"});
  return std::tuple{layer::mean(y), y};
});

}  // namespace

TEST_CASE("nce by hand: where all classes score alike") {
  constexpr int classes = 30, samples = 4, batch = 40;
  lamina::model m{sampled<classes, samples>, 4};
  auto w = m.get(0), bias = m.get(1);
  std::fill(w.begin(), w.end(), 0.0f);
  std::fill(bias.begin(), bias.end(), 0.7f);
  m.set(0, w);
  m.set(1, bias);
  const std::vector<float> x(batch * 9, 1.0f);
  const std::vector<std::int64_t> labels(batch, 3);
  lamina::evaluator v{m};
  v.forward(lamina::feed<"x">(x), lamina::feed<"label">(labels));
  const double o = 1 / (1 + std::exp(-0.7)), noise = static_cast<double>(samples) / classes;
  const double expected = -std::log(o / (o + noise)) - samples * std::log(noise / (o + noise));
  for (std::size_t i = 0; i < batch; ++i)
    CHECK(v.activation<"y">()(i, 0) == Approx(expected).margin(1e-5));
  // Each sample draws its class down, and 160 of them leave hardly one of 30 out; labels go up.
  lamina::gradient_machine g{m};
  const void* const data[] = {x.data(), labels.data()};
  g.backward(batch, data);
  const auto gradient = g.gradient<"y.b_0">();
  int drawn = 0;
  for (std::size_t c = 0; c < classes; ++c) {
    const float up = gradient(c, 0);
    CHECK((c == 3 ? up < 0 : up >= 0));
    drawn += up > 0;
  }
  CHECK(drawn > 25);
}
