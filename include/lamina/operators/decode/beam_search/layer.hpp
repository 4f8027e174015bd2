// SPDX-License-Identifier: Apache-2.0
// lamina/operators/decode/beam_search/layer.hpp - one step of a beam search.
#pragma once

#include <lamina/core/config.hpp>

#include <tuple>

#include <lamina/layers/sequence.hpp>
#include <lamina/layers/sequence_rows.hpp>
#include <lamina/operators/decode/beam_search/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of beam_search.
struct beam_search_attr {
  bool is_accumulated = true;  // false: scores are pre_scores + log(scores)
  std::string_view name{};
};

namespace detail {
template <fixed_string Name, class T, class R>
constexpr auto search_step(variable<std::int64_t, R, 1> pre_ids, variable<T, R, 1> pre_scores,
                           int ids, int scores, int beam_size, int end_id,
                           const beam_search_attr& attr) {
  using rows = nested_tokens<Name>;
  program_builder& b = *pre_ids.builder;
  layer_helper layer(b, "beam_search", attr.name);
  const auto selected = layer.template output<variable<std::int64_t, rows, 1>>();
  const auto score = layer.template output<variable<T, rows, 1>>();
  const auto parent = layer.template output<variable<std::int32_t, rows>>();
  without_gradient(layer, selected.id);
  without_gradient(layer, score.id);
  without_gradient(layer, parent.id);
  b.add_operator(schema_of<operators::beam_search>(), {pre_ids.id, pre_scores.id, ids, scores},
                 {selected.id, score.id, parent.id},
                 b.attribute_list(0, beam_size, end_id, attr.is_accumulated));
  return std::tuple{layer.returns(selected), score, parent};
}
}  // namespace detail

/// Returns the `beam_size` best continuations of the hypotheses of each sample: `auto [ids, scores,
/// parent] = beam_search<"beam">(pre_ids, pre_scores, candidates, scores, 4, end)`. Each row of the
/// inputs is a hypothesis. The rows are tokens<"a", ...> with one or more levels, whose outermost
/// sequences belong to the samples. pre_ids and pre_scores are [-1, 1], candidates int64 [-1, K]
/// and scores [-1, K]. The results are the ids [-1, 1] and scores [-1, 1] of the continuations, and
/// the row that each of them continues, int32 [-1]. The results have rows nested_tokens<"beam">:
/// the hypotheses of each sample, and the continuations of each hypothesis. pre_ids of the next
/// step may have these rows. Fluid: layers.beam_search of level 0.
template <fixed_string Name, class T, class R, int... A, class U, class S, int... B, class Index,
          class Q, int... C, class V, class P, int... D>
constexpr auto beam_search(variable<T, R, A...> pre_ids, variable<U, S, B...> pre_scores,
                           variable<Index, Q, C...> ids, variable<V, P, D...> scores, int beam_size,
                           int end_id, const options<beam_search_attr, T>& attr = {},
                           int line = __builtin_LINE()) {
  constexpr bool fits = is_tokens<R> && detail::is_real<U> && sizeof...(D) == 1 &&
                        __is_same(variable<T, R, A...>, variable<std::int64_t, R, 1>) &&
                        __is_same(variable<U, S, B...>, variable<U, R, 1>) &&
                        __is_same(variable<Index, Q, C...>, variable<std::int64_t, R, D...>) &&
                        __is_same(variable<V, P, D...>, variable<U, R, D...>);
  static_assert(check<fits, gets_type<variable<T, R, A...>, variable<U, S, B...>,
                                      variable<Index, Q, C...>, variable<V, P, D...>>>,
                "lamina: beam_search: an int64 id and a score for each of the same hypotheses, and "
                "as many candidates as scores");
  require_one_program(pre_ids, pre_scores, line);
  require_one_program(pre_ids, ids, line);
  require_one_program(pre_ids, scores, line);
  const variable<std::int64_t, R, 1> before{pre_ids.builder, pre_ids.id};
  const variable<U, R, 1> before_scores{pre_ids.builder, pre_scores.id};
  return detail::search_step<Name>(before, before_scores, ids.id, scores.id, beam_size, end_id,
                                   attr);
}

/// A beam_search in which the candidates of each hypothesis are the ids 0 to K - 1, a whole
/// dictionary. Fluid: layers.beam_search(ids=None).
template <fixed_string Name, class T, class R, int... A, class U, class S, int... B, class V,
          class P, int... D>
constexpr auto beam_search(variable<T, R, A...> pre_ids, variable<U, S, B...> pre_scores,
                           variable<V, P, D...> scores, int beam_size, int end_id,
                           const options<beam_search_attr, T>& attr = {},
                           int line = __builtin_LINE()) {
  const variable<std::int64_t, P, D...> all{pre_ids.builder, -1};
  return beam_search<Name>(pre_ids, pre_scores, all, scores, beam_size, end_id, attr, line);
}

}}}  // namespace lamina::layer
