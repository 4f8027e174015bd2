// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/norm/layer.hpp - normalisation of vectors along one dimension to length 1.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/one_operator.hpp>
#include <lamina/layers/shape.hpp>
#include <lamina/operators/norm/norm/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of l2_normalize.
struct l2_normalize_attr {
  float epsilon = 1e-12f;
  std::string_view name{};
};

/// x / sqrt(sum x^2 + epsilon) along dimension Axis of the whole shape. If the root is 0, the
/// result and its gradient are 0. Fluid: l2_normalize.
template <int Axis = -1, class T, class R, int... D>
constexpr auto l2_normalize(variable<T, R, D...> x, const options<l2_normalize_attr, T>& attr = {},
                            int line = __builtin_LINE()) {
  using in = variable<T, R, D...>;
  constexpr extents all = whole_shape<in>;
  constexpr int axis = dimension(Axis, all.rank);
  constexpr bool fits = detail::is_real<T> && axis >= static_cast<int>(all.has_rows());
  static_assert(check<fits, gets<Axis>, gets_type<in>>,
                "lamina: l2_normalize: floating point, along an inner dimension");
  constexpr extents shape = [] {
    extents r = whole_shape<in>;
    if (dimension(Axis, r.rank) >= 0) r.at[dimension(Axis, r.rank)] = 1;
    return r;
  }();
  program_builder& b = *x.builder;
  b.require_option(attr.epsilon >= 0, line, "l2_normalize: epsilon >= 0");
  layer_helper layer(b, "l2_normalize", attr.name);
  const int y = layer.output_like(x.id);
  const int norm = layer.template output<handle_of<T, R, shape>>().id;
  b.add_operator(schema_of<operators::norm>(), {x.id}, {norm, y},
                 b.attribute_list(Axis, attr.epsilon));
  return layer.returns(in{&b, y});
}

}}}  // namespace lamina::layer
