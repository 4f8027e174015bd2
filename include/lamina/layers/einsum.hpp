// SPDX-License-Identifier: Apache-2.0
// lamina/layers/einsum.hpp - sums of products in Einstein's notation.
#pragma once

#include <lamina/core/config.hpp>

#include <string_view>

#include <lamina/core/compile_time/fixed_string.hpp>
#include <lamina/operators/elementwise/binary/layer.hpp>
#include <lamina/operators/matrix/matmul/layer.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>
#include <lamina/operators/shape/reshape/layer.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of einsum.
struct einsum_attr {
  std::string_view name{};
};

namespace detail {

/// The indices of one operand or of the result: one letter per dimension of the whole shape.
struct index_letters {
  int count = 0;
  char at[extents::most] = {};

  constexpr int find(char c) const {
    for (int i = 0; i < count; ++i)
      if (at[i] == c) return i;
    return -1;
  }
  constexpr bool has(char c) const { return find(c) >= 0; }
  constexpr void push(char c) {
    if (count < extents::most) at[count++] = c;
  }
};

/// An equation "ab,bc->ac", or "ab->ba" with one operand.
struct einsum_equation {
  bool valid = true;
  int operands = 1;
  index_letters x, y, out;
};

constexpr einsum_equation read_einsum(std::string_view text) {
  einsum_equation e;
  int part = 0;  // 0: x, 1: y, 2: out
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ') continue;
    if (c == ',' && part == 0) {
      part = 1;
      e.operands = 2;
    } else if (c == '-' && part < 2 && i + 1 < text.size() && text[i + 1] == '>') {
      part = 2;
      ++i;
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      index_letters& to = part == 0 ? e.x : part == 1 ? e.y : e.out;
      if (to.has(c) || to.count == extents::most) e.valid = false;
      to.push(c);
    } else {
      e.valid = false;
    }
  }
  if (part != 2 || e.x.count == 0 || (e.operands == 2 && e.y.count == 0)) e.valid = false;
  for (int i = 0; i < e.out.count; ++i)
    if (!e.x.has(e.out.at[i]) && !e.y.has(e.out.at[i])) e.valid = false;
  return e;
}

/// Returns the order of the dimensions `from` in which they have the letters `to`.
constexpr extents order_of(const index_letters& from, const index_letters& to) {
  extents r{};
  for (int i = 0; i < to.count; ++i) r.push(from.find(to.at[i]));
  return r;
}

template <extents Order, class V, int... Index>
constexpr auto permuted(V x, std::integer_sequence<int, Index...>) {
  if constexpr (((Order.at[Index] == Index) && ...))
    return x;
  else
    return transpose<Order.at[Index]...>(x);
}
/// x with the inner dimensions To.
template <extents To, class V, int... Index>
constexpr auto with_inner(V x, std::integer_sequence<int, Index...>) {
  constexpr extents whole = whole_shape<V>;
  constexpr int rows = whole.has_rows() ? 1 : 0;
  if constexpr (whole.rank - rows == To.rank && ((whole.at[rows + Index] == To.at[Index]) && ...))
    return x;
  else
    return reshape<To.at[Index]...>(x);
}
template <extents Dims, class V, int... Index>
constexpr auto summed(V x, std::integer_sequence<int, Index...>) {
  if constexpr (Dims.rank == 0)
    return x;
  else
    return reduce_sum<Dims.at[Index]...>(x);
}
template <int N>
using indices_to = std::make_integer_sequence<int, N>;

/// How the two operands of an equation become the factors of a product of matrices.
struct einsum_plan {
  bool fits = true;
  bool sums_rows = false;   // the rows of both operands are summed over
  bool has_rows = false;    // the result has rows
  index_letters x, y, out;  // the order of the dimensions before and after the product
  int batch = 1, left = 1, inner = 1, right = 1;  // products of extents without the rows
  extents result{};  // the inner dimensions of the result before its last transpose
};

