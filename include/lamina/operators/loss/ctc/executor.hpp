// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/ctc/executor.hpp - the operators warpctc and ctc_align.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <lamina/operators/loss/crf/executor.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// The paths of one sequence. A path is in one state per row. The states are the labels in their
/// order, with a blank before, between and after them. From row to row, a path may stay in its
/// state or go on to the next state, and it may skip a blank between two different labels.
template <class Real>
struct label_paths {
  std::vector<Real> log_probability;  // [rows, classes]
  std::vector<std::size_t> state;     // the class of each state
  std::size_t rows, classes;

  Real p(std::size_t t, std::size_t s) const { return log_probability[t * classes + state[s]]; }
  bool skips(std::size_t s) const { return s >= 2 && s % 2 == 1 && state[s] != state[s - 2]; }

  /// Element [t, s] is the logarithm of the sum over the path prefixes that end in state s in row
  /// t. The sum includes the probability of the state in row t.
  std::vector<Real> forward() const {
    const std::size_t n = state.size();
    std::vector<Real> a(rows * n);
    for (std::size_t t = 0; t < rows; ++t)
      for (std::size_t s = 0; s < n; ++s) {
        std::vector<Real> from;
        if (t == 0 && s < 2) from.push_back(0);
        for (std::size_t back = 0; t > 0 && back <= (skips(s) ? 2u : 1u) && back <= s; ++back)
          from.push_back(a[(t - 1) * n + s - back]);
        a[t * n + s] = log_sum_exp(from) + p(t, s);
      }
    return a;
  }
  /// Element [t, s] is the logarithm of the sum over the path suffixes that begin in state s in row
  /// t. The sum excludes the probability of the state in row t.
  std::vector<Real> backward() const {
    const std::size_t n = state.size();
    std::vector<Real> b(rows * n);
    for (std::size_t t = rows; t-- > 0;)
      for (std::size_t s = 0; s < n; ++s) {
        std::vector<Real> to;
        if (t + 1 == rows && s + 2 >= n) to.push_back(0);
        for (std::size_t next = s; t + 1 < rows && next < n && next <= s + 2; ++next)
          if (next < s + 2 || skips(next)) to.push_back(b[(t + 1) * n + next] + p(t + 1, next));
        b[t * n + s] = log_sum_exp(to);
      }
    return b;
  }
};

/// Returns the paths of sequence i. Fails if the sequence has too few rows for its labels, or a
/// label is not valid.
template <class Real>
label_paths<Real> paths_of(const call_context<Real>& ctx, std::size_t i) {
  const auto& logits = ctx.real("Logits");
  const auto label = ctx.integers("Label");
  const lod &rows = ctx.lod("Logits"), &labels = ctx.lod("Label");
  const std::int64_t blank = ctx.integer("blank");
  label_paths<Real> p;
  p.rows = rows.length(i);
  p.classes = matrix(shape_of(logits), 1).columns;
  p.state.push_back(static_cast<std::size_t>(blank));
  std::size_t needed = 0;
  for (std::size_t l = labels.last()[i]; l < labels.last()[i + 1]; ++l) {
    ctx.require_range("Label", label.flat(l), 0, static_cast<std::int64_t>(p.classes));
    if (label.flat(l) == blank)
      ctx.fail("expected labels other than the blank " + std::to_string(blank) + " in variable '" +
               ctx.input_name("Label") + "', found it in sequence " + std::to_string(i));
    needed += l > labels.last()[i] && label.flat(l) == label.flat(l - 1) ? 2u : 1u;
    p.state.push_back(static_cast<std::size_t>(label.flat(l)));
    p.state.push_back(static_cast<std::size_t>(blank));
  }
  if (p.rows < needed)
    ctx.fail("expected at least " + std::to_string(needed) + " rows in sequence " +
             std::to_string(i) + " of variable '" + ctx.input_name("Logits") +
             "' for its labels, found " + std::to_string(p.rows));
  for (std::size_t t = rows.last()[i]; t < rows.last()[i + 1]; ++t) {
    const Real* row = logits.data() + t * p.classes;
    const Real most = *std::max_element(row, row + p.classes);
    std::vector<Real> off(row, row + p.classes);
    for (Real& x : off)
      if (std::isfinite(most)) x -= most;
    const Real sum = log_sum_exp(off);
    for (const Real x : off) p.log_probability.push_back(std::isinf(sum) ? sum : x - sum);
  }
  return p;
}

