// SPDX-License-Identifier: Apache-2.0
// lamina/operators/random/dropout/common.hpp - the factor by which dropout multiplies the elements
// that it keeps.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/common/operator_call.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// Returns the factor by which an element that is kept is multiplied.
template <class Real = float>
inline Real dropout_factor(const operator_call& c) {
  const double p = c.number(0);
  const bool upscale = text_of(c, 4) == "upscale_in_train";
  if (c.flag(1)) return upscale ? Real(1) : static_cast<Real>(1 - p);
  if (!upscale) return 1;
  return p >= 1 ? Real(0) : static_cast<Real>(1 / (1 - p));
}

}}}  // namespace lamina::engine
