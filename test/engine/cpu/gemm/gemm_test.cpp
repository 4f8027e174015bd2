// SPDX-License-Identifier: Apache-2.0
// Products with weight panels, and their gradients, against sums in double.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/cpu/gemm/gemm_check.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cpu/gemm/bfloat16_gemm.hpp>
#include <lamina/engine/cpu/gemm/gemm.hpp>

namespace cpu = lamina::engine::cpu;
using gemm_check::basic_buffer;
using gemm_check::check_forward;
using gemm_check::larger;
using gemm_check::not_written;
using gemm_check::once_each;
using gemm_check::tile_log;
using gemm_check::tolerance;
using lamina::padded;

namespace {

template <class Real>
void check_dx(int m_size, int k_size, int n_size) {
  INFO("dX M " << m_size << " K " << k_size << " N " << n_size);
  const int dy_stride = padded(n_size);
  basic_buffer<Real> dy(static_cast<std::ptrdiff_t>(m_size) * dy_stride);
  basic_buffer<Real> w(static_cast<std::ptrdiff_t>(k_size) * n_size);
  basic_buffer<Real> panels(cpu::panels_floats(k_size, n_size));
  dy.fill_random(3);
  w.fill_random(4);
  for (int i = 0; i < m_size; ++i) {
    for (int n = n_size; n < dy_stride; ++n) {
      dy[static_cast<std::ptrdiff_t>(i) * dy_stride + n] = std::numeric_limits<Real>::quiet_NaN();
    }
  }
  cpu::pack(k_size, n_size, w.data(), panels.data());
  const int columns = padded(k_size);
  basic_buffer<Real> dx(static_cast<std::ptrdiff_t>(m_size) * columns, not_written<Real>);
  basic_buffer<Real> scratch(cpu::gemm_dx_scratch_floats<Real>(m_size, k_size, n_size));
  cpu::gemm_dx(m_size, k_size, n_size, dy.data(), dy_stride, panels.data(), columns,
               &cpu::store_tile<Real>, dx.data(), scratch.data());
  double worst = 0;
  bool padding_is_zero = true;
  for (int i = 0; i < m_size; ++i) {
    for (int k = 0; k < columns; ++k) {
      const Real found = dx[static_cast<std::ptrdiff_t>(i) * columns + k];
      if (k >= k_size) {
        padding_is_zero = padding_is_zero && found == Real(0);
        continue;
      }
      long double sum = 0;
      for (int n = 0; n < n_size; ++n) {
        sum += static_cast<long double>(dy[static_cast<std::ptrdiff_t>(i) * dy_stride + n]) *
               w[static_cast<std::ptrdiff_t>(k) * n_size + n];
      }
      const long double off = std::abs(found - sum);
      worst = larger(worst, off);
    }
  }
  REQUIRE(worst <= tolerance<Real>(n_size));
  REQUIRE(padding_is_zero);
}

template <class Real>
void check_dw(int m_size, int k_size, int n_size, int x_stride) {
  INFO("dW M " << m_size << " K " << k_size << " N " << n_size << " stride " << x_stride);
  const int dy_stride = padded(n_size);
  basic_buffer<Real> x(static_cast<std::ptrdiff_t>(m_size - 1) * x_stride + k_size);
  basic_buffer<Real> dy(static_cast<std::ptrdiff_t>(m_size) * dy_stride);
  x.fill_random(5);
  dy.fill_random(6);
  for (int i = 0; i < m_size; ++i) {
    for (int n = n_size; n < dy_stride; ++n) {
      dy[static_cast<std::ptrdiff_t>(i) * dy_stride + n] = std::numeric_limits<Real>::quiet_NaN();
    }
  }
  basic_buffer<Real> panels(cpu::panels_floats(k_size, n_size), not_written<Real>);
  basic_buffer<Real> dw(static_cast<std::ptrdiff_t>(k_size) * n_size);
  basic_buffer<Real> scratch(cpu::gemm_dw_scratch_floats<Real>(m_size, k_size, n_size));
  std::vector<int> visits(static_cast<std::size_t>(k_size * padded(n_size)), 0);
  const tile_log<Real> log{padded(n_size), k_size, &visits, panels.data()};
  cpu::gemm_dw(m_size, k_size, n_size, x.data(), x_stride, dy.data(), dy_stride,
               &tile_log<Real>::run, &log, scratch.data());
  REQUIRE(once_each(visits));
  cpu::unpack(k_size, n_size, panels.data(), dw.data());
  double worst = 0;
  for (int k = 0; k < k_size; ++k) {
    for (int n = 0; n < n_size; ++n) {
      long double sum = 0;
      for (int m = 0; m < m_size; ++m) {
        sum += static_cast<long double>(x[static_cast<std::ptrdiff_t>(m) * x_stride + k]) *
               dy[static_cast<std::ptrdiff_t>(m) * dy_stride + n];
      }
      const long double off = std::abs(dw[static_cast<std::ptrdiff_t>(k) * n_size + n] - sum);
      worst = larger(worst, off);
    }
  }
  REQUIRE(worst <= tolerance<Real>(m_size));
  // Packing what was unpacked gives the same panels only if all padding is 0.
  basic_buffer<Real> again(panels.size());
  cpu::pack(k_size, n_size, dw.data(), again.data());
  bool same = true;
  for (std::ptrdiff_t i = 0; i < panels.size(); ++i) same = same && panels[i] == again[i];
  REQUIRE(same);
}

}  // namespace

