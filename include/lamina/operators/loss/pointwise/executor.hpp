// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/pointwise/executor.hpp - sigmoid_cross_entropy_with_logits, which is not
// pointwise if `normalize` is set.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/executor/call_context.hpp>
#include <lamina/executor/kernel_shape.hpp>
#include <lamina/operators/loss/pointwise/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// Returns the divisor of the costs: the number of elements whose label is not ignore_index if
/// `normalize` is set, else 1.
template <class Real>
Real sigmoid_divisor(const call_context<Real>& ctx) {
  if (!ctx.flag("normalize")) return 1;
  const Real ignore = ctx.real_attribute("ignore_index", -100);
  const auto& label = ctx.real("Label");
  Real n = 0;
  for (std::size_t i = 0; i < label.size(); ++i) n += label.flat(i) == ignore ? Real(0) : Real(1);
  return n == 0 ? Real(1) : n;
}

/// Out = max(x, 0) - x * label + log(1 + e^-|x|), 0 if the label is ignored.
template <class Real>
void sigmoid_cross_entropy_forward(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  const auto& label = ctx.real("Label");
  const Real ignore = ctx.real_attribute("ignore_index", -100), divisor = sigmoid_divisor(ctx);
  auto out = zeros<Real>(shape_of(x));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Real v = x.flat(i);
    if (label.flat(i) != ignore)
      out.flat(i) = lamina::detail::binary_cost<Real>(v, label.flat(i)) / divisor;
  }
  ctx.give("Out", std::move(out));
}

/// dx = dy * (sigmoid(x) - label).
template <class Real>
void sigmoid_cross_entropy_gradient(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  const auto& label = ctx.real("Label");
  const auto& d = ctx.real("Out@GRAD");
  const Real ignore = ctx.real_attribute("ignore_index", -100), divisor = sigmoid_divisor(ctx);
  auto dx = zeros<Real>(shape_of(x));
  for (std::size_t i = 0; i < x.size(); ++i)
    if (label.flat(i) != ignore)
      dx.flat(i) =
          d.flat(i) * lamina::detail::binary_grad<Real>(x.flat(i), label.flat(i)) / divisor;
  ctx.give("X@GRAD", std::move(dx));
}

template <class Real>
void add_pointwise_loss_kernels(kernel_table<Real>& table) {
  table["sigmoid_cross_entropy_with_logits"] = sigmoid_cross_entropy_forward<Real>;
  table["sigmoid_cross_entropy_with_logits_grad"] = sigmoid_cross_entropy_gradient<Real>;
}

}}}  // namespace lamina::kernel
