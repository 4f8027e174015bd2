// SPDX-License-Identifier: Apache-2.0
// lamina/reader/cursor.hpp - reads a pass element by element, for callers that read several passes
// at once.
#pragma once

#include <lamina/core/config.hpp>

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <lamina/reader/begin_pass.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace reader {

/// One pass over a reader, element by element: `while (c.next()) use(c.take());`. The cursor does
/// not read ahead: only next() computes an element, so a caller that stops after n elements does
/// not wait for element n + 1. A cursor may be moved only before the first next(). R is the stored
/// type of a reader, see share().
template <class R>
class cursor {
 public:
  cursor(std::shared_ptr<R> reader, std::uint64_t number) : pass_(std::move(reader), number) {}

  /// Moves to the next element. Returns false if there is none.
  bool next() {
    if (ended_) return false;
    if (std::exchange(begun_, true))
      ++at();
    else
      at_ = pass_.begin();
    ended_ = at() == pass_.end();
    return !ended_;
  }

  /// Returns the current element: an rvalue if the pass computes its elements, an lvalue if they
  /// are in a container.
  decltype(auto) take() { return *at(); }

 private:
  // The iterator is in a std::optional only if it has no default constructor, because g++ warns
  // about the uninitialised storage of an optional.
  using iterator = decltype(std::declval<pass<R>&>().begin());
  static constexpr bool plain = std::default_initializable<iterator>;

  iterator& at() {
    if constexpr (plain)
      return at_;
    else
      return *at_;
  }

  pass<R> pass_;
  std::conditional_t<plain, iterator, std::optional<iterator>> at_{};
  bool begun_ = false, ended_ = false;
};

}}}  // namespace lamina::reader
