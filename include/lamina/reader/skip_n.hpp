// SPDX-License-Identifier: Apache-2.0
// lamina/reader/skip_n.hpp - omits the first elements of each pass, to resume a pass from a saved
// position.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <memory>
#include <utility>

#include <lamina/reader/adaptor.hpp>
#include <lamina/reader/cursor.hpp>
#include <lamina/reader/element_count.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace reader {

/// The type of reader that skip_n() makes.
template <class R>
class skip_n_reader {
 public:
  using value_type = reader_element_t<R>;

  skip_n_reader(std::shared_ptr<R> reader, std::uint64_t count)
      : reader_(std::move(reader)), count_(count) {}

  generator<value_type> operator()(std::uint64_t pass = 0) const {
    return run(reader_, count_, pass);
  }

 private:
  static generator<value_type> run(std::shared_ptr<R> reader, std::uint64_t count,
                                   std::uint64_t pass) {
    cursor<R> elements(reader, pass);
    for (std::uint64_t skipped = 0; skipped < count; ++skipped)
      if (!elements.next()) co_return;
    while (elements.next()) co_yield hand_over(elements.take());
  }

  std::shared_ptr<R> reader_;
  std::uint64_t count_;
};

/// Yields the elements after the first `elements` elements of each pass: begin_pass(r | skip_n(b),
/// p) resumes pass p after b elements. The skipped elements are read too, because the elements
/// after them may depend on them. Throws lamina::error for a negative number.
inline auto skip_n(element_count elements) {
  const std::uint64_t count = elements.at_least(0, "skip_n");
  auto make = [count]<class R>(std::shared_ptr<R> reader) {
    return skip_n_reader<R>(std::move(reader), count);
  };
  return adaptor<decltype(make)>(std::move(make));
}

}}}  // namespace lamina::reader
