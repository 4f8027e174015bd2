// SPDX-License-Identifier: Apache-2.0
// lamina/layers/stop_gradient.hpp - excludes values from training: no gradient flows through them.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/one_operator.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Marks x: no gradient flows back through it to the variables from which it was computed. Records
/// no operator. The mark applies to every reader of x, including earlier ones. To stop the gradient
/// for some readers only, mark an `assign(x)` and let them read it. Data layers are marked from the
/// start; `param_attr::trainable` freezes a parameter. Returns x. Fluid: x.stop_gradient = True.
template <class T, class R, int... D>
constexpr variable<T, R, D...> stop_gradient(variable<T, R, D...> x, int line = __builtin_LINE()) {
  program_builder& b = *x.builder;
  lamina::detail::require_visible(b, x.id, line);
  b.variables[x.id].stop_gradient = true;
  return x;
}

}}}  // namespace lamina::layer
