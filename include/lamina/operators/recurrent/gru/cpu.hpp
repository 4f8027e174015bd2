// SPDX-License-Identifier: Apache-2.0
// lamina/operators/recurrent/gru/cpu.hpp - the kernels of gru, gated recurrent units over
// sequences, and of gru_unit, one step of a gru.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/gemm/panel_copies.hpp>
#include <lamina/engine/cpu/memory/scratch_arena.hpp>
#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/operators/recurrent/cpu.hpp>
#include <lamina/operators/recurrent/gru/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

namespace detail {

/// The equations of a GRU for one row of a step, with the attributes that all rows share.
struct gru_cell {
  int width;
  recurrent_activation candidate, gate;
  bool origin_mode;

  gru_cell(int width_of, recurrent_activation of_candidate, recurrent_activation of_gates,
           bool mode)
      : width(width_of), candidate(of_candidate), gate(of_gates), origin_mode(mode) {}
  static gru_cell of_sequences(const call_context& c, int width) {
    return {width, recurrent_activation_of(c, 0), recurrent_activation_of(c, 1), c.flag(3)};
  }

  /// Applies the gate function to the gates u and r, and sets `reset` to r * hidden.
  template <class Real>
  void forward_gates(Real* g, const Real* hidden, Real* reset) const {
    const int n = width;
    apply(gate, g, 2 * n);
    for_each_position<Real>(n, [=](std::ptrdiff_t j, auto like) {
      store(reset + j, load(g + n + j, like) * load(hidden + j, like));
    });
  }
  /// Applies the candidate function to c and replaces `hidden` by the next state.
  template <class Real>
  void forward_state(Real* g, Real* hidden) const {
    const int n = width;
    apply(candidate, g + 2 * n, n);
    for_each_position<Real>(n, [=, this](std::ptrdiff_t j, auto like) {
      using number = decltype(like);
      const number u = load(g + j, like), c = load(g + 2 * n + j, like), h = load(hidden + j, like);
      const number rest = number(Real(1)) - u;
      // The shorter form h + u * (c - h) would lose the digits of c if h is large, and would be NaN
      // if h is infinite.
      store(hidden + j, origin_mode ? u * h + rest * c : rest * h + u * c);
    });
  }
  /// Computes the gradients of u and c from the gradient of the state, back + d. Then sets `back`
  /// to the part of the gradient of the previous state that does not pass through a gate or the
  /// candidate.
  template <class Real>
  void backward_state(const Real* g, const Real* before, const Real* d, Real* back,
                      Real* dg) const {
    const int n = width;
    for_each_position<Real>(n, [=, this](std::ptrdiff_t j, auto like) {
      using number = decltype(like);
      const number u = load(g + j, like), c = load(g + 2 * n + j, like);
      const number h = load(before + j, like), dh = load(back + j, like) + load(d + j, like);
      const number rest = number(Real(1)) - u;
      const number added = origin_mode ? rest : u, kept = origin_mode ? u : rest;
      const number difference = origin_mode ? h - c : c - h;
      store(dg + j, grad_of(gate, u, number(dh * difference)));
      store(dg + 2 * n + j, grad_of(candidate, c, number(dh * added)));
      store(back + j, dh * kept);
    });
  }
  /// Computes the gradient of r from `d_reset`, the gradient of r * before, and adds the
  /// contribution of r * before to `back`, the gradient of the previous state.
  template <class Real>
  void backward_reset(const Real* g, const Real* before, const Real* d_reset, Real* back,
                      Real* dg) const {
    const int n = width;
    for_each_position<Real>(n, [=, this](std::ptrdiff_t j, auto like) {
      using number = decltype(like);
      const number r = load(g + n + j, like), d = load(d_reset + j, like);
      store(dg + n + j, grad_of(gate, r, number(d * load(before + j, like))));
      store(back + j, load(back + j, like) + d * r);
    });
  }
};

/// Computes the gradient of the weight over all steps, which have `rows` rows in total, from the
/// previous states `before`, from `reset` = r * before and from the gradients of the gates. `copy`
/// is memory for the weight without padding between its rows.
template <class Real>
inline void gru_weight_gradient(int rows, const Real* before, std::ptrdiff_t stride,
                                const operand& reset, const Real* d_gates,
                                std::ptrdiff_t gate_stride, const operand& d_weight, Real* copy,
                                Real* memory) {
  const int n = d_weight.rows;
  Real* const to = d_weight.stride == d_weight.columns ? d_weight.row<Real>(0) : copy;
  gemm_row_major(n, rows, 2 * n, 1, {before, stride, true}, {d_gates, gate_stride}, to, 2 * n,
                 false, memory);
  gemm_row_major(n, rows, n, 1, {reset.row<const Real>(0), reset.stride, true},
                 {d_gates + 2 * n, gate_stride}, to + static_cast<std::ptrdiff_t>(2) * n * n, n,
                 false, memory);
  if (to != copy) return;
  for (int r = 0; r < n; ++r)
    std::copy_n(to + static_cast<std::ptrdiff_t>(r) * 3 * n, 3 * n, d_weight.row<Real>(r));
}

}  // namespace detail

