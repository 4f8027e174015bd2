// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/crf/executor.hpp - the operators linear_chain_crf and crf_decoding.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <lamina/executor/call_context.hpp>
#include <lamina/executor/kernel_shape.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// Returns the logarithm of the sum of e^v over all values v; -infinity if there are no values.
template <class Real>
Real log_sum_exp(const std::vector<Real>& values) {
  const Real none = -std::numeric_limits<Real>::infinity();
  const Real most = values.empty() ? none : *std::max_element(values.begin(), values.end());
  if (most == none) return none;
  Real sum = 0;
  for (const Real v : values) sum += std::exp(v - most);
  return most + std::log(sum);
}

/// The scores of the tags of one sequence. All sums are computed as logarithms, because products of
/// many probabilities would underflow.
template <class Real>
struct tag_chain {
  const Real* emission;    // [rows, tags], minus the largest score of each row
  const Real* transition;  // [tags + 2, tags]
  std::size_t rows, tags;

  Real x(std::size_t k, std::size_t j) const { return emission[k * tags + j]; }
  Real start(std::size_t j) const { return transition[j]; }
  Real end(std::size_t j) const { return transition[tags + j]; }
  Real w(std::size_t i, std::size_t j) const { return transition[(i + 2) * tags + j]; }

  /// Element [k, j] is the logarithm of the sum over all paths up to row k that end with tag j.
  std::vector<Real> forward() const {
    std::vector<Real> a(rows * tags), to(tags);
    for (std::size_t k = 0; k < rows; ++k)
      for (std::size_t j = 0; j < tags; ++j) {
        for (std::size_t i = 0; i < tags; ++i)
          to[i] = k == 0 ? start(j) : a[(k - 1) * tags + i] + w(i, j);
        a[k * tags + j] = x(k, j) + (k == 0 ? start(j) : log_sum_exp(to));
      }
    return a;
  }
  /// Element [k, j] is the logarithm of the sum over all continuations of a path that has tag j in
  /// row k.
  std::vector<Real> backward() const {
    std::vector<Real> b(rows * tags), to(tags);
    for (std::size_t k = rows; k-- > 0;)
      for (std::size_t j = 0; j < tags; ++j) {
        for (std::size_t i = 0; i < tags && k + 1 < rows; ++i)
          to[i] = w(j, i) + x(k + 1, i) + b[(k + 1) * tags + i];
        b[k * tags + j] = k + 1 < rows ? log_sum_exp(to) : end(j);
      }
    return b;
  }
  /// Returns the logarithm of the sum over all paths.
  Real total(const std::vector<Real>& forward) const {
    std::vector<Real> last(forward.end() - static_cast<std::ptrdiff_t>(tags), forward.end());
    for (std::size_t j = 0; j < tags; ++j) last[j] += end(j);
    return log_sum_exp(last);
  }
  Real score(const std::int64_t* label) const {
    Real s = 0;
    for (std::size_t k = 0; k < rows; ++k) {
      const std::size_t j = static_cast<std::size_t>(label[k]);
      s += x(k, j) + (k == 0 ? start(j) : w(static_cast<std::size_t>(label[k - 1]), j));
    }
    return s + end(static_cast<std::size_t>(label[rows - 1]));
  }
  /// Whether the path of the labels has a finite score; otherwise the cost is infinite and the
  /// gradient is 0.
  bool is_possible(const std::int64_t* label) const {
    return score(label) != -std::numeric_limits<Real>::infinity();
  }
  std::vector<std::size_t> best() const {
    std::vector<Real> score(rows * tags);
    std::vector<std::size_t> from(rows * tags), path(rows);
    for (std::size_t k = 0; k < rows; ++k)
      for (std::size_t j = 0; j < tags; ++j) {
        std::size_t i = 0;
        for (std::size_t c = 1; c < tags && k > 0; ++c)
          if (score[(k - 1) * tags + c] + w(c, j) > score[(k - 1) * tags + i] + w(i, j)) i = c;
        from[k * tags + j] = i;
        score[k * tags + j] = x(k, j) + (k == 0 ? start(j) : score[(k - 1) * tags + i] + w(i, j));
      }
    std::size_t j = 0;
    for (std::size_t c = 1; c < tags; ++c)
      if (score[(rows - 1) * tags + c] + end(c) > score[(rows - 1) * tags + j] + end(j)) j = c;
    for (std::size_t k = rows; k-- > 0; j = from[k * tags + j]) path[k] = j;
    return path;
  }
};

/// Calls `f(chain, index of the sequence, first row)` for each sequence that has rows.
template <class Real, class F>
void each_chain(const call_context<Real>& ctx, F f) {
  const auto& x = ctx.real("Emission");
  const auto& w = ctx.real("Transition");
  const lod& sequences = ctx.lod("Emission");
  const std::size_t tags = matrix(shape_of(x), 1).columns;
  if (shape_of(w) != tensor_shape{tags + 2, tags})
    ctx.fail("expected the shape " + to_string(tensor_shape{tags + 2, tags}) + " for variable '" +
             ctx.input_name("Transition") + "', found " + to_string(shape_of(w)));
  for (std::size_t s = 0; s < sequences.sequences(); ++s)
    if (const std::size_t at = sequences.last()[s]; sequences.length(s) > 0) {
      // Subtracts the largest score of each row. This does not change the cost, but keeps digits
      // that a large offset shared by all tags would cost.
      std::vector<Real> emission(x.data() + at * tags,
                                 x.data() + (at + sequences.length(s)) * tags);
      for (std::size_t r = 0; r < emission.size(); r += tags) {
        const Real most = *std::max_element(&emission[r], &emission[r] + tags);
        for (std::size_t j = 0; j < tags; ++j)
          if (std::isfinite(most)) emission[r + j] -= most;
      }
      f(tag_chain<Real>{emission.data(), w.data(), sequences.length(s), tags}, s, at);
    }
}
/// Returns the labels, one per row. Fails if a label is not the number of a tag.
template <class Real>
xt::xarray<std::int64_t> tag_labels(const call_context<Real>& ctx) {
  const tensor_shape shape = ctx.input("Emission").shape();
  auto label = ctx.integers("Label");
  if (label.size() != shape[0])
    ctx.fail("expected " + std::to_string(shape[0]) + " labels in variable '" +
             ctx.input_name("Label") + "', found " + std::to_string(label.size()));
  for (const std::int64_t l : label)
    ctx.require_range("Label", l, 0, static_cast<std::int64_t>(shape[1]));
  return label;
}

