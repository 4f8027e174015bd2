// SPDX-License-Identifier: Apache-2.0
// lamina/operators/recurrent/lstm/cpu.hpp - the kernels of lstm, long short-term memory over
// sequences.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/operators/recurrent/cpu.hpp>
#include <lamina/operators/recurrent/lstm/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

namespace detail {

/// The equations of an LSTM for one row of a step, with the attributes that all rows share.
template <class Real>
struct lstm_cell {
  int width;
  recurrent_activation gate, of_cell, candidate;
  const Real* peepholes;  // W_ic, W_fc and W_oc, or null
  Real clip;              // limit of the absolute cell value; 0: no limit

  /// `functions` is the index of the first of three successive attributes, which name the
  /// activation functions of the gates, the cell and the candidate.
  lstm_cell(const call_context& c, const operand& bias, int width_of, int functions,
            Real clip_of = 0)
      : width(width_of),
        gate(recurrent_activation_of(c, functions)),
        of_cell(recurrent_activation_of(c, functions + 1)),
        candidate(recurrent_activation_of(c, functions + 2)),
        peepholes(c.flag(0) ? bias.row<const Real>(0) + 4 * width_of : nullptr),
        clip(clip_of) {}

  // Adds a peephole connection, by which a gate g reads the cell: g[j] += weight[j] * cell[j].
  static void peep(const Real* weight, const Real* cell, int n, Real* g) {
    for_each_position<Real>(n, [=](std::ptrdiff_t j, auto like) {
      store(g + j, load(g + j, like) + load(weight + j, like) * load(cell + j, like));
    });
  }

  /// Applies the activation functions to the gates g, and computes the next cell and the next
  /// hidden state. `activated` receives the cell's activation function of the new cell.
  void forward(Real* g, Real* cell, Real* hidden, Real* activated) const {
    const int n = width;
    if (peepholes != nullptr) {
      peep(peepholes, cell, n, g + n);
      peep(peepholes + n, cell, n, g + 2 * n);
    }
    apply(candidate, g, n);
    apply(gate, g + n, 2 * n);
    for_each_position<Real>(n, [=, this](std::ptrdiff_t j, auto like) {
      const auto c = load(g + 2 * n + j, like) * load(cell + j, like) +
                     load(g + n + j, like) * load(g + j, like);
      const auto now = clipped(c, clip);
      store(cell + j, now);
      store(activated + j, now);
    });
    if (peepholes != nullptr) peep(peepholes + 2 * n, cell, n, g + 3 * n);
    apply(gate, g + 3 * n, n);
    apply(of_cell, activated, n);
    for_each_position<Real>(n, [=](std::ptrdiff_t j, auto like) {
      store(hidden + j, load(g + 3 * n + j, like) * load(activated + j, like));
    });
  }

  /// The arrays of one row in the backward pass.
  struct row {
    const Real *g, *activated, *cell, *cell_before;
    const Real *d_hidden, *d_cell;  // gradients of the outputs
    const Real* back_hidden;        // from the following step
    Real* back_cell;                // gradient of the cell: on entry of c, then of c'
    Real* dg;
    Real* d_peepholes;  // accumulated; null if there are no peepholes
  };
  void backward(const row& r) const {
    const int n = width;
    for_each_position<Real>(n, [&](std::ptrdiff_t j, auto like) {
      using number = decltype(like);
      const number x = load(r.g + j, like), i = load(r.g + n + j, like);
      const number f = load(r.g + 2 * n + j, like), o = load(r.g + 3 * n + j, like);
      const number a = load(r.activated + j, like), before = load(r.cell_before + j, like);
      const number dh = load(r.back_hidden + j, like) + load(r.d_hidden + j, like);
      const number d_o = grad_of(gate, o, number(dh * a));
      number dc = load(r.back_cell + j, like) + load(r.d_cell + j, like) +
                  grad_of(of_cell, a, number(dh * o));
      if (peepholes != nullptr) dc += load(peepholes + 2 * n + j, like) * d_o;
      dc = through_clip(load(r.cell + j, like), dc, clip);
      const number d_x = grad_of(candidate, x, number(dc * i));
      const number d_i = grad_of(gate, i, number(dc * x));
      const number d_f = grad_of(gate, f, number(dc * before));
      number back = dc * f;
      if (peepholes != nullptr)
        back += load(peepholes + j, like) * d_i + load(peepholes + n + j, like) * d_f;
      store(r.back_cell + j, back);
      store(r.dg + j, d_x);
      store(r.dg + n + j, d_i);
      store(r.dg + 2 * n + j, d_f);
      store(r.dg + 3 * n + j, d_o);
      if (r.d_peepholes == nullptr) return;
      Real* const p = r.d_peepholes + j;
      store(p, load(p, like) + d_i * before);
      store(p + n, load(p + n, like) + d_f * before);
      store(p + 2 * n, load(p + 2 * n, like) + d_o * load(r.cell + j, like));
    });
  }
};

}  // namespace detail

