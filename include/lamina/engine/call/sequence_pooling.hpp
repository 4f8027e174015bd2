// SPDX-License-Identifier: Apache-2.0
// lamina/engine/call/sequence_pooling.hpp - what sequence_pool makes of a sequence.
#pragma once

#include <string_view>

#include <lamina/core/math.hpp>
#include <lamina/engine/call/call_error.hpp>
#include <lamina/operators/sequence_pool.hpp>

namespace lamina::engine {

/// The kind of pool that an operator asks for.
LAMINA_COLD inline pool sequence_pool_of(const operator_call& c) {
  const std::string_view type = text_of(c, 0);
  for (int i = 0; i <= static_cast<int>(pool::first); ++i)
    if (pool_names[i] == type) return static_cast<pool>(i);
  fail(c, {"expected a pooltype of Fluid, found ", type});
}

/// What the sum of a sequence is multiplied by.
LAMINA_FN inline float pool_factor(pool type, int length) {
  const float n = static_cast<float>(length);
  return type == pool::average ? 1.0f / n : type == pool::sqrt ? 1.0f / math::sqrt(n) : 1.0f;
}

}  // namespace lamina::engine
