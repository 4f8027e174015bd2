// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/lstm_kernels.hpp - lstm, lstmp: a team walks along a sequence, a thread has
// some of the cells. What is kept for the gradient is ordered by rows.
#pragma once

#include <lamina/engine/cuda/recurrent_body.hpp>
#include <lamina/operators/lstm.hpp>

namespace lamina::engine::cuda {

namespace detail {

struct lstm_arguments {
  sequence_steps steps;
  recurrent_activation gate, of_cell, candidate;
  int n, depth;  // cells, and the width of the state that the next step sees
  row_array weight;
  const float *bias, *peepholes;  // null: none
  row_array x, h0, c0, hidden, cell, gates, activated;
  row_array d_hidden, d_cell, d_gates, back_cell, dh0, dc0;
  // Of lstmp: the state is a projection of the hidden one.
  recurrent_activation of_projection;
  float cell_clip, proj_clip;
  row_array proj_weight, projection, d_projection, d_projected;
  states_before cells_before;  // and of all rows, for the gradient of the bias
  float* d_bias;
  int rows;
  int lines, width, count;
};

template <bool Projects>
struct lstm_lines {
  using arguments = lstm_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int s, const Team& team) {
    const int n = a.n, length = a.steps.length(s);
    for (int k = 0; k < length; ++k) {
      const int row = a.steps.row(s, k);
      const float* h = a.h0 ? a.h0.row(s) : nullptr;
      const float* c = a.c0 ? a.c0.row(s) : nullptr;
      if (k > 0) {
        const int before = a.steps.row(s, k - 1);
        h = (Projects ? a.projection : a.hidden).row(before), c = a.cell.row(before);
      }
      for (int j = team.rank(); j < n; j += team.size()) step(a, row, j, h, c);
      // What follows reads what all threads have written.
      team.barrier();
      if constexpr (Projects) {
        for (int q = team.rank(); q < a.depth; q += team.size())
          a.projection.row(row)[q] = clipped(
              value_of(a.of_projection,
                       dot(a.hidden.row(row), a.proj_weight.data + q, a.proj_weight.stride, n)),
              a.proj_clip);
        team.barrier();
      }
    }
  }

 private:
  static LAMINA_INLINE LAMINA_FN void step(const arguments& a, int row, int j, const float* h,
                                           const float* c) {
    const int n = a.n;
    float g[4];
    LAMINA_CUDA_UNROLL
    for (int q = 0; q < 4; ++q) g[q] = a.x.row(row)[q * n + j] + a.bias[q * n + j];
    for (int i = 0; h != nullptr && i < a.depth; ++i) {
      const float v = h[i];
      const float* const w = a.weight.row(i) + j;
      LAMINA_CUDA_UNROLL
      for (int q = 0; q < 4; ++q) g[q] += v * w[q * n];
    }
    const float before = c != nullptr ? c[j] : 0.0f;
    if (a.peepholes != nullptr) {
      g[1] += a.peepholes[j] * before;
      g[2] += a.peepholes[n + j] * before;
    }
    g[0] = value_of(a.candidate, g[0]);
    g[1] = value_of(a.gate, g[1]);
    g[2] = value_of(a.gate, g[2]);
    float now = g[2] * before + g[1] * g[0];
    if constexpr (Projects) now = clipped(now, a.cell_clip);
    if (a.peepholes != nullptr) g[3] += a.peepholes[2 * n + j] * now;
    g[3] = value_of(a.gate, g[3]);
    const float activated = value_of(a.of_cell, now);
    a.cell.row(row)[j] = now;
    a.hidden.row(row)[j] = g[3] * activated;
    if (a.activated) a.activated.row(row)[j] = activated;
    if (a.gates) {
      LAMINA_CUDA_UNROLL
      for (int q = 0; q < 4; ++q) a.gates.row(row)[q * n + j] = g[q];
    }
  }
};

template <bool Projects>
struct lstm_slope_lines {
  using arguments = lstm_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int s, const Team& team) {
    const int n = a.n, length = a.steps.length(s);
    for (int k = length; k-- > 0;) {
      const int row = a.steps.row(s, k);
      const float* before = a.c0 ? a.c0.row(s) : nullptr;
      if (k > 0) before = a.cell.row(a.steps.row(s, k - 1));
      const float* const behind = k + 1 < length ? a.d_gates.row(a.steps.row(s, k + 1)) : nullptr;
      if constexpr (Projects) {
        for (int q = team.rank(); q < a.depth; q += team.size()) {
          const float y = a.projection.row(row)[q];
          float dy = a.d_projection.row(row)[q];
          if (behind != nullptr) dy += dot(behind, a.weight.row(q), 1, 4 * n);
          a.d_projected.row(row)[q] =
              slope_of(a.of_projection, y, through_clip(y, dy, a.proj_clip));
        }
        team.barrier();
      }
      for (int j = team.rank(); j < n; j += team.size()) step(a, s, row, j, before, behind);
      // The step before reads what all threads have written.
      team.barrier();
    }
    for (int q = team.rank(); a.dh0 && q < a.depth; q += team.size())
      a.dh0.row(s)[q] =
          length > 0 ? dot(a.d_gates.row(a.steps.row(s, 0)), a.weight.row(q), 1, 4 * n) : 0.0f;
    for (int j = team.rank(); a.dc0 && j < n; j += team.size())
      a.dc0.row(s)[j] = length > 0 ? a.back_cell.row(s)[j] : 0.0f;
  }