/// Packs the two matrices of a weight. `copy` is memory for the weight without padding between its
/// rows.
template <class Real>
inline void take_gru_weight(const operand& weight, Real* copy, basic_step_product<Real>& of_gates,
                            basic_step_product<Real>& of_candidate) {
  const int n = weight.rows;
  const Real* const w = without_gaps(weight, copy);
  pack(n, 2 * n, w, 2 * n, of_gates.panels);
  pack(n, n, w + static_cast<std::ptrdiff_t>(2) * n * n, n, of_candidate.panels);
}

/// The rows of outputs that only the gradient reads are ordered by steps (recurrent/cpu.hpp).
template <>
struct call_kernel<operators::gru> {
  /// The weight is packed once for all steps (see Product): this bit mask says that argument 2 is
  /// packed. The weight consists of two matrices: the first two thirds are [D, 2D], the last third
  /// is [D, D].
  static constexpr unsigned step_weights = 1u << 2;
  static constexpr bool two_matrices = true;
  template <class Real = float, class Product = basic_step_product<Real>>
  static void run(const call_context& c) {
    const operand x = c.input(0), h0 = c.input(1), weight = c.input(2), bias = c.input(3);
    const operand gates = c.output(0), reset = c.output(1), by_step = c.output(2);
    const operand hidden = c.output(3);
    require_real<Real>(c, x);
    scratch_arena arena(c.scratch());
    scratch_arrays<Real, Product> m(c, arena);
    const step_schedule& steps = m.steps;
    const int n = weight.rows;
    const std::ptrdiff_t stride = padded(n);
    const auto one = detail::gru_cell::of_sequences(c, n);
    take_gru_weight(weight, m.weight, m.of_gates, m.of_candidate);
    take_states(steps, h0, m.hidden, n);
    const std::ptrdiff_t gate_stride = gates ? gates.stride : padded(3 * n);
    const std::ptrdiff_t reset_stride = reset ? reset.stride : stride;
    for (int k = 0; k < steps.steps(); ++k) {
      const int count = steps.active(k), first = steps.start(k);
      Real* const g = gates ? gates.row<Real>(first) : m.gates;
      Real* const q = reset ? reset.row<Real>(first) : m.reset;
      for (int r = 0; r < count; ++r)
        add_bias(x.row<const Real>(steps.row(r, k)), bias ? bias.row<const Real>(0) : nullptr,
                 g + r * gate_stride, 3 * n);
      const bool has_state = k > 0 || h0;
      if (has_state) m.of_gates.run(count, m.hidden, stride, g, gate_stride, true);
      for (int r = 0; r < count; ++r)
        one.forward_gates(g + r * gate_stride, m.hidden + r * stride, q + r * reset_stride);
      if (has_state) m.of_candidate.run(count, q, reset_stride, g + 2 * n, gate_stride, true);
      for (int r = 0; r < count; ++r) {
        Real* const h = m.hidden + r * stride;
        one.forward_state(g + r * gate_stride, h);
        if (hidden) std::copy_n(h, n, hidden.row<Real>(steps.row(r, k)));
        if (by_step) std::copy_n(h, n, by_step.row<Real>(first + r));
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
    Real *weight, *hidden;
    Real *gates, *reset;  // values of one step, if the outputs are absent
    Product of_gates, of_candidate;

    scratch_arrays(const call_context& c, scratch_arena& p)
        : steps(c, c.input(0), c.flag(2), p),
          width(c.input(2).rows),
          weight(p.take<Real>(scratch_without_gaps(c.input(2)))),
          hidden(p.take<Real>(steps.sequences(), width)),
          gates(p.take<Real>(c.output(0) ? 0 : steps.sequences(), 3 * width)),
          reset(p.take<Real>(c.output(1) ? 0 : steps.sequences(), width)),
          of_gates(steps.sequences(), width, 2 * width, p),
          of_candidate(steps.sequences(), width, width, p) {}
  };
};

template <>
struct call_kernel<gradient_of<operators::gru>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
  template <class Real = float>
  LAMINA_KERNEL static std::ptrdiff_t scratch(const call_context& c);

 private:
  template <class Real>
  struct scratch_arrays {
    step_schedule steps;
    int width, rows;
    Real *weight, *d_weight;
    Real *back, *d_reset;    // ordered by rank
    Real *d_gates, *before;  // ordered by steps
    basic_step_product<Real> of_gates, of_candidate;
    Real* memory;

    scratch_arrays(const call_context& c, scratch_arena& p)
        : steps(c, c.input(0), c.flag(2), p),
          width(c.input(2).rows),
          rows(c.input(0).rows),
          weight(p.take<Real>(scratch_without_gaps(c.input(2)))),
          d_weight(p.take<Real>(static_cast<std::ptrdiff_t>(3) * width * width)),
          back(p.take<Real>(steps.sequences(), width)),
          d_reset(p.take<Real>(steps.sequences(), width)),
          d_gates(p.take<Real>(rows, 3 * width)),
          before(p.take<Real>(rows, width)),
          of_gates(steps.sequences(), 2 * width, width, p),
          of_candidate(steps.sequences(), width, width, p),
          memory(p.take<Real>(gemm_row_major_scratch_floats<Real>(width, rows, 2 * width) +
                              gemm_row_major_scratch_floats<Real>(width, rows, width))) {}
  };
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<gradient_of<operators::gru>>::run(const call_context& c) {
  const operand x = c.input(0), h0 = c.input(1), weight = c.input(2), gates = c.input(4);
  const operand reset = c.input(5), by_step = c.input(6), d = c.input(8);
  const operand dx = c.output(0), d_weight = c.output(2), d_bias = c.output(3);
  scratch_arena arena(c.scratch());
  const scratch_arrays<Real> m(c, arena);
  const step_schedule& steps = m.steps;
  const int n = weight.rows;
  const std::ptrdiff_t stride = padded(n), gate_stride = padded(3 * n);
  const auto one = detail::gru_cell::of_sequences(c, n);
  Real* copy = m.weight;
  const Real* const w = without_gaps(weight, copy);
  pack_transposed(2 * n, n, w, 2 * n, m.of_gates.panels);
  pack_transposed(n, n, w + static_cast<std::ptrdiff_t>(2) * n * n, n, m.of_candidate.panels);
  std::fill_n(m.back, steps.sequences() * stride, Real(0));
  // Copies the state before each step of each sequence, in the order of steps.
  for (int k = 0; k < steps.steps(); ++k)
    for (int r = 0; r < steps.active(k); ++r) {
      Real* const to = m.before + (steps.start(k) + r) * stride;
      if (k > 0)
        std::copy_n(by_step.row<const Real>(steps.start(k - 1) + r), n, to);
      else if (h0)
        std::copy_n(h0.row<const Real>(steps.sequence(r)), n, to);
      else
        std::fill_n(to, n, Real(0));
    }
  for (int k = steps.steps(); k-- > 0;) {
    const int count = steps.active(k), first = steps.start(k);
    Real* const dg = m.d_gates + first * gate_stride;
    const Real* const before = m.before + first * stride;
    for (int r = 0; r < count; ++r)
      one.backward_state(gates.row<const Real>(first + r), before + r * stride,
                         d.row<const Real>(steps.row(r, k)), m.back + r * stride,
                         dg + r * gate_stride);
    m.of_candidate.run(count, dg + 2 * n, gate_stride, m.d_reset, stride, false);
    for (int r = 0; r < count; ++r) {
      Real* const row = dg + r * gate_stride;
      one.backward_reset(gates.row<const Real>(first + r), before + r * stride,
                         m.d_reset + r * stride, m.back + r * stride, row);
      if (dx) std::copy_n(row, 3 * n, dx.row<Real>(steps.row(r, k)));
    }
    if (k > 0 || c.output(1)) m.of_gates.run(count, dg, gate_stride, m.back, stride, true);
  }
  give_states(steps, m.back, n, c.output(1));
  if (d_bias) {
    clear(d_bias);
    add_rows(m.d_gates, gate_stride, x.rows, 3 * n, d_bias.row<Real>(0));
  }
  if (!d_weight) return;
  detail::gru_weight_gradient(x.rows, m.before, stride, reset, m.d_gates, gate_stride, d_weight,
                              m.d_weight, m.memory);
}
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::gru>>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::gru>>::run<double>(const call_context&))

template <class Real>
std::ptrdiff_t call_kernel<gradient_of<operators::gru>>::scratch(const call_context& c) {
  return scratch_floats<scratch_arrays<Real>>(c);
}
LAMINA_INSTANCE(
    std::ptrdiff_t call_kernel<gradient_of<operators::gru>>::scratch<float>(const call_context&))
LAMINA_INSTANCE(
    std::ptrdiff_t call_kernel<gradient_of<operators::gru>>::scratch<double>(const call_context&))

#endif  // LAMINA_DEFINES

namespace detail {

inline gru_cell gru_unit_cell(const call_context& c, int width) {
  return {width, recurrent_activation_numbered(c, 0), recurrent_activation_numbered(c, 1),
          c.flag(2)};
}

}  // namespace detail

template <>
struct call_kernel<operators::gru_unit> {
  /// The weight is packed once for all steps (see Product): this bit mask says that argument 2 is
  /// packed. The weight consists of two matrices: the first two thirds are [D, 2D], the last third
  /// is [D, D].
  static constexpr unsigned step_weights = 1u << 2;
  static constexpr bool two_matrices = true;
  template <class Real = float, class Product = basic_step_product<Real>>
  static void run(const call_context& c) {
    const operand x = c.input(0), before = c.input(1), weight = c.input(2), bias = c.input(3);
    const operand gates = c.output(0), reset = c.output(1), hidden = c.output(2);
    require_real<Real>(c, x);
    scratch_arena arena(c.scratch());
    scratch_arrays<Real, Product> m(c, arena);
    const int n = weight.rows;
    const auto one = detail::gru_unit_cell(c, n);
    take_gru_weight(weight, m.weight, m.of_gates, m.of_candidate);
    Real* const g = gates ? gates.row<Real>(0) : m.gates;
    Real* const q = reset ? reset.row<Real>(0) : m.reset;
    const std::ptrdiff_t gate_stride = gates ? gates.stride : padded(3 * n);
    const std::ptrdiff_t reset_stride = reset ? reset.stride : padded(n);
    for (int r = 0; r < x.rows; ++r)
      add_bias(x.row<const Real>(r), bias ? bias.row<const Real>(0) : nullptr, g + r * gate_stride,
               3 * n);
    m.of_gates.run(x.rows, before.row<const Real>(0), before.stride, g, gate_stride, true);
    for (int r = 0; r < x.rows; ++r)
      one.forward_gates(g + r * gate_stride, before.row<const Real>(r), q + r * reset_stride);
    m.of_candidate.run(x.rows, q, reset_stride, g + 2 * n, gate_stride, true);
    for (int r = 0; r < x.rows; ++r) {
      Real* const to = hidden ? hidden.row<Real>(r) : m.hidden;
      std::copy_n(before.row<const Real>(r), n, to);
      one.forward_state(g + r * gate_stride, to);
    }
  }
  template <class Real = float, class Product = basic_step_product<Real>>
  static std::ptrdiff_t scratch(const call_context& c) {
    return scratch_floats<scratch_arrays<Real, Product>>(c);
  }