template <class Real>
void linear_chain_crf_forward(call_context<Real>& ctx) {
  const auto label = tag_labels(ctx);
  const lod sequences = ctx.lod("Emission");
  auto alpha = zeros<Real>(ctx.input("Emission").shape());
  xt::xarray<Real> emission = ctx.real("Emission"), transition = ctx.real("Transition");
  auto cost = zeros<Real>({sequences.sequences(), 1});
  each_chain(ctx, [&](const tag_chain<Real>& c, std::size_t s, std::size_t at) {
    const std::vector<Real> a = c.forward();
    cost.flat(s) = c.is_possible(label.data() + at) ? c.total(a) - c.score(label.data() + at)
                                                    : std::numeric_limits<Real>::infinity();
    for (std::size_t k = 0; k < c.rows; ++k) {
      const auto row = a.begin() + static_cast<std::ptrdiff_t>(k * c.tags);
      const std::vector<Real> values(row, row + static_cast<std::ptrdiff_t>(c.tags));
      const Real sum = log_sum_exp(values);
      const Real most = *std::max_element(c.emission + k * c.tags, c.emission + (k + 1) * c.tags);
      for (std::size_t j = 0; j < c.tags; ++j) {
        // If `sum` is minus infinity, no path reaches the row; the difference would be NaN.
        alpha.flat((at + k) * c.tags + j) = std::isinf(sum) ? Real(0) : std::exp(values[j] - sum);
        emission.flat((at + k) * c.tags + j) =
            std::isinf(most) ? Real(0) : std::exp(c.x(k, j) - most);
      }
    }
  });
  for (Real& w : transition) w = std::exp(w);
  ctx.give("Alpha", std::move(alpha));
  ctx.give("EmissionExps", std::move(emission));
  ctx.give("TransitionExps", std::move(transition));
  ctx.give("LogLikelihood", std::move(cost));
  ctx.set_lod("LogLikelihood", sequences.above());
}

/// Emission@GRAD is the probability of each tag in each row, minus 1 for the label's tag;
/// Transition@GRAD is the same for pairs of tags in neighbouring rows. Both are multiplied by the
/// gradient of the cost.
template <class Real>
void linear_chain_crf_gradient(call_context<Real>& ctx) {
  const auto label = tag_labels(ctx);
  const auto& d = ctx.real("LogLikelihood@GRAD");
  auto dx = zeros<Real>(ctx.input("Emission").shape());
  auto dw = zeros<Real>(ctx.input("Transition").shape());
  each_chain(ctx, [&](const tag_chain<Real>& c, std::size_t s, std::size_t at) {
    if (!c.is_possible(label.data() + at)) return;
    const std::vector<Real> a = c.forward(), b = c.backward();
    const Real total = c.total(a), dy = d.flat(s);
    const std::size_t n = c.tags;
    for (std::size_t k = 0; k < c.rows; ++k) {
      const std::size_t is = static_cast<std::size_t>(label.flat(at + k));
      for (std::size_t j = 0; j < n; ++j) {
        const Real g = dy * (std::exp(a[k * n + j] + b[k * n + j] - total) - Real(j == is));
        dx.flat((at + k) * n + j) = g;
        if (k == 0) dw.flat(j) += g;
        if (k + 1 == c.rows) dw.flat(n + j) += g;
        for (std::size_t i = 0; i < n && k > 0; ++i) {
          const bool taken = j == is && i == static_cast<std::size_t>(label.flat(at + k - 1));
          dw.flat((i + 2) * n + j) +=
              dy * (std::exp(a[(k - 1) * n + i] + c.w(i, j) + c.x(k, j) + b[k * n + j] - total) -
                    Real(taken));
        }
      }
    }
  });
  ctx.give("Emission@GRAD", std::move(dx));
  ctx.give("Transition@GRAD", std::move(dw));
}

template <class Real>
void crf_decoding_forward(call_context<Real>& ctx) {
  auto path = zeros<std::int64_t>({ctx.input("Emission").shape()[0], 1});
  each_chain(ctx, [&](const tag_chain<Real>& c, std::size_t, std::size_t at) {
    const std::vector<std::size_t> best = c.best();
    for (std::size_t k = 0; k < c.rows; ++k) path.flat(at + k) = static_cast<std::int64_t>(best[k]);
  });
  if (ctx.has("Label")) {
    const auto label = tag_labels(ctx);
    for (std::size_t i = 0; i < path.size(); ++i) path.flat(i) = path.flat(i) == label.flat(i);
  }
  ctx.give("ViterbiPath", std::move(path));
}

template <class Real>
void add_crf_kernels(kernel_table<Real>& table) {
  table["linear_chain_crf"] = linear_chain_crf_forward<Real>;
  table["linear_chain_crf_grad"] = linear_chain_crf_gradient<Real>;
  table["crf_decoding"] = crf_decoding_forward<Real>;
}

}}}  // namespace lamina::kernel
