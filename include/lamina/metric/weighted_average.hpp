// SPDX-License-Identifier: Apache-2.0
// lamina/metric/weighted_average.hpp - a mean over mini-batches of different sizes.
#pragma once

#include <lamina/core/config.hpp>

#include <cmath>
#include <string>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace metric {

/// Computes sum(value_i * weight_i) / sum(weight_i) over all updates since the last reset, in
/// double. Throws lamina::error for a weight that is negative or not finite, and for eval() before
/// an update with a positive weight. Fluid: fluid.average.WeightedAverage.
class weighted_average {
 public:
  explicit weighted_average(const char* name = "weighted_average") : name_(name) {}

  void update(double value, double weight) {
    if (!(weight >= 0) || !std::isfinite(weight))
      throw error(
          (text("lamina: metric::") << name_ << ": expected a finite weight of at least 0, found ")
              .print("%g", weight));
    sum_ += value * weight;
    weight_ += weight;
  }
  double eval() const {
    if (weight_ == 0)
      throw error("lamina: metric::" + std::string(name_) +
                  ": expected an update of positive weight before eval, found none");
    return sum_ / weight_;
  }
  void reset() { sum_ = weight_ = 0; }

 private:
  const char* name_;
  double sum_ = 0, weight_ = 0;
};

}}}  // namespace lamina::metric
