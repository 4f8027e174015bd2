// SPDX-License-Identifier: Apache-2.0
// A value that is stored before a gradient has read the old one is found; one stored later is not.

#include <catch2/catch.hpp>

#include <lamina/lamina.hpp>
#include <lamina/transform/unchanged_parameters.hpp>

namespace {

namespace layer = lamina::layer;

/// The cost reads w by a product or a sum; then w is stored.
template <bool Multiplies>
constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
  auto h = layer::fc<4>(x);
  auto w = layer::create_global_var<float, 4>(main, 1, {.name = "w"});
  auto cost = layer::mean(layer::square(Multiplies ? h * w : h + w));
  layer::store(w * 0.5f, w);
  return cost;
});

template <class P>
constexpr lamina::fault_kind fault_of(const P&) {
  return lamina::gradient_program<P>::desc.fault.kind;
}

}  // namespace

TEST_CASE("only a gradient that reads the stored variable is refused") {
  CHECK(fault_of(net<true>) == lamina::fault_kind::stored_too_early);
  CHECK(fault_of(net<false>) == lamina::fault_kind::none);
}
