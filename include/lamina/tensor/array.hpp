// SPDX-License-Identifier: Apache-2.0
// lamina/tensor/array.hpp - a dense array that is passed by value.
#pragma once

#include <lamina/core/config.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include <lamina/core/error.hpp>
#include <lamina/core/text.hpp>
#include <lamina/tensor/array_view.hpp>

namespace lamina::inline LAMINA_ABI {

/// A type with a shape, whose begin() and end() give the elements row by row: an array_view,
/// xt::xarray and expressions of xtensor.
template <class A, class T>
concept elements_in_shape = requires(const A& a) {
  { *a.begin() } -> std::convertible_to<T>;
  { *a.shape().begin() } -> std::convertible_to<std::size_t>;
  a.end();
};

/// The result of `parameter<"name">()` and `gradient<"name">()`: elements in row-major order and
/// their shape. Converts to and from xtensor's xarray. It knows xarray by its interface only, so
/// that users without xtensor do not pay for its headers.
template <class T>
class array {
 public:
  using value_type = T;

  array() = default;
  /// An array of the given shape with all elements 0.
  explicit array(std::vector<std::size_t> shape) : shape_(std::move(shape)) {
    std::size_t n = 1;
    for (const std::size_t d : shape_) n *= d;
    values_.resize(n);
  }
  /// The given elements, row by row. Throws lamina::error when their number does not match the
  /// shape.
  array(std::vector<std::size_t> shape, std::vector<T> values)
      : shape_(std::move(shape)), values_(std::move(values)) {
    std::size_t n = 1;
    for (const std::size_t d : shape_) n *= d;
    if (n != values_.size())
      throw error(text() << "lamina: array: expected " << n << " elements for the shape "
                         << text().list(shape_) << ", found " << values_.size());
  }
  /// A copy of a view, or of an array of another library.
  template <elements_in_shape<T> A>
  requires(!std::is_same_v<A, array>) array(const A& from)  // NOLINT: an array converts
      : array(std::vector<std::size_t>(from.shape().begin(), from.shape().end())) {
    auto at = from.begin();
    for (T& to : values_) to = *at++;
  }

  /// A copy as an array of another library, made by its `from_shape`: `xt::xarray<float> w = a;`.
  template <class A>
  requires detail::made_from_shape<A, T>
  operator A() const {  // NOLINT: an array converts
    A to = A::from_shape(typename A::shape_type(shape_.begin(), shape_.end()));
    for (std::size_t i = 0; i < values_.size(); ++i) to.data()[i] = values_[i];
    return to;
  }

  /// The dimensions, outermost first.
  const std::vector<std::size_t>& shape() const { return shape_; }
  std::size_t shape(std::size_t i) const { return shape_[i]; }
  std::size_t dimension() const { return shape_.size(); }
  std::size_t size() const { return values_.size(); }
  T* data() { return values_.data(); }
  const T* data() const { return values_.data(); }
  auto begin() { return values_.begin(); }
  auto begin() const { return values_.begin(); }
  auto end() { return values_.end(); }
  auto end() const { return values_.end(); }

  /// The element at these indices, one per dimension: `a(i, j)`. The element of a temporary is
  /// constant, because `model.parameter<"w">()(0, 0) = 1` would change a copy.
  template <class... Index>
  T& operator()(Index... at) & {
    return values_[position(at...)];
  }
  template <class... Index>
  const T& operator()(Index... at) const& {
    return values_[position(at...)];
  }
  /// Element i in row-major order.
  T& flat(std::size_t i) & { return values_[i]; }
  const T& flat(std::size_t i) const& { return values_[i]; }

  /// Equal shapes and equal elements.
  friend bool operator==(const array&, const array&) = default;

 private:
  template <class... Index>
  std::size_t position(Index... at) const {
    std::size_t n = 0, d = 0;
    ((n = n * shape_[d++] + static_cast<std::size_t>(at)), ...);
    return n;
  }

  std::vector<std::size_t> shape_;
  std::vector<T> values_;
};

}  // namespace lamina::inline LAMINA_ABI