 private:
  template <class Real, class Product>
  struct scratch_arrays {
    int rows, width;
    Real *weight, *hidden;
    Real *gates, *reset;  // memory for absent outputs
    Product of_gates, of_candidate;

    scratch_arrays(const call_context& c, scratch_arena& p)
        : rows(c.input(0).rows),
          width(c.input(2).rows),
          weight(p.take<Real>(scratch_without_gaps(c.input(2)))),
          hidden(p.take<Real>(1, width)),
          gates(p.take<Real>(c.output(0) ? 0 : rows, 3 * width)),
          reset(p.take<Real>(c.output(1) ? 0 : rows, width)),
          of_gates(rows, width, 2 * width, p, rows),
          of_candidate(rows, width, width, p, rows) {}
  };
};

template <>
struct call_kernel<gradient_of<operators::gru_unit>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
  template <class Real = float>
  LAMINA_KERNEL static std::ptrdiff_t scratch(const call_context& c);

 private:
  template <class Real>
  struct scratch_arrays {
    int rows, width;
    Real *weight, *d_weight, *back, *d_reset, *d_gates;
    basic_step_product<Real> of_gates, of_candidate;
    Real* memory;

    scratch_arrays(const call_context& c, scratch_arena& p)
        : rows(c.input(0).rows),
          width(c.input(2).rows),
          weight(p.take<Real>(scratch_without_gaps(c.input(2)))),
          d_weight(p.take<Real>(static_cast<std::ptrdiff_t>(3) * width * width)),
          back(p.take<Real>(rows, width)),
          d_reset(p.take<Real>(rows, width)),
          d_gates(p.take<Real>(rows, 3 * width)),
          of_gates(rows, 2 * width, width, p, rows),
          of_candidate(rows, width, width, p, rows),
          memory(p.take<Real>(gemm_row_major_scratch_floats<Real>(width, rows, 2 * width) +
                              gemm_row_major_scratch_floats<Real>(width, rows, width))) {}
  };
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<gradient_of<operators::gru_unit>>::run(const call_context& c) {
  const operand x = c.input(0), before = c.input(1), weight = c.input(2), gates = c.input(4);
  const operand reset = c.input(5), d = c.input(7);
  const operand dx = c.output(0), d_before = c.output(1), d_weight = c.output(2);
  const operand d_bias = c.output(3);
  scratch_arena arena(c.scratch());
  const scratch_arrays<Real> m(c, arena);
  const int n = weight.rows;
  const std::ptrdiff_t stride = padded(n), gate_stride = padded(3 * n);
  const auto one = detail::gru_unit_cell(c, n);
  Real* copy = m.weight;
  const Real* const w = without_gaps(weight, copy);
  pack_transposed(2 * n, n, w, 2 * n, m.of_gates.panels);
  pack_transposed(n, n, w + static_cast<std::ptrdiff_t>(2) * n * n, n, m.of_candidate.panels);
  std::fill_n(m.back, x.rows * stride, Real(0));
  for (int r = 0; r < x.rows; ++r)
    one.backward_state(gates.row<const Real>(r), before.row<const Real>(r), d.row<const Real>(r),
                       m.back + r * stride, m.d_gates + r * gate_stride);
  m.of_candidate.run(x.rows, m.d_gates + 2 * n, gate_stride, m.d_reset, stride, false);
  for (int r = 0; r < x.rows; ++r) {
    Real* const row = m.d_gates + r * gate_stride;
    one.backward_reset(gates.row<const Real>(r), before.row<const Real>(r), m.d_reset + r * stride,
                       m.back + r * stride, row);
    if (dx) std::copy_n(row, 3 * n, dx.row<Real>(r));
  }
  if (d_before) {
    m.of_gates.run(x.rows, m.d_gates, gate_stride, m.back, stride, true);
    for (int r = 0; r < x.rows; ++r) std::copy_n(m.back + r * stride, n, d_before.row<Real>(r));
  }
  if (d_bias) {
    clear(d_bias);
    add_rows(m.d_gates, gate_stride, x.rows, 3 * n, d_bias.row<Real>(0));
  }
  if (d_weight)
    detail::gru_weight_gradient(x.rows, before.row<const Real>(0), before.stride, reset, m.d_gates,
                                gate_stride, d_weight, m.d_weight, m.memory);
}
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::gru_unit>>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::gru_unit>>::run<double>(const call_context&))

template <class Real>
std::ptrdiff_t call_kernel<gradient_of<operators::gru_unit>>::scratch(const call_context& c) {
  return scratch_floats<scratch_arrays<Real>>(c);
}
LAMINA_INSTANCE(std::ptrdiff_t call_kernel<gradient_of<operators::gru_unit>>::scratch<float>(
    const call_context&))
LAMINA_INSTANCE(std::ptrdiff_t call_kernel<gradient_of<operators::gru_unit>>::scratch<double>(
    const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
