// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/ctc/common.hpp - what the kernels of warpctc share: sums of logarithms, and
// which rows are kept.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/math.hpp>

namespace lamina::inline LAMINA_ABI::engine {

/// The logarithm of no probability: far below all others, but a number, so that differences are.
inline constexpr float ctc_none = -1e30f;

/// The number of rows of a sequence in one block, about the square root of all rows. Only the first
/// row of each block keeps the sums over beginnings; the backward pass computes the others again,
/// block by block, so memory grows with the square root of the rows.
LAMINA_FN constexpr int ctc_block(int rows) {
  int k = 1;
  while (k * k < rows) ++k;
  return k;
}

/// log(e^a + e^b + e^c).
template <class V>
LAMINA_INLINE LAMINA_NUMBER_FN V log_sum(V a, V b, V c) {
  const V most = (math::max)((math::max)(a, b), c);
  return most + math::log(math::exp_in_sum(V(a - most)) + math::exp_in_sum(V(b - most)) +
                          math::exp_in_sum(V(c - most)));
}

}  // namespace lamina::inline LAMINA_ABI::engine
