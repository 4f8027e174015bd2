// SPDX-License-Identifier: Apache-2.0
// lamina/tensor/array_view.hpp - a view of an array in memory that the view does not own.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <compare>
#include <concepts>
#include <cstddef>

#include <lamina/core/arrays/checked_index.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {
// An array type of another library: A::from_shape(shape) makes an array, and data() gives access to
// its elements.
template <class A, class T>
concept made_from_shape = requires(A a, const typename A::shape_type& shape) {
  { A::from_shape(shape) } -> std::convertible_to<A>;
  { *a.data() } -> std::convertible_to<const T&>;
};
}  // namespace detail

/// The result of `activation<"name">()`: refers to a variable in a machine's memory, without a
/// copy. The next run of the machine overwrites the elements. Inner dimensions are contiguous; rows
/// of the outermost dimension are `stride()` elements apart. A view converts to xtensor's xarray by
/// a copy. Without a copy, xt::adapt makes an expression from `data()`, `size()` and the shape, but
/// only if `contiguous()`. An index outside of the shape throws lamina::error unless NDEBUG is
/// defined.
template <class T, std::size_t Rank>
class array_view {
 public:
  using value_type = T;

  /// Makes a view of the elements at `data`. `stride` is the distance between two rows of the
  /// outermost dimension, in elements.
  array_view(const T* data, const std::array<std::size_t, Rank>& shape, std::size_t stride)
      : data_(data), shape_(shape), stride_(stride) {}

  /// Returns the dimensions, outermost first.
  const std::array<std::size_t, Rank>& shape() const { return shape_; }
  std::size_t shape(std::size_t i) const {
    return shape_[detail::checked_index("shape of an activation", 0, i, Rank)];
  }
  static constexpr std::size_t dimension() { return Rank; }
  std::size_t size() const { return (Rank == 0 ? 1 : shape_[0]) * row_size(); }
  /// Returns the first element.
  const T* data() const { return data_; }
  /// Returns the distance between two rows of the outermost dimension, in elements.
  std::size_t stride() const { return stride_; }
  /// Whether there is no gap between rows.
  bool contiguous() const { return Rank == 0 || shape_[0] < 2 || stride_ == row_size(); }

  /// Returns the element at these indices, one per dimension: `scores(row, class)`.
  template <std::convertible_to<std::size_t>... Index>
  requires(sizeof...(Index) == Rank) const T& operator()(Index... at) const {
    if constexpr (Rank == 0) {
      return *data_;
    } else {
      std::size_t inner = 0, d = 0, row = 0;
      ((d == 0 ? row = detail::checked_index(name, d, at, shape_[d])
               : inner = inner * shape_[d] + detail::checked_index(name, d, at, shape_[d]),
        ++d),
       ...);
      return data_[row * stride_ + inner];
    }
  }
  /// Returns element i in row-major order.
  const T& flat(std::size_t i) const {
    return element(detail::checked_index("activation in row-major order", 0, i, size()));
  }

  /// A random-access iterator over all elements in row-major order.
  class iterator {
   public:
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    iterator() = default;
    iterator(const array_view* of, std::size_t at) : of_(of), at_(at) {}
    const T& operator*() const { return of_->element(at_); }
    iterator& operator++() { return ++at_, *this; }
    iterator operator++(int) { return {of_, at_++}; }
    iterator& operator--() { return --at_, *this; }
    iterator operator--(int) { return {of_, at_--}; }
    iterator& operator+=(difference_type n) { return at_ += static_cast<std::size_t>(n), *this; }
    iterator& operator-=(difference_type n) { return at_ -= static_cast<std::size_t>(n), *this; }
    const T& operator[](difference_type n) const { return *(*this + n); }
    friend iterator operator+(iterator i, difference_type n) { return i += n; }
    friend iterator operator+(difference_type n, iterator i) { return i += n; }
    friend iterator operator-(iterator i, difference_type n) { return i -= n; }
    friend difference_type operator-(const iterator& a, const iterator& b) {
      return static_cast<difference_type>(a.at_ - b.at_);
    }
    friend bool operator==(const iterator&, const iterator&) = default;
    friend auto operator<=>(const iterator& a, const iterator& b) { return a.at_ <=> b.at_; }

   private:
    const array_view* of_ = nullptr;
    std::size_t at_ = 0;
  };
  iterator begin() const { return {this, 0}; }
  iterator end() const { return {this, size()}; }

  /// Copies the elements to an array of type A of another library, which A::from_shape(shape)
  /// makes.
  template <class A>
  requires detail::made_from_shape<A, T>
  operator A() const {  // NOLINT: an array converts
    A to = A::from_shape(typename A::shape_type(shape_.begin(), shape_.end()));
    for (std::size_t i = 0; i < size(); ++i) to.data()[i] = element(i);
    return to;
  }

 private:
  static constexpr const char* name = "activation";
  const T& element(std::size_t i) const {
    const std::size_t n = row_size();
    return data_[i / n * stride_ + i % n];
  }
  std::size_t row_size() const {
    std::size_t n = 1;
    for (std::size_t d = 1; d < Rank; ++d) n *= shape_[d];
    return n;
  }

  const T* data_;
  std::array<std::size_t, Rank> shape_;
  std::size_t stride_;
};

}}  // namespace lamina
