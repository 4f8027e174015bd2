// SPDX-License-Identifier: Apache-2.0
// The rows of one branch used with those of the other.
// expect-error: static.assert.*elementwise: both operands have the same rows
// expect-fact: no_rows<
// expect-lines: 16
#include <lamina/layers/data.hpp>
#include <lamina/operators/control/split_merge/layer.hpp>
#include <lamina/operators/elementwise/binary/layer_arithmetic.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
  auto chosen = layer::data<"chosen", bool>(main);
  return layer::if_else(
      chosen, [&](auto& yes) { return layer::fc<5>(yes.input(x)); },
      [&](auto& no) {
        auto mine = no.input(x);
#ifdef SHOULD_FAIL
        return layer::fc<5>(mine + x);  // <- here
#else
        return layer::fc<5>(mine + mine);
#endif
      });
});

int main() { return net.parameter_count() < 0; }
