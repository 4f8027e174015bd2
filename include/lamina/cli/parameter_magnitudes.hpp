// SPDX-License-Identifier: Apache-2.0
// lamina/cli/parameter_magnitudes.hpp - the mean and the maximum of the absolute values of a
// parameter or gradient.
#pragma once

#include <lamina/core/config.hpp>

#include <cmath>
#include <cstddef>

#include <lamina/engine/common/real_numbers.hpp>
#include <lamina/engine/cpu/gemm/panel.hpp>
#include <lamina/engine/cpu/memory/selected_rows.hpp>
#include <lamina/model/parameters/stored_arrays.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The mean and the largest of the absolute values of an array. If one value is NaN, both are NaN.
struct magnitudes {
  double mean = 0, largest = 0;
};

namespace detail {

/// Computes the magnitudes of the numbers that are added.
class magnitude_sum {
 public:
  template <class Real>
  void add(const Real* from, std::ptrdiff_t count) {
    for (std::ptrdiff_t i = 0; i < count; ++i) {
      const double x = std::fabs(static_cast<double>(from[i]));
      sum_ += x;
      if (!(x <= largest_)) largest_ = x;  // also true if x or largest_ is NaN
    }
  }
  /// Returns the magnitudes of `count` numbers; numbers that were not added count as zeros.
  magnitudes of(std::size_t count) const {
    return {count == 0 ? 0 : sum_ / static_cast<double>(count), std::isnan(sum_) ? sum_ : largest_};
  }

 private:
  double sum_ = 0, largest_ = 0;
};

template <class Real>
LAMINA_COLD magnitudes magnitudes_in(const parameter_info& info, const float* memory) {
  const Real* const from = engine::numbers_at<Real>(memory);
  magnitude_sum all;
  if (info.panel)
    engine::cpu::for_each_row_segment<Real>(
        info.rows, info.columns,
        [&](std::ptrdiff_t at, int count, int, int) { all.add(from + at, count); });
  else
    for (int r = 0; r < info.rows; ++r)
      all.add(from + static_cast<std::ptrdiff_t>(r) * padded(info.columns), info.columns);
  return all.of(info.size());
}

}  // namespace detail

/// Returns the magnitudes of a parameter or of its gradient; `memory` has the layout of the
/// parameter.
LAMINA_COLD inline magnitudes magnitudes_of(const parameter_info& info, const float* memory) {
  return info.type == dtype::float64 ? detail::magnitudes_in<double>(info, memory)
                                     : detail::magnitudes_in<float>(info, memory);
}
/// Returns the magnitudes of a sparse gradient; rows that it does not store count as zeros.
template <class Real>
LAMINA_COLD magnitudes magnitudes_of(const parameter_info& info,
                                     const engine::cpu::basic_selected_rows<Real>& rows) {
  detail::magnitude_sum all;
  for (int i = 0; i < rows.size(); ++i) all.add(rows.row(i), rows.columns());
  return all.of(info.size());
}

}}  // namespace lamina
