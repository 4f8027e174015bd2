// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/gru_kernels.hpp - gated recurrent units over sequences: gru.
#pragma once

#include <lamina/engine/cpu/recurrent_steps.hpp>
#include <lamina/operators/gru.hpp>

namespace lamina::engine::cpu {

namespace detail {

/// What one row of a GRU's step needs besides its numbers.
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

  /// Finishes u and r; `reset` becomes r * hidden.
  void forward_gates(float* g, const float* hidden, float* reset) const {
    const int n = width;
    apply(gate, g, 2 * n);
    for_each_place(n, [=](std::ptrdiff_t j, auto like) {
      store(reset + j, load(g + n + j, like) * load(hidden + j, like));
    });
  }
  /// Finishes c and takes the state a step further.
  void forward_state(float* g, float* hidden) const {
    const int n = width;
    apply(candidate, g + 2 * n, n);
    for_each_place(n, [=, this](std::ptrdiff_t j, auto like) {
      const auto u = load(g + j, like), c = load(g + 2 * n + j, like), h = load(hidden + j, like);
      store(hidden + j, origin_mode ? c + u * (h - c) : h + u * (c - h));
    });
  }
  /// From the gradient of the state, back + d: those of u and c, and what the state before gets
  /// past the gates, in `back`.
  void backward_state(const float* g, const float* before, const float* d, float* back,
                      float* dg) const {
    const int n = width;
    for_each_place(n, [=, this](std::ptrdiff_t j, auto like) {
      using number = decltype(like);
      const number u = load(g + j, like), c = load(g + 2 * n + j, like);
      const number h = load(before + j, like), dh = load(back + j, like) + load(d + j, like);
      const number share = origin_mode ? number(1.0f) - u : u;
      const number difference = origin_mode ? h - c : c - h;
      store(dg + j, slope_of(gate, u, number(dh * difference)));
      store(dg + 2 * n + j, slope_of(candidate, c, number(dh * share)));
      store(back + j, dh - dh * share);
    });
  }
  /// From the gradient of r * before: that of r, and what the state before gets.
  void backward_reset(const float* g, const float* before, const float* d_reset, float* back,
                      float* dg) const {
    const int n = width;
    for_each_place(n, [=, this](std::ptrdiff_t j, auto like) {
      using number = decltype(like);
      const number r = load(g + n + j, like), d = load(d_reset + j, like);
      store(dg + n + j, slope_of(gate, r, number(d * load(before + j, like))));
      store(back + j, load(back + j, like) + d * r);
    });
  }
};

/// The gradient of the weight of `rows` steps, from the states before, r * before and the gradients
/// of the gates. `copy` has room for the weight without gaps.
inline void gru_weight_gradient(int rows, const float* before, std::ptrdiff_t stride,
                                const operand& reset, const float* d_gates,
                                std::ptrdiff_t gate_stride, const operand& d_weight, float* copy,
                                float* room) {
  const int n = d_weight.rows;
  float* const to = d_weight.stride == d_weight.columns ? d_weight.row<float>(0) : copy;
  gemm_row_major(n, rows, 2 * n, 1, {before, stride, true}, {d_gates, gate_stride}, to, 2 * n,
                 false, room);
  gemm_row_major(n, rows, n, 1, {reset.row<const float>(0), reset.stride, true},
                 {d_gates + 2 * n, gate_stride}, to + static_cast<std::ptrdiff_t>(2) * n * n, n,
                 false, room);
  if (to != copy) return;
  for (int r = 0; r < n; ++r)
    std::copy_n(to + static_cast<std::ptrdiff_t>(r) * 3 * n, 3 * n, d_weight.row<float>(r));
}

}  // namespace detail

/// Takes the two matrices of a weight; `copy` has room for it without gaps.
inline void take_gru_weight(const operand& weight, float* copy, step_product& of_gates,
                            step_product& of_candidate) {
  const int n = weight.rows;
  const float* const w = without_gaps(weight, copy);
  pack(n, 2 * n, w, 2 * n, of_gates.panels);
  pack(n, n, w + static_cast<std::ptrdiff_t>(2) * n * n, n, of_candidate.panels);
}

/// The outputs for the gradient are ordered by steps.
template <>
struct call_kernel<gru> {
  /// The argument that Products keep for all steps, a bit: its first two thirds are one matrix, the
  /// rest is another one.
  static constexpr unsigned step_weights = 1u << 2;
  static constexpr bool two_matrices = true;
  template <class Product = step_product>
  static void run(const call_context& c) {
    const operand x = c.input(0), h0 = c.input(1), weight = c.input(2), bias = c.input(3);
    const operand gates = c.output(0), reset = c.output(1), by_step = c.output(2);
    const operand hidden = c.output(3);
    require_float(c, x);
    scratch_pieces pieces(c.scratch());
    pieces_of<Product> m(c, pieces);
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
      float* const g = gates ? gates.row<float>(first) : m.gates;
      float* const q = reset ? reset.row<float>(first) : m.reset;
      for (int r = 0; r < count; ++r)
        add_bias(x.row<const float>(steps.row(r, k)), bias ? bias.row<const float>(0) : nullptr,
                 g + r * gate_stride, 3 * n);
      const bool has_state = k > 0 || h0;
      if (has_state) m.of_gates.run(count, m.hidden, stride, g, gate_stride, true);
      for (int r = 0; r < count; ++r)
        one.forward_gates(g + r * gate_stride, m.hidden + r * stride, q + r * reset_stride);
      if (has_state) m.of_candidate.run(count, q, reset_stride, g + 2 * n, gate_stride, true);
      for (int r = 0; r < count; ++r) {
        float* const h = m.hidden + r * stride;
        one.forward_state(g + r * gate_stride, h);
        if (hidden) std::copy_n(h, n, hidden.row<float>(steps.row(r, k)));
        if (by_step) std::copy_n(h, n, by_step.row<float>(first + r));
      }
    }
  }
  template <class Product = step_product>
  static std::ptrdiff_t scratch(const call_context& c) {
    return scratch_floats<pieces_of<Product>>(c);
  }

 private:
  template <class Product>
  struct pieces_of {
    step_schedule steps;
    int width;
    float *weight, *hidden;
    float *gates, *reset;  // of one step, where nobody wants them
    Product of_gates, of_candidate;

    pieces_of(const call_context& c, scratch_pieces& p)
        : steps(c, c.input(0), c.flag(2), p),
          width(c.input(2).rows),
          weight(p.take(room_without_gaps(c.input(2)))),
          hidden(p.take(steps.sequences(), width)),
          gates(p.take(c.output(0) ? 0 : steps.sequences(), 3 * width)),
          reset(p.take(c.output(1) ? 0 : steps.sequences(), width)),
          of_gates(steps.sequences(), width, 2 * width, p),
          of_candidate(steps.sequences(), width, width, p) {}
  };
};

