// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/lstm_unit_kernels.hpp - one step of a long short-term memory: lstm_unit.
#pragma once

#include <lamina/engine/cpu/array_layout.hpp>
#include <lamina/engine/cpu/row_math.hpp>
#include <lamina/operators/activation.hpp>
#include <lamina/operators/lstm.hpp>

namespace lamina::engine::cpu {

template <>
struct call_kernel<lstm_unit> {
  template <class = void>
  static void run(const call_context& c) {
    const operand x = c.input(0), before = c.input(1), cell = c.output(0), hidden = c.output(1);
    require_float(c, x);
    const int n = before.columns;
    const float forget_bias = static_cast<float>(c.number(0));
    for (int r = 0; r < x.rows; ++r) {
      const float* const g = x.row<const float>(r);
      for_each_place(n, [&](std::ptrdiff_t j, auto like) {
        using number = decltype(like);
        const number f = sigmoid::f(number(load(g + n + j, like) + number(forget_bias)));
        const number now = f * load(before.row<const float>(r) + j, like) +
                           sigmoid::f(load(g + j, like)) * tanh::f(load(g + 3 * n + j, like));
        if (cell) store(cell.row<float>(r) + j, now);
        if (hidden)
          store(hidden.row<float>(r) + j,
                number(sigmoid::f(load(g + 2 * n + j, like)) * tanh::f(now)));
      });
    }
  }
};

template <>
struct call_kernel<gradient_of<lstm_unit>> {
  template <class = void>
  static void run(const call_context& c) {
    const operand x = c.input(0), before = c.input(1), cell = c.input(2);
    const operand d_cell = c.input(3), d_hidden = c.input(4);
    const operand dx = c.output(0), d_before = c.output(1);
    const int n = before.columns;
    const float forget_bias = static_cast<float>(c.number(0));
    for (int r = 0; r < x.rows; ++r) {
      const float* const g = x.row<const float>(r);
      for_each_place(n, [&](std::ptrdiff_t j, auto like) {
        using number = decltype(like);
        const number i = sigmoid::f(load(g + j, like)), o = sigmoid::f(load(g + 2 * n + j, like));
        const number f = sigmoid::f(number(load(g + n + j, like) + number(forget_bias)));
        const number candidate = tanh::f(load(g + 3 * n + j, like));
        const number a = tanh::f(load(cell.row<const float>(r) + j, like));
        const number dh = load(d_hidden.row<const float>(r) + j, like);
        const number dc = load(d_cell.row<const float>(r) + j, like) + tanh::df(a, number(dh * o));
        if (d_before) store(d_before.row<float>(r) + j, number(dc * f));
        if (!dx) return;
        float* const to = dx.row<float>(r) + j;
        const number c_before = load(before.row<const float>(r) + j, like);
        store(to, sigmoid::df(i, number(dc * candidate)));
        store(to + n, sigmoid::df(f, number(dc * c_before)));
        store(to + 2 * n, sigmoid::df(o, number(dh * a)));
        store(to + 3 * n, tanh::df(candidate, number(dc * i)));
      });
    }
  }
};

}  // namespace lamina::engine::cpu
