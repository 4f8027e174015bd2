// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/row/cpu.hpp - kernels of smooth_l1_loss, kldiv_loss, bpr_loss and
// label_smooth, which compute on whole rows.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/operators/loss/row/definition.hpp>
#if LAMINA_DEFINES
#include <algorithm>
#include <cmath>

#include <lamina/engine/cpu/memory/label.hpp>
#include <lamina/operators/loss/row/common.hpp>
#endif

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

template <>
struct call_kernel<operators::smooth_l1_loss> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<gradient_of<operators::smooth_l1_loss>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<operators::kldiv_loss> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<gradient_of<operators::kldiv_loss>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<operators::bpr_loss> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<gradient_of<operators::bpr_loss>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<operators::label_smooth> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<gradient_of<operators::label_smooth>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::smooth_l1_loss>::run(const call_context& c) {
  const operand x = c.input(0), y = c.input(1), inside = c.input(2), outside = c.input(3);
  const operand diff = c.output(0), out = c.output(1);
  require_real<Real>(c, x);
  const Real s2 = static_cast<Real>(c.number(0) * c.number(0));
  for (int r = 0; r < x.rows; ++r) {
    Real* d = diff.row<Real>(r);
    for (int j = 0; j < x.columns; ++j) d[j] = x.row<const Real>(r)[j] - y.row<const Real>(r)[j];
    // An element with the weight 0 has no effect, even if the element is infinite.
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
LAMINA_INSTANCE(void call_kernel<operators::smooth_l1_loss>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::smooth_l1_loss>::run<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::smooth_l1_loss>>::run(const call_context& c) {
  const operand inside = c.input(0), outside = c.input(1), diff = c.input(2), grad = c.input(3);
  const operand dx = c.output(0), dy = c.output(1);
  const Real s2 = static_cast<Real>(c.number(0) * c.number(0));
  for (int r = 0; r < diff.rows; ++r) {
    const Real* d = diff.row<const Real>(r);
    const Real dout = *grad.row<const Real>(r);
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
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::smooth_l1_loss>>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::smooth_l1_loss>>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::kldiv_loss>::run(const call_context& c) {
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
LAMINA_INSTANCE(void call_kernel<operators::kldiv_loss>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::kldiv_loss>::run<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::kldiv_loss>>::run(const call_context& c) {
  const operand target = c.input(0), grad = c.input(1), dx = c.output(0);
  if (!dx) return;
  const kldiv_reduction how = kldiv_reduction_of(c);
  const Real factor = static_cast<Real>(kldiv_factor(how, target));
  for (int r = 0; r < dx.rows; ++r)
    for (int j = 0; j < dx.columns; ++j) {
      const Real t = target.row<const Real>(r)[j];
      const Real d =
          how == kldiv_reduction::none ? grad.row<const Real>(r)[j] : *grad.row<const Real>(0);
      dx.row<Real>(r)[j] = t <= 0 ? Real(0) : -d * t * factor;
    }
}
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::kldiv_loss>>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::kldiv_loss>>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::bpr_loss>::run(const call_context& c) {
  const operand in = c.input(0), out = c.output(0);
  require_real<Real>(c, in);
  const label_reader labels(c, c.input(1), -100);
  const row_lines lines(in);
  for (int r = 0; r < lines.rows; ++r)
    for (int o = 0; o < lines.outer; ++o) {
      const Real* x = in.row<const Real>(r) + o * lines.n;
      const std::int64_t l = labels.at(r, o, lines.n);
      Real cost = 0;
      for (int j = 0; l >= 0 && j < lines.n; ++j)
        if (j != l) {
          const Real d = x[j] - x[l];
          cost += (std::max)(d, Real(0)) + std::log1p(std::exp(-std::abs(d)));
        }
      out.row<Real>(r)[o] = lines.n > 1 ? cost / static_cast<Real>(lines.n - 1) : Real(0);
    }
}
LAMINA_INSTANCE(void call_kernel<operators::bpr_loss>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::bpr_loss>::run<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::bpr_loss>>::run(const call_context& c) {
  const operand in = c.input(0), grad = c.input(2), dx = c.output(0);
  if (!dx) return;
  const label_reader labels(c, c.input(1), -100);
  const row_lines lines(in);
  for (int r = 0; r < lines.rows; ++r)
    for (int o = 0; o < lines.outer; ++o) {
      const Real* x = in.row<const Real>(r) + o * lines.n;
      Real* g = dx.row<Real>(r) + o * lines.n;
      std::fill(g, g + lines.n, Real(0));
      const std::int64_t l = labels.at(r, o, lines.n);
      if (l < 0 || lines.n < 2) continue;
      const Real d = grad.row<const Real>(r)[o] / static_cast<Real>(lines.n - 1);
      Real total = 0;
      for (int j = 0; j < lines.n; ++j) {
        if (j == l) continue;
        g[j] = d / (1 + std::exp(x[l] - x[j]));
        total += g[j];
      }
      g[l] = -total;
    }
}
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::bpr_loss>>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::bpr_loss>>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::label_smooth>::run(const call_context& c) {
  const operand in = c.input(0), prior = c.input(1), out = c.output(0);
  require_real<Real>(c, in);
  const Real epsilon = static_cast<Real>(c.number(0));
  const row_lines lines(in);
  const Real even = Real(1) / static_cast<Real>(lines.n);
  // A prior with several dimensions, such as [1, K], has all its numbers in row 0 as well.
  const Real* p = prior ? prior.row<const Real>(0) : nullptr;
  for (int r = 0; r < lines.rows; ++r)
    for (int o = 0; o < lines.outer; ++o) {
      const Real* x = in.row<const Real>(r) + o * lines.n;
      Real* y = out.row<Real>(r) + o * lines.n;
      for (int j = 0; j < lines.n; ++j)
        y[j] = (1 - epsilon) * x[j] + epsilon * (p != nullptr ? p[j] : even);
    }
}
LAMINA_INSTANCE(void call_kernel<operators::label_smooth>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::label_smooth>::run<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::label_smooth>>::run(const call_context& c) {
  const operand grad = c.input(0), dx = c.output(0);
  if (!dx) return;
  const Real factor = 1 - static_cast<Real>(c.number(0));
  for (int r = 0; r < dx.rows; ++r)
    for (int j = 0; j < dx.columns; ++j) dx.row<Real>(r)[j] = factor * grad.row<const Real>(r)[j];
}
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::label_smooth>>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::label_smooth>>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
