// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/ctc/layer_greedy_decoder.hpp - ctc_align and ctc_greedy_decoder: label
// sequences from the class of each row.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/sequence_rows.hpp>
#include <lamina/operators/loss/ctc/definition.hpp>
#include <lamina/operators/metric/classification/layer.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of ctc_align.
struct ctc_align_attr {
  int blank = 0;               // the class that stands for no label
  bool merge_repeated = true;  // equal neighbours become one label
  std::string_view name{};
};

/// Options of ctc_greedy_decoder.
struct ctc_greedy_decoder_attr {
  int blank = 0;  // the class that stands for no label
  std::string_view name{};
};

/// Converts the classes of rows to labels: merges equal neighbours, then drops blanks. Example:
/// `ctc_align<"labels">(classes)`. For ids [-1, 1] with rows tokens<"a", Parent>, the result has
/// rows tokens<"labels", Parent>. Fluid: ctc_align.
template <fixed_string Name, class Index, class R, int... D>
constexpr auto ctc_align(variable<Index, R, D...> input,
                         const options<ctc_align_attr, Index>& attr = {}) {
  using in = variable<Index, R, D...>;
  static_assert(check<(is_tokens<R> && one_id_a_row<in>), gets_type<in>>,
                "lamina: ctc_align: the input is sequences of one whole number per row");
  program_builder& b = *input.builder;
  layer_helper layer(b, "ctc_align", attr.name);
  const auto y = layer.template output<variable<Index, tokens<Name, parent_rows<R>>, 1>>();
  detail::without_gradient(layer, y.id);
  b.add_operator(schema_of<operators::ctc_align>(), {input.id}, {y.id},
                 b.attribute_list(attr.blank, attr.merge_repeated));
  return layer.returns(y);
}

/// Returns the labels of the most likely class of each row, equal neighbours merged and blanks
/// dropped: `ctc_greedy_decoder<"labels">(probabilities)`. For scores [-1, classes], the result is
/// int64 [-1, 1] with rows tokens<"labels", Parent>. Fluid: layers.ctc_greedy_decoder.
template <fixed_string Name, class T, class R, int... D>
constexpr auto ctc_greedy_decoder(variable<T, R, D...> input,
                                  const options<ctc_greedy_decoder_attr, T>& attr = {}) {
  using in = variable<T, R, D...>;
  constexpr bool fits = detail::is_real<T> && is_tokens<R> && sizeof...(D) == 1;
  static_assert(check<fits, gets_type<in>>,
                "lamina: ctc_greedy_decoder: the input is sequences of one score per class");
  using out = variable<std::int64_t, tokens<Name, parent_rows<R>>, 1>;
  if constexpr (fits)
    return ctc_align<Name>(std::get<1>(topk<1>(input)), {.blank = attr.blank, .name = attr.name});
  else
    return out{input.builder, input.id};
}

}}}  // namespace lamina::layer
