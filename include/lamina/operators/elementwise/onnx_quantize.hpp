// SPDX-License-Identifier: Apache-2.0
// lamina/operators/elementwise/onnx_quantize.hpp - imports ONNX's quantised numbers.
//
// An integer q with a scale and a zero point stands for (q - zero point) * scale. Nodes become
// lamina's operators on int32 and float; quantised constants become floats while the file is read.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace onnx {

/// Returns x rounded to the nearest integer, halves to the even neighbour.
inline onnx_imported rounded_to_even(onnx_import_node& n, const onnx_imported& x) {
  const onnx_imported part = n.sub(x, n.unary("floor", x));
  const onnx_imported is_half = n.binary("equal", part, n.number(0.5, x.type), dtype::boolean);
  const onnx_imported even = n.affine(n.unary("round", n.affine(x, 0.5, 0)), 2, 0);
  return n.where(is_half, even, n.unary("round", x));
}

/// The smallest and the largest integer of a quantised type, and the type in which lamina holds it.
struct quantised_range {
  double low, high;
  dtype type;
};
/// Returns the range of a TensorProto.DataType; throws format_error for other types than integers
/// of at most 16 bits.
inline quantised_range range_of_quantised(const onnx_import_node& n, int type) {
  switch (type) {
    case 2:
      return {0, 255, dtype::uint8};
    case 3:
      return {-128, 127, dtype::int8};
    case 4:
      return {0, 65535, dtype::int32};
    case 5:
      return {-32768, 32767, dtype::int16};
    case 21:
      return {0, 15, dtype::uint8};
    case 22:
      return {-8, 7, dtype::int8};
    case 25:
      return {0, 3, dtype::uint8};
    case 26:
      return {-2, 1, dtype::int8};
    default:
      n.fail(text("expected quantised integers of at most 16 bits, found data_type ") << type);
  }
}
/// Returns the range of the type of a value, such as a zero point.
inline quantised_range range_of_quantised(const onnx_import_node& n, const onnx_imported& value) {
  if (value.stored != 0) return range_of_quantised(n, value.stored);
  return range_of_quantised(n, value.type == dtype::uint8   ? 2
                               : value.type == dtype::int8  ? 3
                               : value.type == dtype::int16 ? 5
                               : value.type == dtype::int32 ? 6
                                                            : 1);
}

/// Returns round(x) + zero_point, limited to a range, in the type of this range.
inline onnx_imported saturated(onnx_import_node& n, const onnx_imported& x,
                               const onnx_imported& zero_point, const quantised_range& range) {
  onnx_imported y = rounded_to_even(n, x);
  if (zero_point.has_value()) y = n.add(y, n.cast(zero_point, y.type));
  y = n.binary("elementwise_max", y, n.number(range.low, y.type));
  y = n.binary("elementwise_min", y, n.number(range.high, y.type));
  return n.cast(y, range.type);
}

/// Returns a scale or a zero point with dimensions that broadcast against x: one for all elements,
/// one for each index of an axis, or one for each block of `block_size` indices of the axis.
inline onnx_imported for_elements(onnx_import_node& n, const onnx_imported& value,
                                  const onnx_imported& x) {
  if (!value.has_value()) return value;
  const std::int64_t block = n.integer("block_size");
  if (block == 0 && (value.rank() == 0 || (value.rank() == 1 && value.dims[0] == 1)))
    return n.reshape(value, {}, {1});
  const std::int64_t axis = n.axis(n.integer("axis", 1), x.rank());
  const std::size_t at = static_cast<std::size_t>(axis);
  if (block == 0) {
    if (value.rank() != 1 || (x.dims[at] >= 0 && value.dims[0] >= 0 && value.dims[0] != x.dims[at]))
      n.fail(text("expected a scale and a zero point for each of ")
             << x.dims[at] << " indices of axis " << axis << ", found dimensions "
             << value.dims_text());
    std::vector<std::int64_t> after;
    for (std::int64_t d = axis + 1; d < x.rank(); ++d)
      after.push_back(static_cast<std::int64_t>(after.size()) + 1);
    return n.unsqueeze(value, after);
  }
  const std::int64_t size = n.extent(x, axis);
  std::vector<std::int64_t> wanted = x.dims;
  if (block > 0) wanted[at] = size / block + (size % block != 0 ? 1 : 0);
  if (block < 0 || value.rank() != x.rank() || n.extent(value, axis) != wanted[at])
    n.fail(text("expected a scale and a zero point for each block, of dimensions ")
           << text().list(wanted) << ", found " << value.dims_text());
  n.require_size({size});
  std::vector<std::int64_t> blocks;
  for (std::int64_t i = 0; i < size; ++i) blocks.push_back(i / block);
  return n.gather(value, n.constant_list(blocks), axis);
}