constexpr einsum_plan plan_einsum(const index_letters& x, const extents& xs, const index_letters& y,
                                  const extents& ys, const index_letters& out) {
  einsum_plan p;
  const char x_row = xs.has_rows() ? x.at[0] : '\0', y_row = ys.has_rows() ? y.at[0] : '\0';
  if (x_row != '\0' && y_row != '\0' && x_row != y_row) p.fits = false;
  const char row = x_row != '\0' ? x_row : y_row;
  p.sums_rows = row != '\0' && !out.has(row);
  p.has_rows = row != '\0' && !p.sums_rows;
  // Rows stand first, and only an operand with rows has their letter.
  if (p.has_rows && out.at[0] != row) p.fits = false;
  if (row != '\0' && ((x_row == '\0' && x.has(row)) || (y_row == '\0' && y.has(row))))
    p.fits = false;
  for (int i = 0; i < x.count; ++i) {
    const int j = y.find(x.at[i]);
    if (j >= 0 && xs.at[i] != ys.at[j]) p.fits = false;
  }
  if (p.sums_rows && (x_row == '\0' || y_row == '\0')) p.fits = false;
  if (x_row != '\0') p.x.push(row);
  if (y_row != '\0') p.y.push(row);
  if (p.has_rows) p.out.push(row);
  const auto add = [&](char c, int extent, bool in_x, bool in_y, bool in_out, int& size) {
    if (in_x) p.x.push(c);
    if (in_y) p.y.push(c);
    if (in_out) {
      p.out.push(c);
      p.result.push(extent);
    }
    size *= extent;
  };
  // In both and in the result; then of x alone; then summed over; then of y alone.
  for (int i = 0; i < x.count; ++i)
    if (x.at[i] != row && y.has(x.at[i]) && out.has(x.at[i]))
      add(x.at[i], xs.at[i], true, true, true, p.batch);
  for (int i = 0; i < x.count; ++i)
    if (x.at[i] != row && !y.has(x.at[i])) add(x.at[i], xs.at[i], true, false, true, p.left);
  for (int i = 0; i < x.count; ++i)
    if (x.at[i] != row && y.has(x.at[i]) && !out.has(x.at[i]))
      add(x.at[i], xs.at[i], true, true, false, p.inner);
  for (int i = 0; i < y.count; ++i)
    if (y.at[i] != row && !x.has(y.at[i])) add(y.at[i], ys.at[i], false, true, true, p.right);
  if (p.result.rank == 0) p.result.push(1);
  return p;
}

/// The product that Plan describes: its dimensions are the rows, unless they are summed over, then
/// the products of extents `batch`, `left` and `right`, of which matmul may leave out the first.
template <einsum_plan Plan, class X, class Y>
constexpr auto einsum_product(X x, Y y, int line) {
  constexpr bool x_rows = whole_shape<X>.has_rows(), y_rows = whole_shape<Y>.has_rows();
  constexpr int b = Plan.batch, l = Plan.left, k = Plan.inner, n = Plan.right;
  if constexpr (Plan.sums_rows && b == 1 && k == 1) {
    return matmul<matmul_form{.transpose_x = true}>(with_inner<extents{1, {l}}>(x, indices_to<1>{}),
                                                    with_inner<extents{1, {n}}>(y, indices_to<1>{}),
                                                    {}, line);
  } else if constexpr (x_rows == y_rows) {
    const auto z = matmul(with_inner<extents{3, {b, l, k}}>(x, indices_to<3>{}),
                          with_inner<extents{3, {b, k, n}}>(y, indices_to<3>{}), {}, line);
    if constexpr (Plan.sums_rows)
      return reduce_sum<0>(z);
    else
      return z;
  } else if constexpr (b == 1) {
    return matmul(with_inner<extents{2, {l, k}}>(x, indices_to<2>{}),
                  with_inner<extents{2, {k, n}}>(y, indices_to<2>{}), {}, line);
  } else {
    // Each row of one side meets the same matrices of the other side, for which matmul has no form.
    const auto matrices = with_inner<extents{3, {b, k, n}}>(y, indices_to<3>{});
    const auto columns = [matrices] {
      if constexpr (y_rows)
        return transpose<0, 1, 3, 2>(matrices);
      else
        return transpose<0, 2, 1>(matrices);
    }();
    return reduce_sum<-1>(
        elementwise_mul(with_inner<extents{4, {b, l, 1, k}}>(x, indices_to<4>{}),
                        with_inner<extents{4, {b, 1, n, k}}>(columns, indices_to<4>{}), {}, line));
  }
}

/// The indices of one operand of an equation that only this operand has and the result has not; the
/// operand is summed over them first.
constexpr extents alone(const index_letters& mine, const index_letters& other,
                        const index_letters& out) {
  extents r{};
  for (int i = 0; i < mine.count; ++i)
    if (!other.has(mine.at[i]) && !out.has(mine.at[i])) r.push(i);
  return r;
}
template <index_letters Letters, extents Gone>
constexpr index_letters without() {
  index_letters r;
  for (int i = 0; i < Letters.count; ++i) {
    bool gone = false;
    for (int j = 0; j < Gone.rank; ++j) gone = gone || Gone.at[j] == i;
    if (!gone) r.push(Letters.at[i]);
  }
  return r;
}

}  // namespace detail

