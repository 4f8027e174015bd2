// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/crf_kernels.hpp - linear_chain_crf, crf_decoding.
//
// Sums over all paths are products of e^score, each row scaled to a sum of 1 and the logarithms of
// the scales added up: one e^x an element instead of one a pair of tags.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include <lamina/engine/cpu/label.hpp>
#include <lamina/engine/cpu/real_numbers.hpp>
#include <lamina/engine/cpu/row_math.hpp>
#include <lamina/operators/crf.hpp>

namespace lamina::engine::cpu {

namespace detail {

/// Emission and Transition of an operator with their labels.
template <class Real>
struct tag_scores {
  operand emission, transition;
  label_reader label;
  int tags;

  tag_scores(const call_context& c, const operand& labels)
      : emission(c.input(0)),
        transition(c.input(1)),
        label(c, labels, std::numeric_limits<int>::min()),
        tags(emission.columns) {
    require_real<Real>(c, emission);
    require_real<Real>(c, transition);
  }
  int at(int row) const { return static_cast<int>(label.at(row, 0, tags)); }
  /// The score of the labels of the rows [begin, end).
  double path(int begin, int end) const {
    int before = at(begin);
    double score = transition.template row<const Real>(0)[before];
    for (int r = begin; r < end; ++r) {
      const int tag = at(r);
      if (r > begin) score += transition.template row<const Real>(2 + before)[tag];
      score += emission.template row<const Real>(r)[tag];
      before = tag;
    }
    return score + transition.template row<const Real>(1)[before];
  }
};

/// An output that only a gradient reads, or scratch in the shape of `like` where nobody wants it.
template <class Real>
inline operand array_or_scratch(const operand& wanted, const operand& like, Real*& scratch) {
  if (wanted) return wanted;
  operand made = like;
  made.data = scratch;
  made.stride = like.columns;
  scratch += static_cast<std::ptrdiff_t>(like.rows) * like.columns;
  return made;
}

/// Divides by the sum, which it returns.
template <class Real>
inline Real scale_to_one(const call_context& c, Real* x, int n) {
  Real sum = 0;
  for (int j = 0; j < n; ++j) sum += x[j];
  if (!(sum > 0) || !(sum <= std::numeric_limits<Real>::max()))
    fail(c, {"expected scores whose e^x has a sum that a float can hold, found ", sum});
  for (int j = 0; j < n; ++j) x[j] /= sum;
  return sum;
}

/// to[j] = x[j] * (a[0] w[0][j] + a[1] w[1][j] + ...), w the rows of `transition` from 2 on.
template <class Real>
inline void step_forward(const Real* a, const operand& transition, const Real* x, Real* to,
                         int tags) {
  std::fill_n(to, tags, Real(0));
  for (int i = 0; i < tags; ++i) {
    const Real* const w = transition.template row<const Real>(2 + i);
    for (int j = 0; j < tags; ++j) to[j] += a[i] * w[j];
  }
  for (int j = 0; j < tags; ++j) to[j] *= x[j];
}

}  // namespace detail

template <>
struct call_kernel<linear_chain_crf> {
  static constexpr bool in_double = true;
  template <class Real = float>
  static void run(const call_context& c) {
    const detail::tag_scores<Real> in(c, c.input(2));
    const int n = in.tags;
    Real* room = numbers_at<Real>(c.scratch());
    const operand alpha = detail::array_or_scratch(c.output(0), in.emission, room);
    const operand e = detail::array_or_scratch(c.output(1), in.emission, room);
    const operand w = detail::array_or_scratch(c.output(2), in.transition, room);
    const operand cost = c.output(3);
    for (int i = 0; i < n + 2; ++i)
      for (int j = 0; j < n; ++j)
        w.row<Real>(i)[j] = std::exp(in.transition.template row<const Real>(i)[j]);
    const sequence_rows all = c.sequences(in.emission);
    for (int s = 0; s < all.count; ++s) {
      double total = 0;
      for (int r = all.begin(s); r < all.end(s); ++r) {
        const Real* const x = in.emission.template row<const Real>(r);
        const Real most = *std::max_element(x, x + n);
        for (int j = 0; j < n; ++j) e.row<Real>(r)[j] = std::exp(x[j] - most);
        Real* const a = alpha.row<Real>(r);
        if (r > all.begin(s))
          detail::step_forward(alpha.row<Real>(r - 1), w, e.row<Real>(r), a, n);
        else
          for (int j = 0; j < n; ++j) a[j] = w.row<Real>(0)[j] * e.row<Real>(r)[j];
        total += std::log(static_cast<double>(detail::scale_to_one(c, a, n))) + most;
      }
      if (all.length(s) > 0) {
        double ends = 0;
        for (int j = 0; j < n; ++j)
          ends += static_cast<double>(alpha.row<Real>(all.end(s) - 1)[j] * w.row<Real>(1)[j]);
        total += std::log(ends) - in.path(all.begin(s), all.end(s));
      }
      *cost.row<Real>(s) = static_cast<Real>(total);
    }
  }
  template <class Real = float>
  static std::ptrdiff_t scratch(const call_context& c) {
    const operand x = c.input(0);
    return in_floats<Real>(static_cast<std::ptrdiff_t>(x.columns) * (2 * x.rows + x.columns + 2));
  }
};

template <>
struct call_kernel<gradient_of<linear_chain_crf>> {
  static constexpr bool in_double = true;
  template <class Real = float>
  static void run(const call_context& c) {
    const detail::tag_scores<Real> in(c, c.input(2));
    const operand alpha = c.input(3), e = c.input(4), w = c.input(5), slope = c.input(6);
    const operand dx = c.output(0), dw = c.output(1);
    const int n = in.tags;
    Real *const behind = numbers_at<Real>(c.scratch()), *const row = behind + n,
                *const pairs = row + n;
    if (dw) clear(dw);
    const sequence_rows all = c.sequences(in.emission);
    for (int s = 0; s < all.count; ++s) {
      const int begin = all.begin(s), end = all.end(s);
      const Real d = *slope.row<const Real>(s);
      // behind[j]: the sum over all continuations behind tag j of row r, up to a factor.
      for (int j = 0; j < n && begin < end; ++j) behind[j] = w.row<const Real>(1)[j];
      for (int r = end; r-- > begin;) {
        const int is = in.at(r);
        for (int j = 0; j < n; ++j) row[j] = alpha.row<const Real>(r)[j] * behind[j];
        detail::scale_to_one(c, row, n);
        row[is] -= 1;
        for (int j = 0; j < n; ++j) {
          if (dx) dx.row<Real>(r)[j] = d * row[j];
          if (dw && r == begin) dw.row<Real>(0)[j] += d * row[j];
          if (dw && r + 1 == end) dw.row<Real>(1)[j] += d * row[j];
        }
        if (r == begin) break;
        for (int j = 0; j < n; ++j) row[j] = e.row<const Real>(r)[j] * behind[j];
        for (int i = 0; i < n; ++i)
          for (int j = 0; j < n; ++j) pairs[i * n + j] = w.row<const Real>(2 + i)[j] * row[j];
        for (int i = 0; i < n; ++i) {
          behind[i] = 0;
          for (int j = 0; j < n; ++j) behind[i] += pairs[i * n + j];
          for (int j = 0; j < n; ++j) pairs[i * n + j] *= alpha.row<const Real>(r - 1)[i];
        }
        detail::scale_to_one(c, behind, n);
        if (!dw) continue;
        detail::scale_to_one(c, pairs, n * n);
        pairs[in.at(r - 1) * n + is] -= 1;
        for (int i = 0; i < n; ++i)
          for (int j = 0; j < n; ++j) dw.row<Real>(2 + i)[j] += d * pairs[i * n + j];
      }
    }
  }
  template <class Real = float>
  static std::ptrdiff_t scratch(const call_context& c) {
    const std::ptrdiff_t n = c.input(0).columns;
    return in_floats<Real>(n * (n + 2));
  }
};

template <>
struct call_kernel<crf_decoding> {
  static constexpr bool in_double = true;
  template <class Real = float>
  static void run(const call_context& c) {
    const operand labels = c.input(2), path = c.output(0);
    const detail::tag_scores<Real> in(c, labels);
    const int n = in.tags;
    Real *score = numbers_at<Real>(c.scratch()), *next = score + n;
    Real* const from = next + n;  // of each tag of each row, the best tag before; exact to 2^24
    const sequence_rows all = c.sequences(in.emission);
    for (int s = 0; s < all.count; ++s) {
      const int begin = all.begin(s), end = all.end(s);
      if (begin == end) continue;
      for (int r = begin; r < end; ++r, std::swap(score, next))
        for (int j = 0; j < n; ++j) {
          int best = 0;
          for (int i = 1; i < n && r > begin; ++i)
            if (score[i] + w(in, i, j) > score[best] + w(in, best, j)) best = i;
          from[static_cast<std::ptrdiff_t>(r) * n + j] = static_cast<Real>(best);
          next[j] = in.emission.template row<const Real>(r)[j] +
                    (r > begin ? score[best] + w(in, best, j) : w(in, -2, j));
        }
      int tag = 0;
      for (int j = 1; j < n; ++j)
        if (score[j] + w(in, -1, j) > score[tag] + w(in, -1, tag)) tag = j;
      for (int r = end; r-- > begin;) {
        *path.row<std::int64_t>(r) = labels ? (in.at(r) == tag ? 1 : 0) : tag;
        tag = static_cast<int>(from[static_cast<std::ptrdiff_t>(r) * n + tag]);
      }
    }
  }
  template <class Real = float>
  static std::ptrdiff_t scratch(const call_context& c) {
    const operand x = c.input(0);
    return in_floats<Real>(static_cast<std::ptrdiff_t>(x.rows + 2) * x.columns);
  }

 private:
  // From tag i to tag j; -2 is the start, -1 stands for the end behind j.
  template <class Real>
  static Real w(const detail::tag_scores<Real>& in, int i, int j) {
    return in.transition.template row<const Real>(i + 2)[j];
  }
};

}  // namespace lamina::engine::cpu
