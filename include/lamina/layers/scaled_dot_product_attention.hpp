// SPDX-License-Identifier: Apache-2.0
// lamina/layers/scaled_dot_product_attention.hpp - attention with several heads.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string_view>

#include <lamina/operators/activation/softmax/layer.hpp>
#include <lamina/operators/elementwise/binary/layer.hpp>
#include <lamina/operators/elementwise/binary/layer_arithmetic.hpp>
#include <lamina/operators/elementwise/clip/layer.hpp>
#include <lamina/operators/elementwise/compare/layer.hpp>
#include <lamina/operators/elementwise/sum/layer.hpp>
#include <lamina/operators/fill/layer.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/operators/matrix/matmul/layer.hpp>
#include <lamina/operators/random/dropout/layer.hpp>
#include <lamina/operators/sequence/pad/layer_mask.hpp>
#include <lamina/operators/shape/concat/layer_slice.hpp>
#include <lamina/operators/shape/reshape/layer.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// A variable of any type as an option. The layer checks its type when the layer is recorded.
struct mask_variable {
  program_builder* builder = nullptr;
  int id = -1;

  constexpr mask_variable() = default;
  template <class T, class R, int... D>
  constexpr mask_variable(variable<T, R, D...> v) : builder(v.builder), id(v.id) {}  // NOLINT
};

/// Options of scaled_dot_product_attention. M is the number of keys, L the number of queries.
struct scaled_dot_product_attention_attr {
  float dropout_rate = 0;   // dropout of the attention weights
  bool causal = false;      // a query sees the keys up to its own position; requires M = L
  mask_variable lengths{};  // int64 [-1, 1]: a query sees only this number of keys, the first ones
  // 1 or true: a query sees a key; 0 or false: not. Shape [-1, M], [L, M] or [-1, L, M].
  mask_variable mask{};
  // Added to the scores; -infinity hides a key. Shape [L, M] or [-1, L, M]; with several heads also
  // [heads, L, M] or [-1, heads, L, M].
  mask_variable bias{};
  std::string_view name{};
};

namespace detail {

/// Splits [positions, width] into one matrix [positions, width / Heads] per head.
template <int Heads, class T, class R, int L, int W>
constexpr auto heads_of(variable<T, R, L, W> x) {
  return transpose<0, 2, 1, 3>(reshape<L, Heads, W / Heads>(x));
}
/// [L, L]: 1 on and below the diagonal, 0 above it.
template <int L, class T>
constexpr auto causal_mask(const block& here) {
  int visible[bound(L)] = {};
  for (int i = 0; i < L; ++i) visible[i] = i + 1;
  return sequence_mask<L, T>(assign_value<L>(here, visible));
}
/// The same type of variable with another id.
template <class V>
constexpr V with_id(V like, int id) {
  return {like.builder, id};
}
/// An empty handle of a variable with the rows Rows and the shape of the scores, [Heads, L, M] or,
/// with one head, [L, M].
template <class Rows, int Heads, class T, int L, int M>
constexpr auto of_heads(variable<T, once, L, M> like) {
  if constexpr (Heads == 1)
    return variable<T, Rows, L, M>{like.builder, -1};
  else
    return variable<T, Rows, Heads, L, M>{like.builder, -1};
}
/// Repeats a mask or bias [-1, L, M] for all heads, so that it has the shape of the scores, [-1,
/// Heads, L, M]; with one head, returns it.
template <int Heads, class T, class R, int L, int M>
constexpr auto repeated_for_heads(variable<T, R, L, M> mask) {
  if constexpr (Heads == 1)
    return mask;
  else
    return expand<1, Heads, 1, 1>(reshape<1, L, M>(mask));
}
/// Replaces the scores where the mask is 0 by a low number, so that the softmax gives them a weight
/// of 0, whatever the scores were.
template <class S, class M>
constexpr auto hidden_scores(S scores, M mask) {
  // Not -infinity, which check_nan would report.
  constexpr double low = 3e38;
  return elementwise_keep(scores, mask) + scale(mask, low, {.bias = -low});
}
/// 1 where a bias of scores lets a query see a key, 0 where it is minus infinity.
template <class V>
constexpr V visible_by(V bias) {
  constexpr double most = 3.4028234663852886e38;
  const auto hidden = less_than(bias, clip(bias, -most, most));
  return scale(cast<typename V::value_type>(hidden), -1, {.bias = 1});
}
/// The mask with this id as numbers: a mask of bool becomes 0 and 1.
template <class T, class R, int... D>
constexpr variable<T, R, D...> mask_numbers(program_builder& b, int id) {
  if (b.variables.items[id].type == dtype::boolean) return cast<T>(variable<bool, R, D...>{&b, id});
  return {&b, id};
}
/// Whether variable `id` has the element type T, or bool in place of a floating point type, and the
/// dimensions D. With Rows, it must have the rows of variable `like`; otherwise it must have no
/// rows.
template <class T, bool Rows, int... D>
constexpr bool is_mask(const program_builder& b, int id, int like) {
  const variable_desc& v = b.variables.items[id];
  constexpr int rank = static_cast<int>(sizeof...(D)) + (Rows ? 1 : 0);
  constexpr int dims[] = {D...};
  const bool is_bool = is_real<T> && v.type == dtype::boolean;
  if ((v.type != dtype_of<T> && !is_bool) || v.rank != rank) return false;
  if (Rows ? v.rows != b.variables.items[like].rows : b.dims.items[v.dims] < 0) return false;
  for (int i = 0; i < static_cast<int>(sizeof...(D)); ++i)
    if (b.dims.items[v.dims + i + (Rows ? 1 : 0)] != dims[i]) return false;
  return true;
}
/// Returns x^-1/2, computed by Newton's method.
constexpr double inverse_root(double x) {
  double root = 1;
  while (root * root * x > 2) root /= 2;
  for (int i = 0; i < 60; ++i) root *= 1.5 - 0.5 * x * root * root;
  return root;
}

}  // namespace detail

