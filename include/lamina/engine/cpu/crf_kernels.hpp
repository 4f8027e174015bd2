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
#include <lamina/engine/cpu/row_math.hpp>
#include <lamina/operators/crf.hpp>

namespace lamina::engine::cpu {

namespace detail {

/// Emission and Transition of an operator with their labels.
struct tag_scores {
  operand emission, transition;
  label_reader label;
  int tags;

  tag_scores(const call_context& c, const operand& labels)
      : emission(c.input(0)),
        transition(c.input(1)),
        label(c, labels, std::numeric_limits<int>::min()),
        tags(emission.columns) {
    require_float(c, emission);
    require_float(c, transition);
  }
  int at(int row) const { return static_cast<int>(label.at(row, 0, tags)); }
  /// The score of the labels of the rows [begin, end).
  double path(int begin, int end) const {
    int before = at(begin);
    double score = transition.row<const float>(0)[before];
    for (int r = begin; r < end; ++r) {
      const int tag = at(r);
      if (r > begin) score += transition.row<const float>(2 + before)[tag];
      score += emission.row<const float>(r)[tag];
      before = tag;
    }
    return score + transition.row<const float>(1)[before];
  }
};

/// An output that only a gradient reads, or scratch in the shape of `like` where nobody wants it.
inline operand array_or_scratch(const operand& wanted, const operand& like, float*& scratch) {
  if (wanted) return wanted;
  operand made = like;
  made.data = scratch;
  made.stride = like.columns;
  scratch += static_cast<std::ptrdiff_t>(like.rows) * like.columns;
  return made;
}

/// Divides by the sum, which it returns.
inline float scale_to_one(const call_context& c, float* x, int n) {
  float sum = 0;
  for (int j = 0; j < n; ++j) sum += x[j];
  if (!(sum > 0) || !(sum <= std::numeric_limits<float>::max()))
    fail(c, {"expected scores whose e^x has a sum that a float can hold, found ", sum});
  for (int j = 0; j < n; ++j) x[j] /= sum;
  return sum;
}

/// to[j] = x[j] * (a[0] w[0][j] + a[1] w[1][j] + ...), w the rows of `transition` from 2 on.
inline void step_forward(const float* a, const operand& transition, const float* x, float* to,
                         int tags) {
  std::fill_n(to, tags, 0.0f);
  for (int i = 0; i < tags; ++i) {
    const float* const w = transition.row<const float>(2 + i);
    for (int j = 0; j < tags; ++j) to[j] += a[i] * w[j];
  }
  for (int j = 0; j < tags; ++j) to[j] *= x[j];
}

}  // namespace detail

template <>
struct call_kernel<linear_chain_crf> {
  template <class = void>
  static void run(const call_context& c) {
    const detail::tag_scores in(c, c.input(2));
    const int n = in.tags;
    float* room = c.scratch();
    const operand alpha = detail::array_or_scratch(c.output(0), in.emission, room);
    const operand e = detail::array_or_scratch(c.output(1), in.emission, room);
    const operand w = detail::array_or_scratch(c.output(2), in.transition, room);
    const operand cost = c.output(3);
    for (int i = 0; i < n + 2; ++i)
      for (int j = 0; j < n; ++j)
        w.row<float>(i)[j] = std::exp(in.transition.row<const float>(i)[j]);
    const sequence_rows all = c.sequences(in.emission);
    for (int s = 0; s < all.count; ++s) {
      double total = 0;
      for (int r = all.begin(s); r < all.end(s); ++r) {
        const float* const x = in.emission.row<const float>(r);
        const float most = *std::max_element(x, x + n);
        for (int j = 0; j < n; ++j) e.row<float>(r)[j] = std::exp(x[j] - most);
        float* const a = alpha.row<float>(r);
        if (r > all.begin(s))
          detail::step_forward(alpha.row<float>(r - 1), w, e.row<float>(r), a, n);
        else
          for (int j = 0; j < n; ++j) a[j] = w.row<float>(0)[j] * e.row<float>(r)[j];
        total += std::log(static_cast<double>(detail::scale_to_one(c, a, n))) + most;
      }
      if (all.length(s) > 0) {
        double ends = 0;
        for (int j = 0; j < n; ++j)
          ends += static_cast<double>(alpha.row<float>(all.end(s) - 1)[j] * w.row<float>(1)[j]);
        total += std::log(ends) - in.path(all.begin(s), all.end(s));
      }
      *cost.row<float>(s) = static_cast<float>(total);
    }
  }
  template <class = void>
  static std::ptrdiff_t scratch(const call_context& c) {
    const operand x = c.input(0);
    return static_cast<std::ptrdiff_t>(x.columns) * (2 * x.rows + x.columns + 2);
  }
};

template <>
struct call_kernel<gradient_of<linear_chain_crf>> {
  template <class = void>
  static void run(const call_context& c) {
    const detail::tag_scores in(c, c.input(2));
    const operand alpha = c.input(3), e = c.input(4), w = c.input(5), slope = c.input(6);
    const operand dx = c.output(0), dw = c.output(1);
    const int n = in.tags;
    float *const behind = c.scratch(), *const row = behind + n, *const pairs = row + n;
    if (dw) clear(dw);
    const sequence_rows all = c.sequences(in.emission);
    for (int s = 0; s < all.count; ++s) {
      const int begin = all.begin(s), end = all.end(s);
      const float d = *slope.row<const float>(s);
      // behind[j]: the sum over all continuations behind tag j of row r, up to a factor.
      for (int j = 0; j < n && begin < end; ++j) behind[j] = w.row<const float>(1)[j];
      for (int r = end; r-- > begin;) {
        const int is = in.at(r);
        for (int j = 0; j < n; ++j) row[j] = alpha.row<const float>(r)[j] * behind[j];
        detail::scale_to_one(c, row, n);
        row[is] -= 1;
        for (int j = 0; j < n; ++j) {
          if (dx) dx.row<float>(r)[j] = d * row[j];
          if (dw && r == begin) dw.row<float>(0)[j] += d * row[j];
          if (dw && r + 1 == end) dw.row<float>(1)[j] += d * row[j];
        }
        if (r == begin) break;
        for (int j = 0; j < n; ++j) row[j] = e.row<const float>(r)[j] * behind[j];
        for (int i = 0; i < n; ++i)
          for (int j = 0; j < n; ++j) pairs[i * n + j] = w.row<const float>(2 + i)[j] * row[j];
        for (int i = 0; i < n; ++i) {
          behind[i] = 0;
          for (int j = 0; j < n; ++j) behind[i] += pairs[i * n + j];
          for (int j = 0; j < n; ++j) pairs[i * n + j] *= alpha.row<const float>(r - 1)[i];
        }
        detail::scale_to_one(c, behind, n);
        if (!dw) continue;
        detail::scale_to_one(c, pairs, n * n);
        pairs[in.at(r - 1) * n + is] -= 1;
        for (int i = 0; i < n; ++i)
          for (int j = 0; j < n; ++j) dw.row<float>(2 + i)[j] += d * pairs[i * n + j];
      }
    }
  }
  template <class = void>
  static std::ptrdiff_t scratch(const call_context& c) {
    const std::ptrdiff_t n = c.input(0).columns;
    return n * (n + 2);
  }
};

template <>
struct call_kernel<crf_decoding> {
  template <class = void>
  static void run(const call_context& c) {
    const operand labels = c.input(2), path = c.output(0);
    const detail::tag_scores in(c, labels);
    const int n = in.tags;
    float *score = c.scratch(), *next = score + n;
    float* const from = next + n;  // of each tag of each row, the best tag before; exact to 2^24
    const sequence_rows all = c.sequences(in.emission);
    for (int s = 0; s < all.count; ++s) {
      const int begin = all.begin(s), end = all.end(s);
      if (begin == end) continue;
      for (int r = begin; r < end; ++r, std::swap(score, next))
        for (int j = 0; j < n; ++j) {
          int best = 0;
          for (int i = 1; i < n && r > begin; ++i)
            if (score[i] + w(in, i, j) > score[best] + w(in, best, j)) best = i;
          from[static_cast<std::ptrdiff_t>(r) * n + j] = static_cast<float>(best);
          next[j] = in.emission.row<const float>(r)[j] +
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
  template <class = void>
  static std::ptrdiff_t scratch(const call_context& c) {
    const operand x = c.input(0);
    return static_cast<std::ptrdiff_t>(x.rows + 2) * x.columns;
  }

 private:
  // From tag i to tag j; -2 is the start, -1 stands for the end behind j.
  static float w(const detail::tag_scores& in, int i, int j) {
    return in.transition.row<const float>(i + 2)[j];
  }
};

}  // namespace lamina::engine::cpu
