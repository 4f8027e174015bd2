// SPDX-License-Identifier: Apache-2.0
// lamina/operators/recurrent/gru_unit/executor.hpp - gru_unit: one step of a gru.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/executor/kernel_shape.hpp>
#include <lamina/executor/kernel_table.hpp>
#include <lamina/operators/recurrent/executor.hpp>
#include <lamina/operators/recurrent/gru/executor.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

template <class Real>
gru_step<Real> gru_unit_step_of(const call_context<Real>& ctx) {
  const int gate = ctx.integer("gate_activation"), candidate = ctx.integer("activation");
  for (const int number : {gate, candidate})
    if (number < 0 || number > 3)
      ctx.fail("expected an activation from 0 to 3, found " + std::to_string(number));
  return {ctx, recurrent_function<Real>(static_cast<recurrent_activation>(gate)),
          recurrent_function<Real>(static_cast<recurrent_activation>(candidate))};
}

template <class Real>
void gru_unit_forward(call_context<Real>& ctx) {
  const gru_step<Real> step = gru_unit_step_of(ctx);
  const auto& x = ctx.real("Input");
  const std::size_t n = step.width, rows = x.shape()[0];
  const Real* const h = initial_state(ctx, "HiddenPrev", rows, n);
  auto gates = zeros<Real>({rows, 3 * n}), reset = zeros<Real>({rows, n}), hidden = reset;
  for (std::size_t r = 0; r < rows; ++r)
    step.forward(x.data() + r * 3 * n, h + r * n, true, gates.data() + r * 3 * n,
                 reset.data() + r * n, hidden.data() + r * n);
  ctx.give("Gate", std::move(gates));
  ctx.give("ResetHiddenPrev", std::move(reset));
  ctx.give("Hidden", std::move(hidden));
}

template <class Real>
void gru_unit_gradient(call_context<Real>& ctx) {
  const gru_step<Real> step = gru_unit_step_of(ctx);
  const std::size_t n = step.width, rows = ctx.input("Input").shape()[0];
  const Real* const h = ctx.real("HiddenPrev").data();
  const Real* const gates = ctx.real("Gate").data();
  const Real* const reset = ctx.real("ResetHiddenPrev").data();
  const Real* const d = ctx.real("Hidden@GRAD").data();
  auto d_input = zeros<Real>({rows, 3 * n}), d_hidden = zeros<Real>({rows, n}),
       d_weight = zeros<Real>({n, 3 * n});
  auto d_bias = zeros<double>({1, 3 * n});
  for (std::size_t r = 0; r < rows; ++r)
    step.backward(h + r * n, gates + r * 3 * n, reset + r * n, d + r * n,
                  d_input.data() + r * 3 * n, d_hidden.data() + r * n, d_weight.data(),
                  d_bias.data());
  ctx.give("Input@GRAD", std::move(d_input));
  ctx.give("HiddenPrev@GRAD", std::move(d_hidden));
  ctx.give("Weight@GRAD", std::move(d_weight));
  ctx.give("Bias@GRAD", std::move(d_bias));
}

template <class Real>
void add_gru_unit_kernels(kernel_table<Real>& table) {
  table["gru_unit"] = gru_unit_forward<Real>;
  table["gru_unit_grad"] = gru_unit_gradient<Real>;
}

}}}  // namespace lamina::kernel
