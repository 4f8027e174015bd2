// SPDX-License-Identifier: Apache-2.0
// Products of matrices of every size of a tile.

#include "executor/run_program.hpp"
#include "executor/shared_executor.hpp"
#include <catch2/catch.hpp>
#include <laws/compared_operators.hpp>

#include <lamina/executor/matrix_product.hpp>
#include <lamina/transform/append_backward.hpp>
#include <lamina/transform/clone_for_test.hpp>

TEST_CASE("products: every size of a tile, several depths, transposed operands") {
  for (const std::size_t m : {1, 2, 3, 5, 6, 13})
    for (const std::size_t k : {1, 3, 4, 7, 300})
      for (const std::size_t n : {1, 5, 16, 37})
        for (const bool turn_a : {false, true})
          for (const bool turn_b : {false, true}) {
            std::vector<double> a(m * k), b(k * n), c(m * n, 1), expected(m * n, 1);
            for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<double>(i * 7 % 11) - 5;
            for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<double>(i * 5 % 13) - 6;
            for (std::size_t i = 0; i < m; ++i)
              for (std::size_t l = 0; l < k; ++l)
                for (std::size_t j = 0; j < n; ++j)
                  expected[i * n + j] +=
                      a[turn_a ? l * m + i : i * k + l] * b[turn_b ? j * k + l : l * n + j];
            lamina::kernel::add_product(a.data(), turn_a, b.data(), turn_b, c.data(), m, k, n);
            CAPTURE(m, k, n, turn_a, turn_b);
            CHECK(c == expected);  // whole numbers: every order of summation gives the same
          }
}
