// SPDX-License-Identifier: Apache-2.0
// lamina/operators/decode/beam_search/common.hpp - selects the best candidates of a step of a beam
// search, for all engines.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

#include <lamina/core/numbers/extremes.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// A candidate: the hypothesis in row `parent`, extended by one id.
template <class Real>
struct beam_candidate {
  std::int64_t id;
  Real score;
  std::int32_t parent;

  /// Whether this candidate is worse. A NaN score ranks above any number, as in top_k.
  LAMINA_FN bool operator<(const beam_candidate& other) const {
    return math::is_same(score, other.score) ? parent < other.parent
                                             : math::is_above(other.score, score);
  }
};

/// A list of the best candidates of one source (the sequence that is decoded), the best candidate
/// first.
template <class Real>
struct beam_best {
  using candidate = beam_candidate<Real>;

  candidate* items;
  int most, count = 0;

  LAMINA_FN bool keeps(const candidate& c) const { return count < most || !(c < items[count - 1]); }
  /// Inserts a candidate if it belongs to the best ones. Equal candidates stay in the order of
  /// their insertion, except that in a full list, a candidate that is equal to the last one
  /// replaces it.
  LAMINA_FN void keep(const candidate& c) {
    if (!keeps(c)) return;
    if (count == most) --count;
    int at = count++;
    for (; at > 0 && items[at - 1] < c; --at) items[at] = items[at - 1];
    items[at] = c;
  }
};

}}}  // namespace lamina::engine
