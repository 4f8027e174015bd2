// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/element_sum.hpp - sums over all elements of an array, in double: terms and
// results of a backend's sum().
//
// A backend sums terms(0) + ... + terms(count - 1) and hands the sum to result(), by one thread:
//   sum<Terms, Result>(count, terms, result, scratch)
//   sum_scratch<Terms, Result>(count, &bytes)
#pragma once

#include <cstddef>

#include <lamina/core/config.hpp>
#include <lamina/engine/cuda/divider.hpp>

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

/// F of each element of an array, whose rows are `stride` floats apart.
template <class F>
struct element_terms {
  const float* from;
  std::ptrdiff_t stride;
  divider columns;

  LAMINA_INLINE LAMINA_FN double operator()(int i) const {
    const int row = columns.divide(i);
    return F::of(static_cast<double>(from[row * stride + i]));
  }
};

/// Stores a sum as it is ...
struct whole_sum {
  double* to;
  LAMINA_INLINE LAMINA_FN void operator()(double sum) const { *to = sum; }
};
/// ... or times a factor.
struct scaled_sum {
  float* to;
  double factor;
  LAMINA_INLINE LAMINA_FN void operator()(double sum) const {
    *to = static_cast<float>(sum * factor);
  }
};

/// Floats of scratch memory that a backend needs for sum(), for as many terms or fewer.
template <class Terms, class Result, class Backend>
std::ptrdiff_t sum_scratch(int count) {
  std::size_t bytes = 0;
  Backend::template sum_scratch<Terms, Result>(count, &bytes);
  return static_cast<std::ptrdiff_t>((bytes + sizeof(float) - 1) / sizeof(float));
}

}  // namespace lamina::engine::cuda
