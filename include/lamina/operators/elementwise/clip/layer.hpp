// SPDX-License-Identifier: Apache-2.0
// lamina/operators/elementwise/clip/layer.hpp - limits for elements and for the norm of a variable.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/one_operator.hpp>
#include <lamina/operators/elementwise/assign/layer.hpp>
#include <lamina/operators/elementwise/clip/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Returns min(max(x, low), high) for each element. Fluid: clip.
template <class T, class R, int... D>
constexpr variable<T, R, D...> clip(variable<T, R, D...> x, double low, double high,
                                    const options<assign_attr, T>& attr = {},
                                    int line = __builtin_LINE()) {
  x.builder->require_option(low <= high, line, "clip: low <= high");
  return detail::same_shape<operators::clip>(x, "clip", attr.name,
                                             x.builder->attribute_list(low, high));
}

/// Returns x if ||x|| <= norm, else x * norm / ||x||, where ||x|| is the Euclidean norm of all
/// elements. Fluid: clip_by_norm.
template <class T, class R, int... D>
constexpr variable<T, R, D...> clip_by_norm(variable<T, R, D...> x, float norm,
                                            const options<assign_attr, T>& attr = {},
                                            int line = __builtin_LINE()) {
  x.builder->require_option(norm >= 0, line, "clip_by_norm: norm >= 0");
  return detail::same_shape<operators::clip_to_norm>(x, "clip_by_norm", attr.name,
                                                     x.builder->attribute_list(norm));
}

}}}  // namespace lamina::layer
