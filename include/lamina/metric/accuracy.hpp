// SPDX-License-Identifier: Apache-2.0
// lamina/metric/accuracy.hpp - the accuracy over several batches.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/metric/weighted_average.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace metric {

/// The weighted mean sum(value_i * weight_i) / sum(weight_i). It is the accuracy over all updates
/// if the arguments of each update are the accuracy of a batch (as layer::accuracy computes it) and
/// its number of rows. Errors: weight below 0 or not finite; eval before an update of positive
/// weight. Fluid: fluid.metrics.Accuracy.
class accuracy {
 public:
  void update(double value, double weight) { average_.update(value, weight); }
  double eval() const { return average_.eval(); }
  void reset() { average_.reset(); }

 private:
  weighted_average average_{"accuracy"};
};

}}}  // namespace lamina::metric
