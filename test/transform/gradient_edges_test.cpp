// SPDX-License-Identifier: Apache-2.0
// Derivatives of order 1 to 4 where a factor vanishes or overflows: at 0 and -0, beside 0, at 1e20
// and 1e38, and at infinity. They are finite where the true value is.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "executor/shared_executor.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/model/model.hpp>
#include <lamina/transform/gradients.hpp>

namespace layer = lamina::layer;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double none = std::numeric_limits<double>::quiet_NaN();

struct edge {
  const char* name;
  double x;
  double of_order[4];
};
#include "transform/gradient_edges.inc"

/// The derivatives of order 1 to 4 of F.
template <class Real, class F>
constexpr auto derivatives = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", Real, 1>(main);
  const auto next = [&](auto y) {
    auto [grad] = layer::gradients(y, x);
    return grad;
  };
  auto first = next(F{}(x));
  auto second = next(first);
  auto third = next(second);
  auto fourth = next(third);
  return std::tuple{
      layer::assign(first, {.name = "first"}), layer::assign(second, {.name = "second"}),
      layer::assign(third, {.name = "third"}), layer::assign(fourth, {.name = "fourth"})};
});

template <class Real>
void compare(const std::string& name, const edge& e, const double (&found)[4]) {
  // The square of a number is infinite in float before that of a double is.
  const double tolerance = sizeof(Real) == 4 ? 1e-4 : 1e-9;
  for (int order = 0; order < 4; ++order) {
    const double wanted = e.of_order[order], value = found[order];
    if (!(std::abs(wanted) < (sizeof(Real) == 4 ? 1e37 : infinity))) continue;
    CAPTURE(name, e.x, order + 1, value, wanted, sizeof(Real));
    CHECK(std::abs(value - wanted) <= tolerance * (std::abs(wanted) + 0.1));
  }
}

template <class Real, class F>
void check(const std::string& name) {
  constexpr auto& program = derivatives<Real, F>;
  lamina::basic_executor<Real> executor;
  lamina::scope scope;
  executor.run_startup(program.view(), scope);
  int places = 0;
  for (const edge& e : edges) {
    if (name != e.name) continue;
    ++places;
    const lamina::tensor x(lamina::tensor_shape{1, 1}, std::vector<Real>{static_cast<Real>(e.x)});
    const auto all = executor.run(program.view(), scope, {{"x", x}});
    double found[4];
    for (std::size_t k = 0; k < 4; ++k) found[k] = all[k].template cast<double>().flat(0);
    compare<Real>(name, e, found);
  }
  CHECK(places >= 4);
}

template <class F>
void check_on_engine(const std::string& name) {
  lamina::model m{derivatives<float, F>};
  lamina::evaluator machine{m};
  for (const edge& e : edges) {
    if (name != e.name) continue;
    machine.forward(lamina::feed<"x">(std::vector<float>{static_cast<float>(e.x)}));
    const auto number = [](const auto& y) { return static_cast<double>(y(0, 0)); };
    const double found[4] = {number(machine.template activation<"first">()),
                             number(machine.template activation<"second">()),
                             number(machine.template activation<"third">()),
                             number(machine.template activation<"fourth">())};
    compare<float>(name + " on the engine", e, found);
  }
}

