// SPDX-License-Identifier: Apache-2.0
// lamina/reader/begin_pass.hpp - the definition of a reader, and the function that starts a pass
// over it.
#pragma once

#include <lamina/core/config.hpp>

#include <concepts>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>  // for the range concepts; <ranges> would add all views, a tenth of a second
#include <type_traits>
#include <utility>

#include <lamina/reader/generator.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace reader {

// A reader is anything that can be read again from its beginning:
//   - a callable without arguments that returns a range, such as a coroutine function or a lambda;
//   - a callable that takes the number of the pass, as a std::uint64_t, and returns a range;
//   - a copyable range, such as a std::vector<T> or a table of lamina::dataset.
// Readers have no base class. The end of a range is the end of the pass.
//
// Resuming. The elements of a pass depend only on the reader and the number of the pass. begin_pass
// gives the number to the reader, and every decorator gives it to the reader that it decorates
// (shuffle mixes it into its seed). So two integers in a checkpoint are a complete position: the
// number p of the pass and the number b of mini-batches that were taken. To resume, start pass p
// and skip b mini-batches. The following elements then equal the elements of an uninterrupted run,
// bit for bit, under two conditions. The elements of the user's own reader must depend only on the
// number of the pass, too. No xmap may have ordered = false, because the order then depends on the
// timing of threads.

namespace detail {

template <class R>
concept accepts_pass_number = std::is_invocable_v<R&, std::uint64_t>;
template <class R>
concept accepts_nothing = std::is_invocable_v<R&>;
template <class R>
concept plain_range = std::ranges::input_range<R&> && std::copy_constructible<std::remove_cv_t<R>>;

template <class R>
decltype(auto) start(R& reader, [[maybe_unused]] std::uint64_t number) {
  if constexpr (accepts_pass_number<R>)
    return reader(number);
  else if constexpr (accepts_nothing<R>)
    return reader();
  else
    return static_cast<R&>(reader);
}

template <class R>
concept startable = accepts_pass_number<R> || accepts_nothing<R> || plain_range<R>;

// The type in which a reader is stored: for a function a pointer to it, otherwise the reader's own
// type.
template <class R>
using kept = std::conditional_t<std::is_function_v<std::remove_reference_t<R>>, std::decay_t<R>,
                                std::remove_reference_t<R>>;

template <class R>
using range_of = decltype(detail::start(std::declval<R&>(), std::uint64_t{}));

}  // namespace detail

/// Whether R is a reader; the comment above lists the three forms.
template <class R>
concept readable = detail::startable<detail::kept<R>> &&
    std::ranges::input_range<detail::range_of<detail::kept<R>>>;

/// The type of a reader's elements.
template <readable R>
using reader_element_t = std::ranges::range_value_t<detail::range_of<detail::kept<R>>>;

/// Whether a reader yields mini-batches, which are ranges of samples. It is also true for a type
/// that is not a reader, because another check reports that mistake.
template <class R>
inline constexpr bool yields_batches = true;
template <readable R>
inline constexpr bool yields_batches<R> = std::ranges::range<reader_element_t<R>&>;

namespace detail {
template <class R>
struct yields {
  using type = void;
};
template <readable R>
struct yields<R> {
  using type = reader_element_t<R>;
};
}  // namespace detail
/// The type of R's elements; void if R is not a reader.
template <class R>
using yield_of = typename detail::yields<R>::type;

/// One pass over a reader of type R: a move-only input range. A pass keeps the objects from which
/// it reads alive. The exception is a reader that was passed to begin_pass as an lvalue: it must
/// outlive the pass.
template <class R>
class pass {
  using range = detail::range_of<R>;
  static constexpr bool refers = std::is_lvalue_reference_v<range>;
  using stored = std::conditional_t<refers, std::remove_reference_t<range>*,
                                    std::remove_cv_t<std::remove_reference_t<range>>>;

 public:
  pass(R& reader, std::uint64_t number) : stored_(store(reader, number)) {}
  pass(std::shared_ptr<R> reader, std::uint64_t number)
      : owner_(std::move(reader)), stored_(store(*owner_, number)) {}
  pass(pass&&) = default;
  pass& operator=(pass&&) = delete;

  auto begin() { return std::ranges::begin(elements()); }
  auto end() { return std::ranges::end(elements()); }

 private:
  static stored store(R& reader, std::uint64_t number) {
    if constexpr (refers)
      return std::addressof(detail::start(reader, number));
    else
      return detail::start(reader, number);
  }
  auto& elements() {
    if constexpr (refers)
      return *stored_;
    else
      return stored_;
  }

  std::shared_ptr<R> owner_;  // the first member, so that it is destroyed last: a coroutine in
                              // stored_ may refer to its lambda
  stored stored_;
};

/// Moves a reader into a std::shared_ptr, as decorators store it, because passes share the reader
/// and may outlive the decorators.
template <readable R>
auto share(R&& reader) {
  // std::make_shared would instantiate another control block, which doubles the compile time of
  // this line for every type of reader.
  using shared = std::remove_const_t<detail::kept<R>>;
  return std::shared_ptr<shared>(new shared(std::forward<R>(reader)));
}

/// Starts pass `number` of a reader; a training run counts its passes from 0:
///   for (auto&& batch : reader::begin_pass(r, pass)) ...
template <readable R>
auto begin_pass(R&& reader, std::uint64_t number = 0) {
  if constexpr (std::is_lvalue_reference_v<R> && !std::is_function_v<std::remove_reference_t<R>>)
    return pass<std::remove_reference_t<R>>(reader, number);
  else
    return pass<std::remove_const_t<detail::kept<R>>>(share(std::forward<R>(reader)), number);
}

}}}  // namespace lamina::reader
