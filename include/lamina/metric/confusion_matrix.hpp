// SPDX-License-Identifier: Apache-2.0
// lamina/metric/confusion_matrix.hpp - counts of predicted and true classes, and the F1 scores of
// the classes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <ranges>
#include <string>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace metric {

/// Counts, for each pair of classes, how many samples of a class were predicted as another one.
/// update() takes a range of predicted classes and a range of true classes, from 0 to classes - 1.
/// Scikit-learn: confusion_matrix, f1_score.
class confusion_matrix {
 public:
  /// Throws lamina::error unless `classes` is above 0.
  explicit confusion_matrix(int classes)
      : classes_(classes),
        counts_(classes < 1
                    ? 0
                    : static_cast<std::size_t>(classes) * static_cast<std::size_t>(classes)) {
    if (classes < 1) fail(text("at least one class, found ") << classes);
  }

  /// Adds the samples of two ranges of equal length. Throws lamina::error, and leaves the counts
  /// unchanged, if the lengths differ or a class is outside of [0, classes).
  template <std::ranges::input_range P, std::ranges::input_range L>
  void update(const P& predictions, const L& labels) {
    std::vector<std::uint64_t> next = counts_;
    auto label = std::ranges::begin(labels);
    for (const auto& prediction : predictions) {
      if (label == std::ranges::end(labels)) fail("as many labels as predictions, found fewer");
      ++next[place(class_of(*label), class_of(prediction))];
      ++label;
    }
    if (label != std::ranges::end(labels)) fail("as many labels as predictions, found more");
    counts_ = next;
  }

  int classes() const { return classes_; }
  /// The number of samples of class `truth` that were predicted as class `predicted`. Throws
  /// lamina::error if there is no such class.
  std::uint64_t operator()(int truth, int predicted) const {
    return counts_[place(class_of(truth), class_of(predicted))];
  }
  /// The fraction of samples of class c among those predicted as c; 0 if there are none.
  double precision(int c) const { return ratio(c, false); }
  /// The fraction of samples of class c that were predicted as c; 0 if the class has no samples.
  double recall(int c) const { return ratio(c, true); }
  /// 2 precision recall / (precision + recall) of class c; 0 if both are 0.
  double f1(int c) const {
    const double p = precision(c), r = recall(c);
    return p + r == 0 ? 0 : 2 * p * r / (p + r);
  }
  /// The mean of f1 over the classes ("macro" average).
  double eval() const {
    double sum = 0;
    for (int c = 0; c < classes_; ++c) sum += f1(c);
    return sum / classes_;
  }
  /// The fraction of samples whose class was predicted. Throws lamina::error before an update.
  double accuracy() const {
    std::uint64_t right = 0, all = 0;
    for (const std::uint64_t n : counts_) all += n;
    for (int c = 0; c < classes_; ++c) right += (*this)(c, c);
    if (all == 0) fail("an update with at least one prediction before accuracy, found none");
    return static_cast<double>(right) / static_cast<double>(all);
  }
  void reset() { *this = confusion_matrix(classes_); }

 private:
  [[noreturn]] static void fail(const std::string& expected) {
    throw error("lamina: metric::confusion_matrix: expected " + expected);
  }
  /// A class as a number from 0 on. A value that is not a class, such as NaN or 0.5, is an error.
  template <class T>
  int class_of(const T& value) const {
    const double v = static_cast<double>(value);
    if (!(v >= 0 && v < classes_) || v != static_cast<double>(static_cast<int>(v)))
      fail((text("a class from 0 to ") << classes_ - 1 << ", found ").print("%g", v));
    return static_cast<int>(v);
  }
  std::size_t place(int truth, int predicted) const {
    return static_cast<std::size_t>(truth) * static_cast<std::size_t>(classes_) +
           static_cast<std::size_t>(predicted);
  }
  double ratio(int c, bool of_truth) const {
    std::uint64_t all = 0;
    for (int other = 0; other < classes_; ++other)
      all += of_truth ? (*this)(c, other) : (*this)(other, c);
    return all == 0 ? 0 : static_cast<double>((*this)(c, c)) / static_cast<double>(all);
  }

  int classes_;
  std::vector<std::uint64_t> counts_;
};

}}}  // namespace lamina::metric
