// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/static/static_bfloat16.hpp - products of constant size with weights in bfloat16
// panels.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include <lamina/engine/cpu/gemm/bfloat16_gemm.hpp>
#include <lamina/engine/cpu/static/static_kernels.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// A policy of static_layout: parameters that are right operands of matrix products are stored in
/// panels of bfloat16, all other parameters as floats.
struct bfloat16_weights {
  static constexpr bool own_panels = true;
  static constexpr std::ptrdiff_t panels_floats(int rows, int columns) {
    return bfloat16_panels_floats(rows, columns);
  }
  /// The maximum for both kernels: a right operand that is not a parameter is stored as panels of
  /// floats and takes the kernel for floats.
  static constexpr std::ptrdiff_t scratch_floats(int rows, int depth, int columns) {
    return (std::max)(gemm_scratch_floats(rows, depth, columns),
                      gemm_bfloat16_scratch_floats(rows, depth));
  }
  static void pack(int rows, int columns, const float* row_major, float* to) {
    pack_bfloat16(rows, columns, row_major, columns, to);
  }
  static void pack_panels(int rows, int columns, const float* of_floats, float* to) {
    pack_bfloat16_panels(rows, columns, of_floats, to);
  }

  /// Computes the same product as `gemm_bfloat16`, bit for bit. For products with few rows, only
  /// the one or two micro-kernels that they need are compiled.
  template <class Group, class Runner>
  static void multiply(float* const* a, float* scratch) {
    constexpr int rows = Group::rows, depth = Group::depth, columns = Group::columns;
    constexpr int stride = Group::arguments.of[0].info.stride, end = padded(columns);
    if constexpr (rows > detail::static_product_rows) {
      gemm_bfloat16(rows, depth, columns, a[0], stride, a[1], end, &detail::run_tile<Runner>, a,
                    scratch);
    } else {
      const left_operand left = detail::bfloat16_left(rows, depth, a[0], stride, scratch);
      alignas(64) float sums[bound(rows * panel_width)];
      const auto panel = [&]<int Vectors>(int column, std::integral_constant<int, Vectors>) {
        detail::multiply_bfloat16_tile<rows, Vectors>(
            depth, left, a[1] + offset_of_panel((depth + 1) / 2, column), sums);
        detail::run_tile<Runner>({sums, rows, Vectors * lanes, 0, column, column, end}, a);
      };
      constexpr int whole = end / panel_width * panel_width;
      for (int column = 0; column < whole; column += panel_width)
        panel(column, std::integral_constant<int, tile_vectors>{});
      if constexpr (whole < end) panel(whole, std::integral_constant<int, (end - whole) / lanes>{});
    }
  }
};

}}}  // namespace lamina::engine::cpu
