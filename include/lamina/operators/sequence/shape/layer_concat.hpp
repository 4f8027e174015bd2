// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/shape/layer_concat.hpp - sequence_concat: concatenates sequences.
#pragma once

#include <lamina/core/config.hpp>

#include <tuple>

#include <lamina/layers/sequence_rows.hpp>
#include <lamina/operators/sequence/shape/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of sequence_concat.
struct sequence_concat_attr {
  std::string_view name{};
};

/// Returns sequences: sequence i consists of sequence i of the first input, then sequence i of the
/// second input, and so on: `sequence_concat<"both">(std::tuple{titles, bodies})`. The result has
/// new sequences with the name Name. All inputs must have the same element type and the same
/// dimensions, and their sequences must have the same parent rows. Fluid: layers.sequence_concat.
template <fixed_string Name, class First, class... More>
constexpr auto sequence_concat(std::tuple<First, More...> inputs,
                               const options<sequence_concat_attr, First>& attr = {},
                               int line = __builtin_LINE()) {
  using rows = typename First::rows_type;
  using parent = parent_rows<rows>;
  constexpr bool fits = is_tokens<rows> && (is_tokens<typename More::rows_type> && ...) &&
                        (__is_same(with_rows<parent_rows<typename More::rows_type>, More>,
                                   with_rows<parent, First>) &&
                         ...);
  static_assert(
      check<fits, expects_type<First>, gets_type<More...>>,
      "lamina: sequence_concat: the inputs are sequences of the same rows, of one shape and "
      "type");
  using out = with_rows<tokens<Name, parent>, First>;
  program_builder& b = *std::get<0>(inputs).builder;
  int ids[1 + sizeof...(More)];
  int n = 0;
  std::apply(
      [&](auto... x) {
        (require_one_program(std::get<0>(inputs), x, line), ...);
        ((ids[n++] = x.id), ...);
      },
      inputs);
  layer_helper layer(b, "sequence_concat", attr.name);
  const out y = layer.template output<out>();
  detail::add_joining(b, schema_of<operators::sequence_concat>(), ids, n, y.id);
  return layer.returns(y);
}

}}}  // namespace lamina::layer
