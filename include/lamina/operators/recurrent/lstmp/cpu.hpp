// SPDX-License-Identifier: Apache-2.0
// lamina/operators/recurrent/lstmp/cpu.hpp - the kernels of lstmp, long short-term memory with a
// recurrent projection.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/operators/recurrent/lstm/cpu.hpp>
#include <lamina/operators/recurrent/lstmp/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

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
    scratch_pieces pieces(c.scratch());
    pieces_of<Real, Product> m(c, pieces);
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
    return scratch_floats<pieces_of<Real, Product>>(c);
  }

 private:
  template <class Real, class Product>
  struct pieces_of {
    step_schedule steps;
    int width, projected;
    Real *projection, *cell, *activated;
    Real *gates, *hidden;  // values of one step, if the outputs are absent
    Product of_gates, of_projection;

    pieces_of(const call_context& c, scratch_pieces& p)
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
  struct pieces_of {
    step_schedule steps;
    int width, projected, rows;
    Real *back_projection, *back_hidden, *back_cell, *nothing;
    Real *d_gates, *d_projected, *before;  // ordered by steps
    float* aside;                          // memory for sums in blocks
    basic_step_product<Real> of_gates, of_projection;
    Real* memory;

    pieces_of(const call_context& c, scratch_pieces& p)
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
  scratch_pieces pieces(c.scratch());
  const pieces_of<Real> m(c, pieces);
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
  return scratch_floats<pieces_of<Real>>(c);
}
LAMINA_INSTANCE(
    std::ptrdiff_t call_kernel<gradient_of<operators::lstmp>>::scratch<float>(const call_context&))
LAMINA_INSTANCE(
    std::ptrdiff_t call_kernel<gradient_of<operators::lstmp>>::scratch<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
