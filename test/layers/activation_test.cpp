// SPDX-License-Identifier: Apache-2.0
// What activations with attributes record.

#include "layers/spell.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/activation.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

using lines = std::vector<std::string>;

TEST_CASE("recorded: activations with attributes") {
  constexpr auto net = lamina::program([](lamina::block& main) {
    auto v = layer::data<"v", float, 6>(main);
    layer::leaky_relu(v, {.alpha = 0.125f});
    layer::hard_swish(v);
    layer::softshrink(v, {.lambda = 2});
    layer::gelu(v, {.approximate = true});
    layer::relu(v, {.name = "r"});
    layer::prelu(v, {.mode = layer::prelu_mode::element});
    layer::maxout<2>(layer::reshape<6, 1, 1>(v));
  });
  CHECK(spell(net.view()) ==
        lines{"leaky_relu: X=v -> Out=leaky_relu_0.tmp_0[-1,6] alpha=0.125",
              "hard_swish: X=v -> Out=hard_swish_0.tmp_0[-1,6] threshold=6 scale=6 offset=3",
              "softshrink: X=v -> Out=softshrink_0.tmp_0[-1,6] lambda=2",
              "gelu: X=v -> Out=gelu_0.tmp_0[-1,6] approximate=1", "relu: X=v -> Out=r.tmp_0[-1,6]",
              "prelu: X=v Alpha=prelu_0.w_0 -> Out=prelu_0.tmp_0[-1,6] mode=element",
              "reshape2: X=v -> Out=reshape2_0.tmp_0[-1,6,1,1] XShape=reshape2_0.tmp_1[0,-1,6] "
              "shape=0,6,1,1",
              "maxout: X=reshape2_0.tmp_0 -> Out=maxout_0.tmp_0[-1,3,1,1] groups=2"});
}
