// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/gru_unit_kernels.hpp - one step of a gated recurrent unit: gru_unit.
#pragma once

#include <lamina/engine/cpu/gru_kernels.hpp>

namespace lamina::engine::cpu {

namespace detail {

inline gru_cell gru_unit_cell(const call_context& c, int width) {
  return {width, recurrent_activation_numbered(c, 0), recurrent_activation_numbered(c, 1),
          c.flag(2)};
}

}  // namespace detail

template <>
struct call_kernel<gru_unit> {
  /// The argument that Products keep for all steps, a bit: its first two thirds are one matrix, the
  /// rest is another one.
  static constexpr unsigned step_weights = 1u << 2;
  static constexpr bool two_matrices = true;
  template <class Product = step_product>
  static void run(const call_context& c) {
    const operand x = c.input(0), before = c.input(1), weight = c.input(2), bias = c.input(3);
    const operand gates = c.output(0), reset = c.output(1), hidden = c.output(2);
    require_float(c, x);
    scratch_pieces pieces(c.scratch());
    pieces_of<Product> m(c, pieces);
    const int n = weight.rows;
    const auto one = detail::gru_unit_cell(c, n);
    take_gru_weight(weight, m.weight, m.of_gates, m.of_candidate);
    float* const g = gates ? gates.row<float>(0) : m.gates;
    float* const q = reset ? reset.row<float>(0) : m.reset;
    const std::ptrdiff_t gate_stride = gates ? gates.stride : padded(3 * n);
    const std::ptrdiff_t reset_stride = reset ? reset.stride : padded(n);
    for (int r = 0; r < x.rows; ++r)
      add_bias(x.row<const float>(r), bias ? bias.row<const float>(0) : nullptr,
               g + r * gate_stride, 3 * n);
    m.of_gates.run(x.rows, before.row<const float>(0), before.stride, g, gate_stride, true);
    for (int r = 0; r < x.rows; ++r)
      one.forward_gates(g + r * gate_stride, before.row<const float>(r), q + r * reset_stride);
    m.of_candidate.run(x.rows, q, reset_stride, g + 2 * n, gate_stride, true);
    for (int r = 0; r < x.rows; ++r) {
      float* const to = hidden ? hidden.row<float>(r) : m.hidden;
      std::copy_n(before.row<const float>(r), n, to);
      one.forward_state(g + r * gate_stride, to);
    }
  }
  template <class Product = step_product>
  static std::ptrdiff_t scratch(const call_context& c) {
    return scratch_floats<pieces_of<Product>>(c);
  }

 private:
  template <class Product>
  struct pieces_of {
    int rows, width;
    float *weight, *hidden;
    float *gates, *reset;  // where nobody wants them
    Product of_gates, of_candidate;

    pieces_of(const call_context& c, scratch_pieces& p)
        : rows(c.input(0).rows),
          width(c.input(2).rows),
          weight(p.take(room_without_gaps(c.input(2)))),
          hidden(p.take(1, width)),
          gates(p.take(c.output(0) ? 0 : rows, 3 * width)),
          reset(p.take(c.output(1) ? 0 : rows, width)),
          of_gates(rows, width, 2 * width, p, rows),
          of_candidate(rows, width, width, p, rows) {}
  };
};

template <>
struct call_kernel<gradient_of<gru_unit>> {
  template <class = void>
  static void run(const call_context& c) {
    const operand x = c.input(0), before = c.input(1), weight = c.input(2), gates = c.input(4);
    const operand reset = c.input(5), d = c.input(7);
    const operand dx = c.output(0), d_before = c.output(1), d_weight = c.output(2);
    const operand d_bias = c.output(3);
    scratch_pieces pieces(c.scratch());
    const pieces_of m(c, pieces);
    const int n = weight.rows;
    const std::ptrdiff_t stride = padded(n), gate_stride = padded(3 * n);
    const auto one = detail::gru_unit_cell(c, n);
    float* copy = m.weight;
    const float* const w = without_gaps(weight, copy);
    pack_transposed(2 * n, n, w, 2 * n, m.of_gates.panels);
    pack_transposed(n, n, w + static_cast<std::ptrdiff_t>(2) * n * n, n, m.of_candidate.panels);
    std::fill_n(m.back, x.rows * stride, 0.0f);
    for (int r = 0; r < x.rows; ++r)
      one.backward_state(gates.row<const float>(r), before.row<const float>(r),
                         d.row<const float>(r), m.back + r * stride, m.d_gates + r * gate_stride);
    m.of_candidate.run(x.rows, m.d_gates + 2 * n, gate_stride, m.d_reset, stride, false);
    for (int r = 0; r < x.rows; ++r) {
      float* const row = m.d_gates + r * gate_stride;
      one.backward_reset(gates.row<const float>(r), before.row<const float>(r),
                         m.d_reset + r * stride, m.back + r * stride, row);
      if (dx) std::copy_n(row, 3 * n, dx.row<float>(r));
    }
    if (d_before) {
      m.of_gates.run(x.rows, m.d_gates, gate_stride, m.back, stride, true);
      for (int r = 0; r < x.rows; ++r) std::copy_n(m.back + r * stride, n, d_before.row<float>(r));
    }
    if (d_bias) {
      clear(d_bias);
      add_rows(m.d_gates, gate_stride, x.rows, 3 * n, d_bias.row<float>(0));
    }
    if (d_weight)
      detail::gru_weight_gradient(x.rows, before.row<const float>(0), before.stride, reset,
                                  m.d_gates, gate_stride, d_weight, m.d_weight, m.room);
  }
  template <class = void>
  static std::ptrdiff_t scratch(const call_context& c) {
    return scratch_floats<pieces_of>(c);
  }

 private:
  struct pieces_of {
    int rows, width;
    float *weight, *d_weight, *back, *d_reset, *d_gates;
    step_product of_gates, of_candidate;
    float* room;

    pieces_of(const call_context& c, scratch_pieces& p)
        : rows(c.input(0).rows),
          width(c.input(2).rows),
          weight(p.take(room_without_gaps(c.input(2)))),
          d_weight(p.take(static_cast<std::ptrdiff_t>(3) * width * width)),
          back(p.take(rows, width)),
          d_reset(p.take(rows, width)),
          d_gates(p.take(rows, 3 * width)),
          of_gates(rows, 2 * width, width, p, rows),
          of_candidate(rows, width, width, p, rows),
          room(p.take(gemm_row_major_scratch_floats(width, rows, 2 * width) +
                      gemm_row_major_scratch_floats(width, rows, width))) {}
  };
};

}  // namespace lamina::engine::cpu
