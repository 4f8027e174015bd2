// SPDX-License-Identifier: Apache-2.0
// A data layer without the block.
// expect-error[gcc]: use of deleted function .*no_match<lamina::block>
// expect-error[clang]: no matching function for call to 'data'
// expect-fact[gcc]: // call data<"x", float, 4>\(main\)
// expect-errors[clang]: 2
// expect-lines[gcc]: 12
// expect-lines[clang]: 12
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
#ifdef SHOULD_FAIL
  auto h = layer::data<"h", float, 4>();  // <- here
#else
  auto h = layer::data<"h", float, 4>(main);
#endif
  return layer::mean(layer::fc<1>(layer::elementwise_add(x, h)));
});

int main() { return net.parameter_count() != 0; }
