// SPDX-License-Identifier: Apache-2.0
// lamina/operators/recurrent/lstm/executor.hpp - the operators lstm, lstmp and lstm_unit, long
// short-term memory.
#pragma once

#include <lamina/core/config.hpp>

#include <vector>

#include <lamina/executor/call_context.hpp>
#include <lamina/executor/kernel_shape.hpp>
#include <lamina/executor/matrix_product.hpp>
#include <lamina/operators/recurrent/executor.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// The attributes and inputs that lstm and lstmp share. lstmp projects the hidden state before the
/// next step reads it; in lstm, the next step reads the hidden state itself.
template <class Real>
struct lstm_form {
  bool projects, reverse, peepholes;
  std::size_t width, projected;  // D and P
  const lod& sequences;
  const Real *input, *weight, *projection, *bias, *h0, *c0;
  recurrent_function<Real> gate, of_cell, candidate, of_projection;
  Real cell_clip, projection_clip;

  explicit lstm_form(const call_context<Real>& ctx)
      : projects(ctx.has("ProjWeight")),
        reverse(ctx.flag("is_reverse")),
        peepholes(ctx.flag("use_peepholes")),
        width(ctx.real("Weight").shape()[1] / 4),
        projected(ctx.real("Weight").shape()[0]),
        sequences(ctx.lod("Input")),
        input(ctx.real("Input").data()),
        weight(ctx.real("Weight").data()),
        projection(projects ? ctx.real("ProjWeight").data() : nullptr),
        bias(ctx.real("Bias").data()),
        h0(initial_state(ctx, "H0", sequences.sequences(), projected)),
        c0(initial_state(ctx, "C0", sequences.sequences(), width)),
        gate(ctx, "gate_activation"),
        of_cell(ctx, "cell_activation"),
        candidate(ctx, "candidate_activation"),
        of_projection(ctx, "proj_activation"),
        cell_clip(ctx.real_attribute("cell_clip")),
        projection_clip(ctx.real_attribute("proj_clip")) {
    require_extent(ctx, "Input", 4 * width);
    require_extent(ctx, "Bias", (peepholes ? 7 : 4) * width);
  }

  std::size_t rows() const { return sequences.rows(); }
  Real peephole(std::size_t gate_number, std::size_t d) const {
    return peepholes ? bias[(4 + gate_number) * width + d] : Real(0);
  }
};

template <class Real>
void lstm_forward(call_context<Real>& ctx) {
  const lstm_form<Real> f(ctx);
  const std::size_t n = f.width, rows = f.rows();
  auto gates = zeros<Real>({rows, 4 * n}), cell = zeros<Real>({rows, n}), activated = cell,
       hidden = cell, projection = zeros<Real>({rows, f.projects ? f.projected : 0});
  const Real* const seen = f.projects ? projection.data() : hidden.data();
  const std::vector<Real> nothing((std::max)(n, f.projected));
  for (std::size_t s = 0; s < f.sequences.sequences(); ++s) {
    const recurrent_steps steps(f.sequences, s, f.reverse);
    const Real* h = f.h0 != nullptr ? f.h0 + s * f.projected : nothing.data();
    const Real* c = f.c0 != nullptr ? f.c0 + s * n : nothing.data();
    for (std::size_t k = 0; k < steps.count; ++k) {
      const std::size_t row = steps.row(k);
      Real* const g = gates.data() + row * 4 * n;
      for (std::size_t j = 0; j < 4 * n; ++j) g[j] = f.input[row * 4 * n + j] + f.bias[j];
      add_product(h, false, f.weight, false, g, 1, f.projected, 4 * n);
      Real* const now = cell.data() + row * n;
      Real* const out = activated.data() + row * n;
      for (std::size_t d = 0; f.peepholes && d < 2 * n; ++d)
        g[n + d] += f.peephole(0, d) * c[d % n];
      f.candidate.apply(g, n);
      f.gate.apply(g + n, 2 * n);
      for (std::size_t d = 0; d < n; ++d) {
        now[d] = out[d] = clipped(g[2 * n + d] * c[d] + g[n + d] * g[d], f.cell_clip);
        g[3 * n + d] += f.peephole(2, d) * now[d];
      }
      f.gate.apply(g + 3 * n, n);
      f.of_cell.apply(out, n);
      for (std::size_t d = 0; d < n; ++d) hidden.flat(row * n + d) = g[3 * n + d] * out[d];
      if (f.projects) {
        Real* const p = projection.data() + row * f.projected;
        add_product(hidden.data() + row * n, false, f.projection, false, p, 1, n, f.projected);
        for (std::size_t d = 0; d < f.projected; ++d)
          p[d] = clipped(f.of_projection(p[d]), f.projection_clip);
      }
      h = seen + row * f.projected;
      c = now;
    }
  }
  if (f.projects) {
    ctx.give("Projection", std::move(projection));
    ctx.give("BatchHidden", std::move(hidden));
  } else {
    ctx.give("Hidden", std::move(hidden));
  }
  ctx.give("Cell", std::move(cell));
  ctx.give("BatchGate", std::move(gates));
  ctx.give("BatchCellPreAct", std::move(activated));
}