 private:
  static LAMINA_INLINE LAMINA_FN void step(const arguments& a, int s, int row, int j,
                                           const float* before, const float* behind) {
    const int n = a.n;
    float* const back_cell = a.back_cell.row(s) + j;
    float dh, dc = a.d_cell.row(row)[j];
    if constexpr (Projects) {
      dh = dot(a.d_projected.row(row), a.proj_weight.row(j), 1, a.depth);
    } else {
      dh = a.d_hidden.row(row)[j];
      if (behind != nullptr) dh += dot(behind, a.weight.row(j), 1, 4 * n);
    }
    if (behind != nullptr) dc += *back_cell;
    const float* const g = a.gates.row(row) + j;
    const float x = g[0], i = g[n], f = g[2 * n], o = g[3 * n];
    const float activated = a.activated.row(row)[j], old = before != nullptr ? before[j] : 0.0f;
    const float d_o = slope_of(a.gate, o, dh * activated);
    dc += slope_of(a.of_cell, activated, dh * o);
    if (a.peepholes != nullptr) dc += a.peepholes[2 * n + j] * d_o;
    if constexpr (Projects) dc = through_clip(a.cell.row(row)[j], dc, a.cell_clip);
    const float d_i = slope_of(a.gate, i, dc * x), d_f = slope_of(a.gate, f, dc * old);
    float back = dc * f;
    if (a.peepholes != nullptr) back += a.peepholes[j] * d_i + a.peepholes[n + j] * d_f;
    *back_cell = back;
    float* const to = a.d_gates.row(row) + j;
    to[0] = slope_of(a.candidate, x, dc * i);
    to[n] = d_i;
    to[2 * n] = d_f;
    to[3 * n] = d_o;
  }
};

/// The gradient of the bias and, behind it, of the peepholes: a team a number.
struct lstm_bias_lines {
  using arguments = lstm_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int q, const Team& team) {
    const int n = a.n, peep = q / n - 4, j = q % n;
    float sum = 0;
    for (int r = team.rank(); r < a.rows; r += team.size()) {
      if (peep < 0) {
        sum += a.d_gates.row(r)[q];
        continue;
      }
      // To i and f from the cell before, to o from the new one.
      const float* const cell = peep == 2 ? a.cell.row(r) : a.cells_before.row(r);
      if (cell != nullptr) sum += a.d_gates.row(r)[(peep + 1) * n + j] * cell[j];
    }
    sum = sum_of(team, sum);
    if (team.rank() == 0) a.d_bias[q] = sum;
  }
};

/// `bias_slot`: where the bias is; `functions`: the first attribute that names one.
inline lstm_arguments lstm_of(const call_site& c, int cells, int bias_slot, int functions) {
  const operand x = c.input(0), weight = c.input(3), bias = c.input(bias_slot);
  lstm_arguments a{};
  a.steps = {c.sequences(x.domain), c.flag(1)};
  a.gate = recurrent_activation_of(c, functions);
  a.of_cell = recurrent_activation_of(c, functions + 1);
  a.candidate = recurrent_activation_of(c, functions + 2);
  a.n = cells;
  a.depth = weight.rows;
  a.weight = weight;
  a.bias = bias.row<const float>(0);
  a.peepholes = c.flag(0) ? a.bias + 4 * a.n : nullptr;
  a.x = x;
  a.h0 = c.input(1);
  a.c0 = c.input(2);
  a.rows = x.rows;
  a.lines = a.count = a.steps.all.count;
  a.width = 4 * a.n * a.depth;  // a block a sequence, unless it is tiny
  return a;
}
inline lstm_arguments lstm_of(const call_site& c) { return lstm_of(c, c.input(3).rows, 4, 2); }
inline lstm_arguments lstmp_of(const call_site& c) {
  auto a = lstm_of(c, c.input(4).rows, 5, 4);
  a.cell_clip = static_cast<float>(c.number(2));
  a.proj_clip = static_cast<float>(c.number(3));
  a.of_projection = recurrent_activation_of(c, 7);
  a.proj_weight = c.input(4);
  return a;
}

/// The gradients of the weight, from the states that the steps saw, and of the bias.
template <class Backend>
void lstm_parameter_gradients(Backend& b, lstm_arguments& a, const row_array& states, int* before,
                              const operand& d_weight, const operand& d_bias) {
  using shape = typename Backend::product_tile;
  find_steps_before(b, a.steps, a.rows, before);
  if (d_weight)
    b.template teams<step_weight_body<shape>>({{states, a.h0, before},
                                               a.d_gates,
                                               d_weight.template row<float>(0),
                                               d_weight.stride,
                                               a.depth,
                                               4 * a.n,
                                               a.rows});
  if (!d_bias) return;
  a.cells_before = {a.cell, a.c0, before};
  a.d_bias = d_bias.template row<float>(0);
  run_lines<lstm_bias_lines>(b, a, (a.peepholes != nullptr ? 7 : 4) * a.n, a.rows, true);
}

}  // namespace detail

