// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/engine/cpu/vector/row_vectors.hpp>

namespace cpu = lamina::engine::cpu;

TEST_CASE("vectors of a row cover each element, and none beside the row", "[simd]") {
  for (int n = 1; n <= 40; ++n) {
    std::vector<float> from(static_cast<std::size_t>(n + 2), -1.f), to = from;
    for (int i = 0; i < n; ++i) from[static_cast<std::size_t>(i + 1)] = static_cast<float>(i);
    cpu::for_each_row_vector(n, [&](int j, auto like) {
      cpu::store(to.data() + 1 + j, cpu::load(from.data() + 1 + j, like));
    });
    INFO("a row of " << n);
    CHECK(to == from);
  }
}

TEST_CASE("a row gets the widest vector that fits", "[simd]") {
  for (int n = 1; n <= 40; ++n) {
    int size = 0;
    const bool found = cpu::with_row_vector(n, [&](auto v) { size = cpu::lanes_of<decltype(v)>; });
    INFO("a row of " << n);
    CHECK(found == (n >= 4 || cpu::lanes == 1));
    CHECK(size <= n);
    if (n >= cpu::lanes) CHECK(size == cpu::lanes);
    if (found && n < cpu::lanes) CHECK(2 * size > n);
  }
}