/// Computes the gradients from the last step to the first. dh and dc are the gradients of h and c;
/// the names are those of lstm/definition.hpp:
///   do = dh * cell(c) * gate'(o)     dc += dh * o * cell'(c) + W_oc * do, 0 where c was clipped
///   dn = dc * i * candidate'(n)      di = dc * n * gate'(i)      df = dc * c' * gate'(f)
/// The gradients for the previous step are dc' = dc * f + W_ic * di + W_fc * df and dh' = (dn, di,
/// df, do) W^T.
template <class Real>
void lstm_gradient(call_context<Real>& ctx) {
  const lstm_form<Real> f(ctx);
  const std::size_t n = f.width, p = f.projected, count = f.sequences.sequences();
  const Real* const gates = ctx.real("BatchGate").data();
  const Real* const cell = ctx.real("Cell").data();
  const Real* const activated = ctx.real("BatchCellPreAct").data();
  const Real* const seen = ctx.real(f.projects ? "Projection" : "Hidden").data();
  const Real* const d_seen = ctx.real(f.projects ? "Projection@GRAD" : "Hidden@GRAD").data();
  const Real* const d_cell = ctx.real("Cell@GRAD").data();
  auto d_input = zeros<Real>({f.rows(), 4 * n}), d_weight = zeros<Real>({p, 4 * n}),
       d_h0 = zeros<Real>({count, p}), d_c0 = zeros<Real>({count, n}),
       d_projection = zeros<Real>({n, f.projects ? p : 0});
  auto d_bias = zeros<double>({1, (f.peepholes ? 7 : 4) * n});
  const std::vector<Real> nothing((std::max)(n, p));
  for (std::size_t s = 0; s < count; ++s) {
    const recurrent_steps steps(f.sequences, s, f.reverse);
    const Real* const first_h = f.h0 != nullptr ? f.h0 + s * p : nothing.data();
    const Real* const first_c = f.c0 != nullptr ? f.c0 + s * n : nothing.data();
    std::vector<Real> next_h(p), next_c(n);  // gradients that the following step passes back
    for (std::size_t k = steps.count; k-- > 0;) {
      const std::size_t row = steps.row(k);
      const Real* const h = k == 0 ? first_h : seen + steps.row(k - 1) * p;
      const Real* const c = k == 0 ? first_c : cell + steps.row(k - 1) * n;
      const Real* const g = gates + row * 4 * n;
      std::vector<Real> dh(next_h);
      for (std::size_t d = 0; d < p; ++d) dh[d] += d_seen[row * p + d];
      if (f.projects) {
        for (std::size_t d = 0; d < p; ++d)
          dh[d] = passes_clip(seen[row * p + d], f.projection_clip)
                      ? f.of_projection.derivative(seen[row * p + d]) * dh[d]
                      : Real(0);
        const Real* const hidden = ctx.real("BatchHidden").data() + row * n;
        add_product(hidden, true, dh.data(), false, d_projection.data(), n, 1, p);
        std::vector<Real> before(n);
        add_product(dh.data(), false, f.projection, true, before.data(), 1, p, n);
        dh = before;
      }
      Real* const dg = d_input.data() + row * 4 * n;
      for (std::size_t d = 0; d < n; ++d) {
        const Real a = activated[row * n + d], now = cell[row * n + d];
        const Real candidate = g[d], i = g[n + d], forget = g[2 * n + d], o = g[3 * n + d];
        dg[3 * n + d] = dh[d] * a * f.gate.derivative(o);
        Real dc = next_c[d] + d_cell[row * n + d] + dh[d] * o * f.of_cell.derivative(a) +
                  f.peephole(2, d) * dg[3 * n + d];
        if (!passes_clip(now, f.cell_clip)) dc = 0;
        dg[d] = dc * i * f.candidate.derivative(candidate);
        dg[n + d] = dc * candidate * f.gate.derivative(i);
        dg[2 * n + d] = dc * c[d] * f.gate.derivative(forget);
        next_c[d] = dc * forget + f.peephole(0, d) * dg[n + d] + f.peephole(1, d) * dg[2 * n + d];
        if (!f.peepholes) continue;
        d_bias.flat(4 * n + d) += static_cast<double>(dg[n + d] * c[d]);
        d_bias.flat(5 * n + d) += static_cast<double>(dg[2 * n + d] * c[d]);
        d_bias.flat(6 * n + d) += static_cast<double>(dg[3 * n + d] * now);
      }
      for (std::size_t j = 0; j < 4 * n; ++j) d_bias.flat(j) += static_cast<double>(dg[j]);
      add_product(h, true, dg, false, d_weight.data(), p, 1, 4 * n);
      std::fill(next_h.begin(), next_h.end(), Real(0));
      add_product(dg, false, f.weight, true, next_h.data(), 1, 4 * n, p);
    }
    std::copy(next_h.begin(), next_h.end(), d_h0.data() + s * p);
    std::copy(next_c.begin(), next_c.end(), d_c0.data() + s * n);
  }
  ctx.give("Input@GRAD", std::move(d_input));
  ctx.give("H0@GRAD", std::move(d_h0));
  ctx.give("C0@GRAD", std::move(d_c0));
  ctx.give("Weight@GRAD", std::move(d_weight));
  ctx.give("ProjWeight@GRAD", std::move(d_projection));
  ctx.give("Bias@GRAD", std::move(d_bias));
}

template <class Real>
void add_lstm_kernels(kernel_table<Real>& table) {
  table["lstm"] = lstm_forward<Real>;
  table["lstm_grad"] = lstm_gradient<Real>;
}

template <class Real>
void add_lstmp_kernels(kernel_table<Real>& table) {
  table["lstmp"] = lstm_forward<Real>;
  table["lstmp_grad"] = lstm_gradient<Real>;
}

}}}  // namespace lamina::kernel
