// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/row/cpu.hpp - costs and likenesses of two arrays: smooth_l1_loss,
// kldiv_loss, cos_sim.
#pragma once

#include <algorithm>
#include <cmath>

#include <lamina/operators/loss/row/common.hpp>
#include <lamina/engine/cpu/vector/row_math.hpp>
#include <lamina/operators/norm/layer_norm/definition.hpp>
#include <lamina/operators/loss/row/definition.hpp>

namespace lamina::engine::cpu {

template <>
struct call_kernel<smooth_l1_loss> {
  static constexpr bool in_double = true;
  template <class Real = float>
  static void run(const call_context& c) {
    const operand x = c.input(0), y = c.input(1), inside = c.input(2), outside = c.input(3);
    const operand diff = c.output(0), out = c.output(1);
    require_real<Real>(c, x);
    const Real s2 = static_cast<Real>(c.number(0) * c.number(0));
    for (int r = 0; r < x.rows; ++r) {
      Real* d = diff.row<Real>(r);
      for (int j = 0; j < x.columns; ++j) d[j] = x.row<const Real>(r)[j] - y.row<const Real>(r)[j];
      // What has no weight counts nothing, also where it is infinite.
      if (inside)
        for (int j = 0; j < x.columns; ++j) {
          const Real weight = inside.row<const Real>(r)[j];
          d[j] = weight == 0 ? Real(0) : d[j] * weight;
        }
      Real total = 0;
      for (int j = 0; j < x.columns; ++j) {
        const Real size = std::abs(d[j]);
        const Real cost = size < 1 / s2 ? Real(0.5) * size * size * s2 : size - Real(0.5) / s2;
        const Real weight = outside ? outside.row<const Real>(r)[j] : Real(1);
        total += weight == 0 ? Real(0) : cost * weight;
      }
      if (out) *out.row<Real>(r) = total;
    }
  }
};

template <>
struct call_kernel<gradient_of<smooth_l1_loss>> {
  static constexpr bool in_double = true;
  template <class Real = float>
  static void run(const call_context& c) {
    const operand inside = c.input(0), outside = c.input(1), diff = c.input(2), slope = c.input(3);
    const operand dx = c.output(0), dy = c.output(1);
    const Real s2 = static_cast<Real>(c.number(0) * c.number(0));
    for (int r = 0; r < diff.rows; ++r) {
      const Real* d = diff.row<const Real>(r);
      const Real dout = *slope.row<const Real>(r);
      for (int j = 0; j < diff.columns; ++j) {
        Real g = std::abs(d[j]) >= 1 / s2 ? (d[j] > 0 ? Real(1) : -Real(1)) : s2 * d[j];
        g *= dout;
        Real weight = inside ? inside.row<const Real>(r)[j] : Real(1);
        if (outside) weight *= outside.row<const Real>(r)[j];
        g = weight == 0 ? Real(0) : g * weight;
        if (dx) dx.row<Real>(r)[j] = g;
        if (dy) dy.row<Real>(r)[j] = -g;
      }
    }
  }
};

template <>
struct call_kernel<kldiv_loss> {
  static constexpr bool in_double = true;
  template <class Real = float>
  static void run(const call_context& c) {
    const operand in = c.input(0), target = c.input(1), out = c.output(0);
    require_real<Real>(c, in);
    const kldiv_reduction how = kldiv_reduction_of(c);
    double total = 0;
    for (int r = 0; r < in.rows; ++r)
      for (int j = 0; j < in.columns; ++j) {
        const Real t = target.row<const Real>(r)[j];
        const Real cost = t <= 0 ? Real(0) : t * (std::log(t) - in.row<const Real>(r)[j]);
        if (how == kldiv_reduction::none)
          out.row<Real>(r)[j] = cost;
        else
          total += static_cast<double>(cost);
      }
    if (how != kldiv_reduction::none)
      *out.row<Real>(0) = static_cast<Real>(total * kldiv_factor(how, in));
  }
};

template <>
struct call_kernel<gradient_of<kldiv_loss>> {
  static constexpr bool in_double = true;
  template <class Real = float>
  static void run(const call_context& c) {
    const operand target = c.input(0), slope = c.input(1), dx = c.output(0);
    if (!dx) return;
    const kldiv_reduction how = kldiv_reduction_of(c);
    const Real factor = static_cast<Real>(kldiv_factor(how, target));
    for (int r = 0; r < dx.rows; ++r)
      for (int j = 0; j < dx.columns; ++j) {
        const Real t = target.row<const Real>(r)[j];
        const Real d =
            how == kldiv_reduction::none ? slope.row<const Real>(r)[j] : *slope.row<const Real>(0);
        dx.row<Real>(r)[j] = t <= 0 ? Real(0) : -d * t * factor;
      }
  }
};

template <>
struct call_kernel<cos_sim> {
  static constexpr bool in_double = true;
  template <class Real = float>
  static void run(const call_context& c) {
    const operand x = c.input(0), y = c.input(1);
    const operand out = c.output(0), x_norm = c.output(1), y_norm = c.output(2);
    require_real<Real>(c, x);
    for (int r = 0; r < x.rows; ++r) {
      const int s = y.rows == 1 ? 0 : r;
      const Real* a = x.row<const Real>(r);
      const Real* b = y.row<const Real>(s);
      const Real xn = euclidean_norm(a, x.columns), yn = euclidean_norm(b, x.columns);
      if (out) *out.row<Real>(r) = cosine(a, b, xn, yn, x.columns);
      if (x_norm) *x_norm.row<Real>(r) = xn;
      if (y_norm) *y_norm.row<Real>(s) = yn;
    }
  }

