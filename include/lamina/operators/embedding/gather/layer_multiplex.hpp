// SPDX-License-Identifier: Apache-2.0
// lamina/operators/embedding/gather/layer_multiplex.hpp - selects, for each row, the variable from
// which the row is copied.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/one_operator.hpp>
#include <lamina/layers/sequence_rows.hpp>
#include <lamina/operators/embedding/gather/definition.hpp>
#include <lamina/operators/shape/concat/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of multiplex.
struct multiplex_attr {
  std::string_view name{};
};

/// Returns y[i] = inputs[ids[i]][i], so ids[i] selects the variable from which row i is copied:
/// `multiplex({x, y, z}, ids)`. ids has one integer per row; 0 selects the first variable. Fluid:
/// multiplex.
template <class V, std::size_t N, class Index>
constexpr auto multiplex(const V (&inputs)[N], Index ids,
                         const options<multiplex_attr, V>& attr = {}, int line = __builtin_LINE()) {
  constexpr bool fits = has_rows<typename V::rows_type> && one_id_a_row<Index> &&
                        __is_same(typename V::rows_type, typename Index::rows_type);
  static_assert(check<fits, gets_type<V>, gets_type<Index>>,
                "lamina: multiplex: one whole number for each row of the inputs");
  program_builder& b = *ids.builder;
  for (const V& x : inputs) require_one_program(ids, x, line);
  layer_helper layer(b, "multiplex", attr.name);
  const int y = layer.output_like(inputs[0].id);
  operator_desc op = b.begin(schema_of<operators::multiplex>());
  b.argument(ids.id);
  int list[N];
  for (std::size_t i = 0; i < N; ++i) list[i] = inputs[i].id;
  b.list(list, static_cast<int>(N));
  op.outputs = b.arguments.count;
  b.argument(y);
  op.end = b.arguments.count;
  b.operators.push(op);
  return layer.returns(V{&b, y});
}

}}}  // namespace lamina::layer