/// The rows of outputs that only the gradient reads are ordered by steps (recurrent/cpu.hpp).
template <>
struct call_kernel<operators::lstm> {
  /// The weight is packed once for all steps (see Product): this bit mask says that argument 3 is
  /// packed.
  static constexpr unsigned step_weights = 1u << 3;
  template <class Real = float, class Product = basic_step_product<Real>>
  static void run(const call_context& c) {
    const operand x = c.input(0), weight = c.input(3), bias = c.input(4);
    const operand hidden = c.output(0), cell = c.output(1), gates = c.output(2);
    const operand activated = c.output(3);
    require_real<Real>(c, x);
    scratch_pieces pieces(c.scratch());
    pieces_of<Real, Product> m(c, pieces);
    const step_schedule& steps = m.steps;
    const int n = weight.rows;
    const std::ptrdiff_t stride = padded(n);
    const detail::lstm_cell<Real> one(c, bias, n, 2);
    m.product.take(weight);
    take_states(steps, c.input(1), m.hidden, n);
    take_states(steps, c.input(2), m.cell, n);
    const std::ptrdiff_t gate_stride = gates ? gates.stride : padded(4 * n);
    for (int k = 0; k < steps.steps(); ++k) {
      Real* const g = gates ? gates.row<Real>(steps.start(k)) : m.gates;
      const int count = steps.active(k);
      for (int r = 0; r < count; ++r)
        add_bias(x.row<const Real>(steps.row(r, k)), bias.row<const Real>(0), g + r * gate_stride,
                 4 * n);
      if (k > 0 || c.input(1)) m.product.run(count, m.hidden, stride, g, gate_stride, true);
      for (int r = 0; r < count; ++r) {
        const std::ptrdiff_t at = r * stride;
        Real* const a = activated ? activated.row<Real>(steps.start(k) + r) : m.activated;
        one.forward(g + r * gate_stride, m.cell + at, m.hidden + at, a);
        const int row = steps.row(r, k);
        if (hidden) std::copy_n(m.hidden + at, n, hidden.row<Real>(row));
        if (cell) std::copy_n(m.cell + at, n, cell.row<Real>(row));
      }
    }
  }
  template <class Real = float, class Product = basic_step_product<Real>>
  static std::ptrdiff_t scratch(const call_context& c) {
    return scratch_floats<pieces_of<Real, Product>>(c);
  }

 private:
  template <class Real, class Product>
  struct pieces_of {
    step_schedule steps;
    int width;
    Real *hidden, *cell, *activated;
    Real* gates;  // the gates of one step, if the output is absent
    Product product;

    pieces_of(const call_context& c, scratch_pieces& p)
        : steps(c, c.input(0), c.flag(1), p),
          width(c.input(3).rows),
          hidden(p.take<Real>(steps.sequences(), width)),
          cell(p.take<Real>(steps.sequences(), width)),
          activated(p.take<Real>(1, width)),
          gates(p.take<Real>(c.output(2) ? 0 : steps.sequences(), 4 * width)),
          product(steps.sequences(), width, 4 * width, p) {}
  };
};

