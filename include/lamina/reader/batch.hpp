// SPDX-License-Identifier: Apache-2.0
// lamina/reader/batch.hpp - groups the elements of a reader into mini-batches.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <lamina/reader/adaptor.hpp>
#include <lamina/reader/cursor.hpp>
#include <lamina/reader/element_count.hpp>
#include <lamina/reader/pulled_range.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace reader {

/// The type of reader that batch() makes.
template <class R>
class batched_reader {
 public:
  using value_type = std::vector<reader_element_t<R>>;

  batched_reader(std::shared_ptr<R> reader, std::size_t size, bool drop_last)
      : reader_(std::move(reader)), size_(size), drop_last_(drop_last) {}

  auto operator()(std::uint64_t pass = 0) const {
    return pulled_range(source(cursor<R>(reader_, pass), size_, drop_last_));
  }

 private:
  class source {
   public:
    using value_type = batched_reader::value_type;

    source(cursor<R> elements, std::size_t size, bool drop_last)
        : elements_(std::move(elements)), size_(size), drop_last_(drop_last) {}

    bool next() {
      minibatch_.clear();
      while (minibatch_.size() < size_ && elements_.next()) minibatch_.push_back(elements_.take());
      return minibatch_.size() == size_ || (!minibatch_.empty() && !drop_last_);
    }
    value_type& current() { return minibatch_; }

   private:
    cursor<R> elements_;
    std::size_t size_;
    bool drop_last_;
    value_type minibatch_;
  };

  std::shared_ptr<R> reader_;
  std::size_t size_;
  bool drop_last_;
};

/// Groups elements into mini-batches, each a std::vector of `elements` elements. The last
/// mini-batch of a pass may be shorter; with drop_last, a shorter one is omitted. Throws
/// lamina::error for a size below 1. Fluid: batch (with drop_last = False).
inline auto batch(element_count elements, bool drop_last = false) {
  const std::size_t size = elements.at_least(1, "batch");
  auto make = [size, drop_last]<class R>(std::shared_ptr<R> reader) {
    return batched_reader<R>(std::move(reader), size, drop_last);
  };
  return adaptor<decltype(make)>(std::move(make));
}

}}}  // namespace lamina::reader
