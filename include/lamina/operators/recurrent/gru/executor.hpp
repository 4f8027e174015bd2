// SPDX-License-Identifier: Apache-2.0
// lamina/operators/recurrent/gru/executor.hpp - the operators gru and gru_unit, gated recurrent
// units.
#pragma once

#include <lamina/core/config.hpp>

#include <vector>

#include <lamina/executor/call_context.hpp>
#include <lamina/executor/kernel_shape.hpp>
#include <lamina/executor/matrix_product.hpp>
#include <lamina/operators/recurrent/executor.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// Computes one step of one row, forwards and backwards. gru/definition.hpp explains the names u,
/// r, c and h'.
template <class Real>
struct gru_step {
  std::size_t width;  // D
  const Real *weight, *bias;
  recurrent_function<Real> gate, candidate;
  bool origin_mode;

  gru_step(const call_context<Real>& ctx, recurrent_function<Real> of_gates,
           recurrent_function<Real> of_candidate)
      : width(ctx.real("Weight").shape()[0]),
        weight(ctx.real("Weight").data()),
        bias(ctx.has("Bias") ? ctx.real("Bias").data() : nullptr),
        gate(of_gates),
        candidate(of_candidate),
        origin_mode(ctx.flag("origin_mode")) {
    require_extent(ctx, "Weight", 3 * width);
    require_extent(ctx, "Input", 3 * width);
    if (bias != nullptr) require_extent(ctx, "Bias", 3 * width);
  }

  const Real* candidate_weight() const { return weight + 2 * width * width; }
  // h = added(u) * c + kept(u) * h'.
  Real added(Real u) const { return origin_mode ? Real(1) - u : u; }
  Real kept(Real u) const { return origin_mode ? u : Real(1) - u; }

  // Computes the gates `g`, `reset` = r * h' and the state `next`. If has_state is false, the
  // previous state h is zero, and its products with the weight are skipped.
  void forward(const Real* x, const Real* h, bool has_state, Real* g, Real* reset,
               Real* next) const {
    const std::size_t n = width;
    for (std::size_t j = 0; j < 3 * n; ++j) g[j] = x[j] + (bias != nullptr ? bias[j] : Real(0));
    if (has_state) add_product(h, false, weight, false, g, 1, n, 2 * n);
    for (std::size_t j = 0; j < 2 * n; ++j) g[j] = gate(g[j]);
    for (std::size_t d = 0; d < n; ++d) reset[d] = g[n + d] * h[d];
    if (has_state) add_product(reset, false, candidate_weight(), false, g + 2 * n, 1, n, n);
    for (std::size_t d = 0; d < n; ++d) {
      Real& c = g[2 * n + d];
      c = candidate(c);
      // The shorter form h + u * (c - h) would lose the digits of c if h is large, and would be NaN
      // if h is infinite.
      next[d] = kept(g[d]) * h[d] + added(g[d]) * c;
    }
  }

  // Computes the gradient of x (`dg`) and the gradient of h' (`before`) from the gradient of h
  // (`dh`); adds to the gradients of the parameters.
  void backward(const Real* h, const Real* g, const Real* reset, const Real* dh, Real* dg,
                Real* before, Real* d_weight, double* d_bias) const {
    const std::size_t n = width;
    std::vector<Real> d_reset(n);
    for (std::size_t d = 0; d < n; ++d) {
      const Real u = g[d], c = g[2 * n + d];
      dg[d] = dh[d] * (origin_mode ? h[d] - c : c - h[d]) * gate.derivative(u);
      dg[2 * n + d] = dh[d] * added(u) * candidate.derivative(c);
      before[d] = dh[d] * kept(u);
    }
    add_product(dg + 2 * n, false, candidate_weight(), true, d_reset.data(), 1, n, n);
    for (std::size_t d = 0; d < n; ++d) {
      dg[n + d] = d_reset[d] * h[d] * gate.derivative(g[n + d]);
      before[d] += d_reset[d] * g[n + d];
    }
    add_product(dg, false, weight, true, before, 1, 2 * n, n);
    add_product(h, true, dg, false, d_weight, n, 1, 2 * n);
    add_product(reset, true, dg + 2 * n, false, d_weight + 2 * n * n, n, 1, n);
    for (std::size_t j = 0; j < 3 * n; ++j) d_bias[j] += static_cast<double>(dg[j]);
  }
};

