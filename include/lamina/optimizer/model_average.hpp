// SPDX-License-Identifier: Apache-2.0
// lamina/optimizer/model_average.hpp - averages parameters over the last steps.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

#include <lamina/core/messages/error.hpp>
#include <lamina/optimizer/parameter_access.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace optimizer {

/// The options of a model_average, with Fluid's names.
struct average_window {
  float rate = 0;  // the window's size as a fraction of all updates; Fluid: average_window_rate
  std::int64_t min_average_window = 10000, max_average_window = 10000;
};

/// Averages parameters over a window that grows with training. Each update() adds the parameters to
/// sum_1. Every 16384 updates sum_1 is added to sum_2 and set to 0, for precision. The window
/// closes when it holds at least min_average_window values and at least min(max_average_window,
/// updates * rate) values: then sum_3 becomes sum_1 + sum_2, and these two become 0. The average is
/// (sum_1 + sum_2 + sum_3) divided by the number of values in them, all in double. Fluid:
/// ModelAverage, average_accumulates.
///
///   model_average average({.rate = 0.15f, .min_average_window = 100});
///   for (...) { ...; average.update(parameters); }
///   { auto averaged = average.apply(parameters); test(); }   // restores the parameters
class model_average {
 public:
  /// The number of values that sum_1 holds before it is added to sum_2.
  static constexpr std::int64_t max_accumulates = 16384;
  /// Fluid's num_accumulates, old_num_accumulates and num_updates.
  struct counts {
    std::int64_t accumulates = 0, old_accumulates = 0, updates = 0;
  };

  /// Throws lamina::error for a negative rate or window.
  explicit model_average(average_window window) : window_(window) {
    if (!(window.rate >= 0) || window.min_average_window < 0 || window.max_average_window < 0)
      throw error("lamina: model_average: expected a rate and windows not below 0");
  }

  /// Adds the parameters to the sums; call it after each step. Throws lamina::error if the number
  /// or sizes of the parameters have changed.
  template <parameter_access Parameters>
  void update(Parameters& parameters) {
    for (parameter_sums& sum : sums_) sum.match(parameters, "model_average");
    ++counts_.updates;
    ++counts_.accumulates;
    const bool moves = counts_.updates % max_accumulates == 0;
    const bool closes =
        counts_.accumulates >= window_.min_average_window && counts_.accumulates >= window_now();
    for (int i = 0; i < sums_[0].size(); ++i) {
      const std::span<const float> value = parameters.span(i);
      const std::span<double> one = sums_[0][i], two = sums_[1][i], three = sums_[2][i];
      for (std::size_t k = 0; k < value.size(); ++k) {
        one[k] += static_cast<double>(value[k]);
        if (moves) two[k] += one[k], one[k] = 0;
        if (closes) three[k] = one[k] + two[k], one[k] = two[k] = 0;
      }
    }
    if (!closes) return;
    counts_.old_accumulates = counts_.accumulates;
    counts_.accumulates = 0;
  }

  /// Replaces the parameters by the averages until the returned object is destroyed. Throws
  /// lamina::error if update() was not called before.
  template <parameter_access Parameters>
  replaced_parameters<Parameters> apply(Parameters& parameters) const {
    const std::int64_t values = counts_.accumulates + counts_.old_accumulates;
    if (values == 0)
      throw error("lamina: model_average: expected an update before apply, found none");
    sums_[0].check_arrays(parameters, "model_average");
    return {parameters, [&](int i, std::span<float> to) {
              const double count = static_cast<double>(values);
              for (std::size_t k = 0; k < to.size(); ++k)
                to[k] =
                    static_cast<float>((sums_[0][i][k] + sums_[1][i][k] + sums_[2][i][k]) / count);
            }};
  }

  /// counters() returns the counters, and sums(0), sums(1) and sums(2) return sum_1, sum_2 and
  /// sum_3, for checkpoints.
  const counts& counters() const { return counts_; }
  counts& counters() { return counts_; }
  const parameter_sums& sums(int which) const { return sums_[which]; }
  parameter_sums& sums(int which) { return sums_[which]; }

 private:
  std::int64_t window_now() const {
    const double wanted = static_cast<double>(static_cast<float>(counts_.updates) * window_.rate);
    return wanted >= static_cast<double>(window_.max_average_window)
               ? window_.max_average_window
               : static_cast<std::int64_t>(wanted);
  }

  average_window window_;
  counts counts_{};
  parameter_sums sums_[3]{};
};

}}}  // namespace lamina::optimizer
