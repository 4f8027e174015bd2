// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/expand/cpu.hpp - operators that weigh, repeat, turn and look ahead
// along the rows of sequences: softmax, expand, expand_as, reverse, lod_reset, row_conv.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

#include <lamina/core/math.hpp>
#include <lamina/engine/cpu/memory/row_parts.hpp>
#include <lamina/operators/sequence/conv/definition.hpp>
#include <lamina/operators/sequence/expand/definition.hpp>
#include <lamina/operators/sequence/pool/cpu.hpp>
#include <lamina/operators/sequence/shape/definition.hpp>
#include <lamina/operators/sequence/softmax/definition.hpp>

namespace lamina::inline LAMINA_ABI::engine::cpu {

namespace detail {

/// Row `to` of an array becomes row `from` of another of the same type.
inline void copy_row(const operand& x, int from, const operand& out, int to) {
  const std::ptrdiff_t width = size_of(x.type);
  std::memcpy(static_cast<char*>(out.data) + to * out.stride * width,
              static_cast<const char*>(x.data) + from * x.stride * width,
              static_cast<std::size_t>(x.columns * width));
}

/// Row s of x, once for each row of sequence s.
inline void repeat_rows(const call_context& c, const operand& x, const operand& out,
                        const sequence_rows& all) {
  if (x.rows != all.count)
    fail(c, {"expected one row for each of ", all.count, " sequences, found ", x.rows});
  for (int s = 0; s < all.count; ++s)
    for (int r = all.begin(s); r < all.end(s); ++r) copy_row(x, s, out, r);
}

/// Row s becomes the sum of the rows of d that belong to sequence s.
template <class Real>
inline void add_repeated(const operand& d, const operand& dx, const sequence_rows& all) {
  for (int s = 0; s < all.count; ++s) {
    if (all.length(s) == 0)
      std::fill_n(dx.row<Real>(s), dx.columns, Real(0));
    else
      pool_sum(d.row<const Real>(all.begin(s)), d.stride, all.length(s), dx.columns, Real(1),
               dx.row<Real>(s));
  }
}

/// All rows of x, which has as many as out.
inline void copy_rows(const call_context& c, const operand& x, const operand& out) {
  if (x.rows != out.rows) fail(c, {"expected ", out.rows, " rows, found ", x.rows});
  for (int r = 0; r < x.rows; ++r) copy_row(x, r, out, r);
}

}  // namespace detail

template <>
struct call_kernel<sequence_softmax> {
  static constexpr bool in_double = true;
  template <class Real = float>
  static void run(const call_context& c) {
    const operand x = c.input(0), out = c.output(0);
    require_real<Real>(c, x);
    const sequence_rows all = c.sequences(x);
    for (int s = 0; s < all.count; ++s) {
      if (all.length(s) == 0) continue;
      Real most = *x.row<const Real>(all.begin(s));
      double sum = 0;
      for (int r = all.begin(s); r < all.end(s); ++r) most = std::max(most, *x.row<const Real>(r));
      for (int r = all.begin(s); r < all.end(s); ++r)
        sum += static_cast<double>(*out.row<Real>(r) = std::exp(*x.row<const Real>(r) - most));
      const Real factor = static_cast<Real>(1 / sum);
      for (int r = all.begin(s); r < all.end(s); ++r) *out.row<Real>(r) *= factor;
    }
  }
};

template <>
struct call_kernel<gradient_of<sequence_softmax>> {
  static constexpr bool in_double = true;
  template <class Real = float>
  static void run(const call_context& c) {
    const operand y = c.input(0), d = c.input(1), dx = c.output(0);
    if (!dx) return;
    const sequence_rows all = c.sequences(y);
    for (int s = 0; s < all.count; ++s) {
      double total = 0;
      for (int r = all.begin(s); r < all.end(s); ++r)
        total += static_cast<double>(math::share_of(*y.row<const Real>(r), *d.row<const Real>(r)));
      const Real sum = static_cast<Real>(total);
      for (int r = all.begin(s); r < all.end(s); ++r)
        *dx.row<Real>(r) = math::share_of(*y.row<const Real>(r), *d.row<const Real>(r) - sum);
    }
  }
};

namespace detail {

/// Whether sequence_expand repeats rows of X; else it repeats whole sequences. It depends on
/// ref_level: X has that many levels, or one more. The domain of X may lie right above that of Out
/// either way.
inline bool repeats_rows(const call_context& c) {
  const int level = c.integer(0);
  const int known = level < 0 ? levels_of(c, c.input(1).domain) + level : level;
  return levels_of(c, c.input(0).domain) == known;
}

}  // namespace detail

template <>
struct call_kernel<sequence_expand> {
  static constexpr bool in_double = true;
  template <class Real = float>
  static void run(const call_context& c) {
    const int x = c.input(0).domain, out = c.output(0).domain;
    if (detail::repeats_rows(c)) {
      detail::repeat_rows(c, c.input(0), c.output(0), c.sequences(out));
      return;
    }
    const int copies = c.parent_of(out);
    int item = 0;
    make_sequences(c, out, c.rows_in(copies), [&](int copy) {
      while (copy >= c.sequences(copies).end(item)) ++item;
      return c.sequences(x).length(item);
    });
    const operand from = c.input(0), to = c.output(0);
    for_each_copy(c, x, out,
                  [&](int first, int rows, int at) { copy_block(from, first, to, at, rows); });
  }
};

template <>
struct call_kernel<gradient_of<sequence_expand>> {
  static constexpr bool in_double = true;
  template <class Real = float>
  static void run(const call_context& c) {
    const operand d = c.input(2), dx = c.output(0);
    require_real<Real>(c, d);
    if (!dx) return;
    if (detail::repeats_rows(c)) return detail::add_repeated<Real>(d, dx, c.sequences(d));
    clear(dx);
    for_each_copy(c, dx.domain, d.domain, [&](int first, int rows, int at) {
      for (int r = 0; r < rows; ++r) {
        const Real* const from = d.row<const Real>(at + r);
        Real* const to = dx.row<Real>(first + r);
        for (int j = 0; j < d.columns; ++j) to[j] += from[j];
      }
    });
  }
};

template <>
struct call_kernel<sequence_expand_as> {
  static constexpr bool in_double = true;
  template <class Real = float>
  static void run(const call_context& c) {
    const operand out = c.output(0);
    detail::repeat_rows(c, c.input(0), out, c.sequences(out));
  }
};

template <>
struct call_kernel<gradient_of<sequence_expand_as>> {
  static constexpr bool in_double = true;
  template <class Real = float>
  static void run(const call_context& c) {
    const operand d = c.input(2), dx = c.output(0);
    require_real<Real>(c, d);
    if (dx) detail::add_repeated<Real>(d, dx, c.sequences(d));
  }
};

template <>
struct call_kernel<sequence_reverse> {
  static constexpr bool in_double = true;
  template <class Real = float>
  static void run(const call_context& c) {
    const operand x = c.input(0), out = c.output(0);
    const sequence_rows all = c.sequences(x);
    for (int s = 0; s < all.count; ++s)
      for (int r = all.begin(s); r < all.end(s); ++r)
        detail::copy_row(x, all.begin(s) + all.end(s) - 1 - r, out, r);
  }
};

/// The result has the sequences of another variable, or those with given offsets.
template <>
struct call_kernel<lod_reset> {
  static constexpr bool in_double = true;
  template <class Real = float>
  static void run(const call_context& c) {
    const operand y = c.input(1);
    if (!y || c.kind_of(y.domain) != domain_kind::sequence) make_rows(c);
    detail::copy_rows(c, c.input(0), c.output(0));
  }

