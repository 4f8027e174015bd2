// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/crf/layer.hpp - the cost of a sequence tagger with a conditional random
// field.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/sequence_rows.hpp>
#include <lamina/operators/loss/crf/definition.hpp>
#include <lamina/program/param_attr.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of linear_chain_crf and crf_decoding.
struct crf_attr {
  param_attr param{};  // attributes of the transitions; initialised by Xavier
  std::string_view name{};
};

namespace detail {
template <class T, class R, int... D>
constexpr bool is_emission(variable<T, R, D...>*) {
  return is_real<T> && is_tokens<R> && sizeof...(D) == 1;
}
/// Returns the parameter [tags + 2, tags] with the transition scores. Layers whose `attr.param` has
/// the same name share the parameter.
template <class T, int... D>
constexpr int transitions(layer_helper& layer, const crf_attr& attr, int line) {
  constexpr int tags = (D * ... * 1);
  return layer.parameter(attr.param, ".w_", {tags + 2, tags}, dtype_of<T>, init::xavier(), line);
}
}  // namespace detail

/// Returns the cost -log P(label) of each sequence under a linear chain of tags, [-1, 1] with rows
/// Parent: `linear_chain_crf(emission, tags, {.param = {.name = "crf"}})`. The emission has one
/// score per tag, [-1, tags] with rows tokens<"a", Parent>. Labels are [-1, 1] with the same rows
/// and values 0 to tags - 1. The layer creates a parameter [tags + 2, tags] of transition scores:
/// row 0 has the scores of the first tag, row 1 those of the last tag, and row 2 + i the scores
/// from tag i to each tag. A score of -10000 or minus infinity forbids a transition. If labels need
/// a forbidden transition of minus infinity, the cost is infinite and the gradient is 0. Fluid:
/// layers.linear_chain_crf, which calls the cost the log-likelihood.
template <class T, class R, int... D, class Index, class S, int... E>
constexpr auto linear_chain_crf(variable<T, R, D...> input, variable<Index, S, E...> label,
                                const options<crf_attr, T>& attr = {},
                                int line = __builtin_LINE()) {
  using in = variable<T, R, D...>;
  using given = variable<Index, S, E...>;
  constexpr bool fits =
      detail::is_emission(static_cast<in*>(nullptr)) && one_id_a_row<given> && __is_same(R, S);
  static_assert(check<fits, gets_type<in, given>>,
                "lamina: linear_chain_crf: sequences of one score per tag, and one label per row");
  require_one_program(input, label, line);
  program_builder& b = *input.builder;
  layer_helper layer(b, "linear_chain_crf", attr.name);
  const int w = detail::transitions<T, D...>(layer, attr, line);
  const int alpha = detail::without_gradient(layer, layer.output_like(input.id));
  const int emission = detail::without_gradient(layer, layer.output_like(input.id));
  const int transition = detail::without_gradient(layer, layer.output_like(w));
  const auto cost = layer.template output<variable<T, parent_rows<R>, 1>>();
  b.add_operator(schema_of<operators::linear_chain_crf>(), {input.id, w, label.id},
                 {alpha, emission, transition, cost.id});
  return layer.returns(cost);
}

}}}  // namespace lamina::layer
