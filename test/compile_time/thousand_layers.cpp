// SPDX-License-Identifier: Apache-2.0
// A thousand layers, recorded by a loop, with gradients, updates and the whole plan, within every
// compiler's default limits of constant evaluation. Compiled, never run.
#include <lamina/layers/layers.hpp>
#include <lamina/optimizer/sgd.hpp>
#include <lamina/optimizer/training_program.hpp>
#include <lamina/plan/plan.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 64>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto h = x;
  for (int i = 0; i < 1000; ++i) h = layer::fc<64>(h, {.act = lamina::activation::relu});
  return layer::mean(layer::softmax_with_cross_entropy(layer::fc<10>(h), label));
});

using training =
    lamina::training_program<std::remove_const_t<decltype(net)>, lamina::optimizer::sgd>;
using plan = lamina::plan<training>;
static_assert(lamina::counts_of<training>.operators > 8000);
static_assert(plan::groups > 3000 && plan::kernels < 15);
static_assert(plan::memory.width() > 64 * 1000);
