// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/expand/layer_expand_as.hpp - sequence_expand_as: repeats a row for each
// row of a sequence.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/sequence_rows.hpp>
#include <lamina/operators/sequence/expand/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of sequence_expand_as.
struct sequence_expand_as_attr {
  std::string_view name{};
};

/// Repeats row i of x for each row of sequence i of y. The result has the rows of y, so that the
/// result and y can be added; the rows change in the opposite way as in sequence_pool. x must have
/// one row per sequence of y: its row type is the parent of the rows of y, or another row type on
/// this level. In the second case the run fails if the numbers of rows and sequences differ. Fluid:
/// layers.sequence_expand_as.
template <class T, class R, int... D, class U, class S, int... E>
constexpr auto sequence_expand_as(variable<T, R, D...> x, variable<U, S, E...> y,
                                  const options<sequence_expand_as_attr, T>& attr = {},
                                  int line = __builtin_LINE()) {
  using in = variable<T, R, D...>;
  using like = variable<U, S, E...>;
  constexpr bool fits = is_tokens<S> && has_rows<R> && R::lod_level + 1 == S::lod_level;
  static_assert(check<fits, gets_type<in>, gets_type<like>>,
                "lamina: sequence_expand_as: x has one row for each sequence of y");
  require_one_program(x, y, line);
  using out = with_rows<S, in>;
  program_builder& b = *x.builder;
  layer_helper layer(b, "sequence_expand_as", attr.name);
  const out made = layer.template output<out>();
  b.add_operator(schema_of<operators::sequence_expand_as>(), {x.id, y.id}, {made.id});
  return layer.returns(made);
}

}}}  // namespace lamina::layer