 private:
  /// A vector of length 0 is like none: its cosine is 0.
  template <class Real>
  static Real cosine(const Real* a, const Real* b, Real xn, Real yn, int n) {
    if (xn == 0 || yn == 0) return 0;
    const Real both = xn * yn;
    if (holds_squares(both)) return dot(a, b, n) / both;
    Real sum = 0;
    for (int j = 0; j < n; ++j) sum += (a[j] / xn) * (b[j] / yn);
    return sum;
  }
};

template <>
struct call_kernel<gradient_of<cos_sim>> {
  static constexpr bool in_double = true;
  template <class Real = float>
  static void run(const call_context& c) {
    const operand x = c.input(0), y = c.input(1), cosine = c.input(2), x_norm = c.input(3),
                  y_norm = c.input(4), slope = c.input(5);
    const operand dx = c.output(0), dy = c.output(1);
    if (dy) clear(dy);
    for (int r = 0; r < x.rows; ++r) {
      const int s = y.rows == 1 ? 0 : r;
      const Real* a = x.row<const Real>(r);
      const Real* b = y.row<const Real>(s);
      const Real d = *slope.row<const Real>(r), cos = *cosine.row<const Real>(r);
      const Real xn = *x_norm.row<const Real>(r), yn = *y_norm.row<const Real>(s);
      // The gradient of what has no direction is 0. Directions are numbers of any size less.
      if (xn == 0 || yn == 0) {
        if (dx) std::fill_n(dx.row<Real>(r), x.columns, Real(0));
        continue;
      }
      const Real ix = 1 / xn, iy = 1 / yn;
      if (dx) {
        Real* const to = dx.row<Real>(r);
        for_each_place<Real>(x.columns, [=](std::ptrdiff_t j, auto like) {
          using number = decltype(like);
          store(to + j, number((load(b + j, like) * number(iy) -
                                load(a + j, like) * number(ix) * number(cos)) *
                               number(d * ix)));
        });
      }
      if (dy) {
        Real* const to = dy.row<Real>(s);
        for_each_place<Real>(x.columns, [=](std::ptrdiff_t j, auto like) {
          using number = decltype(like);
          store(to + j, number(load(to + j, like) + (load(a + j, like) * number(ix) -
                                                     load(b + j, like) * number(iy) * number(cos)) *
                                                        number(d * iy)));
        });
      }
    }
  }
};

}  // namespace lamina::engine::cpu
