// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/memory/partial_sums.hpp - the state of sums over the samples of a mini-batch if
// a kernel computes the sums in several calls.
#pragma once

#include <lamina/core/config.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// The state of sums over the samples of a mini-batch. A kernel computes such sums in several
/// calls, each for a part of the samples, and keeps the sums in the memory `of` between the calls.
/// If `of` is null, one call computes the sums over all samples.
template <class Real>
struct basic_partial_sums {
  Real* of = nullptr;
  bool continues = false;  ///< not the first call: `of` holds the sums over the earlier parts
  bool ends = true;        ///< the last call: after it, the sums are complete
};
using partial_sums = basic_partial_sums<float>;

}}}  // namespace lamina::engine::cpu
