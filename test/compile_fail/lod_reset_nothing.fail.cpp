// SPDX-License-Identifier: Apache-2.0
// No sequences to take.
// expect-error[gcc]: use of deleted function .*no_match<lamina::layer::lod_reset_attr>
// expect-error[clang]: no matching function for call to 'lod_reset'
// expect-fact[gcc]: // call lod_reset\(x, y\)
// expect-errors[clang]: 2
// expect-lines[gcc]: 12
// expect-lines[clang]: 16
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 16>(main);
  auto y = layer::sequence<"y", float>(main);
#ifdef SHOULD_FAIL
  auto h = layer::lod_reset(x);  // <- here
#else
  auto h = layer::lod_reset(x, y);
#endif
  return layer::mean(h);
});

int main() { return net.parameter_count() < 0; }
