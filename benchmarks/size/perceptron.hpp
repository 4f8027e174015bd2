// SPDX-License-Identifier: Apache-2.0
// lamina/benchmarks/size/perceptron.hpp - the network of the programs that benchmarks/size.py
// compares, in lamina.
#pragma once

#include <lamina/layers/data.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/program/program.hpp>

constexpr auto net = lamina::program([](lamina::block& main) {
  auto image = lamina::layer::data<"image", float, 64>(main);
  auto hidden = lamina::layer::fc<128>(image, {.act = lamina::activation::relu});
  return lamina::layer::fc<10>(hidden, {.name = "scores"});
});
