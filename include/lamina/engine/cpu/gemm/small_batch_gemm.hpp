// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/gemm/small_batch_gemm.hpp - the gradient of an input with few rows. It is
// computed by dot products with the rows of W, so W need not be transposed.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/engine/cpu/gemm/panel.hpp>
#include <lamina/engine/cpu/gemm/panel_copies.hpp>
#include <lamina/engine/cpu/gemm/tile.hpp>
#include <lamina/engine/cpu/gemm/transpose.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// The largest number of rows for which dot products are used; up to this number they cost less
/// than a transpose of W.
inline constexpr int small_batch_rows = 3;

namespace detail {

// Stores `lanes` numbers in `to` whose sum is the dot product W[k] . dy. `dy` must be padded with
// zeros, because whole vectors are multiplied.
template <class Real>
inline void dot_one_row(int k_size, int n_size, int k, const Real* panels, const Real* dy,
                        Real* to) {
  using vector = vector_in<Real>;
  constexpr int lanes = lanes_in<Real>;
  constexpr int panel_width = panel_width_in<Real>;
  vector acc(Real(0));
  for (int first = 0; first < n_size; first += panel_width) {
    const int width = width_of_panel<Real>(n_size, first);
    const Real* w =
        panels + offset_of_panel(k_size, first) + static_cast<std::ptrdiff_t>(k) * width;
    for (int j = 0; j < width; j += lanes) {
      acc = fused_multiply_add(vector::load_unaligned(w + j), vector::load_aligned(dy + first + j),
                               acc);
    }
  }
  acc.store_aligned(to);
}

// Does what dot_one_row() does for `lanes` rows of W from row k on, and loads each element of dy
// once for all of these rows.
template <class Real>
inline void dot_whole_block(int k_size, int n_size, int k, const Real* panels, const Real* dy,
                            Real* to) {
  using vector = vector_in<Real>;
  constexpr int lanes = lanes_in<Real>;
  constexpr int panel_width = panel_width_in<Real>;
  vector acc[bound(lanes)];
  LAMINA_UNROLL for (int r = 0; r < lanes; ++r) acc[r] = vector(Real(0));
  for (int first = 0; first < n_size; first += panel_width) {
    const int width = width_of_panel<Real>(n_size, first);
    const Real* w =
        panels + offset_of_panel(k_size, first) + static_cast<std::ptrdiff_t>(k) * width;
    for (int j = 0; j < width; j += lanes) {
      vector right = vector::load_aligned(dy + first + j);
      hold_in_register(right);
      LAMINA_UNROLL for (int r = 0; r < lanes; ++r) {
        acc[r] = fused_multiply_add(vector::load_unaligned(w + r * width + j), right, acc[r]);
      }
    }
  }
  LAMINA_UNROLL for (int r = 0; r < lanes; ++r) acc[r].store_aligned(to + r * lanes);
}

// sums[r] = W[k + r] . dy for r < rows, and 0 for rows <= r < lanes.
template <class Real>
inline void dot_rows(int k_size, int n_size, int k, int rows, const Real* panels, const Real* dy,
                     Real* sums) {
  using vector = vector_in<Real>;
  constexpr int lanes = lanes_in<Real>;
  alignas(64) Real partial[bound(lanes * lanes)] = {};
  alignas(64) Real turned[bound(lanes * lanes)];
  if (rows == lanes) {
    dot_whole_block(k_size, n_size, k, panels, dy, partial);
  } else {
    for (int r = 0; r < rows; ++r)
      dot_one_row(k_size, n_size, k + r, panels, dy, partial + r * lanes);
  }
  transpose_square(partial, lanes, turned, lanes);
  vector sum = vector::load_aligned(turned);
  for (int j = 1; j < lanes; ++j) sum += vector::load_aligned(turned + j * lanes);
  sum.store_aligned(sums);
}

}  // namespace detail

/// The size in floats of the scratch memory for `gemm_dx_small_batch` with these sizes.
constexpr std::ptrdiff_t gemm_dx_small_batch_scratch_floats(int m_size, int n_size) {
  return static_cast<std::ptrdiff_t>(m_size) * padded(n_size);
}

/// The same product as `gemm_dx`, for M from 1 to `small_batch_rows`. Reads W only once, row by
/// row.
template <class Real>
LAMINA_KERNEL void gemm_dx_small_batch(int m_size, int k_size, int n_size, const Real* dy,
                                       std::ptrdiff_t dy_stride, const Real* panels,
                                       std::ptrdiff_t product_stride, basic_epilogue<Real> run,
                                       const void* context, Real* scratch);

#if LAMINA_DEFINES

template <class Real>
void gemm_dx_small_batch(int m_size, int k_size, int n_size, const Real* dy,
                         std::ptrdiff_t dy_stride, const Real* panels,
                         std::ptrdiff_t product_stride, basic_epilogue<Real> run,
                         const void* context, Real* scratch) {
  constexpr int together = lanes_in<Real>;
  constexpr int full_width = panel_width_in<Real>;
  static_assert(small_batch_rows <= tile_rows);
  alignas(64) Real sums[bound(small_batch_rows * full_width)];
  const int columns = padded(n_size);
  detail::copy_rows_padded(m_size, n_size, columns, dy, dy_stride, scratch, columns);
  for (int first = 0; first < padded(k_size); first += full_width) {
    const int width = width_of_panel<Real>(k_size, first);
    for (int j = 0; j < width; j += together) {
      const int rest = k_size - first - j;
      const int rows = rest < 0 ? 0 : rest < together ? rest : together;
      for (int m = 0; m < m_size; ++m) {
        detail::dot_rows(k_size, n_size, first + j, rows, panels,
                         scratch + static_cast<std::ptrdiff_t>(m) * columns, sums + m * width + j);
      }
    }
    run({sums, m_size, width, 0, first, first, product_stride}, context);
  }
}
LAMINA_INSTANCE(void gemm_dx_small_batch<float>(int, int, int, const float*, std::ptrdiff_t,
                                                const float*, std::ptrdiff_t, basic_epilogue<float>,
                                                const void*, float*))
LAMINA_INSTANCE(void gemm_dx_small_batch<double>(int, int, int, const double*, std::ptrdiff_t,
                                                 const double*, std::ptrdiff_t,
                                                 basic_epilogue<double>, const void*, double*))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
