// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/gemm/panel.hpp - the memory layout of a weight matrix: panels that are as wide
// as a register tile.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/engine/cpu/vector/simd.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// The number of elements that a weight W[K][N] occupies in panel layout: K * padded(N). This
/// layout divides W into panels of `panel_width` columns, which are stored one after the other. A
/// panel consists of K rows as long as the panel is wide, without gaps, so that a product reads a
/// panel sequentially. The last panel may be narrower; its columns after column N are padding that
/// is 0. Panels of doubles are narrower than panels of floats.
constexpr std::ptrdiff_t panels_floats(int k_size, int n_size) {
  return static_cast<std::ptrdiff_t>(k_size) * padded(n_size);
}

/// The number of panels of a matrix with `n_size` columns.
template <class Real = float>
constexpr int panel_count(int n_size) {
  return (padded(n_size) + panel_width_in<Real> - 1) / panel_width_in<Real>;
}

/// The width in columns, padding included, of the panel that starts at column `first`, a multiple
/// of `panel_width`.
template <class Real = float>
constexpr int width_of_panel(int n_size, int first) {
  const int rest = padded(n_size) - first;
  return rest < panel_width_in<Real> ? rest : panel_width_in<Real>;
}

/// The offset at which the panel with first column `first` begins, in the panels of a matrix of
/// `k_size` rows.
constexpr std::ptrdiff_t offset_of_panel(int k_size, int first) {
  return static_cast<std::ptrdiff_t>(k_size) * first;
}

/// The offset of element (k, n) of W[k_size][n_size] in its panels.
template <class Real = float>
constexpr std::ptrdiff_t panel_index(int k_size, int n_size, int k, int n) {
  const int first = n / panel_width_in<Real> * panel_width_in<Real>;
  return offset_of_panel(k_size, first) +
         static_cast<std::ptrdiff_t>(k) * width_of_panel<Real>(n_size, first) + (n - first);
}

/// Calls `visit(offset, count, k, n)` for each contiguous segment of matrix elements in the panels,
/// in memory order: `offset` is the position of W[k][n], the first of `count` elements of row k. It
/// never visits padding; norms, comparisons and exports use this function for that reason.
template <class Real = float, class Visit>
constexpr void for_each_row_segment(int k_size, int n_size, Visit&& visit) {
  for (int first = 0; first < n_size; first += panel_width_in<Real>) {
    const int width = width_of_panel<Real>(n_size, first);
    const int count = n_size - first < width ? n_size - first : width;
    std::ptrdiff_t offset = offset_of_panel(k_size, first);
    for (int k = 0; k < k_size; ++k, offset += width) visit(offset, count, k, first);
  }
}

}}}  // namespace lamina::engine::cpu
