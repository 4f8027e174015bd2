// SPDX-License-Identifier: Apache-2.0
// lamina/reader/map.hpp - applies a function to the elements of one or several readers.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include <lamina/core/messages/check.hpp>
#include <lamina/reader/adaptor.hpp>
#include <lamina/reader/cursor.hpp>
#include <lamina/reader/random.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace reader {

/// Options of map.
struct map_options {
  std::uint64_t seed = 0;  ///< seed of the random numbers that the function gets
};

/// The type of reader that map() makes. All passes call the same function object.
template <class F, class... R>
class mapped_reader {
 public:
  using value_type =
      std::decay_t<detail::result_at<F, decltype(std::declval<cursor<R>&>().take())...>>;

  mapped_reader(F f, map_options options, std::shared_ptr<R>... readers)
      : f_(std::make_shared<F>(std::move(f))), options_(options), readers_(std::move(readers)...) {}

  generator<value_type> operator()(std::uint64_t pass = 0) const {
    return run(f_, readers_, pass, options_.seed);
  }

 private:
  static generator<value_type> run(std::shared_ptr<F> f, std::tuple<std::shared_ptr<R>...> readers,
                                   std::uint64_t pass, std::uint64_t seed) {
    auto cursors = std::apply(
        [pass](auto&... reader) { return std::tuple<cursor<R>...>(cursor<R>(reader, pass)...); },
        readers);
    const auto next = [](auto&... c) { return (c.next() && ...); };
    std::uint64_t position = 0;
    const auto call = [&](auto&... c) -> value_type {
      return detail::call_at(seed, pass, position++, *f, c.take()...);
    };
    while (std::apply(next, cursors)) {
      value_type value = std::apply(call, cursors);
      co_yield hand_over(std::move(value));
    }
  }

  std::shared_ptr<F> f_;
  map_options options_;
  std::tuple<std::shared_ptr<R>...> readers_;
};

/// Yields f(a, b, ...) for the elements a, b, ... at the same position of the readers, and stops
/// with the shortest reader. A function may have three further parameters, f(a, b, ..., position,
/// pass, random): the position of the elements and the number of the pass, both std::uint64_t, and
/// an object of type reader::random&. Random numbers from this object depend only on the seed, the
/// pass and the position, so they are the same after a resume. Numbers from a generator inside the
/// function would depend on the elements read before. Fluid: map_readers.
template <class F, readable... R>
requires(sizeof...(R) > 0) auto map(F f, R&&... readers) {
  constexpr bool accepts = detail::accepts_elements<F&, reader_element_t<R>...> ||
                           detail::accepts_positions<F&, reader_element_t<R>...>;
  static_assert(check<accepts, gets_type<reader_element_t<R>...>>,
                "lamina: reader: map: the function takes an element of each reader");
  if constexpr (accepts)
    return mapped_reader<F, typename decltype(share(std::forward<R>(readers)))::element_type...>(
        std::move(f), map_options{}, share(std::forward<R>(readers))...);
  else
    return &detail::no_elements<detail::returned_by<F>>;
}

/// Reports arguments that are not readers.
template <class F, class... R>
requires(detail::are_no_readers<map_options, R...>) auto map(F, const R&...) {
  static_assert(check<never<R...>, gets_type<std::remove_cvref_t<R>...>>,
                "lamina: reader: map, compose and chain: expected readers, copyable ranges or "
                "callables that return one");
  if constexpr (sizeof...(R) == 1) {  // used after a pipe
    auto make = []<class Source>(std::shared_ptr<Source>) { return &detail::no_elements<int>; };
    return adaptor<decltype(make)>(std::move(make));
  } else {
    return &detail::no_elements<int>;
  }
}

/// `reader | map(f)` yields f(element) for each element; `map(f, {.seed = 7})` sets the seed of the
/// random numbers that f gets.
template <class F>
auto map(F f, map_options options = {}) {
  auto make = [f = std::move(f), options]<class R>(std::shared_ptr<R> reader) {
    using element = decltype(std::declval<cursor<R>&>().take());
    constexpr bool accepts =
        detail::accepts_elements<F&, element> || detail::accepts_positions<F&, element>;
    static_assert(check<accepts, gets_type<reader_element_t<R>>>,
                  "lamina: reader: map: the function takes an element of the reader");
    if constexpr (accepts)
      return mapped_reader<F, R>(f, options, std::move(reader));
    else
      return &detail::no_elements<detail::returned_by<F>>;
  };
  return adaptor<decltype(make)>(std::move(make));
}

}}}  // namespace lamina::reader
