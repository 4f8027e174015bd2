// SPDX-License-Identifier: Apache-2.0
// lamina/layers/multi_head_attention.hpp - attention with several heads and a projection of the
// result.
#pragma once

#include <lamina/core/config.hpp>

#include <string_view>

#include <lamina/layers/scaled_dot_product_attention.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// scaled_dot_product_attention<Heads>, which projects queries [L, W], keys [M, W] and values [M,
/// V], and an fc of its result to the width of the queries: [L, W]. Parameters: weights and biases
/// of queries, keys, values and result; with a name w_0 to w_3 and b_0 to b_3 of that name. Source:
/// Vaswani et al. 2017. PyTorch: nn.MultiheadAttention with batch_first, whose boolean masks have
/// the opposite sense. Keras: MultiHeadAttention.
template <int Heads, class T, class R, int L, int W, class U, class S, int M, int K, class X,
          class Q, int N, int V>
constexpr auto multi_head_attention(variable<T, R, L, W> queries, variable<U, S, M, K> keys,
                                    variable<X, Q, N, V> values,
                                    const options<scaled_dot_product_attention_attr, T>& attr = {},
                                    int line = __builtin_LINE()) {
  static_assert(check<(Heads > 1), gets<Heads>>,
                "lamina: multi_head_attention: two heads or more; scaled_dot_product_attention has "
                "one");
  layer_helper layer(*queries.builder, "multi_head_attention", attr.name);
  const auto seen = scaled_dot_product_attention<Heads>(queries, keys, values,
                                                        {.dropout_rate = attr.dropout_rate,
                                                         .causal = attr.causal,
                                                         .lengths = attr.lengths,
                                                         .mask = attr.mask,
                                                         .bias = attr.bias,
                                                         .name = attr.name},
                                                        line);
  return layer.returns(fc<W, 2>(seen, {.name = attr.name}, line));
}

/// Attention of x to itself: queries, keys and values are x.
template <int Heads, class T, class R, int L, int W>
constexpr auto multi_head_attention(variable<T, R, L, W> x,
                                    const options<scaled_dot_product_attention_attr, T>& attr = {},
                                    int line = __builtin_LINE()) {
  return multi_head_attention<Heads>(x, x, x, attr, line);
}

}}}  // namespace lamina::layer
