// SPDX-License-Identifier: Apache-2.0
// The layout of weight panels.
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/engine/cpu/gemm/panel.hpp>
#include <lamina/engine/cpu/gemm/panel_copies.hpp>

namespace cpu = lamina::engine::cpu;

namespace {

template <class Real>
std::vector<Real> numbered(int k_size, int n_size) {
  std::vector<Real> w(static_cast<std::size_t>(k_size * n_size));
  for (std::size_t i = 0; i < w.size(); ++i) w[i] = 1 + static_cast<Real>(i);
  return w;
}

}  // namespace

TEMPLATE_TEST_CASE("panels: pack puts every element where panel_index says, and zeros elsewhere",
                   "[panel]", float, double) {
  for (int k_size : {1, 2, 5, 16, 33}) {
    for (int n_size : {1, 7, 8, 15, 16, 17, 31, 32, 33, 48, 70, 128}) {
      const auto w = numbered<TestType>(k_size, n_size);
      const auto size = static_cast<std::size_t>(cpu::panels_floats(k_size, n_size));
      std::vector<TestType> panels(size + 1, TestType(-7));
      cpu::pack(k_size, n_size, w.data(), panels.data());
      REQUIRE(panels[size] == TestType(-7));
      std::vector<int> seen(size, 0);
      for (int k = 0; k < k_size; ++k) {
        for (int n = 0; n < n_size; ++n) {
          const auto at =
              static_cast<std::size_t>(cpu::panel_index<TestType>(k_size, n_size, k, n));
          REQUIRE(at < size);
          REQUIRE(panels[at] == w[static_cast<std::size_t>(k * n_size + n)]);
          ++seen[at];
        }
      }
      for (std::size_t i = 0; i < size; ++i) {
        REQUIRE(seen[i] <= 1);
        if (seen[i] == 0) REQUIRE(panels[i] == TestType(0));
      }
    }
  }
}

TEMPLATE_TEST_CASE("panels: unpack is the inverse of pack", "[panel]", float, double) {
  for (int k_size : {1, 3, 17, 64}) {
    for (int n_size = 1; n_size <= 70; ++n_size) {
      const auto w = numbered<TestType>(k_size, n_size);
      std::vector<TestType> panels(static_cast<std::size_t>(cpu::panels_floats(k_size, n_size)));
      std::vector<TestType> again(w.size(), TestType(0));
      cpu::pack(k_size, n_size, w.data(), panels.data());
      cpu::unpack(k_size, n_size, panels.data(), again.data());
      REQUIRE(again == w);
    }
  }
}

TEMPLATE_TEST_CASE("panels: pack takes rows a stride apart", "[panel]", float, double) {
  const int k_size = 4;
  const int n_size = 21;
  const int stride = 29;
  const auto wide = numbered<TestType>(k_size, stride);
  std::vector<TestType> panels(static_cast<std::size_t>(cpu::panels_floats(k_size, n_size)));
  cpu::pack(k_size, n_size, wide.data(), stride, panels.data());
  for (int k = 0; k < k_size; ++k) {
    for (int n = 0; n < n_size; ++n) {
      REQUIRE(panels[static_cast<std::size_t>(cpu::panel_index<TestType>(k_size, n_size, k, n))] ==
              wide[static_cast<std::size_t>(k * stride + n)]);
    }
  }
}

TEMPLATE_TEST_CASE("panels: row segments visit each real element once, never padding", "[panel]",
                   float, double) {
  for (int n_size : {1, 10, 16, 33, 70}) {
    const int k_size = 9;
    const auto w = numbered<TestType>(k_size, n_size);
    std::vector<TestType> panels(static_cast<std::size_t>(cpu::panels_floats(k_size, n_size)));
    cpu::pack(k_size, n_size, w.data(), panels.data());
    for (TestType& x : panels) {
      if (x == TestType(0)) x = std::numeric_limits<TestType>::quiet_NaN();
    }
    double sum = 0;
    double expected = 0;
    std::size_t count = 0;
    std::ptrdiff_t last = -1;
    for (TestType x : w) expected += static_cast<double>(x) * x;
    cpu::for_each_row_segment<TestType>(
        k_size, n_size, [&](std::ptrdiff_t offset, int length, int k, int n) {
          REQUIRE(offset > last);
          REQUIRE(offset == cpu::panel_index<TestType>(k_size, n_size, k, n));
          for (int i = 0; i < length; ++i) {
            const TestType x = panels[static_cast<std::size_t>(offset + i)];
            REQUIRE(x == w[static_cast<std::size_t>(k * n_size + n + i)]);
            sum += static_cast<double>(x) * x;
          }
          count += static_cast<std::size_t>(length);
          last = offset;
        });
    REQUIRE(count == w.size());
    REQUIRE(sum == expected);
  }
}
