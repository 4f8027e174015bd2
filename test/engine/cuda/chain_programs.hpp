// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/chain_programs.hpp - programs of narrow products behind each other. For tests on
// the host and for a run on a device.
#pragma once

#include "engine/cuda/train_both.hpp"

namespace test {

/// Equal layers: a chain of four and, in float, as many as find room.
inline constexpr auto narrow = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 13>(main);
  auto y = layer::data<"y", float, 5>(main);
  auto h = layer::fc<64>(x, {.act = activation::relu});
  for (int i = 0; i < 3; ++i) h = layer::fc<64>(h, {.act = activation::relu});
  auto out = layer::fc<5>(h, {.name = "out"});
  return layer::mean(layer::square_error_cost(out, y));
});

/// Widths that are none of whole packs, wider than a tile, wide ones that no chain takes, layers
/// without bias or activation, values that somebody else reads, a layer twice.
inline constexpr auto uneven = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 13>(main);
  auto y = layer::data<"y", float, 5>(main);
  auto a = layer::fc<100>(x, {.act = activation::tanh});
  auto b = layer::fc<33>(a, {.bias = false});
  auto c = layer::fc<7>(b, {.act = activation::sigmoid, .name = "c"});
  auto d = layer::fc<130>(c, {.act = activation::relu});
  auto e = layer::fc<20>(d, {.act = activation::swish});
  auto f = layer::fc<20>(e) + e;
  auto g = layer::fc<20>(f, {.act = activation::relu, .param = {.name = "shared"}});
  auto h = layer::fc<20>(g, {.act = activation::relu, .param = {.name = "shared"}});
  auto out = layer::fc<5>(h * g, {.name = "out"});
  return layer::mean(layer::square_error_cost(out, y)) + layer::mean(layer::square(b));
});

/// Few numbers, so that tests with many samples are quick.
inline constexpr auto thin = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 9>(main);
  auto y = layer::data<"y", float, 2>(main);
  auto a = layer::fc<8>(x, {.act = activation::tanh});
  auto b = layer::fc<11>(a, {.act = activation::tanh});
  auto c = layer::fc<8>(b, {.act = activation::tanh, .bias = false});
  return layer::mean(layer::square_error_cost(layer::fc<2>(c), y));
});

}  // namespace test