template <>
struct call_kernel<lstm> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_site& c) {
    require_float(c, c.input(0));
    detail::scratch_rows room(c.run.scratch);
    const auto a = arguments(c, room);
    if (a.lines > 0) b.template lines<team_lines<detail::lstm_lines<false>>>(a);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_site& c) {
    // Before memory is bound every output looks absent: that is the most that can be needed.
    const int n = padded(c.input(3).rows);
    return 2 * static_cast<std::ptrdiff_t>(c.input(0).rows) * n;
  }

 private:
  static detail::lstm_arguments arguments(const call_site& c, detail::scratch_rows& room) {
    auto a = detail::lstm_of(c);
    a.hidden = room.or_take(c.output(0), a.rows, a.n);
    a.cell = room.or_take(c.output(1), a.rows, a.n);
    a.gates = c.output(2);
    a.activated = c.output(3);
    return a;
  }
};

template <>
struct call_kernel<gradient_of<lstm>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_site& c) {
    auto a = detail::lstm_of(c);
    detail::scratch_rows room(c.run.scratch);
    a.hidden = c.input(5);
    a.cell = c.input(6);
    a.gates = c.input(7);
    a.activated = c.input(8);
    a.d_hidden = c.input(9);
    a.d_cell = c.input(10);
    a.d_gates = room.or_take(c.output(0), a.rows, 4 * a.n);
    a.back_cell = room.take(a.lines, a.n);
    a.dh0 = c.output(1);
    a.dc0 = c.output(2);
    int* const before = reinterpret_cast<int*>(room.take(1, a.rows).data);
    if (a.lines > 0) b.template lines<team_lines<detail::lstm_slope_lines<false>>>(a);
    detail::lstm_parameter_gradients(b, a, a.hidden, before, c.output(3), c.output(4));
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_site& c) {
    const int n = c.input(3).rows, rows = c.input(0).rows;
    detail::scratch_rows room(nullptr);
    room.take(rows, 4 * n);
    room.take(c.sequences(c.input(0).domain).count, n);
    room.take(1, rows);
    return room.used();
  }
};
template <>
struct call_kernel<lstmp> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_site& c) {
    require_float(c, c.input(0));
    auto a = detail::lstmp_of(c);
    detail::scratch_rows room(c.run.scratch);
    a.projection = room.or_take(c.output(0), a.rows, a.depth);
    a.cell = room.or_take(c.output(1), a.rows, a.n);
    a.hidden = room.or_take(c.output(4), a.rows, a.n);
    a.gates = c.output(2);
    a.activated = c.output(3);
    if (a.lines > 0) b.template lines<team_lines<detail::lstm_lines<true>>>(a);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_site& c) {
    const int n = c.input(4).rows, rows = c.input(0).rows;
    detail::scratch_rows room(nullptr);
    room.take(rows, c.input(3).rows);
    room.take(rows, n);
    room.take(rows, n);
    return room.used();
  }
};

template <>
struct call_kernel<gradient_of<lstmp>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_site& c) {
    const operand hidden = c.input(10), d_proj_weight = c.output(4);
    auto a = detail::lstmp_of(c);
    detail::scratch_rows room(c.run.scratch);
    a.projection = c.input(6);
    a.cell = c.input(7);
    a.gates = c.input(8);
    a.activated = c.input(9);
    a.hidden = hidden;
    a.d_projection = c.input(11);
    a.d_cell = c.input(12);
    a.d_gates = room.or_take(c.output(0), a.rows, 4 * a.n);
    a.d_projected = room.take(a.rows, a.depth);
    a.back_cell = room.take(a.lines, a.n);
    a.dh0 = c.output(1);
    a.dc0 = c.output(2);
    int* const before = reinterpret_cast<int*>(room.take(1, a.rows).data);
    if (a.lines > 0) b.template lines<team_lines<detail::lstm_slope_lines<true>>>(a);
    detail::lstm_parameter_gradients(b, a, a.projection, before, c.output(3), c.output(5));
    if (!d_proj_weight) return;
    const detail::read_matrices left(hidden.row<const float>(0), {}, a.n, a.rows, hidden.stride,
                                     true);
    const detail::read_matrices right(a.d_projected.data, {}, a.rows, a.depth, a.d_projected.stride,
                                      false);
    detail::multiply(b, left, right, 1, 1, 1, d_proj_weight.row<float>(0), {},
                     static_cast<int>(d_proj_weight.stride));
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_site& c) {
    const int n = c.input(4).rows, rows = c.input(0).rows;
    detail::scratch_rows room(nullptr);
    room.take(rows, 4 * n);
    room.take(rows, c.input(3).rows);
    room.take(c.sequences(c.input(0).domain).count, n);
    room.take(1, rows);
    return room.used();
  }
};

}  // namespace lamina::engine::cuda
