// SPDX-License-Identifier: Apache-2.0
// lamina/layers/stop_gradient.hpp - values that training takes as given.
#pragma once

#include <lamina/layers/one_operator.hpp>

namespace lamina::layer {

/// Marks x: no gradient flows back through it, so what it was computed from does not learn by it.
/// Records no operator. Holds for every reader of x, those before included; for a value of which
/// some readers pass a gradient on and others do not, mark an `assign(x)`. Data layers are marked
/// from the start; a parameter is held by `param_attr::trainable`. Returns x.
/// Fluid: x.stop_gradient = True.
template <class T, class R, int... D>
constexpr variable<T, R, D...> stop_gradient(variable<T, R, D...> x, int line = __builtin_LINE()) {
  program_builder& b = *x.builder;
  lamina::detail::require_visible(b, x.id, line);
  b.variables[x.id].stop_gradient = true;
  return x;
}

}  // namespace lamina::layer
