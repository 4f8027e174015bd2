// SPDX-License-Identifier: Apache-2.0
// lamina/operators/decode/beam_search/layer_decode.hpp - beam_search_decode: the hypotheses that a
// beam search has found.
#pragma once

#include <lamina/core/config.hpp>

#include <tuple>

#include <lamina/layers/sequence.hpp>
#include <lamina/operators/control/array/layer.hpp>
#include <lamina/operators/decode/beam_search/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of beam_search_decode.
struct beam_search_decode_attr {
  std::string_view name{};
};

/// Builds the hypotheses of each sample from the ids and scores of all steps: `auto [ids, scores] =
/// beam_search_decode<"found">(id_steps, score_steps, 4, end)`. Slot 0 of the arrays holds the
/// first ids and their scores, and the other slots hold the results of beam_search in each step.
/// Returns int64 ids and scores, both [-1, 1] with rows nested_tokens<"found">: the hypotheses of
/// each sample, the best one first, and the tokens of each hypothesis. Fluid:
/// layers.beam_search_decode.
template <fixed_string Name, class Index, class R, int... A, class T, class S, int... B>
constexpr auto beam_search_decode(tensor_array<Index, R, A...> ids, tensor_array<T, S, B...> scores,
                                  int beam_size, int end_id,
                                  const options<beam_search_decode_attr, Index>& attr = {},
                                  int line = __builtin_LINE()) {
  using id = variable<Index, R, A...>;
  using score = variable<T, S, B...>;
  constexpr bool fits = R::lod_level == 2 && detail::is_real<T> &&
                        __is_same(id, variable<std::int64_t, R, 1>) &&
                        __is_same(score, variable<T, R, 1>);
  static_assert(
      check<fits, gets_type<id, score>>,
      "lamina: beam_search_decode: arrays of the ids and scores that beam_search selects");
  require_one_program(ids, scores, line);
  program_builder& b = *ids.builder;
  layer_helper layer(b, "beam_search_decode", attr.name);
  const auto found = layer.template output<variable<std::int64_t, nested_tokens<Name>, 1>>();
  const auto of_found = layer.template output<variable<T, nested_tokens<Name>, 1>>();
  detail::without_gradient(layer, found.id);
  detail::without_gradient(layer, of_found.id);
  b.add_operator(schema_of<operators::beam_search_decode>(), {ids.id, scores.id},
                 {found.id, of_found.id}, b.attribute_list(beam_size, end_id));
  return std::tuple{layer.returns(found), of_found};
}

}}}  // namespace lamina::layer