template <>
struct call_kernel<gradient_of<operators::lstm>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
  template <class Real = float>
  LAMINA_KERNEL static std::ptrdiff_t scratch(const call_context& c);

 private:
  template <class Real>
  struct pieces_of {
    step_schedule steps;
    int width, rows;
    Real *back_hidden, *back_cell, *nothing;
    Real *d_gates, *before;  // ordered by steps
    float* aside;            // memory for sums in blocks
    basic_step_product<Real> product;
    Real* memory;

    pieces_of(const call_context& c, scratch_pieces& p)
        : steps(c, c.input(0), c.flag(1), p),
          width(c.input(3).rows),
          rows(c.input(0).rows),
          back_hidden(p.take<Real>(steps.sequences(), width)),
          back_cell(p.take<Real>(steps.sequences(), width)),
          nothing(p.take<Real>(1, width)),
          d_gates(p.take<Real>(rows, 4 * width)),
          before(p.take<Real>(rows, width)),
          aside(p.take<float>(in_floats<double>(padded(3 * width)))),
          product(steps.sequences(), 4 * width, width, p),
          memory(p.take<Real>(gemm_row_major_scratch_floats<Real>(width, rows, 4 * width))) {}
  };
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<gradient_of<operators::lstm>>::run(const call_context& c) {
  const operand h0 = c.input(1), c0 = c.input(2), weight = c.input(3), bias = c.input(4);
  const operand hidden = c.input(5), cell = c.input(6), gates = c.input(7);
  const operand activated = c.input(8), d_hidden = c.input(9), d_cell = c.input(10);
  const operand dx = c.output(0), d_weight = c.output(3), d_bias = c.output(4);
  scratch_pieces pieces(c.scratch());
  const pieces_of<Real> m(c, pieces);
  const step_schedule& steps = m.steps;
  const int n = weight.rows;
  const std::ptrdiff_t stride = padded(n), gate_stride = padded(4 * n);
  const detail::lstm_cell<Real> one(c, bias, n, 2);
  if (d_bias) clear(d_bias);
  Real* const d_peepholes =
      d_bias && one.peepholes != nullptr ? d_bias.row<Real>(0) + 4 * n : nullptr;
  detail::blocked_sums<Real> of_peepholes(d_peepholes, 3 * n, m.aside);
  pack_transposed(4 * n, n, weight.row<const Real>(0), weight.stride, m.product.panels);
  const std::ptrdiff_t states = steps.sequences() * stride;
  std::fill_n(m.back_hidden, states, Real(0));
  std::fill_n(m.back_cell, states, Real(0));
  std::fill_n(m.nothing, n, Real(0));
  for (int k = steps.steps(); k-- > 0;) {
    const int count = steps.active(k);
    Real* const dg = m.d_gates + steps.start(k) * gate_stride;
    for (int r = 0; r < count; ++r) {
      const int row = steps.row(r, k), at = steps.start(k) + r;
      const std::ptrdiff_t state = r * stride;
      of_peepholes.begin_row();
      one.backward({gates.row<const Real>(at), activated.row<const Real>(at),
                    cell.row<const Real>(row), state_before(steps, r, k, cell, c0, m.nothing),
                    d_hidden.row<const Real>(row), d_cell.row<const Real>(row),
                    m.back_hidden + state, m.back_cell + state, dg + r * gate_stride, d_peepholes});
      if (dx) std::copy_n(dg + r * gate_stride, 4 * n, dx.row<Real>(row));
      if (d_weight)
        std::copy_n(state_before(steps, r, k, hidden, h0, m.nothing), n, m.before + at * stride);
    }
    if (k > 0 || c.output(1)) m.product.run(count, dg, gate_stride, m.back_hidden, stride, false);
  }
  give_states(steps, m.back_hidden, n, c.output(1));
  give_states(steps, m.back_cell, n, c.output(2));
  const int rows = c.input(0).rows;
  of_peepholes.finish();
  if (d_bias) add_rows(m.d_gates, gate_stride, rows, 4 * n, d_bias.row<Real>(0));
  if (d_weight)
    gemm_row_major(n, rows, 4 * n, 1, {m.before, stride, true}, {m.d_gates, gate_stride},
                   d_weight.row<Real>(0), d_weight.stride, false, m.memory);
}
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::lstm>>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::lstm>>::run<double>(const call_context&))

template <class Real>
std::ptrdiff_t call_kernel<gradient_of<operators::lstm>>::scratch(const call_context& c) {
  return scratch_floats<pieces_of<Real>>(c);
}
LAMINA_INSTANCE(
    std::ptrdiff_t call_kernel<gradient_of<operators::lstm>>::scratch<float>(const call_context&))
LAMINA_INSTANCE(
    std::ptrdiff_t call_kernel<gradient_of<operators::lstm>>::scratch<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
