// SPDX-License-Identifier: Apache-2.0
// lamina/reader/generator.hpp - a coroutine type with which users write readers.
#pragma once

#include <lamina/core/config.hpp>

// clang 14 supports C++20 coroutines but does not define the macro that libstdc++ checks.
#if defined(__clang__) && defined(__cpp_coroutines) && !defined(__cpp_impl_coroutine)
#define __cpp_impl_coroutine 201902L
#endif

#include <coroutine>
#include <cstddef>
#include <exception>
#include <iterator>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace lamina { inline namespace LAMINA_ABI {

/// The result of hand_over(): the address of an element that co_yield moves or copies.
template <class U>
struct handed_over {
  U* value;
};

/// `co_yield lamina::hand_over(std::move(x));` moves x into the generator, `hand_over(x)` copies
/// it. Use it for elements that g++ would destroy twice, as the comment on `generator` explains.
template <class U>
auto hand_over(U&& value) noexcept {
  if constexpr (std::is_lvalue_reference_v<U>)
    return handed_over<const std::remove_reference_t<U>>{std::addressof(value)};
  else
    return handed_over<U>{std::addressof(value)};
}

/// A sequence that is computed while it is read. A function that returns generator<T> and contains
/// `co_yield value;` is a reader of T; `co_yield {a, b};` constructs an aggregate T in place. The
/// function computes an element only when it is requested, so the sequence may be endless. If the
/// generator is destroyed before its end, the function's local variables are destroyed. begin() or
/// ++ rethrows an exception of the function. A generator is move-only and can be read only once: it
/// is one pass, and the function is the reader. Elements are returned as rvalues (`auto x = *it`
/// moves), as in std::generator of C++23. Threads may use one generator one after another, but not
/// at the same time.
///
/// g++ 12 destroys the fields of an aggregate temporary in a co_yield twice. A field with a
/// destructor, such as a string, then frees its memory twice. So for an aggregate T with such
/// fields, for example struct { std::string title; int year; }, this class accepts only safe forms:
/// `co_yield {a, b}`, if no field is itself written in braces, and `co_yield x` for a variable x,
/// which is copied. `co_yield T{a, b}` and `co_yield std::move(x)` are compile-time errors that
/// recommend hand_over.
template <class T>
class [[nodiscard]] generator {
  static_assert(std::is_object_v<T> && !std::is_const_v<T>,
                "lamina::generator<T> stores its element: T must be a plain object type");

#if defined(__GNUC__) && !defined(__clang__)
  static constexpr bool fragile = std::is_aggregate_v<T> && !std::is_trivially_destructible_v<T>;
#else
  static constexpr bool fragile = false;
#endif

 public:
  using value_type = T;

  class promise_type {
   public:
    generator get_return_object() noexcept {
      return generator(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    std::suspend_always final_suspend() const noexcept { return {}; }
    // There is one overload, with a parameter by value: with overloads for T&& and const T&,
    // `co_yield {a, b}` would be ambiguous for an aggregate T.
    std::suspend_always yield_value(T value) requires(!fragile) {
      value_.emplace(std::move(value));
      return {};
    }

    // For fragile types, `co_yield {a, b}` calls a constructor of `fields`, whose arguments g++
    // destroys only once. This overload is always selected, because the other overloads are
    // templates, whose arguments are not deduced from braces.
    struct fields {
      template <class... F>
      requires(std::is_constructible_v<T, F...> && sizeof...(F) > 1) fields(F&&... field)
          : value(std::forward<F>(field)...) {}
      T value;
    };
    std::suspend_always yield_value(fields braced) requires(fragile) {
      value_.emplace(std::move(braced.value));
      return {};
    }
    template <class U>
    requires(fragile&& std::is_same_v<std::remove_cvref_t<U>, T>) std::suspend_always
        yield_value(U&& value) {
      static_assert(std::is_lvalue_reference_v<U>,
                    "g++ 12 destroys the fields of this aggregate twice: write co_yield {a, b}, "
                    "or name the value and co_yield lamina::hand_over(std::move(value))");
      value_.emplace(value);
      return {};
    }

    template <class U>
    std::suspend_always yield_value(handed_over<U> element) {
      value_.emplace(static_cast<U&&>(*element.value));
      return {};
    }
    void return_void() const noexcept {}
    void unhandled_exception() noexcept { failure_ = std::current_exception(); }
    void await_transform() = delete;  // co_await does not compile in a reader

   private:
    friend class generator;
    std::optional<T> value_;
    std::exception_ptr failure_;
  };

  class iterator {
   public:
    using iterator_concept = std::input_iterator_tag;
    using iterator_category = std::input_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using reference = T&&;
    using pointer = T*;

    iterator() noexcept = default;
    T&& operator*() const noexcept { return std::move(*handle_.promise().value_); }
    T* operator->() const noexcept { return &*handle_.promise().value_; }
    iterator& operator++() {
      advance(handle_);
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const iterator& it, std::default_sentinel_t) noexcept {
      return it.handle_.done();
    }

   private:
    friend class generator;
    explicit iterator(std::coroutine_handle<promise_type> handle) noexcept : handle_(handle) {}
    std::coroutine_handle<promise_type> handle_;
  };

  generator(generator&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)), started_(other.started_) {}
  generator& operator=(generator other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(started_, other.started_);
    return *this;
  }
  ~generator() {
    if (handle_) handle_.destroy();
  }

  /// Returns an iterator to the first element or, if the generator has begun, to the current
  /// element.
  iterator begin() {
    if (!std::exchange(started_, true)) advance(handle_);
    return iterator(handle_);
  }
  std::default_sentinel_t end() const noexcept { return std::default_sentinel; }

 private:
  explicit generator(std::coroutine_handle<promise_type> handle) noexcept : handle_(handle) {}

  static void advance(std::coroutine_handle<promise_type> handle) {
    handle.resume();
    if (auto& failure = handle.promise().failure_)
      std::rethrow_exception(std::exchange(failure, nullptr));
  }

  std::coroutine_handle<promise_type> handle_;
  bool started_ = false;
};

}}  // namespace lamina
