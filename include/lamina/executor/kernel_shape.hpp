// SPDX-License-Identifier: Apache-2.0
// lamina/executor/kernel_shape.hpp - index computations for kernels: lines along one dimension,
// arrays as matrices, and broadcasting.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <lamina/executor/call_context.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// Describes an array by one of its dimensions, `axis`, which has length n. Element (o, k, i),
/// where k is the index along this dimension, has the index (o * n + k) * inner + i in the array.
struct lines {
  std::size_t outer = 1, n = 1, inner = 1;

  lines(const tensor_shape& shape, std::size_t axis) : n(shape[axis]) {
    for (std::size_t d = 0; d < axis; ++d) outer *= shape[d];
    for (std::size_t d = axis + 1; d < shape.size(); ++d) inner *= shape[d];
  }
  std::size_t at(std::size_t o, std::size_t k, std::size_t i) const {
    return (o * n + k) * inner + i;
  }
};

/// The sizes of an array that is regarded as a matrix: `rows` is the product of the dimensions
/// before `axis`, `columns` the product of all other dimensions.
struct matrix {
  std::size_t rows = 1, columns = 1;

  matrix(const tensor_shape& shape, std::size_t axis) {
    for (std::size_t d = 0; d < shape.size(); ++d) (d < axis ? rows : columns) *= shape[d];
  }
};

/// Returns the shape of an xtensor array.
template <class A>
tensor_shape shape_of(const A& a) {
  return tensor_shape(a.shape().begin(), a.shape().end());
}

/// Returns an array of zeros.
template <class T>
xt::xarray<T> zeros(const tensor_shape& shape) {
  xt::xarray<T> a = xt::xarray<T>::from_shape(shape);
  for (std::size_t i = 0; i < a.size(); ++i) a.flat(i) = T(0);
  return a;
}

/// Returns the shape of an output with one element per window of an image: [samples, channels,
/// ...]. Dimensions that the program does not record follow from the image [samples, ...] `from`,
/// the sizes of the windows, and the attributes strides, paddings, dilations and ceil_mode: without
/// rounding, (extent + 2 padding - dilation (size - 1) - 1) / stride + 1.
template <class Real>
tensor_shape windows_shape(const call_context<Real>& ctx, std::string_view slot,
                           const tensor_shape& from, std::size_t channels,
                           const std::vector<int>& sizes) {
  const std::vector<int> recorded = ctx.recorded_dims(slot), strides = ctx.integer_list("strides"),
                         paddings = ctx.integer_list("paddings"),
                         dilations = ctx.integer_list("dilations");
  const auto element = [](const std::vector<int>& list, std::size_t i, int otherwise) {
    return i < list.size() ? list[i] : otherwise;
  };
  tensor_shape shape;
  for (std::size_t d = 0; d < recorded.size(); ++d) {
    if (recorded[d] >= 0) {
      shape.push_back(static_cast<std::size_t>(recorded[d]));
    } else if (d < 2) {
      shape.push_back(d == 0 ? from[0] : channels);
    } else if (ctx.flag("global_pooling")) {
      shape.push_back(1);
    } else {
      if (ctx.flag("adaptive") || d >= from.size())
        ctx.fail("expected dimension " + std::to_string(d) + " of the result to be known");
      const int stride = (std::max)(1, element(strides, d - 2, 1));
      const int rest = static_cast<int>(from[d]) + 2 * element(paddings, d - 2, 0) -
                       element(dilations, d - 2, 1) * (element(sizes, d - 2, 1) - 1) - 1;
      if (rest < 0)
        ctx.fail("expected an image as large as a window, found the shape " + to_string(from));
      shape.push_back(
          static_cast<std::size_t>((rest + (ctx.flag("ceil_mode") ? stride - 1 : 0)) / stride + 1));
    }
  }
  return shape;
}

/// Returns the same elements with another shape of the same size.
template <class T>
xt::xarray<T> reshaped(xt::xarray<T> a, const tensor_shape& shape) {
  a.reshape(shape);
  return a;
}

/// Returns the elements of a value as an array of type T. If they have another type, they are
/// converted into `storage`, which is then returned. (The executor stores a double variable of a
/// program in float as float or as double.)
template <class T>
const xt::xarray<T>& values_as(const tensor& value, xt::xarray<T>& storage) {
  if (value.type() == dtype_of<T>) return value.template as<T>();
  return storage = value.template cast<T>();
}

/// Calls f with the value in an input slot, as an array of Real if its elements are floating
/// numbers, otherwise as an array of int64. An int64 result wraps around when it is assigned to a
/// variable of a smaller type.
template <class Real, class F>
auto with_values(const call_context<Real>& ctx, std::string_view slot, F&& f) {
  if (is_floating(ctx.input(slot).type())) return f(ctx.real(slot));
  xt::xarray<std::int64_t> storage;
  return f(values_as(ctx.input(slot), storage));
}

/// Returns, for each element of an array of shape `shape`, the index of the element of a smaller
/// array that is broadcast to this element. The shape of the smaller array, without trailing ones,
/// must equal the dimensions of `shape` from `axis` on; axis -1 means that both shapes end at the
/// same dimension. If both ranks are equal, `axis` is ignored. The result is empty if the shapes do
/// not fit.
inline std::vector<std::size_t> broadcast_positions(const tensor_shape& shape, tensor_shape smaller,
                                                    int axis) {
  const std::size_t whole = size_of(shape);
  const int difference = static_cast<int>(shape.size()) - static_cast<int>(smaller.size());
  const std::size_t begin =
      static_cast<std::size_t>(axis < 0 || difference == 0 ? difference : axis);
  while (!smaller.empty() && smaller.back() == 1) smaller.pop_back();
  if (smaller.empty()) return std::vector<std::size_t>(whole, 0);
  if (begin + smaller.size() > shape.size()) return {};
  std::size_t inner = 1;
  for (std::size_t d = begin + smaller.size(); d < shape.size(); ++d) inner *= shape[d];
  for (std::size_t d = 0; d < smaller.size(); ++d)
    if (smaller[d] != shape[begin + d]) return {};
  const std::size_t n = size_of(smaller);
  std::vector<std::size_t> position(whole);
  for (std::size_t i = 0, k = 0; i < whole; k = k + 1 == n ? 0 : k + 1)
    for (const std::size_t end = i + inner; i < end; ++i) position[i] = k;
  return position;
}

}}}  // namespace lamina::kernel
