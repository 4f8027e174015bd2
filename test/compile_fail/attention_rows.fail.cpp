// SPDX-License-Identifier: Apache-2.0
// Attention whose state has a row for each element instead of one for each sequence.
// expect-error: static.assert.*simple_attention: two rows for each element
// expect-fact: gets_type<.*tokens<
// expect-lines: 12
#include <lamina/layers/sequence.hpp>
#include <lamina/layers/simple_attention.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 8>(main);
  auto state = layer::data<"state", float, 4>(main);
#ifdef SHOULD_FAIL
  (void)state;
  return layer::simple_attention(x, x, x);  // <- here
#else
  return layer::simple_attention(x, x, state);
#endif
});

int main() { return net.parameter_count() < 0; }
