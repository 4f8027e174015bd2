// SPDX-License-Identifier: Apache-2.0
// lamina/plan/feed_mask.hpp - which data layers of a program a run has.
#pragma once

#include <lamina/core/config.hpp>

namespace lamina::inline LAMINA_ABI {

/// The data layers that are fed, as groups of a schedule ask for them: a bit for each layer. Layers
/// whose numbers are 64 apart share a bit, which says that all of them are fed.
constexpr unsigned long long feed_mask(const bool* is_fed, int layers) {
  unsigned long long fed = 0, missing = 0;
  for (int i = 0; i < layers; ++i) (is_fed[i] ? fed : missing) |= 1ull << (i & 63);
  return fed & ~missing;
}

}  // namespace lamina::inline LAMINA_ABI
