// SPDX-License-Identifier: Apache-2.0
// A record function that returns a number.
// expect-error: static.assert.*program: the record function returns variables, a tuple of variables or nothing
// expect-fact: gets_type<(float|double)>
// expect-lines: 12
#include <lamina/operators/fill/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

#ifdef SHOULD_FAIL
constexpr auto net = lamina::program([](lamina::block&) { return 0.5f; });  // <- here
#else
constexpr auto net =
    lamina::program([](lamina::block& main) { return layer::fill_constant<float>(main, 0.5f); });
#endif

int main() { return net.parameter_count() != 0; }
