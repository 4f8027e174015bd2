// SPDX-License-Identifier: Apache-2.0
// lamina/model/feed.hpp - hands an array to a data layer.
#pragma once

#include <array>
#include <cstddef>
#include <iterator>
#include <span>  // with the concepts of ranges: <ranges> adds all views
#include <type_traits>

#include <lamina/core/dtype.hpp>
#include <lamina/core/fixed_string.hpp>

namespace lamina {

/// Values for the data layer of that name; refers to the user's memory.
template <fixed_string Name, element T>
struct feed_value {
  static constexpr auto name = Name;
  using value_type = T;
  const T* values;
  std::size_t count;
};

/// Sequences for the data layer of that name, one for each sample; refers to the user's memory.
template <fixed_string Name, class Sequences>
struct feed_sequences {
  static constexpr auto name = Name;
  const Sequences& values;
};

namespace detail {
template <class T>
inline constexpr std::size_t array_size = 0;
template <class T, std::size_t N>
inline constexpr std::size_t array_size<std::array<T, N>> = N;
}  // namespace detail

/// Feeds a contiguous container of numbers, or of std::array of numbers, row by row:
/// `e.forward(feed<"image">(pixels))`. It is read in place and must live until the run is over.
template <fixed_string Name, std::ranges::contiguous_range R>
requires std::is_arithmetic_v<std::ranges::range_value_t<R>> ||
    (detail::array_size<std::ranges::range_value_t<R>> > 0) auto feed(const R& values) {
  using item = std::remove_cv_t<std::ranges::range_value_t<R>>;
  if constexpr (detail::array_size < item >> 0) {
    using number = typename item::value_type;
    return feed_value<Name, number>{
        std::ranges::size(values) == 0 ? nullptr : std::ranges::data(values)->data(),
        std::ranges::size(values) * detail::array_size<item>};
  } else {
    return feed_value<Name, item>{std::ranges::data(values), std::ranges::size(values)};
  }
}
/// Feeds sequences of different length, a container each: `e.forward(feed<"words">(sentences))`. An
/// element is a number or a container of numbers; of nested sequences, an element is a sequence.
template <fixed_string Name, std::ranges::forward_range R>
requires std::ranges::forward_range<std::ranges::range_value_t<R>> &&
    (detail::array_size<std::ranges::range_value_t<R>> ==
     0) feed_sequences<Name, R> feed(const R& sequences) {
  return {sequences};
}
/// Feeds `count` numbers at an address.
template <fixed_string Name, element T>
feed_value<Name, T> feed(const T* values, std::size_t count) {
  return {values, count};
}

}  // namespace lamina
