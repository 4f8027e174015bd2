// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/memory/label.hpp - reads integers that select a class or a row, and checks that
// they are in range.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>

#include <lamina/core/messages/text.hpp>
#include <lamina/engine/cpu/memory/array_layout.hpp>
#include <lamina/program/operator_place.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// Throws lamina::error for a value that is not an index from 0 to count - 1. If the value is an
/// element of an operand `of` whose rows are samples, the error is a row_error with the position of
/// the sample in the whole mini-batch and the name of the data layer or variable that contains the
/// value.
[[noreturn]] LAMINA_API_COLD void fail_range(const call_context& c, const char* what,
                                             std::int64_t value, std::int64_t row,
                                             std::int64_t count, const operand& of = {});

/// Reads class labels: one integer for each vector of class scores, that is, for each slice along
/// the class dimension.
class label_reader {
 public:
  label_reader(const call_context& c, const operand& label, int ignored)
      : c_(c), label_(label), ignored_(ignored) {}

  /// The label of slice `outer` of a row, or -1 if this label is to be ignored.
  LAMINA_NOINLINE std::int64_t at(int row, int outer, int classes) const {
    const std::int64_t l = label_.type == dtype::int64 ? label_.row<const std::int64_t>(row)[outer]
                                                       : integer_in(label_, row, outer);
    if (l == ignored_) return -1;
    if (l < 0 || l >= classes) fail_range(c_, "label", l, row, classes, label_);
    return l;
  }

 private:
  const call_context& c_;
  operand label_;
  int ignored_;
};

#if LAMINA_DEFINES

void fail_range(const call_context& c, const char* what, std::int64_t value, std::int64_t row,
                std::int64_t count, const operand& of) {
  const bool has_rows = of.rank > 0 && of.dims[0] < 0;
  if (has_rows) row += c.run().first_row[of.domain];
  text message("lamina: ");
  message << place_of(c.program(), c.op(), c.schema());
  if (const int v = c.variable_of(of.data); v >= 0) message << ", " << source_of(c.program(), v);
  message << ": " << what << " in row " << row << ": expected 0 to " << count - 1 << ", found "
          << value;
  if (has_rows) LAMINA_THROW row_error(message, of.domain, row);
  LAMINA_THROW error(message);
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
