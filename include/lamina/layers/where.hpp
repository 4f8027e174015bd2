// SPDX-License-Identifier: Apache-2.0
// lamina/layers/where.hpp - elements chosen by a condition, by a triangle, or by indices.
#pragma once

#include <lamina/core/config.hpp>

#include <string_view>

#include <lamina/operators/elementwise/assign/layer.hpp>
#include <lamina/operators/elementwise/binary/layer.hpp>
#include <lamina/operators/elementwise/sum/layer.hpp>
#include <lamina/operators/fill/layer.hpp>
#include <lamina/operators/metric/classification/layer.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>
#include <lamina/operators/shape/query/layer.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of where, tril, triu and take_along.
struct where_attr {
  std::string_view name{};
};

/// x where `condition` is true, else y. The three operands broadcast as in the elementwise layers.
/// An element that is not chosen has no influence, even if it is NaN or infinite, and its gradient
/// is 0; the condition gets no gradient. PyTorch, NumPy: where(condition, x, y).
template <class R, int... D, class X, class Y>
constexpr auto where(variable<bool, R, D...> condition, X x, Y y,
                     const options<where_attr, X>& attr = {}, int line = __builtin_LINE()) {
  using T = typename X::value_type;
  static_assert(check<detail::is_real<T>&& __is_same(T, typename Y::value_type), gets_type<X, Y>>,
                "lamina: where: both choices have one floating point type");
  layer_helper layer(*x.builder, "where", attr.name);
  const auto first = cast<T>(condition);
  const auto second = scale(first, -1, {.bias = 1});
  return layer.returns(elementwise_add(elementwise_keep(x, first, {}, line),
                                       elementwise_keep(y, second, {}, line), {}, line));
}

namespace detail {

/// 1 where an element of a matrix [Rows, Columns] is kept, else 0.
template <class T, int Rows, int Columns, int Diagonal, bool Lower>
constexpr auto triangle(const block& here) {
  float kept[bound(Rows * Columns)] = {};
  for (int i = 0; i < Rows; ++i)
    for (int j = 0; j < Columns; ++j)
      kept[i * Columns + j] = (Lower ? j - i <= Diagonal : j - i >= Diagonal) ? 1.f : 0.f;
  const auto made = assign_value<Rows, Columns>(here, kept);  // which has no elements of double
  if constexpr (__is_same(T, float))
    return made;
  else
    return cast<T>(made);
}
template <int Diagonal, bool Lower, class V>
constexpr auto keep_triangle(V x, std::string_view name, int line) {
  constexpr extents whole = whole_shape<V>;
  constexpr bool matrix =
      is_real<typename V::value_type> && whole.rank - int{whole.has_rows()} >= 2;
  static_assert(check<matrix, gets_type<V>>,
                "lamina: tril, triu: floating point with two inner dimensions or more");
  if constexpr (matrix) {
    layer_helper layer(*x.builder, Lower ? "tril" : "triu", name);
    const block here{x.builder, x.builder->current_block};
    const auto kept = triangle<typename V::value_type, whole.at[whole.rank - 2],
                               whole.at[whole.rank - 1], Diagonal, Lower>(here);
    return layer.returns(elementwise_keep(x, kept, {}, line));
  } else {
    return x;
  }
}

}  // namespace detail

/// The lower triangles of the matrices in the last two dimensions: element [i, j] is kept if j - i
/// <= Diagonal, and is 0 otherwise. Diagonal 0 is the main diagonal, 1 the one above it. PyTorch,
/// NumPy: tril.
template <int Diagonal = 0, class T, class R, int... D>
constexpr auto tril(variable<T, R, D...> x, const options<where_attr, T>& attr = {},
                    int line = __builtin_LINE()) {
  return detail::keep_triangle<Diagonal, true>(x, attr.name, line);
}
/// The upper triangles of the matrices in the last two dimensions: element [i, j] is kept if j - i
/// >= Diagonal, and is 0 otherwise. PyTorch, NumPy: triu.
template <int Diagonal = 0, class T, class R, int... D>
constexpr auto triu(variable<T, R, D...> x, const options<where_attr, T>& attr = {},
                    int line = __builtin_LINE()) {
  return detail::keep_triangle<Diagonal, false>(x, attr.name, line);
}

/// For each row, the elements of x [-1, N] at `index` [-1, K]: out[r, k] = x[r, index[r, k]]. An
/// index outside of [0, N) is an error at run time. PyTorch: gather(x, 1, index); NumPy:
/// take_along_axis.
template <class T, class R, int N, class Index, class S, int K>
constexpr auto take_along(variable<T, R, N> x, variable<Index, S, K> index,
                          const options<where_attr, T>& attr = {}, int line = __builtin_LINE()) {
  constexpr bool fits = detail::is_real<T> && __is_same(Index, std::int64_t) && __is_same(R, S);
  static_assert(check<fits, gets_type<variable<T, R, N>, variable<Index, S, K>>>,
                "lamina: take_along: floating point and int64 indices with the same rows");
  if constexpr (fits) {
    layer_helper layer(*x.builder, "take_along", attr.name);
    const auto chosen = one_hot<N, T>(reshape<K, 1>(index));
    return layer.returns(
        reduce_sum<2>(elementwise_keep(expand<1, K, 1>(reshape<1, N>(x)), chosen, {}, line)));
  } else {
    return x;
  }
}

}}}  // namespace lamina::layer
