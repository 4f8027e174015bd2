// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/memory/partial_sums.hpp - the state of sums over mini-batch rows that are
// computed in several calls.
#pragma once

#include <lamina/core/config.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// State of sums over mini-batch rows that a kernel computes in several calls, one call per part of
/// the rows. `of` is the memory that holds the sums between the calls; if it is null, one call
/// covers all rows.
template <class Real>
struct basic_partial_sums {
  Real* of = nullptr;
  bool continues = false;  ///< not the first part: `of` holds the sums of earlier parts
  bool ends = true;        ///< this is the last part: the sums are final
};
using partial_sums = basic_partial_sums<float>;

}}}  // namespace lamina::engine::cpu
