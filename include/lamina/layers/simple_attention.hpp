// SPDX-License-Identifier: Apache-2.0
// lamina/layers/simple_attention.hpp - attention over the elements of a sequence, for a decoder.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/elementwise/binary/layer.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/operators/sequence/expand/layer_expand_as.hpp>
#include <lamina/operators/sequence/pool/layer.hpp>
#include <lamina/operators/sequence/softmax/layer.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of simple_attention.
struct simple_attention_attr {
  activation weight_act = activation::tanh;
  param_attr transform_param{};  // weight that multiplies the state
  param_attr softmax_param{};    // weight v that computes the scores
  std::string_view name{};
};

/// Attention over each sequence: the result has one row per sequence, a weighted average of its
/// encoded elements. The weights depend on a state of the sequence:
///   e_t = v . act(state U + projected_t)    a = softmax of e over the sequence
///   context = sum_t a_t * encoded_t
/// `encoded` has a row [E] and `projected` a row [P] per element of the sequences; `state` has a
/// row [S] per sequence. Parameters: the weights U [S, P] and v [P, 1], initialised by Xavier.
/// Source: Bahdanau et al. 2014. v2: simple_attention.
template <class T, class R, int... E, class U, class S, int... P, class V, class Q, int... D>
constexpr auto simple_attention(variable<T, R, E...> encoded, variable<U, S, P...> projected,
                                variable<V, Q, D...> state,
                                const options<simple_attention_attr, T>& attr = {},
                                int line = __builtin_LINE()) {
  using in = variable<T, R, E...>;
  constexpr bool rows = is_tokens<R> && __is_same(R, S) && __is_same(Q, parent_rows<R>) &&
                        sizeof...(E) == 1 && sizeof...(P) == 1;
  static_assert(
      check<rows, gets_type<in, variable<U, S, P...>, variable<V, Q, D...>>>,
      "lamina: simple_attention: two rows for each element of sequences, and a state for each "
      "sequence");
  program_builder& b = *encoded.builder;
  layer_helper layer(b, "simple_attention", attr.name);
  if constexpr (rows) {
    constexpr int width = variable<U, S, P...>::size;
    const auto transformed = fc<width>(state, {.param = attr.transform_param, .bias = false}, line);
    const auto seen = sequence_expand_as(transformed, projected, {}, line);
    const auto both = elementwise_add(seen, projected, {.act = attr.weight_act}, line);
    const auto score = fc<1>(both, {.param = attr.softmax_param, .bias = false}, line);
    const auto scaled = elementwise_mul<0>(encoded, sequence_softmax(score), {}, line);
    return layer.returns(sequence_pool(scaled, {.type = pooling_type::sum}));
  } else {
    return layer.returns(with_rows<parent_rows<R>, in>{&b, encoded.id});
  }
}

}}}  // namespace lamina::layer
