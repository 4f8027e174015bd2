// SPDX-License-Identifier: Apache-2.0
// lamina/tensor/array.hpp - a dense array that is passed by value.
#pragma once

#include <lamina/core/config.hpp>

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <utility>
#include <vector>

#include <lamina/core/arrays/checked_index.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/tensor/array_view.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Whether type A has a shape, and begin() and end() that iterate over the elements in row-major
/// order, as array_view, xt::xarray and expressions of xtensor have.
template <class A, class T>
concept elements_in_shape = requires(const A& a) {
  { *a.begin() } -> std::convertible_to<T>;
  { *a.shape().begin() } -> std::convertible_to<std::size_t>;
  a.end();
};

/// The result of `parameter<"name">()` and `gradient<"name">()`: elements in row-major order and
/// their shape. An array converts to and from xtensor's xarray. The conversions are templates that
/// name no type of xtensor, so this header does not include xtensor.
template <class T>
class array {
 public:
  using value_type = T;

  array() = default;
  /// Makes an array of the given shape with all elements 0.
  explicit array(std::vector<std::size_t> shape) : shape_(std::move(shape)) {
    std::size_t n = 1;
    for (const std::size_t d : shape_) n *= d;
    values_.resize(n);
  }
  /// Makes an array from its elements, row by row. Throws lamina::error if their number does not
  /// match the shape.
  array(std::vector<std::size_t> shape, std::vector<T> values)
      : shape_(std::move(shape)), values_(std::move(values)) {
    std::size_t n = 1;
    for (const std::size_t d : shape_) n *= d;
    if (n != values_.size())
      LAMINA_THROW error(text() << "lamina: array: expected " << n << " elements for the shape "
                                << text().list(shape_) << ", found " << values_.size());
  }
  /// Makes an array from rows in braces: `array<float>{{1, 2, 3}, {4, 5, 6}}` has the shape [2, 3];
  /// braces may have up to three levels. Throws lamina::error if rows differ in length. To give a
  /// shape instead, write parentheses: `array<float>({2, 3}, {1, 2, 3, 4, 5, 6})`.
  array(std::initializer_list<std::initializer_list<T>> rows) { add(rows, 0); }
  array(std::initializer_list<std::initializer_list<std::initializer_list<T>>> blocks) {
    add(blocks, 0);
  }
  /// Makes an array from elements in braces: `array<float>{0.5f, 1.f, 2.f}` has the shape [3]. At
  /// least one element must be a floating-point number: with integers alone, the call would be the
  /// constructor from a shape.
  template <class... N>
  requires((std::is_arithmetic_v<N> && ...) && (std::is_floating_point_v<N> || ...))
      array(N... element)  // NOLINT: elements in braces convert
      : shape_{sizeof...(N)}, values_{static_cast<T>(element)...} {}
  /// Copies an array_view, or an array or expression of another library.
  template <elements_in_shape<T> A>
  requires(!std::is_same_v<A, array>) array(const A& from)  // NOLINT: an array converts
      : array(std::vector<std::size_t>(from.shape().begin(), from.shape().end())) {
    auto at = from.begin();
    for (T& to : values_) to = *at++;
  }

  /// Copies the array to an array of type A of another library, which A::from_shape(shape) makes:
  /// `xt::xarray<float> w = a;`.
  template <class A>
  requires detail::made_from_shape<A, T>
  operator A() const {  // NOLINT: an array converts
    A to = A::from_shape(typename A::shape_type(shape_.begin(), shape_.end()));
    for (std::size_t i = 0; i < values_.size(); ++i) to.data()[i] = values_[i];
    return to;
  }

  /// Returns the dimensions, outermost first.
  const std::vector<std::size_t>& shape() const { return shape_; }
  std::size_t shape(std::size_t i) const {
    return shape_[detail::checked_index("shape of an array", 0, i, shape_.size())];
  }
  std::size_t dimension() const { return shape_.size(); }
  std::size_t size() const { return values_.size(); }
  T* data() { return values_.data(); }
  const T* data() const { return values_.data(); }
  auto begin() { return values_.begin(); }
  auto begin() const { return values_.begin(); }
  auto end() { return values_.end(); }
  auto end() const { return values_.end(); }

