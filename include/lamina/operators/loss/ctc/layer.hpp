// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/ctc/layer.hpp - the cost of label sequences whose positions in the input
// are unknown.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/sequence_rows.hpp>
#include <lamina/operators/loss/ctc/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of warpctc.
struct warpctc_attr {
  int blank = 0;               // the class that stands for no label
  bool norm_by_times = false;  // divides the gradient by the sequence's number of rows
  std::string_view name{};
};

/// Returns the cost -log P(label) of each sequence, [-1, 1] with rows Parent, where P is the sum of
/// the probabilities of all alignments of the labels with the rows: `warpctc(logits, label)`.
/// Logits, before softmax, are [-1, classes] with rows tokens<"a", Parent>. Labels are ids [-1, 1]
/// with rows tokens<"b", Parent>; no label may be the blank. If a sequence has too few rows for its
/// labels, the run fails. If logits of minus infinity give every alignment the probability 0, the
/// cost is infinite and the gradient is 0. Fluid: layers.warpctc.
template <class T, class R, int... D, class Index, class S, int... E>
constexpr auto warpctc(variable<T, R, D...> input, variable<Index, S, E...> label,
                       const options<warpctc_attr, T>& attr = {}, int line = __builtin_LINE()) {
  using in = variable<T, R, D...>;
  using given = variable<Index, S, E...>;
  constexpr bool fits = detail::is_real<T> && sizeof...(D) == 1 && is_tokens<R> && is_tokens<S> &&
                        one_id_a_row<given> && __is_same(parent_rows<R>, parent_rows<S>);
  static_assert(
      check<fits, gets_type<in, given>>,
      "lamina: warpctc: a sequence of one score per class and a sequence of whole numbers "
      "for each row of one parent");
  require_one_program(input, label, line);
  program_builder& b = *input.builder;
  layer_helper layer(b, "warpctc", attr.name);
  const int gradient = detail::without_gradient(layer, layer.output_like(input.id));
  const auto loss = layer.template output<variable<T, parent_rows<R>, 1>>();
  b.add_operator(schema_of<operators::warpctc>(), {input.id, label.id}, {gradient, loss.id},
                 b.attribute_list(attr.blank, attr.norm_by_times));
  return layer.returns(loss);
}

}}}  // namespace lamina::layer
