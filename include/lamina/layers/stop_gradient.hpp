// SPDX-License-Identifier: Apache-2.0
// lamina/layers/stop_gradient.hpp - stops gradients at a variable.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/one_operator.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Marks x so that no gradient flows through x to the variables from which it was computed. Records
/// no operator. The mark applies to all operators that read x, also to those recorded before. To
/// stop the gradient of some of them only, make a copy with `assign(x)`, mark the copy, and let
/// these operators read the copy. Data layers are marked from the start. (To freeze a parameter,
/// set its option `param_attr::trainable` to false.) Returns x. Fluid: x.stop_gradient = True.
template <class T, class R, int... D>
constexpr variable<T, R, D...> stop_gradient(variable<T, R, D...> x, int line = __builtin_LINE()) {
  program_builder& b = *x.builder;
  lamina::detail::require_visible(b, x.id, line);
  b.variables[x.id].stop_gradient = true;
  return x;
}

}}}  // namespace lamina::layer