struct tanh_of {
  constexpr auto operator()(auto x) const { return layer::tanh(x); }
};
struct sigmoid_of {
  constexpr auto operator()(auto x) const { return layer::sigmoid(x); }
};
struct softplus_of {
  constexpr auto operator()(auto x) const { return layer::softplus(x); }
};
struct logsigmoid_of {
  constexpr auto operator()(auto x) const { return layer::logsigmoid(x); }
};
struct tanh_shrink_of {
  constexpr auto operator()(auto x) const { return layer::tanh_shrink(x); }
};
struct mish_of {
  constexpr auto operator()(auto x) const { return layer::mish(x); }
};
struct softsign_of {
  constexpr auto operator()(auto x) const { return layer::softsign(x); }
};
struct gelu_of {
  constexpr auto operator()(auto x) const { return layer::gelu(x); }
};
struct elu_of {
  constexpr auto operator()(auto x) const { return layer::elu(x); }
};
struct exp_of {
  constexpr auto operator()(auto x) const { return layer::exp(x); }
};
struct reciprocal_of {
  constexpr auto operator()(auto x) const { return layer::reciprocal(x); }
};
struct sqrt_of {
  constexpr auto operator()(auto x) const { return layer::sqrt(x); }
};
struct log_of {
  constexpr auto operator()(auto x) const { return layer::log(x); }
};
struct rsqrt_of {
  constexpr auto operator()(auto x) const { return layer::rsqrt(x); }
};
struct sin_of {
  constexpr auto operator()(auto x) const { return layer::sin(x); }
};
struct cos_of {
  constexpr auto operator()(auto x) const { return layer::cos(x); }
};
struct atan_of {
  constexpr auto operator()(auto x) const { return layer::atan(x); }
};
struct asin_of {
  constexpr auto operator()(auto x) const { return layer::asin(x); }
};
struct acos_of {
  constexpr auto operator()(auto x) const { return layer::acos(x); }
};
struct stanh_of {
  constexpr auto operator()(auto x) const {
    return layer::stanh(x, {.scale_a = 0.5f, .scale_b = 1.5f});
  }
};
struct swish_of {
  constexpr auto operator()(auto x) const { return layer::swish(x); }
};
struct steep_swish {
  constexpr auto operator()(auto x) const { return layer::swish(x, {.beta = 2.5f}); }
};
struct quotient {
  constexpr auto operator()(auto x) const { return x / (1.0 + layer::square(x)); }
};
struct gelu_tanh {
  constexpr auto operator()(auto x) const { return layer::gelu(x, {.approximate = true}); }
};
template <int Factor>
struct power {
  constexpr auto operator()(auto x) const {
    return layer::pow(x, {.factor = static_cast<float>(Factor)});
  }
};
struct bell {
  constexpr auto operator()(auto x) const {
    return layer::exp(-1.0 * layer::pow(x, {.factor = 2}));
  }
};

}  // namespace

TEMPLATE_TEST_CASE("derivatives of order 1 to 4 at edges", "", float, double) {
  using T = TestType;
  check<T, tanh_of>("tanh");
  check<T, sigmoid_of>("sigmoid");
  check<T, softplus_of>("softplus");
  check<T, logsigmoid_of>("logsigmoid");
  check<T, tanh_shrink_of>("tanh_shrink");
  check<T, mish_of>("mish");
  check<T, softsign_of>("softsign");
  check<T, gelu_of>("gelu");
  check<T, elu_of>("elu");
  check<T, exp_of>("exp");
  check<T, reciprocal_of>("reciprocal");
  check<T, sqrt_of>("sqrt");
  check<T, log_of>("log");
  check<T, rsqrt_of>("rsqrt");
  check<T, sin_of>("sin");
  check<T, cos_of>("cos");
  check<T, atan_of>("atan");
  check<T, asin_of>("asin");
  check<T, acos_of>("acos");
  check<T, stanh_of>("stanh");
  check<T, swish_of>("swish");
  check<T, gelu_tanh>("gelu_tanh");
  check<T, steep_swish>("steep_swish");
  check<T, quotient>("quotient");
  check<T, bell>("bell");
  check<T, power<0>>("power_0");
  check<T, power<1>>("power_1");
  check<T, power<2>>("power_2");
  check<T, power<3>>("power_3");
}

TEST_CASE("derivatives at edges on the engine") {
  check_on_engine<gelu_tanh>("gelu_tanh");
  check_on_engine<gelu_of>("gelu");
  check_on_engine<steep_swish>("steep_swish");
  check_on_engine<power<2>>("power_2");
  check_on_engine<atan_of>("atan");
}
