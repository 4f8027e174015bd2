// SPDX-License-Identifier: Apache-2.0
// lamina/core/arrays/padding.hpp - the padding of an inner dimension in memory.
#pragma once

#include <lamina/core/config.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Rows of arrays are padded in memory to a multiple of this number of floats (64 bytes). The
/// number is the same on every architecture, so that plans and offsets do not depend on the
/// architecture.
inline constexpr int alignment_floats = 16;

/// Returns the smallest multiple of `alignment_floats` that is not below `n`; 0 for 0.
constexpr int padded(int n) {
  return (n + alignment_floats - 1) / alignment_floats * alignment_floats;
}

}}  // namespace lamina