/// The sum of products that Equation describes, as in NumPy: each letter is an index, and the
/// result is the sum over all indices that it does not have. `einsum<"bij,bjk->bik">(x, y)` is
/// matmul(x, y); `einsum<"bi,ij->bj">(x, w)` a product with a parameter; `einsum<"bij->bji">(x)` a
/// transpose. There is one letter per dimension of the whole shape, so the first letter of a
/// variable with rows is its rows: they come first in the result too, or are summed over. An
/// operand has no letter twice, and there are one or two operands. It records transpose, reshape,
/// matmul and reduce_sum. NumPy, PyTorch, Keras: einsum.
template <fixed_string Equation, class T, class R, int... D>
constexpr auto einsum(variable<T, R, D...> x, const options<einsum_attr, T>& attr = {}) {
  using in = variable<T, R, D...>;
  constexpr detail::einsum_equation e = detail::read_einsum(Equation.view());
  constexpr bool valid = e.valid && e.operands == 1 && e.x.count == whole_shape<in>.rank;
  constexpr bool rows_first = !valid || !whole_shape<in>.has_rows() || e.out.count == 0 ||
                              !e.out.has(e.x.at[0]) || e.out.at[0] == e.x.at[0];
  static_assert(check<valid, gets_type<in>>,
                "lamina: einsum: expected \"ab->ba\", each letter once, one per dimension of the "
                "whole shape; the result has letters of the operand");
  static_assert(check<rows_first, gets_type<in>>, "lamina: einsum: rows come first in the result");
  if constexpr (valid && rows_first) {
    layer_helper layer(*x.builder, "einsum", attr.name);
    constexpr extents gone = detail::alone(e.x, {}, e.out);
    constexpr detail::index_letters left = detail::without<e.x, gone>();
    const auto sum = detail::summed<gone>(x, detail::indices_to<gone.rank>{});
    if constexpr (left.count == 0)
      return layer.returns(sum);
    else
      return layer.returns(
          detail::permuted<detail::order_of(left, e.out)>(sum, detail::indices_to<left.count>{}));
  } else {
    return x;
  }
}
template <fixed_string Equation, class T, class R, int... D, class U, class S, int... E>
constexpr auto einsum(variable<T, R, D...> x, variable<U, S, E...> y,
                      const options<einsum_attr, T>& attr = {}, int line = __builtin_LINE()) {
  using left = variable<T, R, D...>;
  using right = variable<U, S, E...>;
  constexpr detail::einsum_equation e = detail::read_einsum(Equation.view());
  constexpr bool valid = e.valid && e.operands == 2 && e.x.count == whole_shape<left>.rank &&
                         e.y.count == whole_shape<right>.rank;
  static_assert(check<valid, gets_type<left, right>>,
                "lamina: einsum: expected \"ab,bc->ac\", each letter once per operand and one per "
                "dimension of the whole shape; the result has letters of the operands");
  constexpr bool types = __is_same(T, U) && (__is_same(R, S) || !has_rows<R> || !has_rows<S>);
  static_assert(check<types, expects_type<left>, gets_type<right>>,
                "lamina: einsum: both operands have one element type, and not two kinds of rows");
  if constexpr (valid && types) {
    layer_helper layer(*x.builder, "einsum", attr.name);
    constexpr extents x_gone = detail::alone(e.x, e.y, e.out);
    constexpr extents y_gone = detail::alone(e.y, e.x, e.out);
    constexpr detail::index_letters x_left = detail::without<e.x, x_gone>();
    constexpr detail::index_letters y_left = detail::without<e.y, y_gone>();
    const auto a = detail::summed<x_gone>(x, detail::indices_to<x_gone.rank>{});
    const auto b = detail::summed<y_gone>(y, detail::indices_to<y_gone.rank>{});
    constexpr detail::einsum_plan plan = detail::plan_einsum(
        x_left, whole_shape<decltype(a)>, y_left, whole_shape<decltype(b)>, e.out);
    constexpr bool fits = plan.fits && x_left.count > 0 && y_left.count > 0;
    static_assert(check<fits, gets_type<left, right>>,
                  "lamina: einsum: a letter has the same extent in both operands; rows have the "
                  "same letter and come first in the result, or are summed over in both operands");
    if constexpr (fits) {
      const auto z = detail::einsum_product<plan>(
          detail::permuted<detail::order_of(x_left, plan.x)>(a, detail::indices_to<x_left.count>{}),
          detail::permuted<detail::order_of(y_left, plan.y)>(b, detail::indices_to<y_left.count>{}),
          line);
      const auto parts = detail::with_inner<plan.result>(z, detail::indices_to<plan.result.rank>{});
      if constexpr (e.out.count == 0)
        return layer.returns(parts);
      else
        return layer.returns(detail::permuted<detail::order_of(plan.out, e.out)>(
            parts, detail::indices_to<e.out.count>{}));
    } else {
      return x;
    }
  } else {
    return x;
  }
}

}}}  // namespace lamina::layer
