// SPDX-License-Identifier: Apache-2.0
// lamina/operators/recurrent/lstm_unit/executor.hpp - lstm_unit: one step of an lstm.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/executor/call_context.hpp>
#include <lamina/executor/kernel_shape.hpp>
#include <lamina/operators/recurrent/executor.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

template <class Real>
void lstm_unit_forward(call_context<Real>& ctx) {
  const auto& before = ctx.real("C_prev");
  const std::size_t n = matrix(shape_of(before), 1).columns, rows = before.shape()[0];
  require_extent(ctx, "X", 4 * n);
  const Real* const x = ctx.real("X").data();
  const recurrent_function<Real> sigmoid(recurrent_activation::sigmoid);
  const recurrent_function<Real> tanh(recurrent_activation::tanh);
  const Real forget_bias = ctx.real_attribute("forget_bias");
  auto cell = zeros<Real>(shape_of(before)), hidden = cell;
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t d = 0; d < n; ++d) {
      const Real* const g = x + r * 4 * n + d;
      const Real c =
          sigmoid(g[n] + forget_bias) * before.flat(r * n + d) + sigmoid(g[0]) * tanh(g[3 * n]);
      cell.flat(r * n + d) = c;
      hidden.flat(r * n + d) = sigmoid(g[2 * n]) * tanh(c);
    }
  ctx.give("C", std::move(cell));
  ctx.give("H", std::move(hidden));
}

template <class Real>
void lstm_unit_gradient(call_context<Real>& ctx) {
  const auto& before = ctx.real("C_prev");
  const auto& cell = ctx.real("C");
  const auto& d_cell = ctx.real("C@GRAD");
  const auto& d_hidden = ctx.real("H@GRAD");
  const Real* const x = ctx.real("X").data();
  const recurrent_function<Real> sigmoid(recurrent_activation::sigmoid);
  const recurrent_function<Real> tanh(recurrent_activation::tanh);
  const Real forget_bias = ctx.real_attribute("forget_bias");
  const std::size_t n = matrix(shape_of(before), 1).columns, rows = before.shape()[0];
  auto dx = zeros<Real>({rows, 4 * n}), d_before = zeros<Real>(shape_of(before));
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t d = 0; d < n; ++d) {
      const Real* const g = x + r * 4 * n + d;
      Real* const dg = dx.data() + r * 4 * n + d;
      const std::size_t at = r * n + d;
      const Real i = sigmoid(g[0]), f = sigmoid(g[n] + forget_bias), o = sigmoid(g[2 * n]);
      const Real candidate = tanh(g[3 * n]), activated = tanh(cell.flat(at));
      const Real dc = d_cell.flat(at) + d_hidden.flat(at) * o * tanh.derivative(activated);
      dg[0] = dc * candidate * sigmoid.derivative(i);
      dg[n] = dc * before.flat(at) * sigmoid.derivative(f);
      dg[2 * n] = d_hidden.flat(at) * activated * sigmoid.derivative(o);
      dg[3 * n] = dc * i * tanh.derivative(candidate);
      d_before.flat(at) = dc * f;
    }
  ctx.give("X@GRAD", std::move(dx));
  ctx.give("C_prev@GRAD", std::move(d_before));
}

template <class Real>
void add_lstm_unit_kernels(kernel_table<Real>& table) {
  table["lstm_unit"] = lstm_unit_forward<Real>;
  table["lstm_unit_grad"] = lstm_unit_gradient<Real>;
}

}}}  // namespace lamina::kernel
