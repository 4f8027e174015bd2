// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/ids/layer_scatter.hpp - sequence_scatter: adds the elements of each
// sequence to elements of one row of another variable.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/row_ids.hpp>
#include <lamina/operators/sequence/ids/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of sequence_scatter.
struct sequence_scatter_attr {
  std::string_view name{};
};

/// Returns x after the addition x[s, ids[t]] += updates[t] for each row t of each sequence s:
/// `sequence_scatter(x, ids, updates)`. x [-1, W] has rows Parent; ids and updates are [-1, 1] with
/// rows tokens<"a", Parent>. If an id is not a column of x, the run fails. Fluid:
/// layers.sequence_scatter.
template <class T, class P, int... D, class Index, class R, int... E, class U, class S, int... F>
constexpr auto sequence_scatter(variable<T, P, D...> x, variable<Index, R, E...> ids,
                                variable<U, S, F...> updates,
                                const options<sequence_scatter_attr, T>& attr = {},
                                int line = __builtin_LINE()) {
  using in = variable<T, P, D...>;
  using numbers = variable<Index, R, E...>;
  using added = variable<U, S, F...>;
  constexpr bool fits = detail::is_real<T> && sizeof...(D) == 1 && is_tokens<R> &&
                        one_id_a_row<numbers> && __is_same(parent_rows<R>, P) &&
                        __is_same(added, variable<T, R, 1>);
  static_assert(check<fits, gets_type<in, numbers, added>>,
                "lamina: sequence_scatter: one sequence of ids and updates [-1, 1] for each row of "
                "the input [-1, width]");
  require_one_program(x, ids, line);
  require_one_program(x, updates, line);
  program_builder& b = *x.builder;
  layer_helper layer(b, "sequence_scatter", attr.name);
  const auto y = layer.template output<in>();
  b.add_operator(schema_of<operators::sequence_scatter>(), {x.id, ids.id, updates.id}, {y.id});
  return layer.returns(y);
}

}}}  // namespace lamina::layer
