// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/memory/partial_sums.hpp - sums over the rows of a batch that are made a part
// at a time.
#pragma once

namespace lamina::engine::cpu {

/// Sums of which a kernel adds up one part, some rows, with the memory in which they wait for the
/// next part. Without memory the part is all there is.
template <class Real>
struct basic_partial_sums {
  Real* of = nullptr;
  bool continues = false;  ///< not the first part: `of` holds what came before
  bool ends = true;        ///< the last part: the sums are finished
};
using partial_sums = basic_partial_sums<float>;

}  // namespace lamina::engine::cpu
