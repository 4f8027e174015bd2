// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/pool/common.hpp - the pooling type of sequence_pool and its factor.
#pragma once

#include <lamina/core/config.hpp>

#include <string_view>

#include <lamina/core/numbers/math.hpp>
#include <lamina/engine/common/call_error.hpp>
#include <lamina/operators/sequence/pool/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// Returns the pooling type of a sequence_pool operator.
LAMINA_API_COLD pooling_type sequence_pool_of(const operator_call& c);

/// Returns the factor by which the sum of a sequence of `length` rows is multiplied: 1 / length for
/// averages, 1 / sqrt(length) for SQRT, else 1.
template <class Real = float>
LAMINA_FN Real pool_factor(pooling_type type, int length) {
  const Real n = static_cast<Real>(length);
  return type == pooling_type::average ? Real(1) / n
         : type == pooling_type::sqrt  ? Real(1) / math::sqrt(n)
                                       : Real(1);
}

#if LAMINA_DEFINES

pooling_type sequence_pool_of(const operator_call& c) {
  const std::string_view type = text_of(c, 0);
  for (int i = 0; i <= static_cast<int>(pooling_type::first); ++i)
    if (pool_names[i] == type) return static_cast<pooling_type>(i);
  fail(c, {"expected a pooltype of Fluid, found ", type});
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine
