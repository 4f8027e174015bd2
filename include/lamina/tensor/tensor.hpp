// SPDX-License-Identifier: Apache-2.0
// lamina/tensor/tensor.hpp - the value of a variable at run time: an array whose element type and
// shape are known at run time.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <lamina/core/dtype.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/numbers/number_cast.hpp>
#include <lamina/tensor/array.hpp>
#include <lamina/tensor/xtensor.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// All dimensions of a tensor, outermost first.
using tensor_shape = std::vector<std::size_t>;

/// Returns a shape as text: "[64, 10]".
inline std::string to_string(const tensor_shape& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + "]";
}

/// Returns the number of elements of a shape; 1 for the empty shape, which is that of a single
/// number.
inline std::size_t size_of(const tensor_shape& shape) {
  std::size_t n = 1;
  for (const std::size_t d : shape) n *= d;
  return n;
}

/// The value of a variable: row-major elements of one dtype. Fluid: Tensor (a LoDTensor of level
/// 0). A tensor that was never assigned has no value; reading it throws lamina::error.
class tensor {
 public:
  /// Makes a tensor without a value.
  tensor() = default;

  /// Takes ownership of an xtensor array.
  template <element T>
  tensor(xt::xarray<T> values) : values_(std::move(values)) {}  // NOLINT: an array converts

  /// Copies an array.
  template <element T>
  tensor(const array<T>& values)  // NOLINT: an array converts
      : values_(static_cast<xt::xarray<T>>(values)) {}

  /// Makes a tensor with `size_of(shape)` elements copied from `values`.
  template <element T>
  tensor(const tensor_shape& shape, const T* values) : values_(xt::xarray<T>::from_shape(shape)) {
    xt::xarray<T>& to = std::get<xt::xarray<T>>(values_);
    for (std::size_t i = 0; i < to.size(); ++i) to.flat(i) = values[i];
  }

  /// Makes a tensor from its elements, row by row. Throws lamina::error if their number does not
  /// match the shape.
  template <element T>
  tensor(const tensor_shape& shape, const std::vector<T>& values)
      : values_(xt::xarray<T>::from_shape(checked(shape, values.size()))) {
    xt::xarray<T>& to = std::get<xt::xarray<T>>(values_);
    for (std::size_t i = 0; i < to.size(); ++i) to.flat(i) = values[i];
  }

  /// Makes a tensor whose elements are all `value`.
  template <element T>
  static tensor filled(const tensor_shape& shape, T value) {
    xt::xarray<T> a = xt::xarray<T>::from_shape(shape);
    for (std::size_t i = 0; i < a.size(); ++i) a.flat(i) = value;
    return tensor(std::move(a));
  }

  /// Returns a tensor of zeros. Throws lamina::error for float16, for which C++ has no type.
  static tensor zeros(dtype type, const tensor_shape& shape) {
    switch (type) {
      case dtype::boolean:
        return filled<bool>(shape, false);
      case dtype::int16:
        return filled<std::int16_t>(shape, 0);
      case dtype::int32:
        return filled<std::int32_t>(shape, 0);
      case dtype::int64:
        return filled<std::int64_t>(shape, 0);
      case dtype::float32:
        return filled<float>(shape, 0);
      case dtype::float64:
        return filled<double>(shape, 0);
      case dtype::uint8:
        return filled<std::uint8_t>(shape, 0);
      case dtype::int8:
        return filled<std::int8_t>(shape, 0);
      default:
        throw error("lamina: tensor: expected an element type with arithmetic, found float16");
    }
  }

  /// Calls `f` with the xt::xarray<T> that holds the elements, and returns its result. Throws
  /// lamina::error if there is no value.
  template <class F>
  auto visit(F&& f) const {
    using result = decltype(f(std::declval<const xt::xarray<float>&>()));
    return std::visit(
        [&]<class A>(const A& a) -> result {
          if constexpr (__is_same(A, std::monostate))
            throw error("lamina: tensor: expected a value, found a tensor that was never assigned");
          else
            return f(a);
        },
        values_);
  }

  /// Whether a value has been assigned.
  bool has_value() const { return values_.index() != 0; }

  /// Returns the element type.
  dtype type() const {
    return visit([]<class T>(const xt::xarray<T>&) { return dtype_of<T>; });
  }
  /// Returns the dimensions, outermost first.
  tensor_shape shape() const {
    return visit([](const auto& a) { return tensor_shape(a.shape().begin(), a.shape().end()); });
  }
  /// Returns the number of dimensions.
  std::size_t rank() const {
    return visit([](const auto& a) { return a.dimension(); });
  }
  /// Returns the number of elements.
  std::size_t size() const {
    return visit([](const auto& a) { return a.size(); });
  }
  /// Returns the address of the elements, which are in row-major order.
  const void* data() const {
    return visit([](const auto& a) { return static_cast<const void*>(a.data()); });
  }

  /// Returns the xtensor array that holds the elements; throws lamina::error if they are not of
  /// type T.
  template <element T>
  const xt::xarray<T>& as() const {
    const xt::xarray<T>* a = std::get_if<xt::xarray<T>>(&values_);
    if (a == nullptr) wrong_type(dtype_of<T>);
    return *a;
  }
  template <element T>
  xt::xarray<T>& as() {
    xt::xarray<T>* a = std::get_if<xt::xarray<T>>(&values_);
    if (a == nullptr) wrong_type(dtype_of<T>);
    return *a;
  }

  /// Returns the elements converted to T with number_cast.
  template <element T>
  xt::xarray<T> cast() const {
    return converted<T>([]<class From>(From x) { return number_cast<T>(x); });
  }
  /// Returns the elements converted to a dtype that is known at run time.
  tensor cast(dtype type) const {
    tensor to = zeros(type, {});
    std::visit(
        [&]<class A>(A& a) {
          if constexpr (!__is_same(A, std::monostate)) a = cast<typename A::value_type>();
        },
        to.values_);
    return to;
  }
  /// Returns the elements, which are results of integer arithmetic, converted to `type` with
  /// wrapping_cast: integers outside of the range wrap around.
  tensor wrapped(dtype type) const {
    tensor to = zeros(type, {});
    std::visit(
        [&]<class A>(A& a) {
          if constexpr (!__is_same(A, std::monostate)) {
            using T = typename A::value_type;
            a = converted<T>([]<class From>(From x) { return wrapping_cast<T>(x); });
          }
        },
        to.values_);
    return to;
  }

 private:
  template <class T, class F>
  xt::xarray<T> converted(const F& f) const {
    return visit([&]<class From>(const xt::xarray<From>& from) {
      xt::xarray<T> to = xt::xarray<T>::from_shape(from.shape());
      for (std::size_t i = 0; i < from.size(); ++i) to.flat(i) = f(from.flat(i));
      return to;
    });
  }
  static const tensor_shape& checked(const tensor_shape& shape, std::size_t n) {
    if (size_of(shape) != n)
      throw error("lamina: tensor: expected " + std::to_string(size_of(shape)) +
                  " elements for the shape " + to_string(shape) + ", found " + std::to_string(n));
    return shape;
  }
  [[noreturn]] void wrong_type(dtype expected) const {
    throw error(std::string("lamina: tensor: expected elements of ") + name_of(expected) +
                ", found " + (has_value() ? name_of(type()) : "no value"));
  }

  std::variant<std::monostate, xt::xarray<bool>, xt::xarray<std::int16_t>, xt::xarray<std::int32_t>,
               xt::xarray<std::int64_t>, xt::xarray<float>, xt::xarray<double>,
               xt::xarray<std::uint8_t>, xt::xarray<std::int8_t>>
      values_;
};

}}  // namespace lamina
