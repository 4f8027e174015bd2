// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/ids/layer_enumerate.hpp - sequence_enumerate: windows of ids in
// sequences.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/row_ids.hpp>
#include <lamina/operators/sequence/ids/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of sequence_enumerate.
struct sequence_enumerate_attr {
  int pad_value = 0;  // fills the positions after the end of a sequence
  std::string_view name{};
};

/// Returns, for each id, a window of the id and the next Window - 1 ids of its sequence; after the
/// end of the sequence, the window has pad_value: `sequence_enumerate<3>(words)`. For ids [-1, 1],
/// the result is [-1, Window] with the same rows. Fluid: layers.sequence_enumerate.
template <int Window, class Index, class R, int... D>
constexpr auto sequence_enumerate(variable<Index, R, D...> x,
                                  const options<sequence_enumerate_attr, Index>& attr = {}) {
  using in = variable<Index, R, D...>;
  constexpr bool fits = is_tokens<R> && one_id_a_row<in> && Window > 0;
  static_assert(
      check<fits, gets_type<in>, gets<Window>>,
      "lamina: sequence_enumerate: the input is sequences of one whole number per row, and "
      "the window is positive");
  program_builder& b = *x.builder;
  layer_helper layer(b, "sequence_enumerate", attr.name);
  const auto y = layer.template output<variable<Index, R, Window>>();
  detail::without_gradient(layer, y.id);
  b.add_operator(schema_of<operators::sequence_enumerate>(), {x.id}, {y.id},
                 b.attribute_list(Window, attr.pad_value));
  return layer.returns(y);
}

}}}  // namespace lamina::layer
