// SPDX-License-Identifier: Apache-2.0
// lamina/dataset/table.hpp - a data set that makes each sample when it is read.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>

#include <lamina/core/messages/error.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace dataset {

/// The rows [first, last) of a data set. A table is a copyable range, and therefore a reader.
/// `Source` must have a function `at(std::size_t) const`, which makes the sample of a row from
/// compactly stored data. It should be empty or a shared pointer, because each copy of a table
/// copies it.
template <class Source>
class table {
 public:
  using value_type = std::decay_t<decltype(std::declval<const Source&>().at(std::size_t{}))>;

  class iterator {
   public:
    using iterator_concept = std::input_iterator_tag;
    using iterator_category = std::input_iterator_tag;
    using value_type = typename table::value_type;
    using difference_type = std::ptrdiff_t;
    using reference = value_type;
    using pointer = void;

    iterator() = default;
    value_type operator*() const { return source_->at(row_); }
    iterator& operator++() {
      ++row_;
      return *this;
    }
    iterator operator++(int) {
      iterator before = *this;
      ++row_;
      return before;
    }
    bool operator==(const iterator& other) const { return row_ == other.row_; }

   private:
    friend class table;
    iterator(const Source* source, std::size_t row) : source_(source), row_(row) {}
    const Source* source_ = nullptr;
    std::size_t row_ = 0;
  };

  table(Source source, std::size_t first, std::size_t last)
      : source_(std::move(source)), first_(first), last_(last) {}

  /// Iterators point to this table and are valid as long as it is. The passes of lamina::reader
  /// keep a copy of the table.
  iterator begin() const { return {&source_, first_}; }
  iterator end() const { return {&source_, last_}; }
  std::size_t size() const { return last_ - first_; }
  bool empty() const { return first_ == last_; }

  /// Returns the sample of a row. Throws lamina::error for a row outside of the table.
  value_type operator[](std::size_t row) const {
    if (row >= size())
      LAMINA_THROW error("lamina: dataset::table: expected a row below " + std::to_string(size()) +
                         ", found " + std::to_string(row));
    return source_.at(first_ + row);
  }

  /// Returns rows [first, last) of this table, without a copy of the data. Throws lamina::error
  /// unless the slice is within the table.
  table slice(std::size_t first, std::size_t last) const {
    if (first > last || last > size())
      LAMINA_THROW error("lamina: dataset::table: expected a slice within " +
                         std::to_string(size()) + " rows, found " + std::to_string(first) + " to " +
                         std::to_string(last));
    return table(source_, first_ + first, first_ + last);
  }

 private:
  Source source_;
  std::size_t first_, last_;
};

}}}  // namespace lamina::dataset
