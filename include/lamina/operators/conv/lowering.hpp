// SPDX-License-Identifier: Apache-2.0
// lamina/operators/conv/lowering.hpp - makes convolutions the heads (main operators) of fused
// groups.
//
// The pointwise operators after a convolution, such as the additions of bias and residual, become
// statements of its group: the kernel of the convolution computes them on its result.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/conv/definition.hpp>
#include <lamina/operators/norm/batch_norm/lowering.hpp>
#include <lamina/plan/lowering/images.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace lowering {

/// Lowers a convolution. Returns false if the operands are not float32 images; then its kernel must
/// be called.
constexpr bool lower_conv(lowering_state& s, const operator_desc& op, int k) {
  const int x = argument(s, op.inputs), filter = argument(s, op.inputs + 1);
  const int bias = argument(s, op.inputs + 2), residual = argument(s, op.inputs + 3);
  const int out = argument(s, op.outputs);
  if (!is_images(s, x) || !is_images(s, out) || s.variables.items[filter].type != dtype::float32)
    return false;
  make_factor_early(s, out, k);
  const int made = bias < 0 && residual < 0 ? out : image_like(s, out);
  const int a = in_rows(s, x, k), w = in_rows(s, filter, k);
  instruction i = begin_images(s, fusion_anchor::conv, *op.schema, out, k);
  use(s, a, access::load);
  use(s, w, access::load);
  result(s, made);
  end(s, i);
  int so_far = made;
  if (bias >= 0)
    so_far =
        add_images(s, so_far, in_rows(s, bias, k),
                   of_channels(s.variables.items[bias].columns, s.variables.items[out].columns),
                   out, residual < 0, k);
  if (residual >= 0) add_images(s, so_far, padded_rows(s, residual, k), access::load, out, true, k);
  return true;
}
constexpr bool lower_conv_grad(lowering_state& s, const operator_desc& op, int k) {
  const int x = argument(s, op.inputs), filter = argument(s, op.inputs + 1);
  const int grad = argument(s, op.inputs + 4);
  const int dx = argument(s, op.outputs), dfilter = argument(s, op.outputs + 1);
  if (argument(s, op.outputs + 2) >= 0 || argument(s, op.outputs + 3) >= 0 || !is_images(s, x) ||
      !is_images(s, grad) || s.variables.items[filter].type != dtype::float32)
    return false;
  const int d = in_rows(s, grad, k);
  if (dx >= 0) {
    const int w = in_rows(s, filter, k);
    instruction i = begin_images(s, fusion_anchor::conv_dx, *op.schema, dx, k);
    use(s, d, access::load);
    use(s, w, access::load);
    result(s, dx);
    end(s, i);
  }
  if (dfilter >= 0) {
    s.variables.items[dfilter].panel = false;
    emit_call(s, schema_of<operators::conv_filter_gradient_sum>(), {in_rows(s, x, k), d}, {dfilter},
              k);
  }
  return true;
}

/// Lowers operator k if it is a convolution, or the gradient of a convolution, and a fused group
/// can compute it with its arguments. Otherwise returns false.
constexpr bool lower_convolution(lowering_state& s, const operator_desc& op, int k) {
  if (is<operators::conv2d>(op) || is<operators::depthwise_conv2d>(op) || is<operators::conv3d>(op))
    return lower_conv(s, op, k);
  return (is<gradient_of<operators::conv2d>>(op) ||
          is<gradient_of<operators::depthwise_conv2d>>(op) ||
          is<gradient_of<operators::conv3d>>(op)) &&
         lower_conv_grad(s, op, k);
}

}}}  // namespace lamina::lowering
