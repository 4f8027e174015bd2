// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/memory/partial_sums.hpp - sums over the rows of a batch that are computed in
// parts.
#pragma once

#include <lamina/core/config.hpp>

namespace lamina::inline LAMINA_ABI::engine::cpu {

/// Sums over rows that a kernel computes in parts, with the memory that holds them between parts.
/// Without memory there is only one part.
template <class Real>
struct basic_partial_sums {
  Real* of = nullptr;
  bool continues = false;  ///< not the first part: `of` holds what came before
  bool ends = true;        ///< the last part: the sums are finished
};
using partial_sums = basic_partial_sums<float>;

}  // namespace lamina::inline LAMINA_ABI::engine::cpu
