// SPDX-License-Identifier: Apache-2.0
// lamina/operators/recurrent/lstm/cpu.hpp - the kernels of lstm, long short-term memory over
// sequences, and of lstmp, an lstm that projects its hidden state.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/memory/scratch_arena.hpp>
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
    scratch_arena arena(c.scratch());
    scratch_arrays<Real, Product> m(c, arena);
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
    return scratch_floats<scratch_arrays<Real, Product>>(c);
  }

 private:
  template <class Real, class Product>
  struct scratch_arrays {
    step_schedule steps;
    int width;
    Real *hidden, *cell, *activated;
    Real* gates;  // the gates of one step, if the output is absent
    Product product;

    scratch_arrays(const call_context& c, scratch_arena& p)
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
  struct scratch_arrays {
    step_schedule steps;
    int width, rows;
    Real *back_hidden, *back_cell, *nothing;
    Real *d_gates, *before;  // ordered by steps
    float* aside;            // memory for sums in blocks
    basic_step_product<Real> product;
    Real* memory;

    scratch_arrays(const call_context& c, scratch_arena& p)
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
  scratch_arena arena(c.scratch());
  const scratch_arrays<Real> m(c, arena);
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
  return scratch_floats<scratch_arrays<Real>>(c);
}
LAMINA_INSTANCE(
    std::ptrdiff_t call_kernel<gradient_of<operators::lstm>>::scratch<float>(const call_context&))
LAMINA_INSTANCE(
    std::ptrdiff_t call_kernel<gradient_of<operators::lstm>>::scratch<double>(const call_context&))

#endif  // LAMINA_DEFINES

/// The rows of outputs that only the gradient reads are ordered by steps (recurrent/cpu.hpp).
template <>
struct call_kernel<operators::lstmp> {
  /// The two weights are packed once for all steps (see Product): this bit mask says that arguments
  /// 3 and 4 are packed.
  static constexpr unsigned step_weights = 1u << 3 | 1u << 4;
  template <class Real = float, class Product = basic_step_product<Real>>
  static void run(const call_context& c) {
    const operand x = c.input(0), weight = c.input(3), proj_weight = c.input(4), bias = c.input(5);
    const operand projection = c.output(0), cell = c.output(1), gates = c.output(2);
    const operand activated = c.output(3), hidden = c.output(4);
    require_real<Real>(c, x);
    scratch_arena arena(c.scratch());
    scratch_arrays<Real, Product> m(c, arena);
    const step_schedule& steps = m.steps;
    const int n = m.width, p = m.projected;
    const detail::lstm_cell<Real> one(c, bias, n, 4, static_cast<Real>(c.number(2)));
    const Real clip = static_cast<Real>(c.number(3));
    const recurrent_activation of_projection = recurrent_activation_of(c, 7);
    m.of_gates.take(weight);
    m.of_projection.take(proj_weight);
    take_states(steps, c.input(1), m.projection, p);
    take_states(steps, c.input(2), m.cell, n);
    const std::ptrdiff_t stride = padded(n), proj_stride = padded(p);
    const std::ptrdiff_t gate_stride = gates ? gates.stride : padded(4 * n);
    const std::ptrdiff_t hidden_stride = hidden ? hidden.stride : stride;
    for (int k = 0; k < steps.steps(); ++k) {
      const int count = steps.active(k), first = steps.start(k);
      Real* const g = gates ? gates.row<Real>(first) : m.gates;
      Real* const h = hidden ? hidden.row<Real>(first) : m.hidden;
      for (int r = 0; r < count; ++r)
        add_bias(x.row<const Real>(steps.row(r, k)), bias.row<const Real>(0), g + r * gate_stride,
                 4 * n);
      if (k > 0 || c.input(1))
        m.of_gates.run(count, m.projection, proj_stride, g, gate_stride, true);
      for (int r = 0; r < count; ++r) {
        Real* const a = activated ? activated.row<Real>(first + r) : m.activated;
        one.forward(g + r * gate_stride, m.cell + r * stride, h + r * hidden_stride, a);
        if (cell) std::copy_n(m.cell + r * stride, n, cell.row<Real>(steps.row(r, k)));
      }
      m.of_projection.run(count, h, hidden_stride, m.projection, proj_stride, false);
      for (int r = 0; r < count; ++r) {
        Real* const at = m.projection + r * proj_stride;
        apply(of_projection, at, p);
        for_each_position<Real>(p, [=](std::ptrdiff_t j, auto like) {
          store(at + j, clipped(load(at + j, like), clip));
        });
        if (projection) std::copy_n(at, p, projection.row<Real>(steps.row(r, k)));
      }
    }
  }
  template <class Real = float, class Product = basic_step_product<Real>>
  static std::ptrdiff_t scratch(const call_context& c) {
    return scratch_floats<scratch_arrays<Real, Product>>(c);
  }

 private:
  template <class Real, class Product>
  struct scratch_arrays {
    step_schedule steps;
    int width, projected;
    Real *projection, *cell, *activated;
    Real *gates, *hidden;  // values of one step, if the outputs are absent
    Product of_gates, of_projection;

    scratch_arrays(const call_context& c, scratch_arena& p)
        : steps(c, c.input(0), c.flag(1), p),
          width(c.input(4).rows),
          projected(c.input(3).rows),
          projection(p.take<Real>(steps.sequences(), projected)),
          cell(p.take<Real>(steps.sequences(), width)),
          activated(p.take<Real>(1, width)),
          gates(p.take<Real>(c.output(2) ? 0 : steps.sequences(), 4 * width)),
          hidden(p.take<Real>(c.output(4) ? 0 : steps.sequences(), width)),
          of_gates(steps.sequences(), projected, 4 * width, p),
          of_projection(steps.sequences(), width, projected, p) {}
  };
};

template <>
struct call_kernel<gradient_of<operators::lstmp>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
  template <class Real = float>
  LAMINA_KERNEL static std::ptrdiff_t scratch(const call_context& c);

 private:
  template <class Real>
  struct scratch_arrays {
    step_schedule steps;
    int width, projected, rows;
    Real *back_projection, *back_hidden, *back_cell, *nothing;
    Real *d_gates, *d_projected, *before;  // ordered by steps
    float* aside;                          // memory for sums in blocks
    basic_step_product<Real> of_gates, of_projection;
    Real* memory;

    scratch_arrays(const call_context& c, scratch_arena& p)
        : steps(c, c.input(0), c.flag(1), p),
          width(c.input(4).rows),
          projected(c.input(3).rows),
          rows(c.input(0).rows),
          back_projection(p.take<Real>(steps.sequences(), projected)),
          back_hidden(p.take<Real>(steps.sequences(), width)),
          back_cell(p.take<Real>(steps.sequences(), width)),
          nothing(p.take<Real>(1, (std::max)(width, projected))),
          d_gates(p.take<Real>(rows, 4 * width)),
          d_projected(p.take<Real>(rows, projected)),
          before(p.take<Real>(rows, projected)),
          aside(p.take<float>(in_floats<double>(padded(3 * width)))),
          of_gates(steps.sequences(), 4 * width, projected, p),
          of_projection(steps.sequences(), projected, width, p),
          memory(p.take<Real>(
              (std::max)(gemm_row_major_scratch_floats<Real>(projected, rows, 4 * width),
                         gemm_row_major_scratch_floats<Real>(width, rows, projected)))) {}
  };
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<gradient_of<operators::lstmp>>::run(const call_context& c) {
  const operand h0 = c.input(1), c0 = c.input(2), weight = c.input(3), proj_weight = c.input(4);
  const operand bias = c.input(5), projection = c.input(6), cell = c.input(7);
  const operand gates = c.input(8), activated = c.input(9), hidden = c.input(10);
  const operand d_projection = c.input(11), d_cell = c.input(12);
  const operand dx = c.output(0), d_weight = c.output(3), d_proj_weight = c.output(4);
  const operand d_bias = c.output(5);
  scratch_arena arena(c.scratch());
  const scratch_arrays<Real> m(c, arena);
  const step_schedule& steps = m.steps;
  const int n = m.width, p = m.projected, rows = c.input(0).rows;
  const std::ptrdiff_t stride = padded(n), proj_stride = padded(p), gate_stride = padded(4 * n);
  const detail::lstm_cell<Real> one(c, bias, n, 4, static_cast<Real>(c.number(2)));
  const Real clip = static_cast<Real>(c.number(3));
  const recurrent_activation of_projection = recurrent_activation_of(c, 7);
  if (d_bias) clear(d_bias);
  Real* const d_peepholes =
      d_bias && one.peepholes != nullptr ? d_bias.row<Real>(0) + 4 * n : nullptr;
  detail::blocked_sums<Real> of_peepholes(d_peepholes, 3 * n, m.aside);
  pack_transposed(4 * n, p, weight.row<const Real>(0), weight.stride, m.of_gates.panels);
  pack_transposed(p, n, proj_weight.row<const Real>(0), proj_weight.stride, m.of_projection.panels);
  std::fill_n(m.back_projection, steps.sequences() * proj_stride, Real(0));
  std::fill_n(m.back_cell, steps.sequences() * stride, Real(0));
  std::fill_n(m.nothing, (std::max)(n, p), Real(0));
  for (int k = steps.steps(); k-- > 0;) {
    const int count = steps.active(k), first = steps.start(k);
    Real* const dg = m.d_gates + first * gate_stride;
    Real* const dp = m.d_projected + first * proj_stride;
    for (int r = 0; r < count; ++r) {
      const int row = steps.row(r, k);
      const Real* const y = projection.row<const Real>(row);
      const Real* const d = d_projection.row<const Real>(row);
      const Real* const back = m.back_projection + r * proj_stride;
      Real* const to = dp + r * proj_stride;
      for_each_position<Real>(p, [=](std::ptrdiff_t j, auto like) {
        using number = decltype(like);
        const number now = load(y + j, like);
        const number dy = load(back + j, like) + load(d + j, like);
        store(to + j, grad_of(of_projection, now, through_clip(now, dy, clip)));
      });
    }
    m.of_projection.run(count, dp, proj_stride, m.back_hidden, stride, false);
    for (int r = 0; r < count; ++r) {
      const int row = steps.row(r, k), at = first + r;
      of_peepholes.begin_row();
      one.backward({gates.row<const Real>(at), activated.row<const Real>(at),
                    cell.row<const Real>(row), state_before(steps, r, k, cell, c0, m.nothing),
                    m.nothing, d_cell.row<const Real>(row), m.back_hidden + r * stride,
                    m.back_cell + r * stride, dg + r * gate_stride, d_peepholes});
      if (dx) std::copy_n(dg + r * gate_stride, 4 * n, dx.row<Real>(row));
      if (d_weight)
        std::copy_n(state_before(steps, r, k, projection, h0, m.nothing), p,
                    m.before + at * proj_stride);
    }
    if (k > 0 || c.output(1))
      m.of_gates.run(count, dg, gate_stride, m.back_projection, proj_stride, false);
  }
  give_states(steps, m.back_projection, p, c.output(1));
  give_states(steps, m.back_cell, n, c.output(2));
  of_peepholes.finish();
  if (d_bias) add_rows(m.d_gates, gate_stride, rows, 4 * n, d_bias.row<Real>(0));
  if (d_weight)
    gemm_row_major(p, rows, 4 * n, 1, {m.before, proj_stride, true}, {m.d_gates, gate_stride},
                   d_weight.row<Real>(0), d_weight.stride, false, m.memory);
  if (d_proj_weight)
    gemm_row_major(n, rows, p, 1, {hidden.row<const Real>(0), hidden.stride, true},
                   {m.d_projected, proj_stride}, d_proj_weight.row<Real>(0), d_proj_weight.stride,
                   false, m.memory);
}
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::lstmp>>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::lstmp>>::run<double>(const call_context&))

template <class Real>
std::ptrdiff_t call_kernel<gradient_of<operators::lstmp>>::scratch(const call_context& c) {
  return scratch_floats<scratch_arrays<Real>>(c);
}
LAMINA_INSTANCE(
    std::ptrdiff_t call_kernel<gradient_of<operators::lstmp>>::scratch<float>(const call_context&))
LAMINA_INSTANCE(
    std::ptrdiff_t call_kernel<gradient_of<operators::lstmp>>::scratch<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
