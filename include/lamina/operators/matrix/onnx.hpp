// SPDX-License-Identifier: Apache-2.0
// lamina/operators/matrix/onnx.hpp - operators of the family matrix, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <lamina/io/onnx/onnx_functions.hpp>
#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/operators/elementwise/onnx_quantize.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace onnx {

inline const std::string& transposed(onnx_operator& op, const char* slot, bool wanted) {
  const int rank = op.rank(slot);
  if (!wanted || rank < 2) return op.in(slot);
  std::vector<std::int64_t> order;
  for (int d = 0; d < rank; ++d) order.push_back(d);
  std::swap(order[static_cast<std::size_t>(rank - 2)], order[static_cast<std::size_t>(rank - 1)]);
  return op.node("Transpose", {op.in(slot)}, {{"perm", order}});
}
inline void lower_matmul(onnx_operator& op) {
  const std::string& x = transposed(op, "X", op.flag("transpose_X") || op.flag("trans_x"));
  const std::string& y = transposed(op, "Y", op.flag("transpose_Y") || op.flag("trans_y"));
  op.out("Out", affine(op, op.node("MatMul", {x, y}), op.real("alpha", 1), 0));
}

/// Returns [batch, length, heads * size] as [batch, heads, length, size].
inline onnx_imported split_heads(onnx_import_node& n, const onnx_imported& x, std::int64_t heads) {
  if (x.rank() == 4) return x;
  n.require_rank(x, 3, 4);
  const std::int64_t width = n.extent(x, 2);
  if (heads < 1 || width % heads != 0)
    n.fail(text("expected heads that divide a width of ") << width << ", found " << heads);
  return n.transpose(n.reshape(x, {x.dims[0], x.dims[1], heads, width / heads}), {0, 2, 1, 3});
}
/// Returns each of the heads, dimension 1, `times` times.
inline onnx_imported repeated_heads(onnx_import_node& n, const onnx_imported& x,
                                    std::int64_t times) {
  if (times == 1) return x;
  const std::int64_t heads = n.extent(x, 1);
  std::vector<std::int64_t> wide{x.dims[0], heads, times, x.dims[2], x.dims[3]};
  return n.reshape(n.broadcast_to(n.unsqueeze(x, {2}), wide),
                   {x.dims[0], heads * times, x.dims[2], x.dims[3]});
}
/// Attention: softmax(scale * Q * K' + bias) * V, with a mask, causal or windowed bias, keys of
/// earlier calls, and groups of heads that share keys. A row without any key is 0.
inline void raise_attention(onnx_import_node& n) {
  const onnx_imported& given = n.in(0);
  const bool flat = given.rank() == 3;
  const onnx_imported q = split_heads(n, given, n.integer("q_num_heads"));
  onnx_imported k = split_heads(n, n.in(1), n.integer("kv_num_heads")),
                v = split_heads(n, n.in(2), n.integer("kv_num_heads"));
  const dtype type = q.type;
  std::int64_t before = 0;
  if (n.has(4) && n.has(5)) {
    before = n.in(4).dims.at(2);
    k = n.concat({n.in(4), k}, 2);
    v = n.concat({n.in(5), v}, 2);
  }
  n.out(1, k);
  n.out(2, v);
  // The numbers of queries and keys may be known at run time only.
  const std::int64_t rows = q.dims[2], keys = k.dims[2], heads = n.extent(q, 1);
  if (n.extent(k, 1) < 1 || heads % n.extent(k, 1) != 0)
    n.fail(text("expected heads of Q that are a multiple of those of K, found ")
           << heads << " and " << n.extent(k, 1));
  const double infinity = std::numeric_limits<double>::infinity();
  // Whether a query may use a key, where that does not depend on the mask.
  onnx_imported allowed, bias;
  const auto restrict_to = [&](const onnx_imported& more) {
    allowed = allowed.has_value() ? n.binary("logical_and", n.full(allowed, more),
                                             n.full(more, allowed), dtype::boolean)
                                  : more;
  };
  const onnx_imported row = n.positions(rows, 4, 2), column = n.positions(keys, 4, 3);
  const std::int64_t left = n.integer("left_window_size", -1),
                     right = n.integer("right_window_size", -1);
  const bool causal = n.flag("is_causal");
  onnx_imported valid;  // the number of keys of each sample
  if (n.has(6)) valid = n.reshape(n.cast(n.in(6), dtype::int64), {n.in(6).dims[0], 1, 1, 1});
  if (causal || left >= 0 || right >= 0) {
    const onnx_imported offset =
        valid.has_value() && !n.has(4) ? n.sub(valid, n.scalar_of(rows)) : n.scalar_of(before);
    const onnx_imported here = n.add(n.full(row, offset), offset);
    const auto limit = [&](std::int64_t by, const char* comparison) {
      const onnx_imported end = n.add(here, n.number(static_cast<double>(by), dtype::int64));
      restrict_to(n.binary(comparison, n.full(column, end), n.full(end, column), dtype::boolean));
    };
    if (causal) limit(0, "less_equal");
    if (left >= 0) limit(-left, "greater_equal");
    if (right >= 0) limit(right, "less_equal");
  }
  if (valid.has_value())
    restrict_to(n.binary("less_than", n.full(column, valid), valid, dtype::boolean));
  if (n.has(3)) {
    onnx_imported mask = n.in(3);
    const std::int64_t given_keys = mask.dims.back();
    const std::int64_t more = keys < 0 || given_keys < 0 ? 0 : keys - given_keys;
    const bool truth = mask.type == dtype::boolean;
    if (more > 0) {
      std::vector<std::int64_t> none(mask.dims.size(), 0), after = none;
      after.back() = more;
      if (truth)
        mask = n.cast(n.pad(n.cast(mask, dtype::int32), none, after, 0), dtype::boolean);
      else
        mask = n.pad(mask, none, after, -infinity);
    }
    if (truth)
      restrict_to(mask);
    else
      bias = mask;
  }
  if (allowed.has_value()) {
    const onnx_imported more = n.where(allowed, n.number(0, type), n.number(-infinity, type));
    bias = bias.has_value() ? n.add(n.full(bias, more), more) : more;
  }
  const double size = static_cast<double>(n.extent(q, 3));
  const double scale =
      n.has_attribute("scale") ? static_cast<double>(n.real("scale")) : 1 / std::sqrt(size);
  const std::int64_t times = heads / n.extent(k, 1);
  const onnx_imported scaled = n.affine(q, std::sqrt(scale), 0),
                      of_keys = n.affine(repeated_heads(n, k, times), std::sqrt(scale), 0);
  onnx_imported logits = n.matmul(scaled, of_keys, false, true);
  // The output for inspection: the product, after the softcap, with the bias, or the weights.
  const std::int64_t shown = n.integer("qk_matmul_output_mode");
  if (shown == 0) n.out(3, logits);
  const double cap = static_cast<double>(n.real("softcap"));
  if (cap > 0) logits = n.affine(n.unary("tanh", n.affine(logits, 1 / cap, 0)), cap, 0);
  if (shown == 1) n.out(3, logits);
  if (bias.has_value()) logits = n.add(n.full(logits, bias), bias);
  if (shown == 2) n.out(3, logits);
  onnx_imported weights = n.unary("softmax", logits, {{"axis", -1}});
  if (bias.has_value()) {
    const onnx_imported most = n.reduce("reduce_max", bias, {bias.rank() - 1}, true);
    const onnx_imported any =
        n.binary("greater_than", most, n.number(-infinity, type), dtype::boolean);
    weights = n.kept(weights, n.full(any, weights));
  }
  if (shown == 3) n.out(3, weights);
  onnx_imported y = n.matmul(weights, repeated_heads(n, v, times));
  if (flat) {
    y = n.transpose(y, {0, 2, 1, 3});
    y = n.reshape(y, {y.dims[0], y.dims[1], y.dims[2] * y.dims[3]});
  }
  n.out(0, y);
}
/// RotaryEmbedding: pairs of elements, turned by the angle of their position.
inline void raise_rotary_embedding(onnx_import_node& n) {
  const onnx_imported& given = n.in(0);
  onnx_imported x = given, cos = n.in(1), sin = n.in(2);
  if (given.rank() == 4) {
    x = n.transpose(given, {0, 2, 1, 3});
  } else {
    n.require_rank(given, 3, 4);
    const std::int64_t heads = n.integer("num_heads"), width = n.extent(given, 2);
    if (heads < 1 || width % heads != 0)
      n.fail(text("expected heads that divide ") << width << ", found " << heads);
    x = n.reshape(given, {given.dims[0], given.dims[1], heads, width / heads});
  }
  const std::int64_t size = n.extent(x, 3);
  std::int64_t turned = n.integer("rotary_embedding_dim");
  if (turned == 0) turned = size;
  if (turned < 2 || turned > size || turned % 2 != 0)
    n.fail(text("expected an even rotary_embedding_dim up to ") << size << ", found " << turned);
  if (n.has(3)) {
    cos = n.gather(cos, n.in(3), 0);
    sin = n.gather(sin, n.in(3), 0);
  }
  cos = n.unsqueeze(cos, {2});
  sin = n.unsqueeze(sin, {2});
  const onnx_imported part = n.slice(x, 3, 0, turned);
  const bool interleaved = n.flag("interleaved");
  const std::int64_t half = turned / 2;
  onnx_imported first, second;
  std::vector<std::int64_t> pairs = part.dims;
  pairs.back() = half;
  if (interleaved) {
    pairs.push_back(2);
    const onnx_imported both = n.reshape(part, pairs);
    first = n.squeeze(n.slice(both, 4, 0, 1), {4});
    second = n.squeeze(n.slice(both, 4, 1, 2), {4});
  } else {
    first = n.slice(part, 3, 0, half);
    second = n.slice(part, 3, half, turned);
  }
  const onnx_imported turned_first = n.sub(n.mul(first, cos), n.mul(second, sin)),
                      turned_second = n.add(n.mul(first, sin), n.mul(second, cos));
  onnx_imported y =
      interleaved
          ? n.reshape(
                n.concat({n.unsqueeze(turned_first, {4}), n.unsqueeze(turned_second, {4})}, 4),
                part.dims)
          : n.concat({turned_first, turned_second}, 3);
  if (turned < size) y = n.concat({y, n.slice(x, 3, turned, size)}, 3);
  n.out(given.rank() == 4 ? n.transpose(y, {0, 2, 1, 3}) : n.reshape(y, given.dims));
}

