// SPDX-License-Identifier: Apache-2.0
// lamina/metric/auc.hpp - the area under the ROC or the precision-recall curve.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <ranges>
#include <string>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace metric {

/// The curve under which the area is computed. Each point of the curve belongs to one threshold:
/// predictions above it count as positive.
enum class curve {
  roc,  ///< true positive rate as a function of the false positive rate
  pr    ///< precision as a function of recall
};

/// Options of auc.
struct auc_options {
  metric::curve curve = metric::curve::roc;
  std::size_t num_thresholds = 4095;
};

/// The area under the ROC or the precision-recall curve of a binary classifier. Predictions are
/// counted in num_thresholds + 1 bins of equal width, so memory does not grow with the data; the
/// only inaccuracy is that predictions in one bin count as equal. The area under the ROC curve is
/// the sum of the trapezoids between bins. The area under the precision-recall curve is the average
/// precision, the sum of (recall_i - recall_{i-1}) * precision_i, because trapezoids would give too
/// large a value. The area is 0 if one of the two classes has no sample, as in Fluid. Throws
/// lamina::error if num_thresholds is 0, and for eval() before an update. update() throws
/// lamina::error, and leaves the counts unchanged, if predictions and labels differ in number, a
/// prediction is outside of [0, 1], or a label is neither 0 nor 1. Fluid: fluid.metrics.Auc, which
/// ignores its curve argument.
class auc {
 public:
  explicit auc(auc_options options = {}) : options_(options), positive_(bins()), negative_(bins()) {
    if (options.num_thresholds == 0) fail("at least 1 threshold, found 0");
  }

  /// Adds two ranges with one element per sample: the predicted probabilities of the positive
  /// class, and the labels.
  template <std::ranges::input_range P, std::ranges::input_range L>
  void update(const P& predictions, const L& labels) {
    struct pair {
      std::size_t bin;
      bool truth;
    };
    std::vector<pair> pairs;
    auto label = std::ranges::begin(labels);
    for (const auto& prediction : predictions) {
      if (label == std::ranges::end(labels)) fail("as many labels as predictions, found fewer");
      const double p = static_cast<double>(prediction), l = static_cast<double>(*label);
      ++label;
      if (!(p >= 0 && p <= 1)) fail(text("a prediction between 0 and 1, found ").print("%g", p));
      if (l != 0 && l != 1) fail(text("a label of 0 or 1, found ").print("%g", l));
      pairs.push_back(
          {static_cast<std::size_t>(p * static_cast<double>(options_.num_thresholds)), l == 1});
    }
    if (label != std::ranges::end(labels)) fail("as many labels as predictions, found more");
    for (const pair& each : pairs) ++(each.truth ? positive_ : negative_)[each.bin];
    total_ += pairs.size();
  }

  double eval() const {
    if (total_ == 0) fail("an update with at least one prediction before eval, found none");
    double above_positive = 0, above_negative = 0, area = 0;
    for (std::size_t bin = bins(); bin-- > 0;) {
      const double p = static_cast<double>(positive_[bin]), n = static_cast<double>(negative_[bin]);
      if (p == 0 && n == 0) continue;
      if (options_.curve == curve::roc)
        area += n * (above_positive + p / 2);
      else
        area += p * (above_positive + p) / (above_positive + p + above_negative + n);
      above_positive += p;
      above_negative += n;
    }
    if (above_positive == 0 || above_negative == 0) return 0;
    return options_.curve == curve::roc ? area / above_positive / above_negative
                                        : area / above_positive;
  }

  void reset() { *this = auc(options_); }

 private:
  std::size_t bins() const { return options_.num_thresholds + 1; }

  [[noreturn]] static void fail(const std::string& expected) {
    throw error("lamina: metric::auc: expected " + expected);
  }

  auc_options options_;
  std::vector<std::uint64_t> positive_, negative_;
  std::uint64_t total_ = 0;
};

}}}  // namespace lamina::metric