  /// Returns the element at these indices, one per dimension: `a(i, j)`. For a temporary it returns
  /// a constant reference, because `model.parameter<"w">()(0, 0) = 1` would change only a copy.
  template <class... Index>
  T& operator()(Index... at) & {
    return values_[position(at...)];
  }
  template <class... Index>
  const T& operator()(Index... at) const& {
    return values_[position(at...)];
  }
  /// Returns element i in row-major order.
  T& flat(std::size_t i) & { return values_[in_row_major_order(i)]; }
  const T& flat(std::size_t i) const& { return values_[in_row_major_order(i)]; }

  /// Arrays are equal if their shapes and elements are equal.
  friend bool operator==(const array&, const array&) = default;

  /// Computes elementwise, in place or as a new array. The other operand is a number or an array of
  /// the same shape; throws lamina::error if the shapes differ: `w += 0.1f * (target - w)`.
  array& operator+=(const array& b) {
    return each(b, [](T& x, T y) { x += y; });
  }
  array& operator-=(const array& b) {
    return each(b, [](T& x, T y) { x -= y; });
  }
  array& operator*=(const array& b) {
    return each(b, [](T& x, T y) { x *= y; });
  }
  array& operator/=(const array& b) {
    return each(b, [](T& x, T y) { x /= y; });
  }
  array& operator+=(T b) {
    for (T& x : values_) x += b;
    return *this;
  }
  array& operator-=(T b) {
    for (T& x : values_) x -= b;
    return *this;
  }
  array& operator*=(T b) {
    for (T& x : values_) x *= b;
    return *this;
  }
  array& operator/=(T b) {
    for (T& x : values_) x /= b;
    return *this;
  }
  friend array operator+(array a, const array& b) { return std::move(a += b); }
  friend array operator-(array a, const array& b) { return std::move(a -= b); }
  friend array operator*(array a, const array& b) { return std::move(a *= b); }
  friend array operator/(array a, const array& b) { return std::move(a /= b); }
  friend array operator+(array a, T b) { return std::move(a += b); }
  friend array operator-(array a, T b) { return std::move(a -= b); }
  friend array operator*(array a, T b) { return std::move(a *= b); }
  friend array operator/(array a, T b) { return std::move(a /= b); }
  friend array operator+(T a, array b) { return std::move(b += a); }
  friend array operator*(T a, array b) { return std::move(b *= a); }
  friend array operator-(T a, array b) {
    for (T& x : b.values_) x = a - x;
    return b;
  }
  friend array operator/(T a, array b) {
    for (T& x : b.values_) x = a / x;
    return b;
  }
  friend array operator-(array a) {
    for (T& x : a.values_) x = -x;
    return a;
  }

 private:
  template <class F>
  array& each(const array& b, F&& f) {
    if (shape_ != b.shape_)
      LAMINA_THROW error(text() << "lamina: array: expected operands of one shape, "
                                << text().list(shape_) << ", found " << text().list(b.shape_));
    for (std::size_t i = 0; i < values_.size(); ++i) f(values_[i], b.values_[i]);
    return *this;
  }

  /// Appends elements in braces; `level` counts the braces around them.
  void add(std::initializer_list<T> row, std::size_t level) {
    extend(row.size(), level);
    values_.insert(values_.end(), row.begin(), row.end());
  }
  template <class Row>
  void add(std::initializer_list<Row> rows, std::size_t level) {
    extend(rows.size(), level);
    for (const Row& r : rows) add(r, level + 1);
  }
  void extend(std::size_t size, std::size_t level) {
    if (level == shape_.size())
      shape_.push_back(size);
    else if (shape_[level] != size)
      LAMINA_THROW error(text() << "lamina: array: expected rows of one length, " << shape_[level]
                                << ", found " << size
                                << " (a shape is written in parentheses: array({2, 3}, {...}))");
  }

  template <class... Index>
  std::size_t position(Index... at) const {
    std::size_t n = 0, d = 0;
    if (detail::checks_indices && sizeof...(Index) != shape_.size())
      detail::fail_index_count("array", shape_.size(), sizeof...(Index));
    ((n = n * shape_[d] + detail::checked_index("array", d, at, shape_[d]), ++d), ...);
    return n;
  }
  std::size_t in_row_major_order(std::size_t i) const {
    return detail::checked_index("array in row-major order", 0, i, values_.size());
  }

  std::vector<std::size_t> shape_;
  std::vector<T> values_;
};

}}  // namespace lamina
