// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/crf/cpu.hpp - kernels of linear_chain_crf and crf_decoding.
//
// A path chooses one tag per row. The sum of e^score over all paths is computed row by row as a
// product: each row of partial sums is divided by its sum, so that no number overflows, and the
// logarithms of the divisors are added up. This takes one exponential per element. Sums of
// logarithms would take one exponential per pair of tags, but are needed if the transition scores
// differ very much: for example, a score of -10000, which forbids a transition, may leave only
// paths through tags with low scores, and their products would underflow.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <lamina/core/numbers/extremes.hpp>
#include <lamina/core/numbers/math.hpp>
#include <lamina/engine/common/real_numbers.hpp>
#include <lamina/engine/cpu/memory/label.hpp>
#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/engine/cpu/vector/row_math.hpp>
#include <lamina/operators/loss/crf/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

namespace detail {

/// The inputs of an operator: the scores Emission and Transition, and the labels.
template <class Real>
struct tag_scores {
  operand emission, transition;
  label_reader label;
  int tags;

  tag_scores(const call_context& c, const operand& labels)
      : emission(c.input(0)),
        transition(c.input(1)),
        label(c, labels, (std::numeric_limits<int>::min)()),
        tags(emission.columns) {
    require_real<Real>(c, emission);
    require_real<Real>(c, transition);
  }
  int at(int row) const { return static_cast<int>(label.at(row, 0, tags)); }
  const Real* x(int row) const { return emission.template row<const Real>(row); }
  const Real* w(int row) const { return transition.template row<const Real>(row); }
  /// Whether path() subtracts the largest element of each row of Emission. This keeps digits if all
  /// tags of a row share a large offset. It is only needed in double: with float elements, the sum
  /// in double is wide enough.
  static constexpr bool is_centred = sizeof(Real) == 8;
  /// Returns the score of the path of the labels through the rows [begin, end), minus the largest
  /// element of each row if is_centred. Returns minus infinity if a score on the path is minus
  /// infinity, which means that the path does not exist.
  double path(int begin, int end) const {
    int before = at(begin);
    double score = w(0)[before];
    for (int r = begin; r < end; ++r) {
      const int tag = at(r);
      if (r > begin) score += w(2 + before)[tag];
      if (const Real most = is_centred ? largest(r) : Real(0); most != none)
        score += x(r)[tag] - most;
      else
        score = none;
      before = tag;
    }
    return score + w(1)[before];
  }
  Real largest(int row) const { return *std::max_element(x(row), x(row) + tags); }
  /// Whether products of e^score represent every path that matters. In float, a tag underflows if
  /// its fraction of the sum of its row is less than e^-87. If no transition score exceeds 15 in
  /// size, the continuations of this tag are at most e^60 times as large as those of other tags, so
  /// the tag does not matter.
  bool products_hold() const {
    constexpr Real most = sizeof(Real) == 4 ? 15 : 150;
    for (int i = 0; i < tags + 2; ++i)
      for (int j = 0; j < tags; ++j)
        if (!(std::abs(w(i)[j]) <= most)) return false;
    return true;
  }
  static constexpr Real none = -std::numeric_limits<Real>::infinity();
};

/// Returns log(e^x[0] + ... + e^x[n - 1]); NaN if an element is NaN.
template <class Real>
inline Real log_sum_of(const Real* x, int n) {
  Real most = x[0];
  for (int j = 1; j < n; ++j) most = math::maximum(most, x[j]);
  if (most == -std::numeric_limits<Real>::infinity()) return most;
  vector_in<Real> sums(Real(0));
  Real sum = 0;
  for_each_position<Real>(n, [&](std::ptrdiff_t j, auto like) {
    using number = decltype(like);
    const number e = math::exp_in_sum(number(load(x + j, like) - number(most)));
    if constexpr (__is_same(number, Real))
      sum += e;
    else
      sums += e;
  });
  return most + std::log(sum + sum_of(sums));
}

/// Computes row `to` of the forward variables as logarithms x, normalised so that the sum of e^x is
/// 1. `before` is the previous row of forward variables, or null for the first row of a sequence.
/// Returns the logarithm that was subtracted from the row to normalise it, or minus infinity if no
/// path reaches the row.
template <class Real>
inline Real log_step_forward(const call_context& c, const tag_scores<Real>& in, int row,
                             const Real* before, Real* to) {
  const int n = in.tags;
  const Real most = in.largest(row);
  if (most == in.none) return most;
  const Real* const x = in.x(row);
  for_each_position<Real>(n, [&](std::ptrdiff_t j, auto like) {
    using number = decltype(like);
    number value = load(in.w(0) + j, like);
    if (before != nullptr) {
      number largest(in.none), sum(Real(0));
      for (int i = 0; i < n; ++i)
        largest = (math::max)(largest, number(number(before[i]) + load(in.w(2 + i) + j, like)));
      const number none(in.none);
      const number shift = math::select(largest == none, number(Real(0)), largest);
      for (int i = 0; i < n; ++i)
        sum += math::exp_in_sum(number(number(before[i]) + load(in.w(2 + i) + j, like) - shift));
      value = shift + math::log(sum);
    }
    store(to + j, number(value + (load(x + j, like) - number(most))));
  });
  const Real sum = log_sum_of(to, n);
  if (!(sum <= (std::numeric_limits<Real>::max)()))
    fail(c, {"expected scores whose e^x has a sum that a float can hold, found ", sum});
  if (sum != in.none)
    for (int j = 0; j < n; ++j) to[j] -= sum;
  return sum;
}

/// Computes the gradients of one sequence from sums that are computed as logarithms. `alpha` is
/// memory for one row per row of the sequence, `memory` for n * (n + 2) numbers.
template <class Real>
LAMINA_NOINLINE inline void log_gradient(const call_context& c, const tag_scores<Real>& in,
                                         int begin, int end, Real d, const operand& dx,
                                         const operand& dw, Real* alpha, Real* memory) {
  const int n = in.tags;
  Real *const behind = memory, *const row = behind + n, *const pairs = row + n;
  const auto before = [&](int r) { return alpha + static_cast<std::ptrdiff_t>(r - begin) * n; };
  for (int r = begin; r < end; ++r)
    log_step_forward(c, in, r, r > begin ? before(r - 1) : nullptr, before(r));
  std::copy_n(in.w(1), n, behind);
  for (int r = end; r-- > begin;) {
    const int is = in.at(r);
    for (int j = 0; j < n; ++j) row[j] = before(r)[j] + behind[j];
    const Real sum = log_sum_of(row, n);
    for (int j = 0; j < n; ++j) {
      const Real g = d * (std::exp(row[j] - sum) - (j == is ? 1 : 0));
      if (dx) dx.row<Real>(r)[j] = g;
      if (dw && r == begin) dw.row<Real>(0)[j] += g;
      if (dw && r + 1 == end) dw.row<Real>(1)[j] += g;
    }
    if (r == begin) break;
    const Real most = in.largest(r);
    for (int j = 0; j < n; ++j) row[j] = in.x(r)[j] - most + behind[j];
    for (int i = 0; i < n; ++i) {
      Real* const pair = pairs + i * n;
      for (int j = 0; j < n; ++j) pair[j] = in.w(2 + i)[j] + row[j];
      behind[i] = log_sum_of(pair, n);
      for (int j = 0; j < n; ++j) pair[j] += before(r - 1)[i];
    }
    const Real shift = log_sum_of(behind, n);
    for (int i = 0; i < n; ++i) behind[i] -= shift;
    if (!dw) continue;
    const Real whole = log_sum_of(pairs, n * n);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        const bool taken = i == in.at(r - 1) && j == is;
        dw.row<Real>(2 + i)[j] += d * (std::exp(pairs[i * n + j] - whole) - (taken ? 1 : 0));
      }
  }
}

