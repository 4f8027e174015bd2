// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/library_product.hpp - large products as a library of the device is asked for
// them. Which library that is a backend says (library_backend.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <lamina/core/padding.hpp>
#include <lamina/expression/expression.hpp>
#include <lamina/operators/activation.hpp>
#include <lamina/operators/elementwise.hpp>
#include <lamina/plan/plan_operators.hpp>

namespace lamina::engine::cuda {

/// Which products are large: on every side, so that neither operand is read for few results, and in
/// multiplications, so that what a library needs to begin is small beside them. Rows without
/// padding, for that is nothing to a library.
template <int Side, std::int64_t Terms>
struct library_rule {
  /// Whether a product with these columns may be one; below 1 is what no program says.
  static constexpr bool may_take(int columns, int depth) {
    return columns >= Side && columns % alignment_floats == 0 && (depth < 1 || depth >= Side);
  }
  static constexpr bool takes(int rows, int columns, int depth) {
    return rows >= Side && depth >= Side && may_take(columns, depth) &&
           std::int64_t{rows} * columns * depth >= Terms;
  }
};
/// Smaller ones keep a device at work for a few microseconds, and save the way of their results to
/// memory and back.
using large_products = library_rule<64, std::int64_t{1} << 26>;
/// In float a library multiplies number by number, which is slower than what tensor cores do for a
/// tile (float32_format): only where it has that much to do that it comes near the limit of a
/// device.
using largest_products = library_rule<64, std::int64_t{1} << 30>;

/// What a library does with the sums before it stores them.
enum class library_epilogue : std::uint8_t { none, bias, bias_relu };

/// to[rows, columns] = epilogue(Left[rows, depth] * Right[depth, columns] + bias[columns]). Each
/// lies in rows, `stride` floats apart; one that is turned lies the other way round.
struct library_product {
  struct side {
    const float* data;
    std::ptrdiff_t stride;
    bool turned;
  };
  int rows, columns, depth;
  library_epilogue epilogue;
  side left, right;
  const float* bias;
  float* to;
  std::ptrdiff_t stride;

  /// Whether all arrays begin at multiples of 16 bytes, and their rows too.
  bool has_packs() const {
    const auto even = [](const float* p, std::ptrdiff_t s) {
      return reinterpret_cast<std::uintptr_t>(p) % 16 == 0 && s % 4 == 0;
    };
    return even(left.data, left.stride) && even(right.data, right.stride) && even(to, stride);
  }
  /// Whether one call does what another one does, at other places.
  bool is_like(const library_product& x) const {
    return rows == x.rows && columns == x.columns && depth == x.depth && epilogue == x.epilogue &&
           left.stride == x.left.stride && left.turned == x.left.turned &&
           right.stride == x.right.stride && right.turned == x.right.turned && stride == x.stride;
  }
};

/// Floats that a library may use while it multiplies: 32 MiB, as its makers advise.
inline constexpr std::ptrdiff_t library_floats = std::ptrdiff_t{1} << 23;

/// The statements of a group that a library computes itself; others follow in a kernel of their
/// own.
template <class S>
struct library_statements {
  static constexpr bool exists = false;
};
template <int Store>
struct library_statements<
    expression::statements<expression::let<keep, 0, Store, expression::head_value>>> {
  static constexpr bool exists = true;
  static constexpr library_epilogue epilogue = library_epilogue::none;
  static constexpr int store = Store, bias = -1;
};
template <int Store, int Bias>
struct library_statements<expression::statements<
    expression::let<elementwise_add, 0, Store, expression::head_value, expression::row<Bias>>>> {
  static constexpr bool exists = true;
  static constexpr library_epilogue epilogue = library_epilogue::bias;
  static constexpr int store = Store, bias = Bias;
};
template <int Store, int Bias>
struct library_statements<expression::statements<
    expression::let<elementwise_add, 0, -1, expression::head_value, expression::row<Bias>>,
    expression::let<relu, 0, Store, expression::value<0>>>> {
  static constexpr bool exists = true;
  static constexpr library_epilogue epilogue = library_epilogue::bias_relu;
  static constexpr int store = Store, bias = Bias;
};

/// A backend that has a library.
template <class Backend>
concept has_library = requires {
  typename Backend::rule_of_library;
};

}  // namespace lamina::engine::cuda
