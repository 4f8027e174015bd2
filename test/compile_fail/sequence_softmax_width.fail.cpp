// SPDX-License-Identifier: Apache-2.0
// Weights of whole rows where one number a row is needed.
// expect-error: static.assert.*sequence_softmax: the input is one floating point number
// expect-fact: gets_type<.*tokens<.*8>
// expect-lines: 12
#include <lamina/layers/sequence.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/operators/sequence/softmax/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 8>(main);
#ifdef SHOULD_FAIL
  return layer::sequence_softmax(x);  // <- here
#else
  return layer::sequence_softmax(layer::fc<1>(x));
#endif
});

int main() { return net.parameter_count() < 0; }
