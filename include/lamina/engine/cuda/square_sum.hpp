// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/square_sum.hpp - the sum of the squares of an array, in parts that are added
// up in their order.
#pragma once

#include <algorithm>

#include <lamina/engine/cuda/element_loops.hpp>

namespace lamina::engine::cuda {

/// Elements i * part to before (i + 1) * part of an array of rows become number i.
struct square_sum_lines {
  struct arguments {
    const float* from;
    std::ptrdiff_t stride;
    divider columns;
    double* to;
    int elements, part;
    int lines, width, count;
  };
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int i, const Team& team) {
    const int first = i * a.part, end = a.elements - first < a.part ? a.elements : first + a.part;
    double sum = 0;
    for (int k = first + team.rank(); k < end; k += team.size()) {
      int column = k;
      const int row = a.columns.divide(column);
      const double x = static_cast<double>(a.from[row * a.stride + column]);
      sum += x * x;
    }
    sum = sum_of(team, sum);
    if (team.rank() == 0) a.to[i] = sum;
  }

  /// Into how many parts an array is cut: the same at every place.
  static constexpr int least_part = 4096, most_parts = 256;
  static constexpr int parts(int elements) {
    return std::clamp((elements + least_part - 1) / least_part, 1, most_parts);
  }
};

/// to[0] + ... + to[parts - 1] = the sum of the squares of rows x columns floats, `stride` apart.
template <class Backend>
void sum_squares(Backend& b, const float* from, int rows, int columns, std::ptrdiff_t stride,
                 double* to, int parts) {
  const int n = rows * columns;
  const int part = (n + parts - 1) / parts;
  b.template lines<team_lines<square_sum_lines>>(
      {from, stride, divider(columns), to, n, part, parts, part, parts});
}

}  // namespace lamina::engine::cuda
