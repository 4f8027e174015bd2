// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/body/element_sum.cuh - sums over all elements of an array, in double: the
// template arguments Terms and Result of algorithm::sum.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/engine/cuda/body/divider.cuh>
#include <lamina/engine/cuda/device/algorithms.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

/// Functions F for element_terms, below: the element itself, its square, and its absolute value.
struct element_itself {
  static LAMINA_FN double of(double x) { return x; }
};
struct element_square {
  static LAMINA_FN double of(double x) { return x * x; }
};
struct element_size {
  static LAMINA_FN double of(double x) { return x < 0 ? -x : x; }
};

/// The terms F::of(x) for each element x of an array whose rows begin `stride` floats apart.
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

/// The result function that stores the sum unchanged.
struct all_reduce {
  double* to;
  LAMINA_INLINE LAMINA_FN void operator()(double sum) const { *to = sum; }
};
/// The result function that stores the sum times a factor.
struct scaled_sum {
  float* to;
  double factor;
  LAMINA_INLINE LAMINA_FN void operator()(double sum) const {
    *to = static_cast<float>(sum * factor);
  }
};

/// Runs algorithm::sum on a backend.
template <class Backend, class Terms, class Result>
void sum_terms(Backend& b, int count, const Terms& terms, const Result& result, float* scratch) {
  b.run_algorithm(algorithm::sum<Terms, Result>{terms, result, count}, scratch);
}
/// Returns the floats of scratch memory that sum_terms() needs for this number of terms or fewer.
template <class Terms, class Result, class Backend>
std::ptrdiff_t sum_scratch(int count) {
  return algorithm_floats<Backend>(algorithm::sum<Terms, Result>{{}, {}, count});
}

}}}  // namespace lamina::engine::cuda
