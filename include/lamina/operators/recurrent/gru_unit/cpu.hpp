// SPDX-License-Identifier: Apache-2.0
// lamina/operators/recurrent/gru_unit/cpu.hpp - the kernels of gru_unit, one step of a gated
// recurrent unit.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/operators/recurrent/gru/cpu.hpp>
#include <lamina/operators/recurrent/gru_unit/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

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
    scratch_pieces pieces(c.scratch());
    pieces_of<Real, Product> m(c, pieces);
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
    return scratch_floats<pieces_of<Real, Product>>(c);
  }

 private:
  template <class Real, class Product>
  struct pieces_of {
    int rows, width;
    Real *weight, *hidden;
    Real *gates, *reset;  // memory for absent outputs
    Product of_gates, of_candidate;

    pieces_of(const call_context& c, scratch_pieces& p)
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
  struct pieces_of {
    int rows, width;
    Real *weight, *d_weight, *back, *d_reset, *d_gates;
    basic_step_product<Real> of_gates, of_candidate;
    Real* memory;

    pieces_of(const call_context& c, scratch_pieces& p)
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
  scratch_pieces pieces(c.scratch());
  const pieces_of<Real> m(c, pieces);
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
  return scratch_floats<pieces_of<Real>>(c);
}
LAMINA_INSTANCE(std::ptrdiff_t call_kernel<gradient_of<operators::gru_unit>>::scratch<float>(
    const call_context&))
LAMINA_INSTANCE(std::ptrdiff_t call_kernel<gradient_of<operators::gru_unit>>::scratch<double>(
    const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
