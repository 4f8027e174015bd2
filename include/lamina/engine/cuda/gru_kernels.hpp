// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/gru_kernels.hpp - gru, gru_unit: a team walks along a sequence, or takes the
// one step of a row; a thread has some of the states. What is kept for the gradient is ordered by
// rows.
#pragma once

#include <lamina/engine/cuda/part_copy.hpp>
#include <lamina/engine/cuda/recurrent_body.hpp>
#include <lamina/operators/gru.hpp>

namespace lamina::engine::cuda {

namespace detail {

/// The weight [n, 3n] holds, one element behind the other, those of the gates [n, 2n] and those of
/// the candidate [n, n].
struct gru_weight {
  const float* data;
  std::ptrdiff_t stride;
  divider columns;
  int n;

  LAMINA_INLINE LAMINA_FN float element(int i) const {
    const int row = columns.divide(i);
    return data[row * stride + i];
  }
  LAMINA_INLINE LAMINA_FN float gate(int i, int q) const { return element(i * 2 * n + q); }
  LAMINA_INLINE LAMINA_FN float candidate(int i, int j) const {
    return element(2 * n * n + i * n + j);
  }
};

struct gru_arguments {
  sequence_steps steps;
  recurrent_activation candidate, gate;
  bool origin_mode;
  int n;  // states
  gru_weight weight;
  const float* bias;  // null: none
  row_array x, h0, hidden, gates, reset;
  row_array d_hidden, d_gates, back, dh0;
  float* d_bias;
  int rows;
  int lines, width, count;

  LAMINA_INLINE LAMINA_FN float input(int row, int q) const {
    return x.row(row)[q] + (bias != nullptr ? bias[q] : 0.0f);
  }
};

struct gru_lines {
  using arguments = gru_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int s, const Team& team) {
    const int n = a.n;
    for (int k = 0; k < a.steps.length(s); ++k) {
      const int row = a.steps.row(s, k);
      const float* h = a.h0 ? a.h0.row(s) : nullptr;
      if (k > 0) h = a.hidden.row(a.steps.row(s, k - 1));
      float *const g = a.gates.row(row), *const reset = a.reset.row(row);
      for (int j = team.rank(); j < n; j += team.size()) {
        float u = a.input(row, j), r = a.input(row, n + j);
        for (int i = 0; h != nullptr && i < n; ++i) {
          u += h[i] * a.weight.gate(i, j);
          r += h[i] * a.weight.gate(i, n + j);
        }
        g[j] = value_of(a.gate, u);
        g[n + j] = value_of(a.gate, r);
        reset[j] = h != nullptr ? g[n + j] * h[j] : 0.0f;
      }
      team.barrier();
      for (int j = team.rank(); j < n; j += team.size()) {
        float c = a.input(row, 2 * n + j);
        for (int i = 0; h != nullptr && i < n; ++i) c += reset[i] * a.weight.candidate(i, j);
        c = value_of(a.candidate, c);
        const float u = g[j], before = h != nullptr ? h[j] : 0.0f;
        g[2 * n + j] = c;
        a.hidden.row(row)[j] = a.origin_mode ? c + u * (before - c) : before + u * (c - before);
      }
      // The next step reads what all threads have written.
      team.barrier();
    }
  }
};

struct gru_slope_lines {
  using arguments = gru_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int s, const Team& team) {
    const int n = a.n, length = a.steps.length(s);
    float* const back = a.back.row(s);
    for (int j = team.rank(); j < n; j += team.size()) back[j] = 0;
    for (int k = length; k-- > 0;) {
      const int row = a.steps.row(s, k);
      const float* h = a.h0 ? a.h0.row(s) : nullptr;
      if (k > 0) h = a.hidden.row(a.steps.row(s, k - 1));
      const float* const g = a.gates.row(row);
      float* const dg = a.d_gates.row(row);
      for (int j = team.rank(); j < n; j += team.size()) {
        const float u = g[j], c = g[2 * n + j], before = h != nullptr ? h[j] : 0.0f;
        const float dh = back[j] + a.d_hidden.row(row)[j];
        const float share = a.origin_mode ? 1 - u : u;
        const float difference = a.origin_mode ? before - c : c - before;
        dg[j] = slope_of(a.gate, u, dh * difference);
        dg[2 * n + j] = slope_of(a.candidate, c, dh * share);
        back[j] = dh - dh * share;
      }
      team.barrier();
      for (int j = team.rank(); j < n; j += team.size()) {
        float d_reset = 0;
        for (int q = 0; q < n; ++q) d_reset += dg[2 * n + q] * a.weight.candidate(j, q);
        const float r = g[n + j], before = h != nullptr ? h[j] : 0.0f;
        dg[n + j] = slope_of(a.gate, r, d_reset * before);
        back[j] += d_reset * r;
      }
      team.barrier();
      for (int j = team.rank(); j < n; j += team.size())
        for (int q = 0; q < 2 * n; ++q) back[j] += dg[q] * a.weight.gate(j, q);
    }
    for (int j = team.rank(); a.dh0 && j < n; j += team.size()) a.dh0.row(s)[j] = back[j];
  }
};