template <class Real>
void warpctc_forward(call_context<Real>& ctx) {
  const lod rows = ctx.lod("Logits");
  const tensor_shape shape = ctx.input("Logits").shape();
  if (ctx.lod("Label").sequences() != rows.sequences())
    ctx.fail("expected " + std::to_string(rows.sequences()) + " sequences in variable '" +
             ctx.input_name("Label") + "', found " + std::to_string(ctx.lod("Label").sequences()));
  if (ctx.integer("blank") < 0 || ctx.integer("blank") >= static_cast<int>(shape[1]))
    ctx.fail("expected a blank from 0 to " + std::to_string(static_cast<int>(shape[1]) - 1) +
             ", found " + std::to_string(ctx.integer("blank")));
  auto loss = zeros<Real>({rows.sequences(), 1});
  auto gradient = zeros<Real>(shape);
  for (std::size_t i = 0; i < rows.sequences(); ++i) {
    const label_paths<Real> p = paths_of(ctx, i);
    if (p.rows == 0) continue;
    const std::size_t n = p.state.size();
    const std::vector<Real> a = p.forward(), b = p.backward();
    std::vector<Real> ends{a[p.rows * n - 1]};
    if (n > 1) ends.push_back(a[p.rows * n - 2]);
    const Real total = log_sum_exp(ends);
    loss.flat(i) = -total;
    // Every path has probability 0, so the gradient stays 0.
    if (total == -std::numeric_limits<Real>::infinity()) continue;
    Real* d = gradient.data() + rows.last()[i] * p.classes;
    for (std::size_t t = 0; t < p.rows; ++t, d += p.classes) {
      for (std::size_t k = 0; k < p.classes; ++k)
        d[k] = std::exp(p.log_probability[t * p.classes + k]);
      for (std::size_t s = 0; s < n; ++s)
        d[p.state[s]] -= std::exp(a[t * n + s] + b[t * n + s] - total);
    }
  }
  ctx.give("WarpCTCGrad", std::move(gradient));
  ctx.give("Loss", std::move(loss));
  ctx.set_lod("Loss", rows.above());
}
template <class Real>
void warpctc_gradient(call_context<Real>& ctx) {
  if (!ctx.wants("Logits@GRAD")) return;
  const lod& rows = ctx.lod("Logits");
  const auto& d = ctx.real("Loss@GRAD");
  xt::xarray<Real> dx = ctx.real("WarpCTCGrad");
  const std::size_t width = matrix(shape_of(dx), 1).columns;
  for (std::size_t i = 0; i < rows.sequences(); ++i) {
    const Real times = ctx.flag("norm_by_times") ? static_cast<Real>(rows.length(i)) : Real(1);
    for (std::size_t k = rows.last()[i] * width; k < rows.last()[i + 1] * width; ++k)
      dx.flat(k) *= d.flat(i) / times;
  }
  ctx.give("Logits@GRAD", std::move(dx));
}

template <class Real>
void ctc_align_forward(call_context<Real>& ctx) {
  const auto x = ctx.integers("Input");
  const lod sequences = ctx.lod("Input");
  std::vector<std::int64_t> kept;
  lod::level lengths;
  for (std::size_t s = 0; s < sequences.sequences(); ++s) {
    const std::size_t before = kept.size(), first = sequences.last()[s];
    for (std::size_t t = first; t < sequences.last()[s + 1]; ++t) {
      const bool repeated = ctx.flag("merge_repeated") && t > first && x.flat(t) == x.flat(t - 1);
      if (x.flat(t) != ctx.integer("blank") && !repeated) kept.push_back(x.flat(t));
    }
    lengths.push_back(kept.size() - before);
  }
  ctx.give("Output", tensor({kept.size(), 1}, kept));
  ctx.set_lod("Output", sequences.above().below(lengths));
}

template <class Real>
void add_ctc_kernels(kernel_table<Real>& table) {
  table["warpctc"] = warpctc_forward<Real>;
  table["warpctc_grad"] = warpctc_gradient<Real>;
  table["ctc_align"] = ctc_align_forward<Real>;
}

}}}  // namespace lamina::kernel