template <class Real>
gru_step<Real> gru_step_of(const call_context<Real>& ctx) {
  return {ctx, recurrent_function<Real>(ctx, "gate_activation"),
          recurrent_function<Real>(ctx, "activation")};
}

template <class Real>
void gru_forward(call_context<Real>& ctx) {
  const gru_step<Real> step = gru_step_of(ctx);
  const lod& sequences = ctx.lod("Input");
  const std::size_t n = step.width, rows = sequences.rows();
  const Real* const x = ctx.real("Input").data();
  const Real* const h0 = initial_state(ctx, "H0", sequences.sequences(), n);
  auto gates = zeros<Real>({rows, 3 * n}), reset = zeros<Real>({rows, n}), hidden = reset;
  const std::vector<Real> nothing(n);
  for (std::size_t s = 0; s < sequences.sequences(); ++s) {
    const recurrent_steps steps(sequences, s, ctx.flag("is_reverse"));
    const Real* h = h0 != nullptr ? h0 + s * n : nothing.data();
    for (std::size_t k = 0; k < steps.count; ++k) {
      const std::size_t row = steps.row(k);
      step.forward(x + row * 3 * n, h, k > 0 || h0 != nullptr, gates.data() + row * 3 * n,
                   reset.data() + row * n, hidden.data() + row * n);
      h = hidden.data() + row * n;
    }
  }
  ctx.give("BatchGate", std::move(gates));
  ctx.give("BatchResetHiddenPrev", std::move(reset));
  ctx.give("BatchHidden", hidden);
  ctx.give("Hidden", std::move(hidden));
}

template <class Real>
void gru_gradient(call_context<Real>& ctx) {
  const gru_step<Real> step = gru_step_of(ctx);
  const lod& sequences = ctx.lod("Input");
  const std::size_t n = step.width, rows = sequences.rows(), count = sequences.sequences();
  const Real* const h0 = initial_state(ctx, "H0", count, n);
  const Real* const gates = ctx.real("BatchGate").data();
  const Real* const reset = ctx.real("BatchResetHiddenPrev").data();
  const Real* const hidden = ctx.real("Hidden").data();
  const Real* const d = ctx.real("Hidden@GRAD").data();
  auto d_input = zeros<Real>({rows, 3 * n}), d_h0 = zeros<Real>({count, n}),
       d_weight = zeros<Real>({n, 3 * n});
  auto d_bias = zeros<double>({1, 3 * n});
  const std::vector<Real> nothing(n);
  for (std::size_t s = 0; s < count; ++s) {
    const recurrent_steps steps(sequences, s, ctx.flag("is_reverse"));
    const Real* const first = h0 != nullptr ? h0 + s * n : nothing.data();
    Real* const back = d_h0.data() + s * n;  // gradient that the following step passes back
    std::vector<Real> dh(n);
    for (std::size_t k = steps.count; k-- > 0;) {
      const std::size_t row = steps.row(k);
      for (std::size_t j = 0; j < n; ++j) dh[j] = back[j] + d[row * n + j];
      step.backward(k == 0 ? first : hidden + steps.row(k - 1) * n, gates + row * 3 * n,
                    reset + row * n, dh.data(), d_input.data() + row * 3 * n, back, d_weight.data(),
                    d_bias.data());
    }
  }
  ctx.give("Input@GRAD", std::move(d_input));
  ctx.give("H0@GRAD", std::move(d_h0));
  ctx.give("Weight@GRAD", std::move(d_weight));
  ctx.give("Bias@GRAD", std::move(d_bias));
}

template <class Real>
void add_gru_kernels(kernel_table<Real>& table) {
  table["gru"] = gru_forward<Real>;
  table["gru_grad"] = gru_gradient<Real>;
}

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
