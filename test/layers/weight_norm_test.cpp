// SPDX-License-Identifier: Apache-2.0
// weight_norm: PyTorch's values and gradients, the engine, and edges.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <tuple>
#include <vector>

#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/layers/weight_norm.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/model/gradient_machine.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::program;

namespace {

template <int Dim>
constexpr auto normed = program([](block& main) {
  auto x = layer::data<"x", float, 2, 3, 2>(main);
  auto v = layer::create_parameter<float, 2, 3, 2>(main, {.name = "v"});
  auto w = layer::weight_norm<Dim>(v, {.name = "w"});
  return std::tuple{layer::mean(layer::reduce_sum<1, 2, 3>(x * w)), w};
});
static_assert(normed<0>.parameter_count() == 14 && normed<1>.parameter_count() == 15);

constexpr auto dense = program([](block& main) {
  auto x = layer::data<"x", float, 5>(main);
  auto v = layer::create_parameter<float, 5, 3>(main, {.name = "v"});
  auto y = layer::tanh(layer::matmul(x, layer::weight_norm(v)));
  return std::tuple{layer::mean(y * y), y};
});

template <int Dim>
void check(const std::vector<float>& g, const std::vector<double>& w, const std::vector<double>& dg,
           const std::vector<double>& dv) {
  CAPTURE(Dim);
  lamina::model m{normed<Dim>};
  std::vector<float> v(12), x(12);
  for (std::size_t i = 0; i < 12; ++i) {
    const float n = static_cast<float>(i);
    v[i] = 0.25f * n - 1, x[i] = 0.5f - 0.125f * n * n / 4;
  }
  m.template set_parameter<"v">(lamina::array<float>({2, 3, 2}, v));
  m.template set_parameter<"w.w_0">(lamina::array<float>({g.size()}, g));
  lamina::evaluator e{m};
  e.forward(lamina::feed<"x">(x));
  const auto same = [](const auto& view, const std::vector<double>& expected) {
    const std::vector<float> found(view.begin(), view.end());
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
      CHECK(found[i] == Approx(expected[i]).margin(2e-6));
  };
  same(e.template activation<"w">(), w);
  lamina::gradient_machine machine{m};
  std::array<float, 12> sample;
  std::copy(x.begin(), x.end(), sample.begin());
  machine.backward(std::vector{sample});
  same(machine.template gradient<"w.w_0">(), dg);
  same(machine.template gradient<"v">(), dv);
}

}  // namespace

TEST_CASE("weight_norm: the engine") {
  lamina::law::check_engine(normed<0>);
  lamina::law::check_engine(normed<1>);
  lamina::law::check_engine(normed<-1>);
  lamina::law::check_engine(dense);
}

TEST_CASE("weight_norm: values and gradients of PyTorch") {
  check<0>({1.5f, -0.5f},
           {-1.0776318, -0.80822386, -0.53881591, -0.26940795, 0, 0.26940795, -0.084818893,
            -0.12722834, -0.16963779, -0.21204723, -0.25445668, -0.29686613},
           {-0.83628719, -5.0228688},
           {-0.10863224, 0.019553803, 0.080387857, 0.073869923, 0, -0.14122191, -0.038519371,
            -0.041875515, -0.034629296, -0.016780716, 0.011670225, 0.050723529});
  check<1>({1.5f, -0.5f, 2},
           {-0.97332853, -0.7299964, 0.14744196, 0.073720978, 0, 0.21566555, 0.48666426, 0.7299964,
            -0.29488391, -0.36860489, 1.2939933, 1.5096588},
           {-1.257216, -2.5249435, -4.2054782},
           {-0.3073669, -0.13927563, 0.10897884, 0.045274296, 0, 0.14858353, -0.21131475,
            -0.40822167, 0.0032052599, 0.050082186, 0.082755384, -0.092159405});
  check<2>({1.5f, -0.5f},
           {-0.6882472, 0.15471319, -0.3441236, 0.051571062, 0, -0.051571062, 0.3441236,
            -0.15471319, 0.6882472, -0.25785531, 1.0323708, -0.36099744},
           {-2.9537276, -3.9322935},
           {-0.58863248, 0.15430172, -0.20828534, 0.03854114, 0, -0.025648374, 0.036223537,
            -0.038266825, -0.099614727, 0.0006857854, -0.40751479, 0.091209459});
}

TEST_CASE("weight_norm: directions of length 0, and NaN") {
  lamina::model m{normed<0>};
  std::vector<float> v(12, 0);
  v[6] = 2;
  const auto w_of = [&] {
    m.set_parameter<"v">(lamina::array<float>({2, 3, 2}, v));
    lamina::evaluator e{m};
    e.forward(lamina::feed<"x">(std::vector<float>(12, 1)));
    const auto w = e.activation<"w">();
    return std::vector<float>(w.begin(), w.end());
  };
  for (std::size_t i = 0; i < 6; ++i) CHECK(w_of()[i] == 0);  // not 0 / 0
  lamina::gradient_machine machine{m};
  machine.backward(std::vector{std::array<float, 12>{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}});
  const auto dv = machine.gradient<"v">();
  const std::vector<float> grads(dv.begin(), dv.end());
  for (std::size_t i = 0; i < 6; ++i) CHECK(grads[i] == 0);
  v[0] = std::numeric_limits<float>::quiet_NaN();
  CHECK(std::isnan(w_of()[0]));
  CHECK(w_of()[6] == 1);
  CHECK(w_of()[7] == 0);
}
