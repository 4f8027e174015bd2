// SPDX-License-Identifier: Apache-2.0
// A register tile fits the registers.

#include <catch2/catch.hpp>

#include <lamina/engine/cpu/gemm/micro_kernel.hpp>
#include <lamina/engine/cpu/gemm/panel.hpp>

namespace cpu = lamina::engine::cpu;

TEST_CASE("register tile: accumulators and operands fit the registers", "[panel]") {
  STATIC_REQUIRE(cpu::tile_rows * cpu::tile_vectors + cpu::tile_vectors + 1 <=
                 cpu::vector_registers);
  STATIC_REQUIRE(cpu::tile_rows * cpu::tile_vectors >= 8);
  STATIC_REQUIRE(cpu::panel_width % cpu::lanes == 0);
  STATIC_REQUIRE(cpu::narrow_width <= cpu::panel_width);
}
