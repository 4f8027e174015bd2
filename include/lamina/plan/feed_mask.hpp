// SPDX-License-Identifier: Apache-2.0
// lamina/plan/feed_mask.hpp - the set of data layers that a run feeds, as a bit mask.
#pragma once

#include <lamina/core/config.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// A mask with one bit per data layer: 1 if the layer is fed. It is compared with the feeds that
/// each group of a schedule needs. Layers whose numbers differ by a multiple of 64 share a bit,
/// which is 1 if all of them are fed.
constexpr unsigned long long feed_mask(const bool* is_fed, int layers) {
  unsigned long long fed = 0, missing = 0;
  for (int i = 0; i < layers; ++i) (is_fed[i] ? fed : missing) |= 1ull << (i & 63);
  return fed & ~missing;
}

}}  // namespace lamina
