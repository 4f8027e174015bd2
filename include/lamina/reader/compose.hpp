// SPDX-License-Identifier: Apache-2.0
// lamina/reader/compose.hpp - combines the elements of several readers in tuples.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <lamina/core/messages/check.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/reader/adaptor.hpp>
#include <lamina/reader/begin_pass.hpp>
#include <lamina/reader/cursor.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace reader {

/// The error that a composed reader throws if its readers have different numbers of elements.
/// Fluid: ComposeNotAligned.
class compose_not_aligned : public error {
 public:
  using error::error;
};

/// Options of compose.
struct compose_options {
  bool check_alignment = true;  ///< false: end with the shortest reader, without an error
};

namespace detail {

template <class T>
struct is_tuple : std::false_type {};
template <class... T>
struct is_tuple<std::tuple<T...>> : std::true_type {};
template <class A, class B>
struct is_tuple<std::pair<A, B>> : std::true_type {};

template <class T>
auto as_tuple(T&& element) {
  if constexpr (is_tuple<std::remove_cvref_t<T>>::value)
    return std::apply(
        [](auto&&... field) {
          return std::tuple<std::decay_t<decltype(field)>...>(
              std::forward<decltype(field)>(field)...);
        },
        std::forward<T>(element));
  else
    return std::tuple<std::remove_cvref_t<T>>(std::forward<T>(element));
}

}  // namespace detail

/// The type of reader that compose() makes.
template <class... R>
class composed_reader {
 public:
  using value_type =
      decltype(std::tuple_cat(detail::as_tuple(std::declval<reader_element_t<R>>())...));

  composed_reader(compose_options options, std::shared_ptr<R>... readers)
      : options_(options), readers_(std::move(readers)...) {}

  generator<value_type> operator()(std::uint64_t pass = 0) const {
    return run(options_, readers_, pass);
  }

 private:
  static generator<value_type> run(compose_options options,
                                   std::tuple<std::shared_ptr<R>...> readers, std::uint64_t pass) {
    auto cursors = std::apply(
        [pass](auto&... reader) { return std::tuple<cursor<R>...>(cursor<R>(reader, pass)...); },
        readers);
    const auto short_circuit = [](auto&... c) { return (c.next() && ...); };
    const auto each = [](auto&... c) { return std::array<bool, sizeof...(R)>{c.next()...}; };
    const auto concat = [](auto&... c) { return std::tuple_cat(detail::as_tuple(c.take())...); };
    for (std::uint64_t position = 0;; ++position) {
      if (options.check_alignment ? !aligned(std::apply(each, cursors), position)
                                  : !std::apply(short_circuit, cursors))
        co_return;
      co_yield std::apply(concat, cursors);
    }
  }

  // Returns true if all readers have a next element, false if none has. Otherwise throws
  // compose_not_aligned.
  static bool aligned(const std::array<bool, sizeof...(R)>& more, std::uint64_t position) {
    for (std::size_t i = 1; i < more.size(); ++i) {
      if (more[i] == more[0]) continue;
      const std::size_t ended = more[i] ? 0 : i, going = more[i] ? i : 0;
      LAMINA_THROW compose_not_aligned(
          "lamina: reader::compose: expected readers of equal length, found that reader " +
          std::to_string(ended + 1) + " of " + std::to_string(more.size()) + " ends after " +
          std::to_string(position) + " elements while reader " + std::to_string(going + 1) +
          " goes on");
    }
    return more[0];
  }

  compose_options options_;
  std::tuple<std::shared_ptr<R>...> readers_;
};

/// Yields a std::tuple of the elements of all readers at each position. Elements that are tuples or
/// pairs are flattened: 1 and (2, 3) give (1, 2, 3). Throws compose_not_aligned if one reader ends
/// before another, unless check_alignment is false. Fluid: compose.
template <readable... R>
requires(sizeof...(R) > 0) auto compose(compose_options options, R&&... readers) {
  return composed_reader<typename decltype(share(std::forward<R>(readers)))::element_type...>(
      options, share(std::forward<R>(readers))...);
}

template <readable... R>
requires(sizeof...(R) > 0) auto compose(R&&... readers) {
  return compose(compose_options{}, std::forward<R>(readers)...);
}

/// Reports arguments that are not readers.
template <class... R>
requires(detail::are_no_readers<compose_options, R...>) auto compose(const R&...) {
  static_assert(check<never<R...>, gets_type<std::remove_cvref_t<R>...>>,
                "lamina: reader: map, compose and chain: expected readers, copyable ranges or "
                "callables that return one");
  return &detail::no_elements<int>;
}

}}}  // namespace lamina::reader
