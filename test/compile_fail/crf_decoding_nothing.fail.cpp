// SPDX-License-Identifier: Apache-2.0
// Nothing to decode.
// expect-error[gcc]: use of deleted function .*no_match<lamina::layer::crf_attr>
// expect-error[clang]: no matching function for call to 'crf_decoding'
// expect-fact[gcc]: // call crf_decoding\(scores\)
// expect-errors[clang]: 2
// expect-lines[gcc]: 12
// expect-lines[clang]: 13
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 16>(main);
#ifdef SHOULD_FAIL
  auto h = layer::crf_decoding();  // <- here
#else
  auto h = layer::crf_decoding(x);
#endif
  return layer::mean(layer::cast<float>(h));
});

int main() { return net.parameter_count() < 0; }
