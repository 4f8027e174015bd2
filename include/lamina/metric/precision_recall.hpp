// SPDX-License-Identifier: Apache-2.0
// lamina/metric/precision_recall.hpp - the fraction of positive predictions that are correct, and
// the fraction of positive samples that are found.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/metric/binary_counts.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace metric {

/// Computes true positives / (true positives + false positives); 0 if no prediction was positive.
/// update() takes a range of probabilities and a range of labels 0 and 1, and throws like
/// binary_counts::update(). eval() throws lamina::error before an update. Fluid:
/// fluid.metrics.Precision.
class precision {
 public:
  template <class P, class L>
  void update(const P& predictions, const L& labels) {
    counts_.update(predictions, labels);
  }
  double eval() const {
    counts_.require_update();
    const auto called = counts_.true_positive + counts_.false_positive;
    return called == 0 ? 0
                       : static_cast<double>(counts_.true_positive) / static_cast<double>(called);
  }
  void reset() { *this = precision{}; }

 private:
  binary_counts counts_{"precision"};
};

/// Computes true positives / (true positives + false negatives); 0 if no label was positive.
/// update() takes a range of probabilities and a range of labels 0 and 1, and throws like
/// binary_counts::update(). eval() throws lamina::error before an update. Fluid:
/// fluid.metrics.Recall.
class recall {
 public:
  template <class P, class L>
  void update(const P& predictions, const L& labels) {
    counts_.update(predictions, labels);
  }
  double eval() const {
    counts_.require_update();
    const auto positive = counts_.true_positive + counts_.false_negative;
    return positive == 0
               ? 0
               : static_cast<double>(counts_.true_positive) / static_cast<double>(positive);
  }
  void reset() { *this = recall{}; }

 private:
  binary_counts counts_{"recall"};
};

}}}  // namespace lamina::metric
