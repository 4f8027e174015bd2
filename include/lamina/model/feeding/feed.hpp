// SPDX-License-Identifier: Apache-2.0
// lamina/model/feeding/feed.hpp - passes values to a data layer.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <span>  // for the range concepts; <ranges> would add all views
#include <type_traits>

#include <lamina/core/compile_time/fixed_string.hpp>
#include <lamina/core/dtype.hpp>
#include <lamina/core/messages/check.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Values for the data layer with this name. It refers to the user's memory.
template <fixed_string Name, element T>
struct feed_value {
  static constexpr auto name = Name;
  using value_type = T;
  const T* values;
  std::size_t count;
};

/// Sequences for the data layer with this name, one per sample. It refers to the user's memory.
template <fixed_string Name, class Sequences>
struct feed_sequences {
  static constexpr auto name = Name;
  const Sequences& values;
};

/// The result of an invalid feed, whose error has been reported; it causes no second error.
struct feed_nothing {};

namespace detail {
template <class T>
inline constexpr std::size_t array_size = 0;
template <class T, std::size_t N>
inline constexpr std::size_t array_size<std::array<T, N>> = N;

/// A contiguous container of numbers, or of std::arrays of numbers.
template <class R>
concept flat_numbers = std::ranges::contiguous_range<R> &&
    (std::is_arithmetic_v<std::ranges::range_value_t<R>> ||
     array_size<std::ranges::range_value_t<R>> > 0);
/// A range that holds one container per sequence.
template <class R>
concept ragged_numbers = std::ranges::forward_range<R> &&
    std::ranges::forward_range<std::ranges::range_value_t<R>> &&
    (array_size<std::ranges::range_value_t<R>> == 0);

/// Whether a type is a result of feed(); below, whether it has sequences. The types are recognised
/// by their members, because nvcc cannot deduce the template argument Name.
template <class F>
inline constexpr bool is_feed = __is_same(F, feed_nothing) || requires {
  F::name.view();
};
/// Whether a mistake in a feed has been reported.
template <class F>
inline constexpr bool feeds_nothing = __is_same(F, feed_nothing);
template <class F>
requires(F::name.is_refused()) inline constexpr bool feeds_nothing<F> = true;
template <class F>
inline constexpr bool is_feed_of_sequences = !requires(F f) {
  f.count;
};
}  // namespace detail

/// Feeds a contiguous container of numbers, or of std::array of numbers, row by row:
/// `e.forward(feed<"image">(pixels))`. The container is read in place, so it must exist until
/// forward() returns.
template <fixed_string Name, detail::flat_numbers R>
auto feed(const R& values) {
  using item = std::remove_cv_t<std::ranges::range_value_t<R>>;
  if constexpr ((detail::array_size<item>) > 0) {
    using number = typename item::value_type;
    return feed_value<Name, number>{
        std::ranges::size(values) == 0 ? nullptr : std::ranges::data(values)->data(),
        std::ranges::size(values) * detail::array_size<item>};
  } else {
    return feed_value<Name, item>{std::ranges::data(values), std::ranges::size(values)};
  }
}
/// Feeds sequences of different lengths, one container per sequence:
/// `e.forward(feed<"words">(sentences))`. An element is a number or a container of numbers; for
/// nested sequences, an element is a sequence.
template <fixed_string Name, detail::ragged_numbers R>
feed_sequences<Name, R> feed(const R& sequences) {
  return {sequences};
}
/// Feeds numbers in braces, and sequences in braces: `e.forward(feed<"image">({0.5f, 1.f}))`,
/// `e.forward(feed<"words">({{3, 1}, {4, 1, 5}}))`. The numbers exist only until the end of the
/// statement, so the result must not be stored in a variable.
template <fixed_string Name, element T, std::size_t N>
feed_value<Name, T> feed(const T (&values)[N]) {
  return {values, N};
}
template <fixed_string Name, element T>
auto feed(const std::initializer_list<std::initializer_list<T>>& sequences) {
  return feed_sequences<Name, std::initializer_list<std::initializer_list<T>>>{sequences};
}
/// Feeds one number: `e.forward(feed<"price">(3.f))`.
template <fixed_string Name, element T>
feed_value<Name, T> feed(const T& number) {
  return {&number, 1};
}
/// Feeds `count` numbers at an address.
template <fixed_string Name, element T>
feed_value<Name, T> feed(const T* values, std::size_t count) {
  return {values, count};
}

/// Reports a type that cannot be fed with a one-line error.
template <fixed_string Name, class X>
requires(!element<X> && !detail::flat_numbers<X> && !detail::ragged_numbers<X>) feed_nothing
    feed(const X&) {
  static_assert(check<never<X>, gets_type<X>>,
                "lamina: feed: expected contiguous numbers, or a container for each "
                "sequence");
  return {};
}
/// Reports a name among the function arguments, `feed("x", values)`, with a one-line error.
template <class X>
feed_nothing feed(const char*, const X&) {
  static_assert(never<X>,
                "lamina: feed: expected the name as a template argument, feed<\"x\">(values)");
  return {};
}

}}  // namespace lamina
