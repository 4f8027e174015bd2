// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/crf/layer_decoding.hpp - the best tags of sequences under a conditional
// random field.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/loss/crf/layer.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

namespace detail {
template <class T, class R, int... D>
constexpr variable<std::int64_t, R, 1> viterbi_path(variable<T, R, D...> input, int label,
                                                    const crf_attr& attr, int line) {
  program_builder& b = *input.builder;
  layer_helper layer(b, "crf_decoding", attr.name);
  const int w = transitions<T, D...>(layer, attr, line);
  const auto path = layer.template output<variable<std::int64_t, R, 1>>();
  without_gradient(layer, path.id);
  b.add_operator(schema_of<operators::crf_decoding>(), {input.id, w, label}, {path.id});
  return layer.returns(path);
}
}  // namespace detail

/// Returns the path of tags with the highest score for each sequence, int64 [-1, 1] with the rows
/// of the emission: `crf_decoding(emission, {.param = {.name = "crf"}})`. Uses the transition
/// scores that linear_chain_crf trained under the name of the parameter. Fluid:
/// layers.crf_decoding.
template <class T, class R, int... D>
constexpr auto crf_decoding(variable<T, R, D...> input, const options<crf_attr, T>& attr = {},
                            int line = __builtin_LINE()) {
  using in = variable<T, R, D...>;
  static_assert(check<detail::is_emission(static_cast<in*>(nullptr)), gets_type<in>>,
                "lamina: crf_decoding: the input is sequences of one score per tag");
  return detail::viterbi_path(input, -1, attr, line);
}

/// Returns 1 for each row whose tag on the best path equals its label, else 0. Fluid:
/// layers.crf_decoding(label=...).
template <class T, class R, int... D, class Index, class S, int... E>
constexpr auto crf_decoding(variable<T, R, D...> input, variable<Index, S, E...> label,
                            const options<crf_attr, T>& attr = {}, int line = __builtin_LINE()) {
  using in = variable<T, R, D...>;
  using given = variable<Index, S, E...>;
  constexpr bool fits =
      detail::is_emission(static_cast<in*>(nullptr)) && one_id_a_row<given> && __is_same(R, S);
  static_assert(check<fits, gets_type<in, given>>,
                "lamina: crf_decoding: sequences of one score per tag, and one label per row");
  require_one_program(input, label, line);
  return detail::viterbi_path(input, label.id, attr, line);
}

#ifdef LAMINA_NAMES_OPTIONS
// clang-format off
constexpr no_match<crf_attr>
crf_decoding(...) = delete;  // call crf_decoding(scores); options: param, name
// clang-format on
#endif

}}}  // namespace lamina::layer
