// SPDX-License-Identifier: Apache-2.0
// lamina/operators/embedding/lookup_table/layer.hpp - embeddings: rows of a trained table, selected
// by ids.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/embedding/lookup_table/definition.hpp>
#include <lamina/operators/loss/cross_entropy/layer.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// The value of the option padding_idx for which no id is padding.
inline constexpr int no_padding = -2147483647 - 1;

/// Options of embedding.
struct embedding_attr {
  param_attr param{};            // attributes of the table; initialised by Xavier
  int padding_idx = no_padding;  // this id yields zeros; negative: from the end
  bool is_sparse = false;        // the gradient holds only the rows that were read
  bool is_distributed = false;   // is_sparse, and several processes divide the rows
  std::string_view name{};
};

/// Returns the rows of a parameter, the table [dictionary, width], that ids select:
/// `embedding<dictionary, width>(ids)`. For int64 ids [..., 1], the result is [..., width]. With
/// is_sparse, the time of a training step depends on the number of rows that the step reads, not on
/// the size of the dictionary. With is_distributed, the rows of the table are divided among the
/// processes of a training (docs/sharded_tables.md). Fluid: layers.embedding.
template <int Size, int Width, class T = float, class Index, class R, int... D>
constexpr auto embedding(variable<Index, R, D...> ids,
                         const options<embedding_attr, Index>& attr = {},
                         int line = __builtin_LINE()) {
  using in = variable<Index, R, D...>;
  constexpr bool fits = __is_same(in, detail::label_of<in>);
  static_assert(check<fits, expects_type<variable<std::int64_t, R, 1>>, gets_type<in>>,
                "lamina: embedding: the ids are int64 and their last dimension is 1");
  static_assert(Size > 0 && Width > 0, "lamina: embedding: dictionary and width are positive");
  constexpr extents shape = detail::with_last(whole_shape<in>, Width);
  using out = handle_of<T, R, shape>;
  program_builder& b = *ids.builder;
  layer_helper layer(b, "embedding", attr.name);
  const int table =
      layer.parameter(attr.param, ".w_", {Size, Width}, dtype_of<T>, init::xavier(), line);
  const out y = layer.template output<out>();
  const bool pads = attr.padding_idx != no_padding;
  if (pads && (attr.padding_idx < -Size || attr.padding_idx >= Size)) {
    const int expected[] = {Size}, found[] = {attr.padding_idx};
    b.report(fault_kind::embedding_range, line, {}, expected, 1, found, 1);
  }
  const int padding = pads ? attr.padding_idx < 0 ? attr.padding_idx + Size : attr.padding_idx : -1;
  b.add_operator(
      schema_of<operators::lookup_table>(), {table, ids.id}, {y.id},
      pads || attr.is_sparse || attr.is_distributed
          ? b.attribute_list(attr.is_sparse || attr.is_distributed, attr.is_distributed, padding)
          : -1);
  return layer.returns(y);
}

#ifdef LAMINA_NAMES_OPTIONS
// clang-format off
template <any_value...>
constexpr no_match<embedding_attr>
embedding(...) = delete;  // embedding<9, 4>(i); param, padding_idx, is_sparse, is_distributed, name
// clang-format on
#endif

}}}  // namespace lamina::layer