/// The gradient of the bias: a team a number.
struct gru_bias_lines {
  using arguments = gru_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int q, const Team& team) {
    float sum = 0;
    for (int r = team.rank(); r < a.rows; r += team.size()) sum += a.d_gates.row(r)[q];
    sum = sum_of(team, sum);
    if (team.rank() == 0) a.d_bias[q] = sum;
  }
};

/// gru over sequences, or with Unit gru_unit, whose rows are sequences of one step. The slots of
/// what Hidden is behind: Gate and ResetHiddenPrev are the same.
template <bool Unit>
struct gru_call {
  static constexpr int hidden = Unit ? 2 : 3;

  static gru_arguments arguments(const call_site& c) {
    const operand x = c.input(0), weight = c.input(2), bias = c.input(3);
    gru_arguments a{};
    if constexpr (Unit) {
      a.steps = {{nullptr, x.rows}, false};
      a.candidate = recurrent_activation_numbered(c, 0);
      a.gate = recurrent_activation_numbered(c, 1);
      a.origin_mode = c.flag(2);
    } else {
      a.steps = {c.sequences(x.domain), c.flag(2)};
      a.candidate = recurrent_activation_of(c, 0);
      a.gate = recurrent_activation_of(c, 1);
      a.origin_mode = c.flag(3);
    }
    a.n = weight.rows;
    a.weight = {weight.row<const float>(0), weight.stride, divider(weight.columns), a.n};
    a.bias = bias ? bias.row<const float>(0) : nullptr;
    a.x = x;
    a.h0 = c.input(1);
    a.rows = x.rows;
    a.lines = a.count = a.steps.all.count;
    a.width = 3 * a.n * a.n;  // a block a sequence, unless it is tiny
    return a;
  }
};

template <bool Unit>
struct gru_kernel {
  using call = gru_call<Unit>;
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_site& c) {
    require_float(c, c.input(0));
    auto a = call::arguments(c);
    scratch_rows room(c.run.scratch);
    a.gates = room.or_take(c.output(0), a.rows, 3 * a.n);
    a.reset = room.or_take(c.output(1), a.rows, a.n);
    a.hidden = room.or_take(c.output(call::hidden), a.rows, a.n);
    if (a.lines > 0) b.template lines<team_lines<gru_lines>>(a);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_site& c) {
    const int n = c.input(2).rows, rows = c.input(0).rows;
    scratch_rows room(nullptr);
    room.take(rows, 3 * n);
    room.take(rows, n);
    room.take(rows, n);
    return room.used();
  }
};

template <bool Unit>
struct gru_gradient_kernel {
  using call = gru_call<Unit>;
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_site& c) {
    using shape = typename Backend::product_tile;
    const operand reset = c.input(5), d_weight = c.output(2), d_bias = c.output(3);
    auto a = call::arguments(c);
    const int n = a.n;
    scratch_rows room(c.run.scratch);
    a.gates = c.input(4);
    a.hidden = c.input(4 + call::hidden);
    a.d_hidden = c.input(5 + call::hidden);
    a.d_gates = room.or_take(c.output(0), a.rows, 3 * n);
    a.back = room.take(a.lines, n);
    a.dh0 = c.output(1);
    int* const before = reinterpret_cast<int*>(room.take(1, a.rows).data);
    float* const weight = room.take(1, 3 * n * n).data;
    if (a.lines > 0) b.template lines<team_lines<gru_slope_lines>>(a);
    if (d_bias) {
      a.d_bias = d_bias.template row<float>(0);
      run_lines<gru_bias_lines>(b, a, 3 * n, a.rows, true);
    }
    if (!d_weight) return;
    find_steps_before(b, a.steps, a.rows, before);
    const states_before states{a.hidden, a.h0, before};
    b.template teams<step_weight_body<shape>>({states, a.d_gates, weight, 2 * n, n, 2 * n, a.rows});
    const read_matrices left(reset.template row<const float>(0), {}, n, a.rows, reset.stride, true);
    const read_matrices right(a.d_gates.data + 2 * n, {}, a.rows, n, a.d_gates.stride, false);
    multiply(b, left, right, 1, 1, 1, weight + 2 * n * n, {}, n);
    operand made = d_weight;
    made.data = weight;
    made.stride = 3 * n;
    copy_elements(b, made, d_weight);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_site& c) {
    const int n = c.input(2).rows, rows = c.input(0).rows;
    scratch_rows room(nullptr);
    room.take(rows, 3 * n);
    room.take(call::arguments(c).lines, n);
    room.take(1, rows);
    room.take(1, 3 * n * n);
    return room.used();
  }
};

}  // namespace detail

template <>
struct call_kernel<gru> : detail::gru_kernel<false> {};
template <>
struct call_kernel<gradient_of<gru>> : detail::gru_gradient_kernel<false> {};
template <>
struct call_kernel<gru_unit> : detail::gru_kernel<true> {};
template <>
struct call_kernel<gradient_of<gru_unit>> : detail::gru_gradient_kernel<true> {};

}  // namespace lamina::engine::cuda
