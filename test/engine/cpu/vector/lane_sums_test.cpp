// SPDX-License-Identifier: Apache-2.0
// Sums of lanes against a loop: small whole numbers, so that every order of additions gives the
// same.

#include <catch2/catch.hpp>

#include <lamina/engine/cpu/vector/lane_sums.hpp>

namespace cpu = lamina::engine::cpu;

TEST_CASE("lane_sums: each vector gives the sum of its own lanes") {
  constexpr int n = cpu::lanes;
  float all[n][n], expected[n];
  cpu::vector vectors[n];
  for (int i = 0; i < n; ++i) {
    expected[i] = 0;
    for (int j = 0; j < n; ++j) expected[i] += all[i][j] = static_cast<float>(i * n + j * j);
    vectors[i] = cpu::vector::load_unaligned(all[i]);
  }
  alignas(64) float found[n];
  cpu::lane_sums(vectors, found);
  for (int i = 0; i < n; ++i) {
    INFO("vector " << i);
    CHECK(found[i] == expected[i]);
  }
}
