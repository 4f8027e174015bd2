// SPDX-License-Identifier: Apache-2.0
// lamina/metric/edit_distance.hpp - the mean edit distance of sequences over mini-batches.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <ranges>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace metric {

/// The mean of the distances that layer::edit_distance returns, one per sequence, and the fraction
/// of sequences whose distance is not 0. Throws lamina::error for a distance that is negative or
/// NaN, and then leaves the sums unchanged; also for eval() before an update with a sequence.
/// Fluid: fluid.metrics.EditDistance.
class edit_distance {
 public:
  struct result {
    double distance, error_rate;
  };

  /// Adds a range of distances, one per sequence of the mini-batch.
  template <std::ranges::input_range D>
  void update(const D& distances) {
    edit_distance next = *this;
    for (const auto& d : distances) {
      const double distance = static_cast<double>(d);
      if (!(distance >= 0))
        throw error(text("lamina: metric::edit_distance: expected a distance of at least 0, found ")
                        .print("%g", distance));
      next.sum_ += distance;
      ++next.sequences_;
      next.wrong_ += distance > 0 ? 1 : 0;
    }
    *this = next;
  }
  result eval() const {
    if (sequences_ == 0)
      throw error(
          "lamina: metric::edit_distance: expected an update with at least one sequence before "
          "eval, found none");
    const double n = static_cast<double>(sequences_);
    return {sum_ / n, static_cast<double>(wrong_) / n};
  }
  void reset() { *this = edit_distance{}; }

 private:
  double sum_ = 0;
  std::int64_t sequences_ = 0, wrong_ = 0;
};

}}}  // namespace lamina::metric
