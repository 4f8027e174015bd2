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
  template <class = void>
  static void run(const call_context& c) {
    const operand x = c.input(0), y = c.input(1), inside = c.input(2), outside = c.input(3);
    const operand diff = c.output(0), out = c.output(1);
    require_float(c, x);
    const float s2 = static_cast<float>(c.number(0) * c.number(0));
    for (int r = 0; r < x.rows; ++r) {
      float* d = diff.row<float>(r);
      for (int j = 0; j < x.columns; ++j)
        d[j] = x.row<const float>(r)[j] - y.row<const float>(r)[j];
      if (inside)
        for (int j = 0; j < x.columns; ++j) d[j] *= inside.row<const float>(r)[j];
      float total = 0;
      for (int j = 0; j < x.columns; ++j) {
        const float size = std::abs(d[j]);
        const float cost = size < 1 / s2 ? 0.5f * size * size * s2 : size - 0.5f / s2;
        total += outside ? cost * outside.row<const float>(r)[j] : cost;
      }
      if (out) *out.row<float>(r) = total;
    }
  }
};

template <>
struct call_kernel<gradient_of<smooth_l1_loss>> {
  template <class = void>
  static void run(const call_context& c) {
    const operand inside = c.input(0), outside = c.input(1), diff = c.input(2), slope = c.input(3);
    const operand dx = c.output(0), dy = c.output(1);
    const float s2 = static_cast<float>(c.number(0) * c.number(0));
    for (int r = 0; r < diff.rows; ++r) {
      const float* d = diff.row<const float>(r);
      const float dout = *slope.row<const float>(r);
      for (int j = 0; j < diff.columns; ++j) {
        float g = std::abs(d[j]) < 1 / s2 ? s2 * d[j] : (d[j] > 0 ? 1.0f : -1.0f);
        g *= dout;
        if (inside) g *= inside.row<const float>(r)[j];
        if (outside) g *= outside.row<const float>(r)[j];
        if (dx) dx.row<float>(r)[j] = g;
        if (dy) dy.row<float>(r)[j] = -g;
      }
    }
  }
};

template <>
struct call_kernel<kldiv_loss> {
  template <class = void>
  static void run(const call_context& c) {
    const operand in = c.input(0), target = c.input(1), out = c.output(0);
    require_float(c, in);
    const kldiv_reduction how = kldiv_reduction_of(c);
    double total = 0;
    for (int r = 0; r < in.rows; ++r)
      for (int j = 0; j < in.columns; ++j) {
        const float t = target.row<const float>(r)[j];
        const float cost = t > 0 ? t * (std::log(t) - in.row<const float>(r)[j]) : 0.0f;
        if (how == kldiv_reduction::none)
          out.row<float>(r)[j] = cost;
        else
          total += static_cast<double>(cost);
      }
    if (how != kldiv_reduction::none)
      *out.row<float>(0) = static_cast<float>(total * kldiv_factor(how, in));
  }
};

template <>
struct call_kernel<gradient_of<kldiv_loss>> {
  template <class = void>
  static void run(const call_context& c) {
    const operand target = c.input(0), slope = c.input(1), dx = c.output(0);
    if (!dx) return;
    const kldiv_reduction how = kldiv_reduction_of(c);
    const float factor = static_cast<float>(kldiv_factor(how, target));
    for (int r = 0; r < dx.rows; ++r)
      for (int j = 0; j < dx.columns; ++j) {
        const float t = target.row<const float>(r)[j];
        const float d = how == kldiv_reduction::none ? slope.row<const float>(r)[j]
                                                     : *slope.row<const float>(0);
        dx.row<float>(r)[j] = t > 0 ? -d * t * factor : 0.0f;
      }
  }
};

template <>
struct call_kernel<cos_sim> {
  template <class = void>
  static void run(const call_context& c) {
    const operand x = c.input(0), y = c.input(1);
    const operand out = c.output(0), x_norm = c.output(1), y_norm = c.output(2);
    require_float(c, x);
    for (int r = 0; r < x.rows; ++r) {
      const int s = y.rows == 1 ? 0 : r;
      const float* a = x.row<const float>(r);
      const float* b = y.row<const float>(s);
      const float xn = std::sqrt(dot(a, a, x.columns)), yn = std::sqrt(dot(b, b, x.columns));
      if (out) *out.row<float>(r) = dot(a, b, x.columns) / (xn * yn);
      if (x_norm) *x_norm.row<float>(r) = xn;
      if (y_norm) *y_norm.row<float>(s) = yn;
    }
  }
};

template <>
struct call_kernel<gradient_of<cos_sim>> {
  template <class = void>
  static void run(const call_context& c) {
    const operand x = c.input(0), y = c.input(1), cosine = c.input(2), x_norm = c.input(3),
                  y_norm = c.input(4), slope = c.input(5);
    const operand dx = c.output(0), dy = c.output(1);
    if (dy) clear(dy);
    for (int r = 0; r < x.rows; ++r) {
      const int s = y.rows == 1 ? 0 : r;
      const float* a = x.row<const float>(r);
      const float* b = y.row<const float>(s);
      const float d = *slope.row<const float>(r), cos = *cosine.row<const float>(r);
      const float xn = *x_norm.row<const float>(r), yn = *y_norm.row<const float>(s);
      const float both = d / (xn * yn);
      const float ax = d * cos / (xn * xn), by = d * cos / (yn * yn);
      if (dx)
        for (int j = 0; j < x.columns; ++j) dx.row<float>(r)[j] = b[j] * both - a[j] * ax;
      if (dy)
        for (int j = 0; j < x.columns; ++j) dy.row<float>(s)[j] += a[j] * both - b[j] * by;
    }
  }
};

}  // namespace lamina::engine::cpu
