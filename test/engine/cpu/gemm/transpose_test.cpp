// SPDX-License-Identifier: Apache-2.0
// Transposes of blocks and of weight panels.
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/engine/cpu/gemm/transpose.hpp>

namespace cpu = lamina::engine::cpu;

namespace {

template <class Real>
std::vector<Real> numbered(std::size_t n) {
  std::vector<Real> w(n);
  for (std::size_t i = 0; i < n; ++i) w[i] = 1 + static_cast<Real>(i);
  return w;
}

template <class Real>
std::vector<Real> transposed(int rows, int columns, const std::vector<Real>& w) {
  std::vector<Real> t(w.size());
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      t[static_cast<std::size_t>(j * rows + i)] = w[static_cast<std::size_t>(i * columns + j)];
    }
  }
  return t;
}

}  // namespace

TEMPLATE_TEST_CASE("transpose: any block, and nothing beside it is written", "[transpose]", float,
                   double) {
  for (int rows = 1; rows <= 40; ++rows) {
    for (int columns : {1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33}) {
      const int from_stride = columns + 3;
      const int to_stride = rows + 5;
      const auto from =
          numbered<TestType>(static_cast<std::size_t>((rows - 1) * from_stride + columns));
      std::vector<TestType> to(static_cast<std::size_t>(columns * to_stride), TestType(-1));
      cpu::transpose(rows, columns, from.data(), from_stride, to.data(), to_stride);
      for (int j = 0; j < columns; ++j) {
        for (int i = 0; i < to_stride; ++i) {
          const TestType expected =
              i < rows ? from[static_cast<std::size_t>(i * from_stride + j)] : TestType(-1);
          REQUIRE(to[static_cast<std::size_t>(j * to_stride + i)] == expected);
        }
      }
    }
  }
}

TEMPLATE_TEST_CASE("transpose_panels: the panels of W^T from those of W", "[transpose]", float,
                   double) {
  for (int k_size : {1, 2, 8, 10, 16, 17, 31, 33, 70}) {
    for (int n_size : {1, 5, 8, 10, 15, 16, 17, 32, 33, 64, 70}) {
      const auto w = numbered<TestType>(static_cast<std::size_t>(k_size * n_size));
      const auto size = static_cast<std::size_t>(cpu::panels_floats(n_size, k_size));
      std::vector<TestType> panels(static_cast<std::size_t>(cpu::panels_floats(k_size, n_size)));
      std::vector<TestType> expected(size);
      std::vector<TestType> found(size + 1, TestType(-1));
      cpu::pack(k_size, n_size, w.data(), panels.data());
      cpu::pack(n_size, k_size, transposed(k_size, n_size, w).data(), expected.data());
      cpu::transpose_panels(k_size, n_size, panels.data(), found.data());
      REQUIRE(found.back() == TestType(-1));
      found.pop_back();
      REQUIRE(found == expected);
    }
  }
}

TEMPLATE_TEST_CASE("pack_transposed: the panels of a transpose from rows a stride apart",
                   "[transpose]", float, double) {
  for (int k_size : {1, 3, 8, 17, 40}) {
    for (int n_size : {1, 4, 10, 16, 19, 33}) {
      const int stride = k_size + 2;
      const auto b = numbered<TestType>(static_cast<std::size_t>((n_size - 1) * stride + k_size));
      std::vector<TestType> w(static_cast<std::size_t>(k_size * n_size));
      for (int k = 0; k < k_size; ++k) {
        for (int n = 0; n < n_size; ++n) {
          w[static_cast<std::size_t>(k * n_size + n)] = b[static_cast<std::size_t>(n * stride + k)];
        }
      }
      const auto size = static_cast<std::size_t>(cpu::panels_floats(k_size, n_size));
      std::vector<TestType> expected(size);
      std::vector<TestType> found(size, TestType(-1));
      cpu::pack(k_size, n_size, w.data(), expected.data());
      cpu::pack_transposed(k_size, n_size, b.data(), stride, found.data());
      REQUIRE(found == expected);
    }
  }
}
