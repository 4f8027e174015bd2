// SPDX-License-Identifier: Apache-2.0
// lamina/reader/pulled_range.hpp - makes a range from an object that computes elements one by one.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <iterator>
#include <utility>

namespace lamina { inline namespace LAMINA_ABI { namespace reader {

/// A pass of a decorator that is not written as a coroutine. `Source` has `value_type`, `bool
/// next()`, which moves to the next element, and `value_type& current()`. A pulled_range is an
/// input range, like a generator, and may be moved only before begin(). Frequently used decorators
/// use it, because a coroutine takes several times as long to compile.
template <class Source>
class pulled_range {
 public:
  using value_type = typename Source::value_type;

  explicit pulled_range(Source source) : source_(std::move(source)) {}

  class iterator {
   public:
    using value_type = typename Source::value_type;
    using difference_type = std::ptrdiff_t;
    iterator() = default;
    explicit iterator(Source* source) : source_(source) { ++*this; }
    value_type&& operator*() const { return std::move(source_->current()); }
    iterator& operator++() {
      if (!source_->next()) source_ = nullptr;
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const iterator& i, std::default_sentinel_t) {
      return i.source_ == nullptr;
    }

   private:
    Source* source_ = nullptr;
  };
  iterator begin() { return iterator(&source_); }
  std::default_sentinel_t end() const { return {}; }

 private:
  Source source_;
};

}}}  // namespace lamina::reader