/// alpha * X * Y + beta * C.
inline void raise_gemm(onnx_import_node& n) {
  n.require_rank(n.in(0), 2, 2);
  n.require_rank(n.in(1), 2, 2);
  const onnx_imported product = n.matmul(n.in(0), n.in(1), n.flag("transA"), n.flag("transB"));
  onnx_imported sum = n.affine(product, static_cast<double>(n.real("alpha", 1)), 0);
  if (n.has(2)) sum = n.add(sum, n.affine(n.in(2), static_cast<double>(n.real("beta", 1)), 0));
  n.out(sum);
}

/// Returns the product of integers without their zero points, in int32.
inline onnx_imported integer_matmul(onnx_import_node& n, const onnx_imported& a,
                                    const onnx_imported& a_zero, const onnx_imported& b,
                                    const onnx_imported& b_zero) {
  if (a.rank() == 0) n.fail("expected matrices, found a scalar");
  return exact_product(
      n, without_zero_point(n, a, a_zero, true), without_zero_point(n, b, b_zero, false),
      a.dims.back(),
      [&](const onnx_imported& x, const onnx_imported& y) { return n.matmul(x, y); });
}
/// y = saturate(round(a * b * a_scale * b_scale / y_scale) + y_zero_point), with the product of the
/// numbers without their zero points.
inline void raise_quantised_matmul(onnx_import_node& n) {
  const onnx_imported product =
      n.cast(integer_matmul(n, n.in(0), n.in(2), n.in(3), n.in(5)), n.in(1).type);
  onnx_imported a_scale = n.in(1);
  if (a_scale.rank() == 1 && a_scale.dims[0] != 1) a_scale = n.unsqueeze(a_scale, {1});
  const onnx_imported scale = n.div(n.mul(a_scale, n.in(4)), n.in(6));
  n.out(saturated(n, n.mul(product, scale), n.in(7), range_of_quantised(n, n.in(7))));
}

