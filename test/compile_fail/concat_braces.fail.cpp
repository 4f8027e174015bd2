// SPDX-License-Identifier: Apache-2.0
// Variables side by side, in no braces.
// expect-error[gcc]: use of deleted function .*no_match<lamina::layer::concat_attr>
// expect-error[clang]: no matching function for call to 'concat'
// expect-fact[gcc]: // call concat\(\{x, y\}\)
// expect-errors[clang]: 2
// expect-lines[gcc]: 12
// expect-lines[clang]: 12
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
  auto y = layer::data<"y", float, 4>(main);
#ifdef SHOULD_FAIL
  auto h = layer::concat(x, y);  // <- here
#else
  auto h = layer::concat({x, y});
#endif
  return layer::mean(h);
});

int main() { return net.parameter_count() < 0; }
