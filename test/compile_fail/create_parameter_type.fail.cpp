// SPDX-License-Identifier: Apache-2.0
// A parameter of whole numbers.
// expect-error: static.assert.*create_parameter: expected float or double and positive dimensions
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
#ifdef SHOULD_FAIL
  auto w = layer::create_parameter<std::int64_t, 3>(main);  // <- here
#else
  auto w = layer::create_parameter<float, 3>(main);
#endif
  return layer::mean(w);
});

int main() {
  lamina::model m{net};
  return m.parameter_arrays() != 1;
}
