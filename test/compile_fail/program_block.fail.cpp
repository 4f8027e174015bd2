// SPDX-License-Identifier: Apache-2.0
// A record function that takes no block.
// expect-error: static.assert.*program: the record function takes a block
// expect-lines: 12
#include <lamina/operators/fill/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

#ifdef SHOULD_FAIL
constexpr auto net = lamina::program([] { return 1; });  // <- here
#else
constexpr auto net =
    lamina::program([](lamina::block& main) { return layer::fill_constant<float>(main, 1); });
#endif

int main() { return net.parameter_count() != 0; }
