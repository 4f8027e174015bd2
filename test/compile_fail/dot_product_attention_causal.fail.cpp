// SPDX-License-Identifier: Apache-2.0
// Causal attention to another number of keys than queries.
// expect-error: static.assert.*option: expected a value in the range that is named, found another
// expect-fact: at_line<20>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/layers/scaled_dot_product_attention.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

struct record {
  constexpr auto operator()(lamina::block& main) const {
    auto q = layer::data<"q", float, 5, 12>(main);
#ifdef SHOULD_FAIL
    auto k = layer::data<"k", float, 7, 12>(main);
#else
    auto k = layer::data<"k", float, 5, 12>(main);
#endif
    return layer::scaled_dot_product_attention<3>(q, k, k, {.causal = true});
  }
};
constexpr auto net = lamina::program(record{});  // <- here

int main() { return net.parameter_count() < 0; }
