// SPDX-License-Identifier: Apache-2.0
// lamina/reader/adaptor.hpp - the pipe operator: `reader | decorator`.
#pragma once

#include <lamina/core/config.hpp>

#include <memory>
#include <type_traits>
#include <utility>

#include <lamina/reader/begin_pass.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace reader {

/// A decorator before it is applied to a reader, such as shuffle(1000) or batch(32). `reader |
/// adaptor` and `adaptor(reader)` make the decorated reader. `adaptor | adaptor` is an adaptor too,
/// so that a user can name a chain of decorators. `Make` is the type of the function that makes the
/// decorated reader from a std::shared_ptr to a reader.
template <class Make>
class adaptor {
 public:
  explicit adaptor(Make make) : make_(std::move(make)) {}

  template <readable R>
  auto operator()(R&& reader) const {
    return make_(share(std::forward<R>(reader)));
  }

  /// Decorates a reader that is already in a std::shared_ptr.
  template <class R>
  auto apply(std::shared_ptr<R> reader) const {
    return make_(std::move(reader));
  }

  /// Returns the function that makes the decorated reader. Operators call it directly instead of
  /// apply(), so that a compiler's error lists fewer calls between the user's line and the mistake.
  const Make& make() const { return make_; }

 private:
  Make make_;
};

template <readable R, class Make>
auto operator|(R&& reader, const adaptor<Make>& decorator) {
  return decorator.make()(share(std::forward<R>(reader)));
}

namespace detail {
template <class T>
constexpr bool is_adaptor = false;
template <class Make>
constexpr bool is_adaptor<adaptor<Make>> = true;
template <class T>
constexpr bool is_generator = false;
template <class T>
constexpr bool is_generator<generator<T>> = true;
/// Returns an empty pass. A reader of such passes replaces a wrong argument.
template <class T = int>
inline generator<T> no_elements() {
  co_return;
}
/// Whether an argument of map, compose or chain is neither a reader nor the options.
template <class Options, class... R>
inline constexpr bool are_no_readers = sizeof...(R) > 0 && !(readable<R> && ...) &&
                                       !(__is_same(std::remove_cvref_t<R>, Options) || ...);
/// The return type of a function; int if the function is a template, whose return type depends on
/// the arguments. If a function does not accept the elements of its reader, an empty reader of this
/// type replaces the result, so that decorators after it cause no further errors.
template <class F>
struct returned {
  using type = int;
};
template <class F>
requires requires { &F::operator(); }
struct returned<F> : returned<decltype(&F::operator())> {};
template <class T, class... A>
struct returned<T (*)(A...)> {
  using type = T;
};
template <class T, class F, class... A>
struct returned<T (F::*)(A...)> {
  using type = T;
};
template <class T, class F, class... A>
struct returned<T (F::*)(A...) const> {
  using type = T;
};
template <class F>
using returned_by = std::decay_t<typename returned<F>::type>;
}  // namespace detail

/// Reports a left operand that is not a reader. Returns an empty reader, so that there is only one
/// error.
template <class R, class Make>
requires(!readable<R> && !detail::is_adaptor<std::remove_cvref_t<R>>) auto operator|(
    R&&, const adaptor<Make>&) {
  constexpr bool generated = detail::is_generator<std::remove_cvref_t<R>>;
  static_assert(
      !generated,
      "lamina::reader: a generator is one pass and cannot be read again: pipe the function "
      "that makes it, `read | batch(32)`, not `read() | batch(32)`");
  static_assert(
      generated || readable<R>,
      "lamina::reader: the left side of | is not a reader: expected a copyable range, or a "
      "callable without arguments (or of the pass number) that returns a range");
  return &detail::no_elements<>;
}

/// Reports a decorator function that was not called, as in `reader | shuffle`. The return type is
/// the type of the decorated reader, so that there is only one error.
template <readable R, class Make, class... Option>
auto operator|(R&& reader, adaptor<Make> (&)(Option...))
    -> decltype(std::declval<const Make&>()(share(std::forward<R>(reader)))) {
  static_assert(!readable<R>,
                "lamina: reader: a decorator is called before it takes a reader: | batch(32), not "
                "| batch");
  __builtin_unreachable();
}

template <class First, class Second>
auto operator|(adaptor<First> first, adaptor<Second> second) {
  auto both = [first = std::move(first), second = std::move(second)](auto reader) {
    return second(first.apply(std::move(reader)));
  };
  return adaptor<decltype(both)>(std::move(both));
}

}}}  // namespace lamina::reader
