// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/distance_kernels.hpp - costs and likenesses of two arrays: smooth_l1_loss,
// kldiv_loss, cos_sim.
#pragma once

#include <cmath>

#include <lamina/engine/call/kldiv_reduction.hpp>
#include <lamina/engine/cpu/row_math.hpp>
#include <lamina/operators/norm.hpp>
#include <lamina/operators/row_loss.hpp>

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
      if (inside)
        for (int j = 0; j < x.columns; ++j) d[j] *= inside.row<const Real>(r)[j];
      Real total = 0;
      for (int j = 0; j < x.columns; ++j) {
        const Real size = std::abs(d[j]);
        const Real cost = size < 1 / s2 ? Real(0.5) * size * size * s2 : size - Real(0.5) / s2;
        total += outside ? cost * outside.row<const Real>(r)[j] : cost;
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
        Real g = std::abs(d[j]) < 1 / s2 ? s2 * d[j] : (d[j] > 0 ? Real(1) : -Real(1));
        g *= dout;
        if (inside) g *= inside.row<const Real>(r)[j];
        if (outside) g *= outside.row<const Real>(r)[j];
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
        const Real cost = t > 0 ? t * (std::log(t) - in.row<const Real>(r)[j]) : Real(0);
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
        dx.row<Real>(r)[j] = t > 0 ? -d * t * factor : Real(0);
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
      const Real xn = std::sqrt(dot(a, a, x.columns)), yn = std::sqrt(dot(b, b, x.columns));
      if (out) *out.row<Real>(r) = dot(a, b, x.columns) / (xn * yn);
      if (x_norm) *x_norm.row<Real>(r) = xn;
      if (y_norm) *y_norm.row<Real>(s) = yn;
    }
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
      const Real both = d / (xn * yn);
      const Real ax = d * cos / (xn * xn), by = d * cos / (yn * yn);
      if (dx)
        for (int j = 0; j < x.columns; ++j) dx.row<Real>(r)[j] = b[j] * both - a[j] * ax;
      if (dy)
        for (int j = 0; j < x.columns; ++j) dy.row<Real>(s)[j] += a[j] * both - b[j] * by;
    }
  }
};

}  // namespace lamina::engine::cpu
