// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/part_sum_body.hpp - a matrix as the sum of parts that lie one behind the
// other.
#pragma once

#include <cstddef>

#include <lamina/engine/cuda/divider.hpp>

namespace lamina::engine::cuda {

/// The parts of a sum, one behind the other, added in their order.
struct part_sum_body {
  struct arguments {
    const float* parts;
    float* to;
    std::ptrdiff_t part_stride, to_stride;
    divider columns;
    int part_count, count;
  };
  static LAMINA_INLINE LAMINA_FN void run(const arguments& g, int i) {
    int column = i;
    const int row = g.columns.divide(column);
    float sum = 0;
    for (int p = 0; p < g.part_count; ++p) sum += g.parts[p * g.part_stride + i];
    g.to[row * g.to_stride + column] = sum;
  }
};

/// to = the sum of `count` matrices of height x width numbers.
template <class Backend>
void add_parts(Backend& b, const float* parts, int count, int height, int width, float* to,
               std::ptrdiff_t to_stride) {
  part_sum_body::arguments sum{};
  sum.parts = parts;
  sum.to = to;
  sum.part_stride = static_cast<std::ptrdiff_t>(height) * width;
  sum.to_stride = to_stride;
  sum.columns = divider(width);
  sum.part_count = count;
  sum.count = height * width;
  b.template elements<part_sum_body>(sum);
}

}  // namespace lamina::engine::cuda