TEMPLATE_TEST_CASE("gemm: every row count against sums in double", "[gemm]", float, double) {
  for (int m_size = 1; m_size <= 40; ++m_size) {
    check_forward<TestType>(m_size, 37, 33, 37);
    check_forward<TestType>(m_size, 64, 48, 80);
  }
}

TEMPLATE_TEST_CASE("gemm: every width and depth", "[gemm]", float, double) {
  for (int n_size = 1; n_size <= 70; ++n_size) check_forward<TestType>(7, 19, n_size, 21);
  for (int k_size = 1; k_size <= 70; ++k_size) check_forward<TestType>(13, k_size, 24, k_size + 1);
  for (int k_size = 1; k_size <= 9; ++k_size) {
    for (int m_size = 1; m_size <= 4; ++m_size) check_forward<TestType>(m_size, k_size, 10, k_size);
  }
}

TEMPLATE_TEST_CASE("gemm: sizes of real layers, collisions in the cache and long sums", "[gemm]",
                   float, double) {
  check_forward<TestType>(64, 784, 128, 784);
  check_forward<TestType>(100, 128, 64, 128);
  check_forward<TestType>(20, 256, 1024, 256);
  check_forward<TestType>(33, 1024, 128, 1024);
  check_forward<TestType>(3, 1025, 70, 2048);
  check_forward<TestType>(45, 1500, 40, 1500);
  check_forward<TestType>(130, 2048, 70, 2048);
  check_forward<TestType>(1, 3000, 17, 3000);
}

TEMPLATE_TEST_CASE("gemm: one row and any number of panels", "[gemm]", float, double) {
  for (int n_size = 1; n_size <= 320; n_size += 5)
    for (int k_size : {1, 2, 3, 37}) check_forward<TestType>(1, k_size, n_size, k_size);
  check_forward<TestType>(1, 784, 128, 784);
  check_forward<TestType>(1, 1500, 330, 1500);
  check_forward<TestType>(1, 3000, 230, 3000);
  // One row is also what a weight of one row has, whose left operand is packed if it is long.
  check_dw<TestType>(6, 1, 330, 4);
  check_dw<TestType>(200, 1, 330, 3);
  check_dw<TestType>(2100, 1, 230, 1);
}

TEMPLATE_TEST_CASE("gemm: an empty sum is 0, no rows do nothing", "[gemm]", float, double) {
  basic_buffer<TestType> a(16);
  basic_buffer<TestType> panels(16);
  basic_buffer<TestType> y(64, not_written<TestType>);
  basic_buffer<TestType> scratch(cpu::gemm_scratch_floats<TestType>(4, 0, 16) + 1);
  cpu::gemm(0, 5, 16, a.data(), 5, panels.data(), 16, &cpu::store_tile<TestType>, y.data(),
            scratch.data());
  REQUIRE(y[0] == not_written<TestType>);
  cpu::gemm(4, 0, 16, a.data(), 0, panels.data(), 16, &cpu::store_tile<TestType>, y.data(),
            scratch.data());
  for (std::ptrdiff_t i = 0; i < y.size(); ++i) REQUIRE(y[i] == TestType(0));
}

TEMPLATE_TEST_CASE("gemm_dx: against sums in double, without a look at dY's padding", "[gemm]",
                   float, double) {
  for (int m_size : {1, 2, 3, 4, 5, 6, 14, 17, 40}) {
    for (int k_size : {1, 10, 16, 33, 70}) {
      for (int n_size : {1, 10, 16, 31, 64}) check_dx<TestType>(m_size, k_size, n_size);
    }
  }
  check_dx<TestType>(64, 784, 128);
  check_dx<TestType>(20, 256, 1024);
  check_dx<TestType>(7, 40, 1500);
  check_dx<TestType>(1, 513, 515);
  check_dx<TestType>(3, 100, 1);
  check_dx<TestType>(150, 70, 600);
  check_dx<TestType>(400, 33, 270);
}

