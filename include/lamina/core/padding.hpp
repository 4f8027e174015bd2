// SPDX-License-Identifier: Apache-2.0
// lamina/core/padding.hpp - how far an inner dimension is padded in memory.
#pragma once

#include <lamina/core/config.hpp>

namespace lamina::inline LAMINA_ABI {

/// Every inner dimension occupies a multiple of this many floats in memory (64 bytes), on every
/// architecture, so that files, plans and offsets are portable.
inline constexpr int alignment_floats = 16;

/// The least multiple of `alignment_floats` that is not below `n`; 0 for 0.
constexpr int padded(int n) {
  return (n + alignment_floats - 1) / alignment_floats * alignment_floats;
}

}  // namespace lamina::inline LAMINA_ABI
