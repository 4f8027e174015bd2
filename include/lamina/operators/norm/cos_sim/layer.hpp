// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/cos_sim/layer.hpp - the cosine similarity of two rows.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/loss/cross_entropy/layer.hpp>
#include <lamina/operators/norm/cos_sim/definition.hpp>
#include <lamina/operators/norm/layer_norm/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of cos_sim.
struct cos_sim_attr {
  std::string_view name{};
};

/// x . y / (|x| |y|) per row, shape [-1, 1]; y may be a single row [1, width] for all rows of x. If
/// a vector has length 0, the result and its gradient are 0. Fluid: cos_sim.
template <class T, class R, int... D, class U, class S, int... E>
constexpr auto cos_sim(variable<T, R, D...> x, variable<U, S, E...> y,
                       const options<cos_sim_attr, T>& attr = {}, int line = __builtin_LINE()) {
  using left = variable<T, R, D...>;
  using right = variable<U, S, E...>;
  constexpr extents a = whole_shape<left>, c = whole_shape<right>;
  constexpr bool types = __is_same(T, U) && (__is_same(R, S) || !has_rows<S>);
  constexpr bool fits = !types || (a.rank == 2 && c.rank == 2 && a.at[1] == c.at[1] &&
                                   (c.at[0] == a.at[0] || c.at[0] == 1));
  static_assert(check<types, expects_type<left>, gets_type<right>>,
                "lamina: cos_sim: both sides have one element type and the same rows, or the right "
                "one none");
  static_assert(check<fits, expects_type<left>, gets_type<right>>,
                "lamina: cos_sim: both sides are rows of one width");
  require_one_program(x, y, line);
  program_builder& b = *x.builder;
  layer_helper layer(b, "cos_sim", attr.name);
  const auto out = layer.template output<detail::one_a_row<left>>();
  const int x_norm = layer.output_like(out.id);
  const int y_norm = layer.template output<detail::one_a_row<right>>().id;
  b.add_operator(schema_of<operators::cos_sim>(), {x.id, y.id}, {out.id, x_norm, y_norm});
  return layer.returns(out);
}

}}}  // namespace lamina::layer