/// Returns the output `wanted`, which only a gradient reads. If it is absent, returns scratch
/// memory in the shape of `like`.
template <class Real>
inline operand array_or_scratch(const operand& wanted, const operand& like, Real*& scratch) {
  if (wanted) return wanted;
  operand made = like;
  made.data = scratch;
  made.stride = like.columns;
  scratch += static_cast<std::ptrdiff_t>(like.rows) * like.columns;
  return made;
}

/// Divides the n elements of x by their sum. Returns the sum.
template <class Real>
inline Real scale_to_one(const call_context& c, Real* x, int n) {
  Real sum = 0;
  for (int j = 0; j < n; ++j) sum += x[j];
  if (!(sum > 0) || !(sum <= (std::numeric_limits<Real>::max)()))
    fail(c, {"expected scores whose e^x has a sum that a float can hold, found ", sum});
  for (int j = 0; j < n; ++j) x[j] /= sum;
  return sum;
}

/// Computes to[j] = x[j] * (a[0] w[0][j] + a[1] w[1][j] + ...), where w consists of the rows of
/// `transition` from row 2 on.
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
struct call_kernel<operators::linear_chain_crf> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
  template <class Real = float>
  LAMINA_KERNEL static std::ptrdiff_t scratch(const call_context& c);

 private:
  template <class Real>
  static double by_products(const call_context& c, int n, int begin, int end, const operand& alpha,
                            const operand& e, const operand& w) {
    double total = 0, ends = 0;
    for (int r = begin; r < end; ++r) {
      Real* const a = alpha.row<Real>(r);
      if (r > begin)
        detail::step_forward(alpha.row<Real>(r - 1), w, e.row<Real>(r), a, n);
      else
        for (int j = 0; j < n; ++j) a[j] = w.row<Real>(0)[j] * e.row<Real>(r)[j];
      total += std::log(static_cast<double>(detail::scale_to_one(c, a, n)));
    }
    for (int j = 0; j < n; ++j)
      ends += static_cast<double>(alpha.row<Real>(end - 1)[j] * w.row<Real>(1)[j]);
    return total + std::log(ends);
  }
  // Returns the logarithm of the sum over all paths, computed with logarithms. `room` is memory for
  // two rows.
  template <class Real>
  LAMINA_NOINLINE static double by_logarithms(const call_context& c,
                                              const detail::tag_scores<Real>& in, int begin,
                                              int end, const operand& alpha, Real* memory) {
    const int n = in.tags;
    Real *now = memory, *before = memory + n;
    double total = 0;
    for (int r = begin; r < end; ++r, std::swap(now, before)) {
      total += detail::log_step_forward(c, in, r, r > begin ? before : nullptr, now);
      for (int j = 0; j < n; ++j) alpha.row<Real>(r)[j] = std::exp(now[j]);
    }
    for (int j = 0; j < n; ++j) before[j] += in.w(1)[j];
    return total + detail::log_sum_of(before, n);
  }
};

