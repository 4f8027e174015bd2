// SPDX-License-Identifier: Apache-2.0
// lamina/reader/batch.hpp - mini-batches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <lamina/core/error.hpp>
#include <lamina/reader/adaptor.hpp>
#include <lamina/reader/cursor.hpp>

namespace lamina::reader {

/// The reader that batch() makes.
template <class R>
class batched_reader {
 public:
  using value_type = std::vector<reader_element_t<R>>;

  batched_reader(std::shared_ptr<R> reader, std::size_t size, bool drop_last)
      : reader_(std::move(reader)), size_(size), drop_last_(drop_last) {}

  generator<value_type> operator()(std::uint64_t pass = 0) const {
    return run(reader_, size_, drop_last_, pass);
  }

 private:
  static generator<value_type> run(std::shared_ptr<R> reader, std::size_t size, bool drop_last,
                                   std::uint64_t pass) {
    cursor<R> elements(reader, pass);
    for (bool more = true; more;) {
      value_type minibatch;
      while (minibatch.size() < size && (more = elements.next()))
        minibatch.push_back(elements.take());
      if (minibatch.size() == size || (!minibatch.empty() && !drop_last))
        co_yield std::move(minibatch);
    }
  }

  std::shared_ptr<R> reader_;
  std::size_t size_;
  bool drop_last_;
};

/// Mini-batches: std::vector of `size` elements. The last one of a pass may be shorter; drop_last
/// drops it then. Error: size of 0. Fluid: batch (with drop_last = False).
inline auto batch(std::size_t size, bool drop_last = false) {
  if (size == 0)
    throw error("lamina: reader::batch: expected a batch of at least 1 element, found 0");
  auto make = [size, drop_last]<class R>(std::shared_ptr<R> reader) {
    return batched_reader<R>(std::move(reader), size, drop_last);
  };
  return adaptor<decltype(make)>(std::move(make));
}

}  // namespace lamina::reader
