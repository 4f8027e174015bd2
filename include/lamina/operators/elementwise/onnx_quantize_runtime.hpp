// SPDX-License-Identifier: Apache-2.0
// lamina/operators/elementwise/onnx_quantize_runtime.hpp - imports the operators on quantised
// numbers that ONNX Runtime's quantize_static writes, of the domain com.microsoft.
//
// Each computes with the real numbers that its integers stand for, and quantises the result.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <utility>
#include <vector>

#include <lamina/operators/elementwise/onnx_quantize.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace onnx {

/// Returns (q - zero point) * scale of the inputs i, i + 1 (scale) and i + 2 (zero point). A list
/// of scales belongs to the last dimension.
inline onnx_imported dequantised(onnx_import_node& n, std::size_t i) {
  const auto one_or_list = [&](const onnx_imported& v) {
    return v.rank() == 1 && v.dims[0] == 1 ? n.reshape(v, {}, {1}) : v;
  };
  const onnx_imported& scale = n.in(i + 1);
  onnx_imported x = n.cast(n.in(i), dtype::int32);
  if (n.has(i + 2)) x = n.sub(x, n.cast(one_or_list(n.in(i + 2)), dtype::int32));
  return n.mul(n.cast(x, scale.type), one_or_list(scale));
}
/// Gives y, quantised with the inputs i (scale) and i + 1 (zero point).
inline void give_quantised(onnx_import_node& n, const onnx_imported& y, std::size_t i) {
  const onnx_imported zero = n.optional(i + 1);
  const quantised_range range =
      zero.has_value() ? range_of_quantised(n, zero) : range_of_quantised(n, 2);
  const onnx_imported at = zero.has_value() ? n.reshape(zero, {}, {1}) : zero;
  n.out(saturated(n, n.div(y, n.reshape(n.in(i), {}, {1})), at, range));
}

inline onnx_raising raise_quantised_binary(const char* type) {
  return [type](onnx_import_node& n) {
    give_quantised(n, n.binary(type, dequantised(n, 0), dequantised(n, 3)), 6);
  };
}
inline onnx_raising raise_quantised_unary(const char* type) {
  return [type](onnx_import_node& n) {
    std::vector<onnx_set> attributes;
    if (n.type() == "QLinearLeakyRelu") attributes.emplace_back("alpha", n.real("alpha", 0.01F));
    give_quantised(n, n.unary(type, dequantised(n, 0), std::move(attributes)), 3);
  };
}
/// alpha * A * B + C, where C is in int32 with the product of both scales; without a scale of the
/// result, it stays real.
inline void raise_quantised_gemm(onnx_import_node& n) {
  const onnx_imported a = dequantised(n, 0);
  onnx_imported b = n.in(3);
  n.require_rank(a, 2, 2);
  n.require_rank(b, 2, 2);
  const double alpha = static_cast<double>(n.real("alpha", 1));
  onnx_imported y;
  const bool turned = n.flag("transB");
  if (turned) {  // a list of scales belongs to the columns of the product
    onnx_imported wide = n.cast(b, dtype::int32);
    const auto column = [&](const onnx_imported& v) {
      return v.rank() == 1 && v.dims[0] != 1 ? n.unsqueeze(v, {1}) : n.reshape(v, {}, {1});
    };
    if (n.has(5)) wide = n.sub(wide, n.cast(column(n.in(5)), dtype::int32));
    b = n.mul(n.cast(wide, n.in(4).type), column(n.in(4)));
  } else {
    b = dequantised(n, 3);
  }
  y = n.affine(n.matmul(a, b, n.flag("transA"), turned), alpha, 0);
  if (n.has(6)) {
    const auto one_or_list = [&](const onnx_imported& v) {
      return v.rank() == 1 && v.dims[0] == 1 ? n.reshape(v, {}, {1}) : v;
    };
    const onnx_imported unit = n.mul(one_or_list(n.in(1)), one_or_list(n.in(4)));
    y = n.add(y, n.affine(n.mul(n.full(n.cast(n.in(6), y.type), unit), unit), alpha, 0));
  }
  if (n.has(7)) return give_quantised(n, y, 7);
  n.out(y);
}
inline void raise_quantised_concat(onnx_import_node& n) {
  std::vector<onnx_imported> all;
  for (std::size_t i = 2; i + 1 < n.count(); i += 3) all.push_back(dequantised(n, i));
  if (all.empty()) n.fail("expected values to concatenate, found none");
  give_quantised(n, n.concat(all, n.axis(n.integer("axis"), all[0].rank())), 0);
}
inline void raise_quantised_mean(onnx_import_node& n) {
  if (n.flag("channels_last")) n.fail("expected channels_last 0, found 1");
  const onnx_imported x = dequantised(n, 0);
  n.require_rank(x, 3, 16);
  std::vector<std::int64_t> axes;
  for (int d = 2; d < x.rank(); ++d) axes.push_back(d);
  give_quantised(n, n.reduce("reduce_mean", x, axes, true), 3);
}

/// Softmax along an axis. Until version 13, given as `opset`, it is one of all dimensions from
/// `axis` on, which is the same for the last axis.
inline void raise_quantised_softmax(onnx_import_node& n) {
  const onnx_imported x = dequantised(n, 0);
  const std::int64_t axis = n.axis(n.integer("axis", -1), x.rank());
  if (n.integer("opset") < 13 && axis != x.rank() - 1)
    n.fail(text("expected the last axis of a softmax of version 12 or below, found ") << axis);
  give_quantised(n, n.unary("softmax", x, {{"axis", static_cast<int>(axis)}}), 3);
}

inline void add_elementwise_quantize_runtime(onnx_operators& to) {
  const char* const domain = "com.microsoft";
  to.add_node("QLinearAdd", raise_quantised_binary("elementwise_add"), domain);
  to.add_node("QLinearMul", raise_quantised_binary("elementwise_mul"), domain);
  to.add_node("QLinearSigmoid", raise_quantised_unary("sigmoid"), domain);
  to.add_node("QLinearLeakyRelu", raise_quantised_unary("leaky_relu"), domain);
  to.add_node("QLinearSoftmax", raise_quantised_softmax, domain);
  to.add_node("QLinearConcat", raise_quantised_concat, domain);
  to.add_node("QLinearGlobalAveragePool", raise_quantised_mean, domain);
  to.add_node("QGemm", raise_quantised_gemm, domain);
  // These are in com.microsoft in files that are older than the ones of ONNX.
  to.add_node("QuantizeLinear", raise_quantize, domain);
  to.add_node("DequantizeLinear", raise_dequantize, domain);
}

}}}  // namespace lamina::onnx
