// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/memory/label.hpp - numbers that choose a class or a row, checked against their
// range.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

#include <lamina/engine/cpu/memory/array_layout.hpp>

namespace lamina::inline LAMINA_ABI::engine::cpu {

/// Throws lamina::error: a number is not an index below `count`.
[[noreturn]] LAMINA_COLD inline void fail_range(const call_context& c, const char* what,
                                                std::int64_t value, std::int64_t row,
                                                std::int64_t count) {
  fail(c, {what, " in row ", row, ": expected 0 to ", count - 1, ", found ", value});
}

/// Reads one label per line.
class label_reader {
 public:
  label_reader(const call_context& c, const operand& label, int ignored)
      : c_(c), label_(label), ignored_(ignored) {}

  /// The label of line `outer` of a row, or -1 for a label to ignore.
  LAMINA_NOINLINE std::int64_t at(int row, int outer, int classes) const {
    const std::int64_t l = label_.type == dtype::int64 ? label_.row<const std::int64_t>(row)[outer]
                                                       : integer_in(label_, row, outer);
    if (l == ignored_) return -1;
    if (l < 0 || l >= classes) fail_range(c_, "label", l, first_row() + row, classes);
    return l;
  }

 private:
  /// The index of the first of these rows in the whole mini-batch.
  std::int64_t first_row() const {
    return label_.rank > 0 && label_.dims[0] < 0 ? c_.run().first_row[label_.domain] : 0;
  }

  const call_context& c_;
  operand label_;
  int ignored_;
};

}  // namespace lamina::inline LAMINA_ABI::engine::cpu