TEMPLATE_TEST_CASE("gemm_dw: against sums in double, in panel layout with zeros in the padding",
                   "[gemm]", float, double) {
  for (int m_size : {1, 2, 3, 6, 17, 64}) {
    for (int k_size : {1, 5, 10, 16, 33, 70}) {
      for (int n_size : {1, 10, 16, 31, 48, 70})
        check_dw<TestType>(m_size, k_size, n_size, k_size + 3);
    }
  }
  check_dw<TestType>(64, 784, 128, 784);
  check_dw<TestType>(100, 128, 64, 1024);
  check_dw<TestType>(1500, 30, 70, 32);
  check_dw<TestType>(2100, 100, 10, 100);
  check_dw<TestType>(130, 256, 128, 256);
  check_dw<TestType>(129, 100, 64, 100);
}

// Source: numpy/numpy#22956, tensorflow/tensorflow#51419
TEST_CASE("sums of many: the gradient of a weight over a million rows", "[gemm]") {
  constexpr int rows = 1'000'000;
  for (const auto& [k_size, n_size] : {std::pair{1, 1}, {3, 2}, {9, 17}}) {
    INFO("K " << k_size << ", N " << n_size);
    basic_buffer<float> x(std::ptrdiff_t{rows} * k_size, 100.1f),
        dy(std::ptrdiff_t{rows} * n_size, 1.f),
        scratch(cpu::gemm_dw_scratch_floats<float>(rows, k_size, n_size));
    double worst = 0;
    const cpu::basic_epilogue<float> run = [](const auto& tile, const void* context) {
      double& found = *static_cast<double*>(const_cast<void*>(context));
      for (int i = 0; i < tile.rows; ++i)
        found = std::max(found, std::abs(static_cast<double>(tile.sums[i * tile.width]) / rows -
                                         static_cast<double>(100.1f)));
    };
    cpu::gemm_dw<float>(rows, k_size, n_size, x.data(), k_size, dy.data(), n_size, run, &worst,
                        scratch.data());
    CHECK(worst < 5e-3);
  }
}

TEMPLATE_TEST_CASE("memory for a product is enough for fewer rows", "[gemm]", float, double) {
  // What blocks of a product take, as gemm.hpp lays them out.
  const auto taken = [](int m_size, int n_size, cpu::even_parts depths) {
    const std::ptrdiff_t rows =
        cpu::detail::parts_of_rows<TestType>(m_size, depths.longest()).longest();
    const std::ptrdiff_t copy = padded(depths.longest()) + lamina::alignment_floats;
    return rows * (copy + (depths.count() > 1 ? padded(n_size) : 0));
  };
  for (const int k_size : {1, 16, 200, 256, 784, 1024, 1025, 1500, 4000})
    for (const int n_size : {1, 16, 130, 193, 256, 1024}) {
      std::ptrdiff_t forward = 0, backward = 0, weight = 0, narrow = 0;
      for (int m_size = 1; m_size <= 2200; ++m_size) {
        INFO("M " << m_size << " K " << k_size << " N " << n_size);
        const auto grows = [](std::ptrdiff_t& last, std::ptrdiff_t now) {
          if (now < last) FAIL("less memory: " << now << " < " << last);
          last = now;
        };
        grows(forward, cpu::gemm_scratch_floats<TestType>(m_size, k_size, n_size));
        grows(backward, cpu::gemm_dx_scratch_floats<TestType>(m_size, k_size, n_size));
        grows(weight, cpu::gemm_dw_scratch_floats<TestType>(m_size, k_size, n_size));
        grows(narrow, cpu::gemm_bfloat16_scratch_floats(m_size, k_size));
        if (forward < taken(m_size, n_size, cpu::detail::parts_of_depth<TestType>(k_size)))
          FAIL("too little");
        const cpu::even_parts turned = cpu::detail::parts_of_turned_depth<TestType>(n_size);
        if (m_size > cpu::small_batch_rows &&
            cpu::detail::turns_by_panel<TestType>(m_size, n_size) &&
            backward <
                turned.longest() * cpu::panel_width_in<TestType> + taken(m_size, k_size, turned))
          FAIL("too little backward");
        if (weight < cpu::panels_floats(m_size, n_size) +
                         taken(k_size, n_size, cpu::detail::parts_of_depth<TestType>(m_size)))
          FAIL("too little for weights");
      }
    }
}
