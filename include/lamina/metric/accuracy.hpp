// SPDX-License-Identifier: Apache-2.0
// lamina/metric/accuracy.hpp - the accuracy over several mini-batches.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/metric/weighted_average.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace metric {

/// The accuracy over all updates since the last reset: sum(value_i * weight_i) / sum(weight_i).
/// Pass to each update the accuracy of a mini-batch, as layer::accuracy computes it, and the number
/// of its rows. Throws lamina::error for a weight that is negative or not finite, and for eval()
/// before an update with a positive weight. Fluid: fluid.metrics.Accuracy.
class accuracy {
 public:
  void update(double value, double weight) { average_.update(value, weight); }
  double eval() const { return average_.eval(); }
  void reset() { average_.reset(); }

 private:
  weighted_average average_{"accuracy"};
};

}}}  // namespace lamina::metric
