// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/body/summed_array.hpp - arrays whose sums are compared with those in long
// double.
#pragma once

#include <cmath>
#include <random>
#include <vector>

#include "engine/cuda/host_backend.hpp"
#include "engine/cuda/norm_programs.hpp"

#include <lamina/engine/cuda/body/channel_sums.cuh>
#include <lamina/engine/cuda/body/column_sums.cuh>
#include <lamina/engine/cuda/body/element_sum.cuh>

namespace summed_array {

namespace cuda = lamina::engine::cuda;

using serial = cuda::host_backend<1>;

using team = cuda::host_backend<4>;

/// Rows of numbers around 1000, behind each other with some floats between.
struct array {
  int rows, columns;
  std::ptrdiff_t stride;
  std::vector<float> data;

  array(int r, int c)
      : rows(r), columns(c), stride(c + 3), data(static_cast<std::size_t>(r * stride + 1)) {
    std::mt19937 random(7);
    std::normal_distribution<float> normal(1000, 300);
    for (float& x : data) x = normal(random);
  }
  long double sum(int first, int end) const {
    long double all = 0;
    for (int r = 0; r < rows; ++r)
      for (int c = first; c < end; ++c) all += data[static_cast<std::size_t>(r * stride + c)];
    return all;
  }
};

inline bool is_near(float found, long double expected) {
  return std::abs(found - expected) <= 1e-7L * std::abs(expected);
}

}  // namespace summed_array
