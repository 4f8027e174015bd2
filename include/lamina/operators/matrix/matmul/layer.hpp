// SPDX-License-Identifier: Apache-2.0
// lamina/operators/matrix/matmul/layer.hpp - products of matrices.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/broadcast.hpp>
#include <lamina/layers/one_operator.hpp>
#include <lamina/layers/shape.hpp>
#include <lamina/operators/matrix/matmul/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of matmul.
struct matmul_attr {
  float alpha = 1;
  bool skip_zeros = false;       // 0 in x times NaN or infinity in y is 0
  bool skip_zero_grads = false;  // 0 in the gradient of the result: likewise
  std::string_view name{};
};

/// Selects the operands that matmul transposes first: `matmul<matmul_form{.transpose_y = true}>(q,
/// k)`.
struct matmul_form {
  bool transpose_x = false;
  bool transpose_y = false;
};

namespace detail {

struct product_shape {
  int left, right;  // the extents over which products are summed
  bool widths;      // whether `left` and `right` are equal
  bool fits;        // whether the other dimensions form a shape with the rows first
  extents shape;
};

template <bool First, class R, class S>
struct either_rows {
  using type = R;
};
template <class R, class S>
struct either_rows<false, R, S> {
  using type = S;
};

/// The whole shape of an operand with other dimensions before its matrix: those to which the
/// leading dimensions of x and y broadcast. The rank is 0 if they do not.
constexpr extents with_leading(const extents& of, const extents& x, const extents& y) {
  if (x.rank < 2 || y.rank < 2) return {};
  extents leads[2] = {x, y};
  for (extents& lead : leads) lead.rank -= 2;
  extents to = broadcast_shape(leads[0], leads[1]);
  if (to.rank == 0) return {};
  to.push(of.at[of.rank - 2]);
  to.push(of.at[of.rank - 1]);
  return to;
}

constexpr product_shape matmul_shape(extents x, extents y, matmul_form form) {
  const bool row = x.rank == 1, column = y.rank == 1;
  if (row) x = {2, {1, x.at[0]}};
  if (column) y = {2, {y.at[0], 1}};
  const int xr = form.transpose_x ? 1 : 0, yr = form.transpose_y ? 1 : 0;
  const int m = x.at[x.rank - 2 + xr], k = x.at[x.rank - 1 - xr];
  const int l = y.at[y.rank - 2 + yr], n = y.at[y.rank - 1 - yr];
  product_shape r{k, l, k == l, true, {}};
  const extents& batches = x.rank >= y.rank ? x : y;
  if (x.rank > 2 && y.rank > 2) {
    r.fits = x.rank == y.rank;
    for (int i = 0; r.fits && i < x.rank - 2; ++i) r.fits = x.at[i] == y.at[i];
  }
  for (int i = 0; i < batches.rank - 2; ++i) r.shape.push(batches.at[i]);
  if (!row) r.shape.push(m);
  if (!column) r.shape.push(n);
  if (r.shape.rank == 0) r.shape.push(1);
  for (int i = 1; i < r.shape.rank; ++i) {
    if (r.shape.at[i] < 0) r.fits = false;
    if (r.shape.at[i] < 0) r.shape.at[i] = 1;
  }
  return r;
}

}  // namespace detail

/// Returns alpha * x * y, where the last two dimensions of the shapes, including the rows, are
/// matrices. The dimensions before the last two broadcast as in NumPy. If x or y has none, its
/// matrix is multiplied by every matrix of the other operand; if they differ otherwise, copies are
/// multiplied. A vector x is a matrix with one
/// row, a vector y a matrix with one column. The rows of the batch may number the matrices, be the
/// rows of the matrix x, or be the dimension over which products are summed. With `skip_zeros`, 0
/// in x times NaN or infinity in y is 0: this is useful if x holds weights that are 0 for masked
/// elements. Fluid: matmul.
template <matmul_form Form = matmul_form{}, class T, class R, int... D, class U, class S, int... E>
constexpr auto matmul(variable<T, R, D...> x, variable<U, S, E...> y,
                      const options<matmul_attr, T>& attr = {}, int line = __builtin_LINE()) {
  using left = variable<T, R, D...>;
  using right = variable<U, S, E...>;
  constexpr detail::product_shape r =
      detail::matmul_shape(whole_shape<left>, whole_shape<right>, Form);
  constexpr bool types = __is_same(T, U) && (__is_same(R, S) || !has_rows<R> || !has_rows<S>);
  constexpr bool widths = !types || r.widths;
  constexpr extents wide_x =
      detail::with_leading(whole_shape<left>, whole_shape<left>, whole_shape<right>);
  constexpr extents wide_y =
      detail::with_leading(whole_shape<right>, whole_shape<left>, whole_shape<right>);
  constexpr bool plain = !types || !widths || r.fits;
  constexpr bool fits = plain || wide_x.rank > 0;
  static_assert(check<types, expects_type<left>, gets_type<right>>,
                "lamina: matmul: both sides have one element type, and not two kinds of rows");
  static_assert(check<widths, expects<r.left>, gets<r.right>, gets_type<left, right>>,
                "lamina: matmul: the width of the left side is the height of the right one");
  static_assert(check<fits, gets_type<left, right>>,
                "lamina: matmul: leading dimensions broadcast, and rows stay in front");
  require_one_program(x, y, line);
  if constexpr (!plain && fits) {
    return matmul<Form>(detail::repeated_rows<wide_x>(x, y), detail::repeated_rows<wide_y>(y, x),
                        attr, line);
  } else {
    using domain = typename detail::either_rows<has_rows<R>, R, S>::type;
    using out = handle_of<T, domain, r.shape>;
    program_builder& b = *x.builder;
    layer_helper layer(b, "matmul", attr.name);
    const out z = layer.template output<out>();
    b.add_operator(schema_of<operators::matmul>(), {x.id, y.id}, {z.id},
                   b.attribute_list(Form.transpose_x, Form.transpose_y, attr.alpha, attr.skip_zeros,
                                    attr.skip_zero_grads));
    return layer.returns(z);
  }
}

}}}  // namespace lamina::layer
