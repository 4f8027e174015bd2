// SPDX-License-Identifier: Apache-2.0
// lamina/metric/binary_counts.hpp - counts of right and wrong predictions of a binary classifier.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <iterator>
#include <ranges>
#include <string>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace metric {

/// Counts true and false positives and negatives. A prediction is a probability; above 0.5 it
/// counts as 1, otherwise as 0 (numpy's rint also rounds 0.5 to 0). A label is 0 or 1.
class binary_counts {
 public:
  explicit binary_counts(const char* name) : name_(name) {}

  /// Adds the samples of two ranges of equal length. Throws lamina::error, and leaves the counts
  /// unchanged, if the lengths differ, a prediction is outside of [0, 1], or a label is neither 0
  /// nor 1.
  template <std::ranges::input_range P, std::ranges::input_range L>
  void update(const P& predictions, const L& labels) {
    binary_counts next = *this;
    auto label = std::ranges::begin(labels);
    for (const auto& prediction : predictions) {
      if (label == std::ranges::end(labels))
        next.fail("as many labels as predictions, found fewer");
      const double p = static_cast<double>(prediction), l = static_cast<double>(*label);
      ++label;
      if (!(p >= 0 && p <= 1))
        next.fail(text("a prediction between 0 and 1, found ").print("%g", p));
      if (l != 0 && l != 1) next.fail(text("a label of 0 or 1, found ").print("%g", l));
      const bool yes = p > 0.5, truth = l == 1;
      ++(yes     ? truth ? next.true_positive : next.false_positive
         : truth ? next.false_negative
                 : next.true_negative);
    }
    if (label != std::ranges::end(labels)) next.fail("as many labels as predictions, found more");
    *this = next;
  }

  std::uint64_t total() const {
    return true_positive + false_positive + false_negative + true_negative;
  }

  [[noreturn]] void fail(const std::string& expected) const {
    throw error("lamina: metric::" + std::string(name_) + ": expected " + expected);
  }
  void require_update() const {
    if (total() == 0) fail("an update with at least one prediction before eval, found none");
  }

  std::uint64_t true_positive = 0, false_positive = 0, false_negative = 0, true_negative = 0;

 private:
  const char* name_;
};

}}}  // namespace lamina::metric
