// SPDX-License-Identifier: Apache-2.0
// Five elements for a constant of six.
// expect-error: static.assert.*assign_value: there are as many elements as the shape has
// expect-fact: expects<6>
// expect-fact: gets<5>
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
#ifdef SHOULD_FAIL
  auto c = layer::assign_value<2, 3>(main, {1.f, 2.f, 3.f, 4.f, 5.f});  // <- here
#else
  auto c = layer::assign_value<2, 3>(main, {1.f, 2.f, 3.f, 4.f, 5.f, 6.f});
#endif
  return layer::mean(c);
});

int main() {
  lamina::model m{net};
  return m.parameter_arrays();
}
