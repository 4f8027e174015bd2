// SPDX-License-Identifier: Apache-2.0
// A fully connected layer whose width is known only at run time.
// expect-error[gcc]: use of deleted function .*no_match<lamina::layer::fc_attr>
// expect-error[clang]: no matching function for call to 'fc'
// expect-fact[gcc]: // call fc<8>\(x\)
// expect-fact[clang]: invalid explicitly-specified argument for template parameter 'Size'
// expect-errors[clang]: 2
// expect-lines: 12
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
#ifdef SHOULD_FAIL
  int width = 8;
  auto hidden = layer::fc<width>(x);  // <- here
#else
  constexpr int width = 8;
  auto hidden = layer::fc<width>(x);
#endif
  return layer::mean(hidden);
});

int main() { return net.parameter_count() < 0; }