/// softmax(q k^T / sqrt(width of a head)) v. The result [L, V] has, for each of the queries [L, W],
/// the average of the values [M, V], weighted by the products of the query with the keys [M, W].
/// With several heads, queries, keys and values each pass through an fc that keeps their width, and
/// are split into Heads parts. Attention is computed for each part separately, and the results are
/// concatenated. The option `bias` is added to the products before the softmax, and gets a
/// gradient. The options `causal`, `lengths` and `mask`, and a bias of minus infinity, hide keys
/// from queries; a query sees a key if none of them hides it. A hidden key has a weight of 0:
/// neither the key nor its value influences the result, even if they are NaN or infinite, and both
/// get a gradient of 0. The result of a query that sees no key is 0, as in PyTorch. Masks must be
/// bool, or 0 or 1 in the type of the queries; they get no gradient and apply to all heads. PyTorch
/// has one argument for both: a bool `attn_mask` is a mask, a floating point one a bias. Parameters
/// with several heads: a weight and a bias each for queries, keys and values. With the option
/// `name`, they are w_0, w_1, w_2 and b_0, b_1, b_2 of this name, otherwise they are the parameters
/// of three fc. Source: Vaswani et al. 2017. Fluid: nets.scaled_dot_product_attention.
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
    program_builder& b = *here.builder;
    const int lengths = attr.lengths.id, mask = attr.mask.id, bias = attr.bias.id;
    bool known = true;
    const auto require = [&](const mask_variable& v, bool is_one, std::string_view what) {
      if (v.builder == &b && is_one) return;
      known = false;
      b.require_option(false, line, what);
    };
    if (lengths >= 0)
      require(attr.lengths, detail::is_mask<std::int64_t, true, 1>(b, lengths, queries.id),
              "scaled_dot_product_attention: lengths: int64 [-1, 1]");
    const bool alone = mask >= 0 && detail::is_mask<T, true, M>(b, mask, queries.id);
    const bool shared = mask >= 0 && detail::is_mask<T, false, L, M>(b, mask, queries.id);
    if (mask >= 0)
      require(attr.mask, alone || shared || detail::is_mask<T, true, L, M>(b, mask, queries.id),
              "scaled_dot_product_attention: mask: [-1, keys], [queries, keys] or [-1, queries, "
              "keys] of bool or the type of the queries");
    const bool bias_of_all = bias >= 0 && detail::is_mask<T, false, L, M>(b, bias, queries.id);
    const bool bias_of_rows = bias >= 0 && detail::is_mask<T, true, L, M>(b, bias, queries.id);
    const bool bias_of_heads =
        bias >= 0 && heads > 1 && detail::is_mask<T, false, heads, L, M>(b, bias, queries.id);
    const bool bias_of_each =
        bias >= 0 && heads > 1 && detail::is_mask<T, true, heads, L, M>(b, bias, queries.id);
    if (bias >= 0)
      require(
          attr.bias,
          b.variables.items[bias].type == dtype_of<T> &&
              (bias_of_all || bias_of_rows || bias_of_heads || bias_of_each),
          "scaled_dot_product_attention: bias: [queries, keys] or [-1, queries, keys], with "
          "several heads also [heads, queries, keys] or [-1, heads, queries, keys], of the type "
          "of the queries");
    // Combines the masks: `alike` is the same for all rows and heads, `by_head` for all rows;
    // `by_row` differs between rows. Only one of the three hides keys.
    variable<T, once, L, M> alike{&b, -1};
    auto by_head = detail::of_heads<once, heads>(alike);
    auto by_row = detail::of_heads<R, heads>(alike);
    const auto all = [](auto& of, auto more) { of = of.id < 0 ? more : elementwise_mul(of, more); };
    if constexpr (L == M)
      if (attr.causal) all(alike, detail::causal_mask<L, T>(here));
    if (known) {
      if (shared) all(alike, detail::mask_numbers<T, once, L, M>(b, mask));
      if (bias_of_all) all(alike, detail::visible_by(variable<T, once, L, M>{&b, bias}));
      variable<T, R, 1, M> of_keys{&b, -1};
      if (lengths >= 0)
        all(of_keys, sequence_mask<M, T>(variable<std::int64_t, R, 1>{&b, lengths}));
      if (alone) all(of_keys, reshape<1, M>(detail::mask_numbers<T, R, M>(b, mask)));
      variable<T, R, L, M> of_row{&b, -1};
      if (of_keys.id >= 0) of_row = expand<1, L, 1>(of_keys);
      if (mask >= 0 && !shared && !alone) all(of_row, detail::mask_numbers<T, R, L, M>(b, mask));
      if (bias_of_rows) all(of_row, detail::visible_by(variable<T, R, L, M>{&b, bias}));
      if (of_row.id >= 0 && alike.id >= 0) of_row = elementwise_mul(of_row, alike);
      if (of_row.id >= 0) by_row = detail::repeated_for_heads<heads>(of_row);
      if constexpr (heads > 1) {
        if (bias_of_each) all(by_row, detail::visible_by(detail::with_id(by_row, bias)));
        if (bias_of_heads) by_head = detail::visible_by(detail::with_id(by_head, bias));
        if (by_row.id >= 0 && by_head.id >= 0) by_row = elementwise_mul(by_row, by_head);
        if (bias_of_each && of_row.id < 0 && alike.id >= 0) by_row = elementwise_mul(by_row, alike);
        if (by_row.id < 0 && by_head.id >= 0 && alike.id >= 0)
          by_head = elementwise_mul(by_head, alike);
      }
    }
    const bool masked = by_row.id >= 0 || by_head.id >= 0 || alike.id >= 0;
    const auto with_mask = [&](auto x, auto f) {
      return by_row.id >= 0    ? f(x, by_row)
             : by_head.id >= 0 ? f(x, by_head)
             : masked          ? f(x, alike)
                               : x;
    };
    const auto with_bias = [&](auto scores) {
      if (bias_of_all) return elementwise_add(scores, detail::with_id(alike, bias), {}, line);
      if constexpr (heads > 1) {
        if (bias_of_heads) return elementwise_add(scores, detail::with_id(by_head, bias), {}, line);
        if (bias_of_each) return elementwise_add(scores, detail::with_id(by_row, bias), {}, line);
      }
      return elementwise_add(
          scores, detail::repeated_for_heads<heads>(variable<T, R, L, M>{&b, bias}), {}, line);
    };
    const auto attend = [&](auto q, auto k, auto v) {
      auto scores = matmul<by_rows>(q, k, {.alpha = alpha, .skip_zero_grads = masked}, line);
      if (bias >= 0 && known) scores = with_bias(scores);
      scores = with_mask(scores, [](auto x, auto m) { return detail::hidden_scores(x, m); });
      auto weights =
          with_mask(softmax(scores), [](auto x, auto m) { return elementwise_keep(x, m); });
      if (attr.dropout_rate > 0) weights = dropout(weights, attr.dropout_rate);
      return matmul(weights, v, {.skip_zeros = masked, .skip_zero_grads = masked}, line);
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
scaled_dot_product_attention(...) = delete;  // has: dropout_rate, causal, lengths, mask, bias, name
// clang-format on
#endif

}}}  // namespace lamina::layer
