// SPDX-License-Identifier: Apache-2.0
// prelu and maxout: gradients, and the engine against the executor.
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

template <int W>
constexpr auto activations = program([](block& main) {
  auto x = layer::data<"x", float, 4, W>(main);
  auto a = layer::prelu(x, {.mode = layer::prelu_mode::all});
  auto b = layer::prelu(x, {.mode = layer::prelu_mode::element});
  auto c = layer::maxout<2>(x);
  return std::tuple{layer::mean(a * a) + layer::mean(b * b) + layer::mean(c * c), a, b, c};
});

constexpr auto channel_slopes = program([](block& main) {
  auto x = layer::data<"x", float, 3, 5, 2>(main);
  auto a = layer::prelu(x, {.mode = layer::prelu_mode::channel});
  auto c = layer::maxout<3>(x);
  return std::tuple{layer::mean(a * a) + layer::mean(c * c), a, c};
});

}  // namespace

TEST_CASE("prelu and maxout on the engine are those of the executor") {
  check_engine(activations<1>);
  check_engine(activations<5>);
  check_engine(activations<16>);
  check_engine(channel_slopes);
}

TEST_CASE("gradient: prelu in its three modes, and maxout") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::data<"x", float, 4, 2>(main);
    auto a = layer::prelu(x);
    auto b = layer::prelu(x, {.mode = lamina::layer::prelu_mode::channel});
    auto c = layer::prelu(x, {.mode = lamina::layer::prelu_mode::element});
    return layer::mean(layer::square(a) + b * c);
  }));
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::data<"x", float, 4, 2, 3>(main);
    return layer::mean(layer::square(layer::maxout<2>(x)));
  }));
}
