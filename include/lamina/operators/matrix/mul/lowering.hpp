// SPDX-License-Identifier: Apache-2.0
// lamina/operators/matrix/mul/lowering.hpp - lowers a mul with a weight to a product that reads
// both matrices from memory as they are stored.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/arrays/padding.hpp>
#include <lamina/plan/lowering/deferred_products.hpp>
#include <lamina/plan/lowering/layout_copies.hpp>
#include <lamina/plan/lowering/row_parts.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace lowering {

/// If x_num_col_dims is above 1, a row of X in memory holds several rows of the product: returns
/// their number. Returns 0 if the product does not have this form.
constexpr int several_parts(const lowering_state& s, const operator_desc& op,
                            const plan_variable& x, const plan_variable& y) {
  return op.attributes >= 0 && attribute(s, op, 0) > 1 && attribute(s, op, 1) == 1 && x.rows < 0 &&
                 y.rows > 0 && x.columns > y.rows && x.columns % y.rows == 0 &&
                 padded(y.rows) == y.rows && padded(y.columns) == y.columns && x.type == s.real &&
                 y.type == s.real
             ? x.columns / y.rows
             : 0;
}
/// If X (rows by K) times Y (K by N) can be computed as one product of two matrices as they are
/// stored, returns the number of product rows in a row of X; otherwise returns 0. If a row of X has
/// K elements, it is one row of the product, whether its shape is [K] or [1, K].
constexpr int parts_of_product(const lowering_state& s, const operator_desc& op,
                               const plan_variable& x, const plan_variable& y) {
  return y.rows == x.columns && x.type == s.real && y.type == s.real && y.rows > 0 &&
                 (op.attributes < 0 || attribute(s, op, 1) == 1)
             ? 1
             : several_parts(s, op, x, y);
}

/// Lowers a mul to a product that can be fused. Returns false if this is not possible, and its
/// kernel must be called.
constexpr bool lower_mul(lowering_state& s, const operator_desc& op, int k) {
  const int x = argument(s, op.inputs), y = argument(s, op.inputs + 1);
  const int out = argument(s, op.outputs);
  const plan_variable of_y = s.variables.items[y];
  const int parts = parts_of_product(s, op, s.variables.items[x], of_y);
  if (parts == 0) return false;
  const int a = in_rows(s, x, k), w = of_y.panel ? y : in_panels(s, y, k);
  instruction i = begin(s, fusion_anchor::gemm, *op.schema, 0, k);
  use(s, a, access::load);
  use(s, w, access::load);
  result(s, out);
  if (parts > 1) cut(s, out, parts);
  i.rows = rows_in_parts(s.variables.items[out].rows, parts);
  i.columns = of_y.columns;
  i.depth = of_y.rows;
  end(s, i);
  return true;
}

/// Lowers the gradient of a mul. dX is computed before dW: the update of the weight may be fused
/// with the product dW, and dX must read the weight before the update overwrites it.
constexpr bool lower_mul_grad(lowering_state& s, const operator_desc& op, int k) {
  const int x = argument(s, op.inputs), y = argument(s, op.inputs + 1);
  const int dout = argument(s, op.inputs + 2);
  const int dx = argument(s, op.outputs), dy = argument(s, op.outputs + 1);
  const plan_variable of_x = s.variables.items[x], of_y = s.variables.items[y];
  const int parts = parts_of_product(s, op, of_x, of_y);
  if (parts == 0) return false;
  const int d = padded_rows(s, dout, k);
  if (dx >= 0) {
    const bool transposes = s.block > 0 && parts == 1 && is_of_outer_block(s, y);
    const int w = transposes ? transposed_panels_of(s, y, k) : of_y.panel ? y : in_panels(s, y, k);
    instruction i =
        begin(s, transposes ? fusion_anchor::gemm : fusion_anchor::gemm_dx, *op.schema, 0, k);
    use(s, d, access::load);
    use(s, w, access::load);
    result(s, dx);
    if (parts > 1) cut(s, dx, parts);
    i.rows = rows_in_parts(s.variables.items[dx].rows, parts);
    i.columns = of_y.rows;
    i.depth = of_y.columns;
    end(s, i);
  }
  if (dy >= 0) {
    const int a = in_rows(s, x, k);
    if (s.block > 0 && parts == 1 && defer_product(s, a, d, dy, k)) return true;
    instruction i = begin(s, fusion_anchor::gemm_dw, *op.schema, 1, k);
    use(s, a, access::load);
    use(s, d, access::load);
    s.variables.items[dy].panel = true;
    result(s, dy);
    i.rows = of_y.rows;
    i.columns = of_y.columns;
    i.depth = rows_in_parts(of_x.rows, parts);
    i.panel = true;
    end(s, i);
  }
  return true;
}

}}}  // namespace lamina::lowering
