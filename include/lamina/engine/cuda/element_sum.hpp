// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/element_sum.hpp - sums over all elements of an array, in parts that are added
// up in their order.
#pragma once

#include <algorithm>

#include <lamina/engine/cuda/element_loops.hpp>

namespace lamina::engine::cuda {

/// What of an element is added up.
struct element_itself {
  static LAMINA_FN double of(double x) { return x; }
};
struct element_square {
  static LAMINA_FN double of(double x) { return x * x; }
};
struct element_size {
  static LAMINA_FN double of(double x) { return x < 0 ? -x : x; }
};

/// Into how many parts an array is cut: the same at every place.
struct element_parts {
  static constexpr int least = 4096, most = 256;
  static constexpr int of(int elements) {
    return std::clamp((elements + least - 1) / least, 1, most);
  }
};

/// The sum of F over elements `first` to before `end` of an array of rows, which all threads have.
template <class F, class Arguments, class Team>
LAMINA_INLINE LAMINA_FN double sum_elements(const Arguments& a, int first, int end,
                                            const Team& team) {
  double sum = 0;
  for (int k = first + team.rank(); k < end; k += team.size()) {
    int column = k;
    const int row = a.columns.divide(column);
    sum += F::of(static_cast<double>(a.from[row * a.stride + column]));
  }
  return sum_of(team, sum);
}

/// Elements i * part to before (i + 1) * part of an array of rows become number i.
template <class F>
struct element_sum_lines {
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
    const double sum = sum_elements<F>(a, first, end, team);
    if (team.rank() == 0) a.to[i] = sum;
  }
};

/// All of that at once: the sum of F over few elements, times a factor.
template <class F>
struct few_elements_lines {
  struct arguments {
    const float* from;
    std::ptrdiff_t stride;
    divider columns;
    float* to;
    double factor;
    int elements;
    int lines, width, count;
  };
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int, const Team& team) {
    const double sum = sum_elements<F>(a, 0, a.elements, team);
    if (team.rank() == 0) *a.to = static_cast<float>(sum * a.factor);
  }
};

/// The sum of some numbers, times a factor.
struct total_lines {
  struct arguments {
    const double* sums;
    float* to;
    double factor;
    int parts;
    int lines, width, count;
  };
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int, const Team& team) {
    double sum = 0;
    for (int k = team.rank(); k < a.parts; k += team.size()) sum += a.sums[k];
    sum = sum_of(team, sum);
    if (team.rank() == 0) *a.to = static_cast<float>(sum * a.factor);
  }
};

/// to[0] + ... + to[parts - 1] = the sum of F over rows x columns floats, `stride` apart.
template <class F, class Backend>
void sum_parts(Backend& b, const float* from, int rows, int columns, std::ptrdiff_t stride,
               double* to, int parts) {
  const int n = rows * columns;
  const int part = (n + parts - 1) / parts;
  b.template lines<team_lines<element_sum_lines<F>>>(
      {from, stride, divider(columns), to, n, part, parts, part, parts});
}
/// The sum of the numbers that this leaves, times a factor.
template <class Backend>
void sum_total(Backend& b, const double* sums, int parts, double factor, float* to) {
  b.template lines<team_lines<total_lines>>({sums, to, factor, parts, 1, parts, 1});
}

}  // namespace lamina::engine::cuda
