// SPDX-License-Identifier: Apache-2.0
// The tiles of a product name their position.
#include <cstdint>

#include "engine/cpu/gemm/gemm_check.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cpu/gemm/bfloat16_gemm.hpp>
#include <lamina/engine/cpu/gemm/gemm.hpp>
#include <lamina/engine/cpu/gemm/tile.hpp>

namespace cpu = lamina::engine::cpu;
using gemm_check::basic_buffer;

TEMPLATE_TEST_CASE("gemm: tiles say where they belong, and the context arrives", "[gemm]", float,
                   double) {
  const int m_size = 9;
  const int n_size = 40;
  const int stride = 64;
  struct probe {
    int rows = 0;
    bool right = true;
  } found;
  basic_buffer<TestType> a(m_size * 3, TestType(1));
  basic_buffer<TestType> panels(cpu::panels_floats(3, n_size), TestType(2));
  basic_buffer<TestType> scratch(cpu::gemm_scratch_floats<TestType>(m_size, 3, n_size));
  cpu::gemm(
      m_size, 3, n_size, a.data(), 3, panels.data(), stride,
      +[](const cpu::basic_tile<TestType>& t, const void* context) {
        probe& p = *static_cast<probe*>(const_cast<void*>(context));
        p.rows += t.column == 0 ? t.rows : 0;
        p.right = p.right && t.offset == t.row * stride + t.column && t.stride == stride;
        p.right = p.right && reinterpret_cast<std::uintptr_t>(t.sums) % 64 == 0;
        cpu::for_each_vector(
            t, [&](cpu::vector_in<TestType> sums, std::ptrdiff_t offset, int column) {
              p.right = p.right && offset % stride == column && sums.get(0) == TestType(6);
            });
      },
      &found, scratch.data());
  REQUIRE(found.rows == m_size);
  REQUIRE(found.right);
}
