// SPDX-License-Identifier: Apache-2.0
// Vectors: fused multiply-add, streams, and the register tile.
#include <cmath>

#include <catch2/catch.hpp>

#include <lamina/engine/cpu/vector/simd.hpp>

namespace {

template <class Real>
void check_vectors() {
  using namespace lamina::engine::cpu;
  using vector = vector_in<Real>;
  constexpr int n = lanes_in<Real>;
  alignas(64) Real from[n], to[n];
  for (int i = 0; i < n; ++i) from[i] = static_cast<Real>(1) + static_cast<Real>(i) / 8;
  vector a = vector::load_aligned(from);
  hold_in_register(a);
  stream(fused_multiply_add(a, a, vector(Real(-1))), to);
  end_streams();
  for (int i = 0; i < n; ++i) CHECK(to[i] == std::fma(from[i], from[i], Real(-1)));
}

}  // namespace

TEST_CASE("vectors of floats and of doubles multiply, add and are streamed") {
  check_vectors<float>();
  check_vectors<double>();
}

TEST_CASE("panels and vectors fit the padding of rows") {
  using namespace lamina::engine::cpu;
  STATIC_REQUIRE(lanes == 2 * lanes_in<double>);
  STATIC_REQUIRE(panel_width % lanes == 0);
  STATIC_REQUIRE(narrow_width <= lamina::alignment_floats);
  STATIC_REQUIRE(tile_rows * tile_vectors + tile_vectors + 1 <= vector_registers);
}
