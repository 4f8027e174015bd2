// SPDX-License-Identifier: Apache-2.0
// lamina/layers/scaled_dot_product_attention.hpp - attention with several heads.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/activation/softmax/layer.hpp>
#include <lamina/operators/elementwise/binary/layer_arithmetic.hpp>
#include <lamina/operators/fill/layer.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/operators/matrix/matmul/layer.hpp>
#include <lamina/operators/random/dropout/layer.hpp>
#include <lamina/operators/sequence/pad/layer_mask.hpp>
#include <lamina/operators/shape/reshape/layer.hpp>

namespace lamina::inline LAMINA_ABI::layer {

/// Options of scaled_dot_product_attention.
struct scaled_dot_product_attention_attr {
  float dropout_rate = 0;  // of the weights
  bool causal = false;     // a query sees the keys up to its own position; as many keys as queries
  std::string_view name{};
};

namespace detail {

/// Splits [positions, width] into one matrix per head.
template <int Heads, class T, class R, int L, int W>
constexpr auto heads_of(variable<T, R, L, W> x) {
  return transpose<0, 2, 1, 3>(reshape<L, Heads, W / Heads>(x));
}
/// [L, L]: 0 up to the diagonal and -1e9 behind it, which leaves no weight after a softmax.
template <int L, class T>
constexpr auto causal_mask(const block& here) {
  int visible[bound(L)] = {};
  for (int i = 0; i < L; ++i) visible[i] = i + 1;
  return (sequence_mask<L, T>(assign_value<L>(here, visible)) - 1) * 1e9;
}
/// x^-1/2 by Newton's steps.
constexpr double inverse_root(double x) {
  double root = 1;
  while (root * root * x > 2) root /= 2;
  for (int i = 0; i < 60; ++i) root *= 1.5 - 0.5 * x * root * root;
  return root;
}

}  // namespace detail

/// softmax(q k^T / sqrt(width of a head)) v: for each query [L, W] the average of the values [M,
/// V], weighted by the products of the query with the keys [M, W]. With several heads, queries,
/// keys and values go through an fc of their own width and are cut into Heads parts. Each part
/// attends separately, and the results are concatenated. With `causal`, the average is over the
/// values up to the position of the query. Result: [L, V]. Parameters of several heads: three
/// weights and biases, of queries, keys and values; with a name w_0, w_1 and w_2 of that name, else
/// those of three fc. Source: Vaswani et al. 2017. Fluid: nets.scaled_dot_product_attention.
template <int Heads = 1, class T, class R, int L, int W, class U, class S, int M, int K, class X,
          class Q, int N, int V>
constexpr auto scaled_dot_product_attention(
    variable<T, R, L, W> queries, variable<U, S, M, K> keys, variable<X, Q, N, V> values,
    const options<scaled_dot_product_attention_attr, T>& attr = {}, int line = __builtin_LINE()) {
  constexpr bool fits = detail::is_real<T> && has_rows<R> &&
                        __is_same(variable<U, S, M, K>, variable<T, R, M, W>) &&
                        __is_same(variable<X, Q, N, V>, variable<T, R, M, V>);
  static_assert(check<fits, expects_type<variable<T, R, M, W>, variable<T, R, M, V>>,
                      gets_type<variable<U, S, M, K>, variable<X, Q, N, V>>>,
                "lamina: scaled_dot_product_attention: keys are as wide as queries, there is a "
                "value for each key, and all have the same rows and floating point type");
  constexpr int heads = Heads > 0 ? Heads : 1;
  constexpr bool divides = !fits || (Heads > 0 && W % heads == 0 && V % heads == 0);
  static_assert(check<divides, expects<Heads>, gets<W, V>>,
                "lamina: scaled_dot_product_attention: the number of heads divides the widths of "
                "keys and values");
  layer_helper layer(*queries.builder, "scaled_dot_product_attention", attr.name);
  if constexpr (fits && divides) {
    constexpr matmul_form by_rows{.transpose_y = true};
    const block here{queries.builder, queries.builder->current_block};
    here.builder->require_option(!attr.causal || L == M, line,
                                 "scaled_dot_product_attention: causal: as many keys as queries");
    constexpr auto alpha = static_cast<float>(detail::inverse_root(W / heads));
    const auto attend = [&](auto q, auto k, auto v) {
      auto scores = matmul<by_rows>(q, k, {.alpha = alpha}, line);
      if constexpr (L == M)
        if (attr.causal) scores = scores + detail::causal_mask<L, T>(here);
      auto weights = softmax(scores);
      if (attr.dropout_rate > 0) weights = dropout(weights, attr.dropout_rate);
      return matmul(weights, v, {}, line);
    };
    if constexpr (heads == 1) {
      return layer.returns(attend(queries, keys, values));
    } else {
      const auto q = detail::heads_of<heads>(fc<W, 2>(queries, {.name = attr.name}, line));
      const auto k = detail::heads_of<heads>(fc<K, 2>(keys, {.name = attr.name}, line));
      const auto v = detail::heads_of<heads>(fc<V, 2>(values, {.name = attr.name}, line));
      const auto seen = attend(q, k, v);
      return layer.returns(reshape<L, V>(transpose<0, 2, 1, 3>(seen)));
    }
  } else {
    return queries;
  }
}
#ifdef LAMINA_NAMES_OPTIONS
// clang-format off
template <any_value...>
constexpr no_match<scaled_dot_product_attention_attr>
scaled_dot_product_attention(...) = delete;  // (q, k, v); options: dropout_rate, causal, name
// clang-format on
#endif

}  // namespace lamina::inline LAMINA_ABI::layer