template <>
struct call_kernel<gradient_of<operators::linear_chain_crf>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
  template <class Real = float>
  LAMINA_KERNEL static std::ptrdiff_t scratch(const call_context& c);
};

template <>
struct call_kernel<operators::crf_decoding> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
  template <class Real = float>
  LAMINA_KERNEL static std::ptrdiff_t scratch(const call_context& c);

 private:
  // The score of the transition from tag i to tag j. With i = -2, the score of j as the first tag;
  // with i = -1, the score of j as the last tag.
  template <class Real>
  static Real w(const detail::tag_scores<Real>& in, int i, int j) {
    return in.transition.template row<const Real>(i + 2)[j];
  }
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::linear_chain_crf>::run(const call_context& c) {
  const detail::tag_scores<Real> in(c, c.input(2));
  const int n = in.tags;
  Real* memory = numbers_at<Real>(c.scratch());
  const operand alpha = detail::array_or_scratch(c.output(0), in.emission, memory);
  const operand e = detail::array_or_scratch(c.output(1), in.emission, memory);
  const operand w = detail::array_or_scratch(c.output(2), in.transition, memory);
  const operand cost = c.output(3);
  for (int i = 0; i < n + 2; ++i)
    for (int j = 0; j < n; ++j)
      w.row<Real>(i)[j] = std::exp(in.transition.template row<const Real>(i)[j]);
  const sequence_rows all = c.sequences(in.emission);
  const bool products_hold = in.products_hold();
  for (int s = 0; s < all.count; ++s) {
    const int begin = all.begin(s), end = all.end(s);
    double total = 0;
    if (begin < end) {
      const double path = in.path(begin, end);
      for (int r = begin; r < end; ++r) {
        const Real most = in.largest(r);
        for (int j = 0; j < n; ++j)
          e.row<Real>(r)[j] = most == in.none ? Real(0) : std::exp(in.x(r)[j] - most);
        if (!in.is_centred) total += most;
      }
      if (path == in.none) {
        total = -path;
        for (int r = begin; r < end; ++r) std::fill_n(alpha.row<Real>(r), n, Real(0));
      } else if (products_hold) {
        total += by_products<Real>(c, n, begin, end, alpha, e, w) - path;
      } else {
        total += by_logarithms(c, in, begin, end, alpha, memory) - path;
      }
    }
    *cost.row<Real>(s) = static_cast<Real>(total);
  }
}
LAMINA_INSTANCE(void call_kernel<operators::linear_chain_crf>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::linear_chain_crf>::run<double>(const call_context&))

