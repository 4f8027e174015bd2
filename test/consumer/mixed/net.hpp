// SPDX-License-Identifier: Apache-2.0
// A program that several files share; WIDTH makes another one of it.
#pragma once

#include <cstdint>

#include <lamina/lamina.hpp>

#if !defined(WIDTH)
#define WIDTH 33
#endif

inline constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = lamina::layer::data<"x", float, 24>(main);
  auto hidden = lamina::layer::fc<WIDTH>(x, {.act = lamina::activation::tanh});
  return lamina::layer::fc<5>(hidden, {.name = "score"});
});
using model_type = decltype(lamina::model{net});
