// SPDX-License-Identifier: Apache-2.0
// A name with a negative index.
// expect-error: error: .*(expected_an_index_of_0_or_more|constant expression|not a constant)
// expect-fact: expected_an_index_of_0_or_more
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

#ifdef SHOULD_FAIL
constexpr int first = -1;
#else
constexpr int first = 0;
#endif
constexpr auto net = lamina::program([](lamina::block& main) {
  auto h = layer::data<"x", float, 3>(main);
  return layer::fc<3>(h, {.name = lamina::indexed("block", first)});  // <- here
});

int main() {
  lamina::model m{net};
  return m.parameter_arrays() != 2;
}
