// SPDX-License-Identifier: Apache-2.0
// lamina/operators/metric/sequence/layer_edit_distance.hpp - the edit distance between predicted
// and expected sequences.
#pragma once

#include <lamina/core/config.hpp>

#include <tuple>

#include <lamina/layers/sequence_rows.hpp>
#include <lamina/operators/metric/sequence/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of edit_distance.
struct edit_distance_attr {
  bool normalized = true;  // divide by the label's length, which must not be 0
  std::string_view name{};
};

/// Returns the edit distance between sequence i of `input` and sequence i of `label`, for each i,
/// and the number of sequences: `auto [distance, count] = edit_distance(decoded, label)`. The
/// inputs are ids [-1, 1] whose rows have the same parent: tokens<"a", Parent> and tokens<"b",
/// Parent>. The distances are float [-1, 1] with rows Parent; the count is int64 [1]. To ignore
/// some ids, first remove them from both inputs by sequence_erase. Fluid: layers.edit_distance.
template <class Index, class R, int... D, class L, class S, int... E>
constexpr auto edit_distance(variable<Index, R, D...> input, variable<L, S, E...> label,
                             const options<edit_distance_attr, Index>& attr = {},
                             int line = __builtin_LINE()) {
  using in = variable<Index, R, D...>;
  using given = variable<L, S, E...>;
  constexpr bool fits = is_tokens<R> && is_tokens<S> && one_id_a_row<in> && one_id_a_row<given> &&
                        __is_same(parent_rows<R>, parent_rows<S>);
  static_assert(check<fits, gets_type<in, given>>,
                "lamina: edit_distance: two sequences of whole numbers for each row of one parent");
  require_one_program(input, label, line);
  program_builder& b = *input.builder;
  layer_helper layer(b, "edit_distance", attr.name);
  const auto distance = layer.template output<variable<float, parent_rows<R>, 1>>();
  const auto count = layer.template output<variable<std::int64_t, once, 1>>();
  detail::without_gradient(layer, distance.id);
  detail::without_gradient(layer, count.id);
  b.add_operator(schema_of<operators::edit_distance>(), {input.id, label.id},
                 {count.id, distance.id}, b.attribute_list(attr.normalized));
  return std::tuple{layer.returns(distance), count};
}

}}}  // namespace lamina::layer
