// SPDX-License-Identifier: Apache-2.0
// pack: a few floats that move together.
#include <cstdint>

#include <catch2/catch.hpp>

#include <lamina/engine/cuda/body/pack.cuh>

TEST_CASE("a pack is loaded, filled and stored whole, and a lone float alone") {
  using namespace lamina::engine::cuda;
  alignas(16) float memory[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const pack p = load_pack(memory + 4);
  for (int j = 0; j < pack_width; ++j) CHECK(p.v[j] == static_cast<float>(4 + j));
  store_pack(memory, p);
  CHECK((memory[0] == 4 && memory[3] == 7 && memory[4] == 4));
  store_pack(memory + 8, filled(-1));
  CHECK((memory[7] == 7 && memory[8] == -1 && memory[11] == -1));
  store_pack(memory + 5, filled<lone_float>(9));
  CHECK((memory[4] == 4 && memory[5] == 9 && memory[6] == 6));
  CHECK(load_constant<lone_float>(memory + 5).v[0] == 9);
  STATIC_REQUIRE((alignof(pack) == 16 && sizeof(lone_float) == 4));
}
