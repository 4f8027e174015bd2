// SPDX-License-Identifier: Apache-2.0
// Other shapes, other orders of dimensions: gradients, and the engine against the executor.
#include <tuple>

#include "executor/shared_executor.hpp"
#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>
#include <laws/gradient_check.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::program;
using lamina::law::check_engine;

namespace {

/// A cost whose gradient differs from element to element, and the value itself.
template <class V>
constexpr auto squared(V y) {
  return std::tuple{layer::mean(y * y), y};
}

template <int W>
constexpr auto reshaped = program([](block& main) {
  auto x = layer::data<"x", float, 2, W, 3>(main);
  auto flat = layer::reshape<-1>(x);
  auto back = layer::reshape<3, 2 * W>(flat * 2.0);
  auto thin = layer::squeeze<1>(layer::unsqueeze<1>(back));
  return squared(layer::flatten(thin));
});

template <int W>
constexpr auto transposed = program([](block& main) {
  auto x = layer::data<"x", float, 2, W, 3>(main);
  auto a = layer::transpose<0, 3, 1, 2>(x);
  auto b = layer::transpose<0, 2, 3, 1>(a);
  return std::tuple{layer::mean(b * b), a, b};
});

template <int W>
constexpr auto stacked_once = program([](block& main) {
  auto x = layer::data<"x", float, W>(main);
  auto w = layer::fill_constant<float, 3, W>(main, 0.5);
  auto t = layer::transpose<1, 0>(w);
  auto both = layer::concat<0>({w, w});
  auto h = layer::matmul(x, t);
  return std::tuple{layer::mean(h * h), t, both, layer::reshape<W, 3>(w)};
});

}  // namespace

TEST_CASE("reshapes on the engine are those of the executor") {
  check_engine(reshaped<1>);
  check_engine(reshaped<5>);
  check_engine(reshaped<16>);
}

TEST_CASE("transposes on the engine are those of the executor") {
  check_engine(transposed<1>);
  check_engine(transposed<5>);
  check_engine(transposed<16>);
}

TEST_CASE("shapes without rows on the engine are those of the executor") {
  check_engine(stacked_once<5>);
  check_engine(stacked_once<16>);
  check_engine(stacked_once<33>);
}

TEST_CASE("gradient: reshape, transpose, squeeze, unsqueeze, flatten") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::data<"x", float, 2, 6>(main);
    auto t = layer::transpose<0, 2, 1>(layer::reshape<3, 4>(x));
    auto u = layer::squeeze<2>(layer::unsqueeze<2>(t));
    auto f = layer::flatten(u);
    return layer::mean(layer::square(layer::fc<2>(f)) * layer::fc<2>(x));
  }));
}
