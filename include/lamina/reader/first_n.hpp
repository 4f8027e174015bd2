// SPDX-License-Identifier: Apache-2.0
// lamina/reader/first_n.hpp - limits the number of elements per pass.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <memory>
#include <utility>

#include <lamina/reader/adaptor.hpp>
#include <lamina/reader/cursor.hpp>
#include <lamina/reader/element_count.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace reader {

/// The type of reader that first_n() makes.
template <class R>
class first_n_reader {
 public:
  using value_type = reader_element_t<R>;

  first_n_reader(std::shared_ptr<R> reader, std::uint64_t count)
      : reader_(std::move(reader)), count_(count) {}

  generator<value_type> operator()(std::uint64_t pass = 0) const {
    return run(reader_, count_, pass);
  }

 private:
  static generator<value_type> run(std::shared_ptr<R> reader, std::uint64_t count,
                                   std::uint64_t pass) {
    if (count == 0) co_return;
    cursor<R> elements(reader, pass);
    for (std::uint64_t taken = 0; taken < count && elements.next(); ++taken)
      co_yield hand_over(elements.take());
  }

  std::shared_ptr<R> reader_;
  std::uint64_t count_;
};

/// Yields the first `elements` elements of each pass, or all if the pass is shorter. No further
/// element of the source is read. With first_n, an endless reader has passes that end. Throws
/// lamina::error for a negative number. Fluid: firstn.
inline auto first_n(element_count elements) {
  const std::uint64_t count = elements.at_least(0, "first_n");
  auto make = [count]<class R>(std::shared_ptr<R> reader) {
    return first_n_reader<R>(std::move(reader), count);
  };
  return adaptor<decltype(make)>(std::move(make));
}

}}}  // namespace lamina::reader
