// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/ids/layer_erase.hpp - sequence_erase: removes ids from sequences.
#pragma once

#include <lamina/core/config.hpp>

#include <initializer_list>

#include <lamina/layers/row_ids.hpp>
#include <lamina/operators/sequence/ids/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of sequence_erase.
struct sequence_erase_attr {
  std::string_view name{};
};

/// Returns sequences without the ids in `erased`: `sequence_erase<"cleaned">(words, {0, 1})`. If
/// the rows are tokens<"a", Parent>, the result has rows tokens<"cleaned", Parent>. Fluid:
/// sequence_erase.
template <fixed_string Name, class Index, class R, int... D>
constexpr auto sequence_erase(variable<Index, R, D...> x, std::initializer_list<int> erased,
                              const options<sequence_erase_attr, Index>& attr = {}) {
  using in = variable<Index, R, D...>;
  static_assert(check<(is_tokens<R> && one_id_a_row<in>), gets_type<in>>,
                "lamina: sequence_erase: the input is sequences of one whole number per row");
  program_builder& b = *x.builder;
  layer_helper layer(b, "sequence_erase", attr.name);
  const auto y = layer.template output<variable<Index, tokens<Name, parent_rows<R>>, 1>>();
  detail::without_gradient(layer, y.id);
  const attribute_value ids = b.integer_list(erased.begin(), static_cast<int>(erased.size()));
  b.add_operator(schema_of<operators::sequence_erase>(), {x.id}, {y.id}, b.attribute_list(ids));
  return layer.returns(y);
}

}}}  // namespace lamina::layer