 private:
  static void make_rows(const call_context& c) {
    made_offsets(c, c.output(0).domain, c.input(0).rows, c.flag(1), numbers{c});
  }
  /// The integers of the attribute, or those of an operand. Each access looks up the operand again,
  /// because arrays may move.
  struct numbers {
    const call_context& c;
    std::size_t size() const {
      return static_cast<std::size_t>(c.input(1) ? c.input(1).rows * c.input(1).columns
                                                 : c.list_size(0));
    }
    std::int64_t operator[](std::size_t i) const {
      const operand o = c.input(1);
      const int n = static_cast<int>(i);
      return o ? integer_in(o, n / o.columns, n % o.columns) : c.integer_at(0, n);
    }
  };
};

template <>
struct call_kernel<gradient_of<lod_reset>> {
  static constexpr bool in_double = true;
  template <class Real = float>
  static void run(const call_context& c) {
    if (const operand dx = c.output(0)) detail::copy_rows(c, c.input(1), dx);
  }
};

template <>
struct call_kernel<row_conv> {
  static constexpr bool in_double = true;
  template <class Real = float>
  static void run(const call_context& c) {
    const operand x = c.input(0), filter = c.input(1), out = c.output(0);
    require_real<Real>(c, x);
    const sequence_rows all = c.sequences(x);
    for (int s = 0; s < all.count; ++s)
      for (int t = all.begin(s); t < all.end(s); ++t) {
        const int taps = std::min(filter.rows, all.end(s) - t);
        const Real* const from = x.row<const Real>(t);
        const Real* const w = filter.row<const Real>(0);
        Real* const to = out.row<Real>(t);
        for_each_position<Real>(x.columns, [&](std::ptrdiff_t i, auto like) {
          auto sum = load(from + i, like) * load(w + i, like);
          for (int j = 1; j < taps; ++j)
            sum += load(from + j * x.stride + i, like) * load(w + j * filter.stride + i, like);
          store(to + i, sum);
        });
      }
  }
};

template <>
struct call_kernel<gradient_of<row_conv>> {
  static constexpr bool in_double = true;
  template <class Real = float>
  static void run(const call_context& c) {
    const operand x = c.input(0), filter = c.input(1), d = c.input(2);
    const operand dx = c.output(0), dfilter = c.output(1);
    const sequence_rows all = c.sequences(d);
    if (dfilter) clear(dfilter);
    for (int s = 0; s < all.count; ++s)
      for (int t = all.begin(s); t < all.end(s); ++t) {
        if (dx) back(d, filter, t, std::min(filter.rows, t - all.begin(s) + 1), dx.row<Real>(t));
        if (!dfilter) continue;
        const int taps = std::min(filter.rows, all.end(s) - t);
        for (int j = 0; j < taps; ++j) {
          const Real* const dy = d.row<const Real>(t);
          const Real* const from = x.row<const Real>(t + j);
          Real* const to = dfilter.row<Real>(j);
          for_each_position<Real>(d.columns, [&](std::ptrdiff_t i, auto like) {
            store(to + i,
                  decltype(like)(load(to + i, like) + load(dy + i, like) * load(from + i, like)));
          });
        }
      }
  }

 private:
  // The results at t, t - 1, ... read row t through weights 0, 1, ...
  template <class Real>
  static void back(const operand& d, const operand& filter, int t, int taps, Real* to) {
    const Real* const dy = d.row<const Real>(t);
    const Real* const w = filter.row<const Real>(0);
    for_each_position<Real>(d.columns, [&](std::ptrdiff_t i, auto like) {
      auto sum = load(dy + i, like) * load(w + i, like);
      for (int j = 1; j < taps; ++j)
        sum += load(dy - j * d.stride + i, like) * load(w + j * filter.stride + i, like);
      store(to + i, sum);
    });
  }
};

}  // namespace lamina::inline LAMINA_ABI::engine::cpu
