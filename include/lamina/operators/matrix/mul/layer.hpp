// SPDX-License-Identifier: Apache-2.0
// lamina/operators/matrix/mul/layer.hpp - mul: products of variables that are flattened to
// matrices.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/one_operator.hpp>
#include <lamina/layers/shape.hpp>
#include <lamina/operators/matrix/matmul/layer.hpp>
#include <lamina/operators/matrix/mul/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of mul.
struct mul_attr {
  std::string_view name{};
};

namespace detail {

constexpr product_shape mul_shape(const extents& x, const extents& y, int x_columns,
                                  int y_columns) {
  product_shape r{0, 0, true, true, {}};
  if (x_columns < 1 || x_columns >= x.rank || y_columns < 1 || y_columns >= y.rank || y.has_rows())
    return {0, 0, true, false, x};
  r.left = x.product(x_columns, x.rank);
  r.right = y.product(0, y_columns);
  r.widths = r.left == r.right;
  for (int i = 0; i < x_columns; ++i) r.shape.push(x.at[i]);
  for (int i = y_columns; i < y.rank; ++i) r.shape.push(y.at[i]);
  return r;
}

}  // namespace detail

/// Returns x * y, where x and y are flattened to matrices: the first XColumns dimensions of x and
/// the first YColumns dimensions of y, including the rows, are the rows of the matrices, the other
/// dimensions are the columns. Fluid: mul.
template <int XColumns = 1, int YColumns = 1, class T, class R, int... D, class U, class S,
          int... E>
constexpr auto mul(variable<T, R, D...> x, variable<U, S, E...> y,
                   const options<mul_attr, T>& attr = {}, int line = __builtin_LINE()) {
  using left = variable<T, R, D...>;
  using right = variable<U, S, E...>;
  constexpr detail::product_shape r =
      detail::mul_shape(whole_shape<left>, whole_shape<right>, XColumns, YColumns);
  constexpr bool fits = r.fits && __is_same(T, U);
  constexpr bool widths = !fits || r.widths;
  static_assert(check<fits, gets<XColumns, YColumns>, gets_type<left, right>>,
                "lamina: mul: the right side has no rows, and both have columns of one type");
  static_assert(check<widths, expects<r.left>, gets<r.right>, gets_type<left, right>>,
                "lamina: mul: the width of the left side is the height of the right one");
  require_one_program(x, y, line);
  using out = handle_of<T, R, r.shape>;
  program_builder& b = *x.builder;
  layer_helper layer(b, "mul", attr.name);
  const out z = layer.template output<out>();
  b.add_operator(schema_of<operators::mul>(), {x.id, y.id}, {z.id},
                 b.attribute_list(XColumns, YColumns));
  return layer.returns(z);
}

}}}  // namespace lamina::layer
