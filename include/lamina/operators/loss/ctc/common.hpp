// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/ctc/common.hpp - functions of the warpctc kernels of all engines: sums of
// logarithms, and the choice of the rows that are stored.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/numbers/math.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// The logarithm that stands for probability 0. It is far below all other logarithms, but finite,
/// because minus infinity minus itself is NaN.
inline constexpr float ctc_none = -1e30f;

/// Returns the number of rows per block of a sequence with `rows` rows: the square root of `rows`,
/// rounded up. The forward pass keeps its sums over path prefixes only for the first row of each
/// block. The backward pass computes the sums of the other rows again, block by block. So memory
/// grows with the square root of the number of rows, not with the number of rows.
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

}}}  // namespace lamina::engine
