// SPDX-License-Identifier: Apache-2.0
// A weight of one dimension, whose length weight_norm cannot separate.
// expect-error: static.assert.*lamina: weight_norm: a floating point parameter with two dimensions
// expect-fact: variable<float, .*once, 4>
// expect-lines: 12
#include <lamina/layers/create_parameter.hpp>
#include <lamina/layers/weight_norm.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

struct record {
  constexpr auto operator()(lamina::block& main) const {
#ifdef SHOULD_FAIL
    auto v = layer::create_parameter<float, 4>(main);
#else
    auto v = layer::create_parameter<float, 4, 3>(main);
#endif
    return layer::weight_norm(v);  // <- here
  }
};
constexpr auto net = lamina::program(record{});

int main() { return net.parameter_count() < 0; }