inline void add_matrix_matmul(onnx_operators& to) {
  to.add_node("MatMulInteger", [](onnx_import_node& n) {
    n.out(integer_matmul(n, n.in(0), n.optional(2), n.in(1), n.optional(3)));
  });
  to.add_node("QLinearMatMul", raise_quantised_matmul);
  to.add_node("MatMul", [](onnx_import_node& n) { n.out(n.matmul(n.in(0), n.in(1))); });
  to.add_node("Gemm", raise_gemm);
  to.add_node("Attention", raise_attention);
  to.add_node("RotaryEmbedding", raise_rotary_embedding);
  to.add("matmul", lower_matmul);
  to.add("matmul_v2", lower_matmul);
}

/// X * Y with both flattened to matrices; the result has the leading dimensions of X.
inline void lower_mul(onnx_operator& op) {
  const int x_rows = static_cast<int>(op.integer("x_num_col_dims", 1));
  const int y_rows = static_cast<int>(op.integer("y_num_col_dims", 1));
  std::string x = op.in("X"), y = op.in("Y");
  std::vector<std::int64_t> rows(static_cast<std::size_t>(x_rows), 0);  // 0 copies a dimension
  if (op.rank("X") != x_rows + 1) {
    std::vector<std::int64_t> shape = rows;
    shape.push_back(extents(op, "X", x_rows, op.rank("X")));
    x = op.reshape(x, shape);
  }
  if (y_rows == 1 && op.rank("Y") == 2) return op.out("Out", "MatMul", {x, y});
  const std::int64_t depth = extents(op, "Y", 0, y_rows);
  y = op.reshape(y, {depth, extents(op, "Y", y_rows, op.rank("Y"))});
  for (int d = y_rows; d < op.rank("Y"); ++d) rows.push_back(op.extent("Y", d));
  op.out("Out", "Reshape", {op.node("MatMul", {x, y}), op.list(rows)});
}

inline void add_matrix_mul(onnx_operators& to) { to.add("mul", lower_mul); }

}}}  // namespace lamina::onnx
