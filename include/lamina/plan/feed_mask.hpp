// SPDX-License-Identifier: Apache-2.0
// lamina/plan/feed_mask.hpp - the set of data layers that a run feeds, as a bit mask.
#pragma once

#include <lamina/core/config.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Returns a mask with one bit per data layer, which is 1 if the layer is fed. A group of a
/// schedule runs if the bits of all feeds that it needs are 1. Layers whose numbers differ by a
/// multiple of 64 share a bit, which is 1 only if all of them are fed.
constexpr unsigned long long feed_mask(const bool* is_fed, int layers) {
  unsigned long long fed = 0, missing = 0;
  for (int i = 0; i < layers; ++i) (is_fed[i] ? fed : missing) |= 1ull << (i & 63);
  return fed & ~missing;
}

}}  // namespace lamina
