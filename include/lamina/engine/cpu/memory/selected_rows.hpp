// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/memory/selected_rows.hpp - a sparse gradient: only some rows are stored.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include <lamina/core/arrays/padding.hpp>
#include <lamina/engine/common/aligned_buffer.hpp>
#include <lamina/engine/common/real_numbers.hpp>
#include <lamina/engine/cpu/schedule/call_context.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// Adds n numbers to n sums, element by element; `rest` carries the rounding error of each sum to
/// the next addition (Kahan).
template <class Real>
inline void add_carrying(const Real* from, std::ptrdiff_t n, Real* sums, Real* rest) {
  for (std::ptrdiff_t j = 0; j < n; ++j) {
    const Real more = from[j] - rest[j], sum = sums[j] + more;
    rest[j] = (sum - sums[j]) - more;
    sums[j] = sum;
  }
}

/// A sparse gradient of a table: it stores only the rows that received a gradient. Each is stored
/// once, with its row number, in the order in which the rows were first added; this order depends
/// neither on the number of threads nor on addresses. The cost of every operation is proportional
/// to the number of stored rows. The object keeps its memory, so a run that stores no more rows
/// than an earlier run allocates nothing. Fluid: SelectedRows.
template <class Real>
class basic_selected_rows {
 public:
  /// Removes all rows and sets the number of columns.
  void begin(int columns) {
    columns_ = columns;
    numbers_.clear();
    std::fill(position_.begin(), position_.end(), 0);
  }

  /// Reserves memory for `rows` rows of `columns` columns; then add() and sorted() allocate
  /// nothing. The caller calls it before a run, because an allocation that fails during a run would
  /// leave some parameters updated and others not.
  LAMINA_COLD void reserve(std::size_t rows, int columns) {
    const std::size_t wanted = static_cast<std::size_t>(
        in_floats<Real>(static_cast<std::ptrdiff_t>(rows) * padded(columns)));
    if (wanted > values_.size()) grow(wanted);
    numbers_.reserve(rows);
    order_.reserve(rows);
    while (position_.size() < 2 * (rows + 1)) rehash();
  }
  /// The number of rows for which memory is reserved.
  std::size_t capacity() const { return numbers_.capacity(); }

  int size() const { return static_cast<int>(numbers_.size()); }
  int columns() const { return columns_; }
  /// number(i) is the row number, in the table, of the i-th stored row; row(i) returns its
  /// elements.
  int number(int i) const { return numbers_[static_cast<std::size_t>(i)]; }
  Real* row(int i) { return numbers_at<Real>(values_.data()) + first_of(i); }
  const Real* row(int i) const { return numbers_at<Real>(values_.data()) + first_of(i); }

  /// Adds `weight * from` to row `number` of the table, counted from 0. A row that is not yet
  /// stored counts as zeros.
  void add(int number, const Real* from, Real weight = 1) {
    const int before = size();
    Real* const to = row(find_or_make(number));
    if (size() > before)
      for (int j = 0; j < columns_; ++j) to[j] = weight * from[j];
    else
      for (int j = 0; j < columns_; ++j) to[j] += weight * from[j];
  }
  /// Adds `from` to row `number` with Kahan summation, which stays accurate for very many
  /// additions. `rest` has an element for each stored element, its rounding error so far.
  void add_carrying(int number, const Real* from, Real* rest) {
    const int before = size();
    const int position = find_or_make(number);
    Real *const to = row(position), *const off = rest + first_of(position);
    if (size() > before) {
      for (int j = 0; j < columns_; ++j) to[j] = from[j], off[j] = 0;
      return;
    }
    cpu::add_carrying(from, columns_, to, off);
  }
  /// Adds `weight` times each row of `other`.
  void add(const basic_selected_rows& other, Real weight = 1) {
    // An object that no kernel has filled yet does not know its number of columns.
    if (size() == 0 && other.size() > 0) columns_ = other.columns_;
    for (int i = 0; i < other.size(); ++i) add(other.number(i), other.row(i), weight);
  }
  /// Multiplies all elements by `weight`; a weight of 0 removes all rows.
  void scale(Real weight) {
    if (weight == 0) return begin(columns_);
    for (int i = 0; i < size(); ++i)
      for (int j = 0; j < columns_; ++j) row(i)[j] *= weight;
  }

  /// The positions of the stored rows, sorted by row number; valid until the next call of sorted().
  const std::vector<int>& sorted() {
    order_.resize(numbers_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = static_cast<int>(i);
    std::sort(order_.begin(), order_.end(), [&](int a, int b) { return number(a) < number(b); });
    return order_;
  }

 private:
  std::ptrdiff_t first_of(int i) const { return static_cast<std::ptrdiff_t>(i) * padded(columns_); }
  // `position_` is a hash table with open addressing. The value 0 marks a free entry; n + 1 refers
  // to the stored row n. At most half of the table is in use.
  int find_or_make(int number) {
    if (2 * (numbers_.size() + 1) > position_.size()) rehash();
    const std::size_t mask = position_.size() - 1;
    std::size_t at = slot_of(number);
    for (; position_[at] != 0; at = (at + 1) & mask)
      if (numbers_[static_cast<std::size_t>(position_[at] - 1)] == number) return position_[at] - 1;
    // Allocate first: if the allocation throws, `numbers_` must not count a row without memory.
    const auto wanted = static_cast<std::size_t>(in_floats<Real>(first_of(size() + 1)));
    if (wanted > values_.size()) grow(2 * wanted);
    numbers_.push_back(number);
    position_[at] = size();
    return size() - 1;
  }
  void grow(std::size_t floats) {
    aligned_buffer larger(floats);
    if (values_.size() > 0)
      std::memcpy(larger.data(), values_.data(), values_.size() * sizeof(float));
    values_ = std::move(larger);
  }
  std::size_t slot_of(int number) const {
    // Fibonacci hashing spreads consecutive numbers.
    const std::uint64_t mixed = static_cast<std::uint64_t>(number) * 0x9e3779b97f4a7c15u;
    return static_cast<std::size_t>(mixed >> 32) & (position_.size() - 1);
  }
  void rehash() {
    position_.assign(std::max<std::size_t>(64, 2 * position_.size()), 0);
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      std::size_t at = slot_of(numbers_[i]);
      while (position_[at] != 0) at = (at + 1) & (position_.size() - 1);
      position_[at] = static_cast<int>(i) + 1;
    }
  }

  int columns_ = 0;
  std::vector<int> numbers_, position_, order_;
  aligned_buffer values_;
};
using selected_rows = basic_selected_rows<float>;

/// The sum of the squares of all elements.
template <class Real>
LAMINA_COLD inline double squares_of(const basic_selected_rows<Real>& g) {
  double squares = 0;
  for (int i = 0; i < g.size(); ++i)
    for (int j = 0; j < g.columns(); ++j) squares += static_cast<double>(g.row(i)[j]) * g.row(i)[j];
  return squares;
}

/// The sparse gradient whose address an operand holds.
template <class Real>
basic_selected_rows<Real>& rows_of(const operand& o) {
  return *static_cast<basic_selected_rows<Real>*>(o.data);
}
/// Whether an operand's address is that of a sparse gradient and not of a dense array.
inline bool has_selected_rows(const operand& o) { return o.stride == 0; }

}}}  // namespace lamina::engine::cpu