template <class Real>
std::ptrdiff_t call_kernel<operators::linear_chain_crf>::scratch(const call_context& c) {
  const operand x = c.input(0);
  return in_floats<Real>(static_cast<std::ptrdiff_t>(x.columns) * (2 * x.rows + x.columns + 4));
}
LAMINA_INSTANCE(
    std::ptrdiff_t call_kernel<operators::linear_chain_crf>::scratch<float>(const call_context&))
LAMINA_INSTANCE(
    std::ptrdiff_t call_kernel<operators::linear_chain_crf>::scratch<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::linear_chain_crf>>::run(const call_context& c) {
  const detail::tag_scores<Real> in(c, c.input(2));
  const operand alpha = c.input(3), e = c.input(4), w = c.input(5), grad = c.input(6);
  const operand dx = c.output(0), dw = c.output(1);
  const int n = in.tags;
  Real *const behind = numbers_at<Real>(c.scratch()), *const row = behind + n,
              *const pairs = row + n;
  if (dw) clear(dw);
  const sequence_rows all = c.sequences(in.emission);
  const bool products_hold = in.products_hold();
  for (int s = 0; s < all.count; ++s) {
    const int begin = all.begin(s), end = all.end(s);
    if (begin == end) continue;
    const Real d = *grad.row<const Real>(s);
    if (d == 0 || in.path(begin, end) == in.none) {  // no path: infinite cost, no gradient
      for (int r = begin; r < end && dx; ++r) std::fill_n(dx.row<Real>(r), n, Real(0));
      continue;
    }
    if (!products_hold) {
      detail::log_gradient(c, in, begin, end, d, dx, dw, pairs + n * n, behind);
      continue;
    }
    // behind[j] is the sum over all continuations of a path that has tag j in row r, up to a
    // constant factor.
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
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::linear_chain_crf>>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::linear_chain_crf>>::run<double>(const call_context&))

template <class Real>
std::ptrdiff_t call_kernel<gradient_of<operators::linear_chain_crf>>::scratch(
    const call_context& c) {
  const std::ptrdiff_t n = c.input(0).columns;
  return in_floats<Real>(n * (n + 2 + c.input(0).rows));
}
LAMINA_INSTANCE(
    std::ptrdiff_t call_kernel<gradient_of<operators::linear_chain_crf>>::scratch<float>(
        const call_context&))
LAMINA_INSTANCE(
    std::ptrdiff_t call_kernel<gradient_of<operators::linear_chain_crf>>::scratch<double>(
        const call_context&))

template <class Real>
void call_kernel<operators::crf_decoding>::run(const call_context& c) {
  const operand labels = c.input(2), path = c.output(0);
  const detail::tag_scores<Real> in(c, labels);
  const int n = in.tags;
  Real *score = numbers_at<Real>(c.scratch()), *next = score + n;
  Real* const from = next + n;  // per row and tag: the best previous tag, exact up to 2^24
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
LAMINA_INSTANCE(void call_kernel<operators::crf_decoding>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::crf_decoding>::run<double>(const call_context&))

template <class Real>
std::ptrdiff_t call_kernel<operators::crf_decoding>::scratch(const call_context& c) {
  const operand x = c.input(0);
  return in_floats<Real>(static_cast<std::ptrdiff_t>(x.rows + 2) * x.columns);
}
LAMINA_INSTANCE(
    std::ptrdiff_t call_kernel<operators::crf_decoding>::scratch<float>(const call_context&))
LAMINA_INSTANCE(
    std::ptrdiff_t call_kernel<operators::crf_decoding>::scratch<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
