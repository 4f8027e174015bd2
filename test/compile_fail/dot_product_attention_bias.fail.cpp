// SPDX-License-Identifier: Apache-2.0
// A bias of attention with a number per key instead of one per query and key.
// expect-error: static.assert.*option: expected a value in the range that is named, found another
// expect-fact: at_line<24>
// expect-lines: 12
#include <lamina/layers/create_parameter.hpp>
#include <lamina/layers/data.hpp>
#include <lamina/layers/scaled_dot_product_attention.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

struct record {
  constexpr auto operator()(lamina::block& main) const {
    auto q = layer::data<"q", float, 5, 12>(main);
    auto k = layer::data<"k", float, 7, 12>(main);
#ifdef SHOULD_FAIL
    auto bias = layer::create_parameter<float, 7>(main);
#else
    auto bias = layer::create_parameter<float, 3, 5, 7>(main);
#endif
    layer::scaled_dot_product_attention_attr options;
    options.bias = bias;
    return layer::scaled_dot_product_attention<3>(q, k, k, options);
  }
};
constexpr auto net = lamina::program(record{});  // <- here

int main() { return net.parameter_count() < 0; }
