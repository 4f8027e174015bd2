// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/lrn/layer.hpp - local response normalisation.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/one_operator.hpp>
#include <lamina/operators/norm/lrn/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of lrn.
struct lrn_attr {
  int n = 5;  // number of neighbouring channels; odd
  float k = 1;
  float alpha = 1e-4f;
  float beta = 0.75f;
  std::string_view name{};
};

/// x / (k + alpha * the sum of squares over the n channels around an element)^beta at each
/// position. Source: Krizhevsky et al. 2012. Fluid: layers.lrn.
template <class T, class R, int C, int H, int W>
constexpr auto lrn(variable<T, R, C, H, W> x, const options<lrn_attr, T>& attr = {}) {
  using in = variable<T, R, C, H, W>;
  constexpr bool fits = detail::is_real<T> && has_rows<R>;
  static_assert(check<fits, gets_type<in>>,
                "lamina: lrn: the images are floating point, one per row");
  program_builder& b = *x.builder;
  layer_helper layer(b, "lrn", attr.name);
  const int middle = detail::without_gradient(layer, layer.output_like(x.id));
  const int y = layer.output_like(x.id);
  b.add_operator(schema_of<operators::lrn>(), {x.id}, {y, middle},
                 b.attribute_list(attr.n, attr.k, attr.alpha, attr.beta));
  return layer.returns(in{&b, y});
}

}}}  // namespace lamina::layer
