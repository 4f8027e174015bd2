// SPDX-License-Identifier: Apache-2.0
// A global variable of integers.
// expect-error: lamina: create_global_var: expected float or double and positive dimensions
// expect-fact: gets_type<(long|long int)>
// The shortest path of includes to a header makes the shortest message.
// clang-format off
#include <lamina/program/program.hpp>
// clang-format on

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
#ifdef SHOULD_FAIL
  layer::create_global_var<std::int64_t>(main, 0);  // <- here
#else
  layer::create_global_var<float>(main, 0);
#endif
});

int main() { return net.desc.count.parameters; }
