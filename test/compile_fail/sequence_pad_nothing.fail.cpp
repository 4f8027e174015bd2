// SPDX-License-Identifier: Apache-2.0
// No padding.
// expect-error[gcc]: use of deleted function .*no_match<lamina::layer::sequence_pad_attr>
// expect-error[clang]: no matching function for call to 'sequence_pad'
// expect-fact[gcc]: // call sequence_pad<20>\(x, 0\)
// expect-errors[clang]: 2
// expect-lines[gcc]: 12
// expect-lines[clang]: 15
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 16>(main);
#ifdef SHOULD_FAIL
  auto h = layer::sequence_pad<20>(x);  // <- here
#else
  auto h = layer::sequence_pad<20>(x, 0);
#endif
  return layer::mean(std::get<0>(h));
});

int main() { return net.parameter_count() < 0; }
