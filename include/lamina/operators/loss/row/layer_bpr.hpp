// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/row/layer_bpr.hpp - bpr_loss: Bayesian personalized ranking.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/one_operator.hpp>
#include <lamina/operators/loss/cross_entropy/layer.hpp>
#include <lamina/operators/loss/row/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Returns, for each row x, the mean over j != label of log(1 + e^(x_j - x_label)). Source: Hidasi
/// et al. 2016. Fluid: bpr_loss.
template <class T, class R, int... D, class L, class S, int... E>
constexpr auto bpr_loss(variable<T, R, D...> x, variable<L, S, E...> label,
                        const options<cross_entropy_attr, T>& attr = {},
                        int line = __builtin_LINE()) {
  using in = variable<T, R, D...>;
  using given = variable<L, S, E...>;
  constexpr bool fits = detail::hard_labels<in, given>;
  static_assert(check<fits, gets_type<in>, expects_type<detail::label_of<in>>, gets_type<given>>,
                "lamina: bpr_loss: labels are one int64 per row");
  require_one_program(x, label, line);
  layer_helper layer(*x.builder, "bpr_loss", attr.name);
  const auto y = layer.template output<detail::one_a_row<in>>();
  x.builder->add_operator(schema_of<operators::bpr_loss>(), {x.id, label.id}, {y.id});
  return layer.returns(y);
}

}}}  // namespace lamina::layer
