// SPDX-License-Identifier: Apache-2.0
// The bodies of CUDA kernels compute gradients as values, and their gradients.
#include "laws/cuda_laws.hpp"
#include <catch2/catch.hpp>
#include <laws/operator_row.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/transform/gradients.hpp>

namespace layer = lamina::layer;

TEST_CASE("bodies of CUDA kernels compute a penalty on a gradient") {
  const laws::cuda_laws<> laws;
  laws.write("gradient_penalty",
             []<class T>(lamina::block& main) {
               auto x = layer::data<"x", T, 4>(main);
               auto h = layer::leaky_relu(layer::layer_norm(layer::fc<6>(x)));
               auto y = layer::fc<1>(layer::tanh(layer::fc<5>(h)));
               auto [grad] = layer::gradients(y, x);
               auto norm = layer::sqrt(layer::reduce_sum<1>(layer::square(grad)));
               return std::tuple{layer::mean(layer::square(norm - 1)), grad};
             },
             {.edges = laws::edge_kind::none});
}
