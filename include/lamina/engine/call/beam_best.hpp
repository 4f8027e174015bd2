// SPDX-License-Identifier: Apache-2.0
// lamina/engine/call/beam_best.hpp - the best candidates of a beam search, for every engine.
#pragma once

#include <cstdint>

#include <lamina/core/config.hpp>

namespace lamina::engine {

/// A hypothesis and one id more.
struct beam_candidate {
  std::int64_t id;
  float score;
  std::int32_t parent;

  LAMINA_FN bool operator<(const beam_candidate& other) const {
    return score != other.score ? score < other.score : parent < other.parent;
  }
};

/// The best candidates of one source, the best first.
struct beam_best {
  beam_candidate* items;
  int most, count = 0;

  LAMINA_FN bool keeps(const beam_candidate& c) const {
    return count < most || !(c < items[count - 1]);
  }
  /// Of equal ones the first stay, but the last of all replaces the last one that is kept.
  LAMINA_FN void keep(const beam_candidate& c) {
    if (!keeps(c)) return;
    if (count == most) --count;
    int at = count++;
    for (; at > 0 && items[at - 1] < c; --at) items[at] = items[at - 1];
    items[at] = c;
  }
};

}  // namespace lamina::engine