template <>
struct call_kernel<gradient_of<gru>> {
  template <class = void>
  static void run(const call_context& c) {
    const operand x = c.input(0), h0 = c.input(1), weight = c.input(2), gates = c.input(4);
    const operand reset = c.input(5), by_step = c.input(6), d = c.input(8);
    const operand dx = c.output(0), d_weight = c.output(2), d_bias = c.output(3);
    scratch_pieces pieces(c.scratch());
    const pieces_of m(c, pieces);
    const step_schedule& steps = m.steps;
    const int n = weight.rows;
    const std::ptrdiff_t stride = padded(n), gate_stride = padded(3 * n);
    const auto one = detail::gru_cell::of_sequences(c, n);
    float* copy = m.weight;
    const float* const w = without_gaps(weight, copy);
    pack_transposed(2 * n, n, w, 2 * n, m.of_gates.panels);
    pack_transposed(n, n, w + static_cast<std::ptrdiff_t>(2) * n * n, n, m.of_candidate.panels);
    std::fill_n(m.back, steps.sequences() * stride, 0.0f);
    // The states before all rows, ordered by steps.
    for (int k = 0; k < steps.steps(); ++k)
      for (int r = 0; r < steps.active(k); ++r) {
        float* const to = m.before + (steps.start(k) + r) * stride;
        if (k > 0)
          std::copy_n(by_step.row<const float>(steps.start(k - 1) + r), n, to);
        else if (h0)
          std::copy_n(h0.row<const float>(steps.sequence(r)), n, to);
        else
          std::fill_n(to, n, 0.0f);
      }
    for (int k = steps.steps(); k-- > 0;) {
      const int count = steps.active(k), first = steps.start(k);
      float* const dg = m.d_gates + first * gate_stride;
      const float* const before = m.before + first * stride;
      for (int r = 0; r < count; ++r)
        one.backward_state(gates.row<const float>(first + r), before + r * stride,
                           d.row<const float>(steps.row(r, k)), m.back + r * stride,
                           dg + r * gate_stride);
      m.of_candidate.run(count, dg + 2 * n, gate_stride, m.d_reset, stride, false);
      for (int r = 0; r < count; ++r) {
        float* const row = dg + r * gate_stride;
        one.backward_reset(gates.row<const float>(first + r), before + r * stride,
                           m.d_reset + r * stride, m.back + r * stride, row);
        if (dx) std::copy_n(row, 3 * n, dx.row<float>(steps.row(r, k)));
      }
      if (k > 0 || c.output(1)) m.of_gates.run(count, dg, gate_stride, m.back, stride, true);
    }
    give_states(steps, m.back, n, c.output(1));
    if (d_bias) {
      clear(d_bias);
      add_rows(m.d_gates, gate_stride, x.rows, 3 * n, d_bias.row<float>(0));
    }
    if (!d_weight) return;
    detail::gru_weight_gradient(x.rows, m.before, stride, reset, m.d_gates, gate_stride, d_weight,
                                m.d_weight, m.room);
  }
  template <class = void>
  static std::ptrdiff_t scratch(const call_context& c) {
    return scratch_floats<pieces_of>(c);
  }

 private:
  struct pieces_of {
    step_schedule steps;
    int width, rows;
    float *weight, *d_weight;
    float *back, *d_reset;    // by rank
    float *d_gates, *before;  // by steps
    step_product of_gates, of_candidate;
    float* room;

    pieces_of(const call_context& c, scratch_pieces& p)
        : steps(c, c.input(0), c.flag(2), p),
          width(c.input(2).rows),
          rows(c.input(0).rows),
          weight(p.take(room_without_gaps(c.input(2)))),
          d_weight(p.take(static_cast<std::ptrdiff_t>(3) * width * width)),
          back(p.take(steps.sequences(), width)),
          d_reset(p.take(steps.sequences(), width)),
          d_gates(p.take(rows, 3 * width)),
          before(p.take(rows, width)),
          of_gates(steps.sequences(), 2 * width, width, p),
          of_candidate(steps.sequences(), width, width, p),
          room(p.take(gemm_row_major_scratch_floats(width, rows, 2 * width) +
                      gemm_row_major_scratch_floats(width, rows, width))) {}
  };
};

}  // namespace lamina::engine::cpu
