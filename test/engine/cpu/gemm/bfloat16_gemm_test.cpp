// SPDX-License-Identifier: Apache-2.0
// Products with weights that are stored as bfloat16.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "engine/cpu/gemm/gemm_check.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cpu/gemm/bfloat16_gemm.hpp>
#include <lamina/engine/cpu/gemm/gemm.hpp>

namespace cpu = lamina::engine::cpu;
using gemm_check::buffer;
using gemm_check::check_forward;
using gemm_check::not_written;
using gemm_check::weights;
using lamina::padded;

TEST_CASE("gemm_bfloat16: the product with the rounded weights", "[gemm]") {
  const auto check = [](int m_size, int k_size, int n_size, int a_stride) {
    check_forward<float>(m_size, k_size, n_size, a_stride, weights::bfloat16);
  };
  for (int m_size = 1; m_size <= 30; ++m_size) check(m_size, 37, 33, 40);
  for (int n_size = 1; n_size <= 70; ++n_size) check(3, 19, n_size, 21);
  for (int k_size = 1; k_size <= 20; ++k_size)
    for (int m_size = 1; m_size <= 4; ++m_size) check(m_size, k_size, 10, k_size);
  check(1, 3001, 48, 3001);
  check(130, 1030, 70, 1030);
  buffer y(64, not_written<float>);
  cpu::gemm_bfloat16(4, 0, 16, y.data(), 0, y.data(), 16, &cpu::store_tile<float>, y.data(),
                     nullptr);
  for (std::ptrdiff_t i = 0; i < y.size(); ++i) REQUIRE(y[i] == 0.F);
}

TEST_CASE("gemm_bfloat16: the halves of a left operand add up to it", "[gemm]") {
  const auto value = [](cpu::detail::split_number s) {
    return static_cast<double>(lamina::float_of_bfloat16(s.high)) +
           static_cast<double>(lamina::float_of_bfloat16(s.low));
  };
  buffer x(1000);
  x.fill_random(7);
  x[0] = std::numeric_limits<float>::max();
  x[1] = -0x1.fffffep-1F;
  for (std::ptrdiff_t i = 0; i < x.size(); ++i)
    REQUIRE(std::abs(value(cpu::detail::split(x[i])) - x[i]) <= std::abs(x[i]) * 0x1p-16F);
  const float infinity = std::numeric_limits<float>::infinity();
  REQUIRE(value(cpu::detail::split(-infinity)) == -infinity);
  REQUIRE(std::isnan(value(cpu::detail::split(std::numeric_limits<float>::quiet_NaN()))));
  // Three numbers: two pairs of high parts and, one padded row further, two of low ones.
  const int low_parts = padded(2);
  buffer pairs(cpu::detail::split_row_floats(3));
  cpu::detail::split_rows(1, 3, x.data() + 2, 0, pairs.data());
  for (int k = 0; k < 4; ++k) {
    const auto half = [&](int part) {
      std::uint32_t word;
      std::memcpy(&word, &pairs[part + k / 2], sizeof(word));
      return static_cast<std::uint16_t>(k % 2 == 0 ? word : word >> 16);
    };
    const auto expected = k < 3 ? cpu::detail::split(x[2 + k]) : cpu::detail::split_number{0, 0};
    REQUIRE(half(0) == expected.high);
    REQUIRE(half(low_parts) == expected.low);
  }
}
