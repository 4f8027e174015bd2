// SPDX-License-Identifier: Apache-2.0
// lamina/reader/map.hpp - a function of the elements of one or several readers.
#pragma once

#include <cstdint>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include <lamina/core/check.hpp>
#include <lamina/core/invoke.hpp>
#include <lamina/reader/adaptor.hpp>
#include <lamina/reader/cursor.hpp>

namespace lamina::reader {

/// The reader that map() makes. F is shared by all passes.
template <class F, class... R>
class mapped_reader {
 public:
  using value_type =
      std::decay_t<std::invoke_result_t<F&, decltype(std::declval<cursor<R>&>().take())...>>;

  mapped_reader(F f, std::shared_ptr<R>... readers)
      : f_(std::make_shared<F>(std::move(f))), readers_(std::move(readers)...) {}

  generator<value_type> operator()(std::uint64_t pass = 0) const { return run(f_, readers_, pass); }

 private:
  static generator<value_type> run(std::shared_ptr<F> f, std::tuple<std::shared_ptr<R>...> readers,
                                   std::uint64_t pass) {
    auto cursors = std::apply(
        [pass](auto&... reader) { return std::tuple<cursor<R>...>(cursor<R>(reader, pass)...); },
        readers);
    const auto next = [](auto&... c) { return (c.next() && ...); };
    const auto call = [&f](auto&... c) -> value_type { return lamina::invoke(*f, c.take()...); };
    while (std::apply(next, cursors)) {
      value_type value = std::apply(call, cursors);
      co_yield hand_over(std::move(value));
    }
  }

  std::shared_ptr<F> f_;
  std::tuple<std::shared_ptr<R>...> readers_;
};

/// Yields f(a, b, ...) for the elements a, b, ... of the readers side by side, and stops with the
/// shortest. Fluid: map_readers.
template <class F, readable... R>
requires(sizeof...(R) > 0) auto map(F f, R&&... readers) {
  return mapped_reader<F, typename decltype(share(std::forward<R>(readers)))::element_type...>(
      std::move(f), share(std::forward<R>(readers))...);
}

/// `reader | map(f)`: f of each element.
template <class F>
auto map(F f) {
  auto make = [f = std::move(f)]<class R>(std::shared_ptr<R> reader) {
    constexpr bool takes = std::is_invocable_v<F&, decltype(std::declval<cursor<R>&>().take())>;
    static_assert(check<takes, gets_type<reader_element_t<R>>>,
                  "lamina: reader: map: the function takes an element of the reader");
    if constexpr (takes)
      return mapped_reader<F, R>(f, std::move(reader));
    else
      return detail::no_elements;
  };
  return adaptor<decltype(make)>(std::move(make));
}

}  // namespace lamina::reader