/// y = saturate(round(x / scale) + zero_point).
inline void raise_quantize(onnx_import_node& n) {
  const onnx_imported zero_point = n.optional(2);
  const std::int64_t stated = n.integer("output_dtype");
  const quantised_range range = stated > 0 && stated < 1000
                                    ? range_of_quantised(n, static_cast<int>(stated))
                                : zero_point.has_value() ? range_of_quantised(n, zero_point)
                                                         : range_of_quantised(n, 2);
  const onnx_imported& scale = n.in(1);
  if (!is_floating(scale.type))
    n.fail(text("expected a scale of floating numbers, found ") << name_of(scale.type));
  const onnx_imported x = n.cast(n.in(0), scale.type);
  n.out(saturated(n, n.div(x, for_elements(n, scale, x)), for_elements(n, zero_point, x), range));
}
/// y = (x - zero_point) * scale.
inline void raise_dequantize(onnx_import_node& n) {
  onnx_imported x = n.in(0);
  const onnx_imported& scale = n.in(1);
  if (!is_floating(scale.type))
    n.fail(text("expected a scale of floating numbers, found ") << name_of(scale.type));
  if (n.has(2)) {
    const dtype exact = is_floating(x.type) ? x.type : dtype::int32;
    x = n.sub(n.cast(x, exact), for_elements(n, n.cast(n.in(2), exact), x));
  }
  n.out(n.mul(n.cast(x, scale.type), for_elements(n, scale, x)));
}
/// Quantises to uint8 with the scale and the zero point of the range of x, which always has 0.
inline void raise_dynamic_quantize(onnx_import_node& n) {
  const onnx_imported x = n.in(0), zero = n.number(0, x.type);
  std::vector<std::int64_t> axes;
  for (int d = 0; d < x.rank(); ++d) axes.push_back(d);
  const onnx_imported high =
      n.binary("elementwise_max", n.reduce("reduce_max", x, axes, false), zero);
  const onnx_imported low =
      n.binary("elementwise_min", n.reduce("reduce_min", x, axes, false), zero);
  const onnx_imported width = n.sub(high, low);
  // The scale of zeros is 1, as in ONNX Runtime.
  const onnx_imported is_zero = n.binary("equal", width, zero, dtype::boolean);
  const onnx_imported scale =
      n.where(is_zero, n.number(1, x.type), n.div(width, n.number(255, x.type)));
  const quantised_range range = range_of_quantised(n, 2);
  const onnx_imported zero_point = saturated(n, n.negative(n.div(low, scale)), {}, range);
  n.out(0, saturated(n, n.div(x, scale), zero_point, range));
  n.out(1, scale);
  n.out(2, zero_point);
}

/// Returns value - zero_point in int32. Zero points of a list belong to the rows (`of_rows`) or the
/// columns of matrices.
inline onnx_imported without_zero_point(onnx_import_node& n, const onnx_imported& value,
                                        onnx_imported zero_point, bool of_rows) {
  if (value.type != dtype::int8 && value.type != dtype::uint8)
    n.fail(text("expected int8 or uint8, found ") << name_of(value.type));
  const onnx_imported wide = n.cast(value, dtype::int32);
  if (!zero_point.has_value()) return wide;
  if (of_rows && zero_point.rank() == 1 && zero_point.dims[0] != 1 && value.rank() > 1)
    zero_point = n.unsqueeze(zero_point, {1});
  return n.sub(wide, n.cast(zero_point, dtype::int32));
}

/// Returns a sum of products in int32. `product` computes it in float from x and w, integers from
/// -255 to 255; each of its elements has `depth` products, or -1 if that is not known. Floats are
/// exact up to 2^24, so w is split into digits for which no sum exceeds this limit.
template <class Product>
onnx_imported exact_product(onnx_import_node& n, const onnx_imported& x, const onnx_imported& w,
                            std::int64_t depth, const Product& product) {
  constexpr std::int64_t most = (std::int64_t{1} << 24) / 255;
  int bits = 8;  // of a digit
  while (bits > 1 && (depth < 0 || depth > most >> bits)) --bits;
  const onnx_imported real = n.cast(x, dtype::float32);
  onnx_imported rest = w, sum;
  double unit = 1;  // the value of the digit
  for (int left = 8; left > 0; left -= bits, unit *= double(1 << bits)) {
    onnx_imported digit = rest;
    if (left > bits) {
      const onnx_imported base = n.number(double(1 << bits), dtype::int32);
      digit = n.binary("elementwise_mod", rest, base);
      rest = n.binary("elementwise_floordiv", rest, base);
    }
    const onnx_imported part =
        n.mul(n.cast(product(real, n.cast(digit, dtype::float32)), dtype::int32),
              n.number(unit, dtype::int32));
    sum = sum.has_value() ? n.add(sum, part) : part;
  }
  return sum;
}

inline void add_elementwise_quantize(onnx_operators& to) {
  to.add_node("QuantizeLinear", raise_quantize);
  to.add_node("DequantizeLinear", raise_dequantize);
  to.add_node("DynamicQuantizeLinear", raise_dynamic_quantize);
}

}}}  // namespace lamina::onnx
