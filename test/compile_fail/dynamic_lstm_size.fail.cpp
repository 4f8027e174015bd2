// SPDX-License-Identifier: Apache-2.0
// The size of an LSTM among the arguments.
// expect-error[gcc]: use of deleted function .*no_match<lamina::layer::dynamic_lstm_attr>
// expect-error[clang]: no matching function for call to 'dynamic_lstm'
// expect-fact[gcc]: // call dynamic_lstm<4 \* 32>\(x\)
// expect-errors[clang]: 2
// expect-lines[gcc]: 12
// expect-lines[clang]: 15
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 16>(main);
#ifdef SHOULD_FAIL
  auto h = layer::dynamic_lstm(x, 16);  // <- here
#else
  auto h = layer::dynamic_lstm<16>(x);
#endif
  return layer::mean(std::get<0>(h));
});

int main() { return net.parameter_count() < 0; }
