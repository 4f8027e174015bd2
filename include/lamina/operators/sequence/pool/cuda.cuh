// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/pool/cuda.cuh - operators on sequences, one team per sequence: pool,
// softmax, expand, expand_as, reverse, lod_reset.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/extremes.hpp>
#include <lamina/core/math.hpp>
#include <lamina/engine/cuda/body/element_loops.cuh>
#include <lamina/engine/cuda/body/part_copy.cuh>
#include <lamina/engine/cuda/schedule/dynamic_sequences.hpp>
#include <lamina/operators/sequence/expand/definition.hpp>
#include <lamina/operators/sequence/pool/common.hpp>
#include <lamina/operators/sequence/shape/definition.hpp>
#include <lamina/operators/sequence/softmax/definition.hpp>

namespace lamina::inline LAMINA_ABI::engine::cuda {

namespace detail {

/// Arrays with one row per element of the sequences, and arrays with one row per sequence.
struct sequence_arguments {
  sequence_view all;
  argument_view in[3], out[2];
  divider columns;  // of arrays with one row per element
  pooling_type type;
  float pad;
  int bytes;
  int lines, width, count;
};

/// `domain`: the domain of the sequences; `like`: an array with one row per element.
template <class Kernel, class Backend>
void run_sequences(Backend& b, const call_context& c, typename Kernel::arguments a, int domain,
                   const operand& like) {
  a.all = c.sequences(domain);
  a.columns = divider(like.columns);
  a.bytes = size_of(like.type);
  a.lines = a.count = a.all.count;
  // Assumes that a sequence has the average length.
  a.width = a.lines > 0 ? like.rows / a.lines * like.columns : 0;
  if (a.lines > 0) b.template lines<team_lines<Kernel>>(a);
}

struct sequence_pool_lines {
  using arguments = sequence_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int s, const Team& team) {
    const argument_view& x = a.in[0];
    const int begin = a.all.begin(s), end = a.all.end(s), n = a.columns.divisor();
    const float factor = end > begin ? pool_factor(a.type, end - begin) : 0;
    float* const to = a.out[0].row<float>(s);
    std::int32_t* const index = a.out[1] ? a.out[1].row<std::int32_t>(s) : nullptr;
    for (int j = team.rank(); j < n; j += team.size()) {
      float value = a.pad;
      int from = -1;
      if (begin < end && a.type == pooling_type::max) {
        from = begin;
        value = x.row<const float>(begin)[j];
        for (int r = begin + 1; r < end; ++r) {
          const float v = x.row<const float>(r)[j];
          const bool more = math::is_above(v, value);
          from = more ? r : from;
          value = more ? v : value;
        }
      } else if (begin < end && (a.type == pooling_type::first || a.type == pooling_type::last)) {
        value = x.row<const float>(a.type == pooling_type::first ? begin : end - 1)[j];
      } else if (begin < end) {
        double sum = 0;
        for (int r = begin; r < end; ++r) sum += static_cast<double>(x.row<const float>(r)[j]);
        value = static_cast<float>(sum) * factor;
      }
      to[j] = value;
      if (index != nullptr) index[j] = from;
    }
  }
};

struct sequence_pool_slope_lines {
  using arguments = sequence_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int s, const Team& team) {
    const int begin = a.all.begin(s), end = a.all.end(s);
    const float factor = end > begin ? pool_factor(a.type, end - begin) : 0;
    const float* const slope = a.in[2].row<const float>(s);
    const std::int32_t* const index =
        a.type == pooling_type::max ? a.in[1].row<const std::int32_t>(s) : nullptr;
    for (int i = team.rank(); i < (end - begin) * a.columns.divisor(); i += team.size()) {
      int j = i;
      const int r = begin + a.columns.divide(j);
      const bool receives = index != nullptr                ? index[j] == r
                            : a.type == pooling_type::first ? r == begin
                            : a.type == pooling_type::last  ? r == end - 1
                                                            : true;
      a.out[0].row<float>(r)[j] = receives ? slope[j] * factor : 0.0f;
    }
  }
};

struct sequence_softmax_lines {
  using arguments = sequence_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int s, const Team& team) {
    const int begin = a.all.begin(s) + team.rank(), end = a.all.end(s), step = team.size();
    if (a.all.begin(s) == end) return;
    float most = *a.in[0].row<const float>(a.all.begin(s)), sum = 0;
    for (int r = begin; r < end; r += step) {
      const float v = *a.in[0].row<const float>(r);
      most = v > most ? v : most;
    }
    most = largest_of(team, most);
    for (int r = begin; r < end; r += step)
      sum += *a.out[0].row<float>(r) = math::exp(*a.in[0].row<const float>(r) - most);
    const float factor = 1.0f / sum_of(team, sum);
    for (int r = begin; r < end; r += step) *a.out[0].row<float>(r) *= factor;
  }
};
struct sequence_softmax_slope_lines {
  using arguments = sequence_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int s, const Team& team) {
    const int begin = a.all.begin(s) + team.rank(), end = a.all.end(s), step = team.size();
    float sum = 0;
    for (int r = begin; r < end; r += step)
      sum += math::share_of(*a.in[0].row<const float>(r), *a.in[1].row<const float>(r));
    sum = sum_of(team, sum);
    for (int r = begin; r < end; r += step)
      *a.out[0].row<float>(r) =
          math::share_of(*a.in[0].row<const float>(r), *a.in[1].row<const float>(r) - sum);
  }
};

/// Each row of a sequence becomes another: the row of the sequence in an array with one row each,
/// or the row as far from the other end.
template <bool Reverse>
struct sequence_copy_lines {
  using arguments = sequence_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int s, const Team& team) {
    const int begin = a.all.begin(s), end = a.all.end(s);
    LAMINA_CUDA_KEEP_LOOP
    for (int i = team.rank(); i < (end - begin) * a.columns.divisor(); i += team.size()) {
      int j = i;
      const int r = begin + a.columns.divide(j), from = Reverse ? begin + end - 1 - r : s;
      copy_element(a.in[0].data, from * a.in[0].stride + j, a.out[0].data, r * a.out[0].stride + j,
                   a.bytes);
    }
  }
};

/// Rows that are repeated for each element of their sequence: forward, and the sum of the slopes.
struct sequence_repeat {
  template <class Backend>
  static void forward(Backend& b, const call_context& c, const operand& x, const operand& out) {
    const sequence_view all = c.sequences(out.domain);
    if (x.rows != all.count)
      fail(c, {"expected one row for each of ", all.count, " sequences, found ", x.rows});
    sequence_arguments a{};
    a.in[0] = view_of_operand(x);
    a.out[0] = view_of_operand(out);
    run_sequences<sequence_copy_lines<false>>(b, c, a, out.domain, out);
  }
  template <class Backend>
  static void backward(Backend& b, const call_context& c, const operand& d, const operand& dx) {
    require_float(c, d);
    sequence_arguments a{};
    a.in[0] = view_of_operand(d);
    a.out[0] = view_of_operand(dx);
    a.type = pooling_type::sum;
    run_sequences<sequence_pool_lines>(b, c, a, d.domain, d);
  }
};

/// Whether sequence_expand repeats rows of X; else it repeats whole sequences. It depends on
/// ref_level: X has that many levels, or one more. The domain of X may lie right above that of Out
/// either way.
inline bool repeats_rows(const call_context& c) {
  const int level = c.integer(0);
  const int known = level < 0 ? levels_of(c, c.input(1).domain) + level : level;
  return levels_of(c, c.input(0).domain) == known;
}

/// The sum over the copies of a sequence, in order; `outs` holds the first row of each copy.
struct copied_arguments : sequence_arguments {
  sequence_view copies, outs;
};
struct copied_slope_lines {
  using arguments = copied_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int s, const Team& team) {
    const int begin = a.all.begin(s), end = a.all.end(s);
    for (int i = team.rank(); i < (end - begin) * a.columns.divisor(); i += team.size()) {
      int j = i;
      const int r = a.columns.divide(j);
      float sum = 0;
      for (int k = a.copies.begin(s); k < a.copies.end(s); ++k)
        sum += a.in[0].row<const float>(a.outs.begin(k) + r)[j];
      a.out[0].row<float>(begin + r)[j] = sum;
    }
  }
};

}  // namespace detail

template <>
struct call_kernel<sequence_pool> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand x = c.input(0);
    require_float(c, x);
    detail::sequence_arguments a{};
    a.in[0] = view_of_operand(x);
    a.out[0] = c.out(0);
    a.out[1] = c.out(1);
    a.type = sequence_pool_of(c);
    a.pad = static_cast<float>(c.number(1));
    detail::run_sequences<detail::sequence_pool_lines>(b, c, a, x.domain, x);
  }
};
template <>
struct call_kernel<gradient_of<sequence_pool>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand dx = c.output(0);
    if (!dx) return;
    detail::sequence_arguments a{};
    for (int i = 0; i < 3; ++i) a.in[i] = c.in(i);
    a.out[0] = view_of_operand(dx);
    a.type = sequence_pool_of(c);
    detail::run_sequences<detail::sequence_pool_slope_lines>(b, c, a, dx.domain, dx);
  }
};

template <>
struct call_kernel<sequence_softmax> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand x = c.input(0);
    require_float(c, x);
    detail::sequence_arguments a{};
    a.in[0] = view_of_operand(x);
    a.out[0] = c.out(0);
    detail::run_sequences<detail::sequence_softmax_lines>(b, c, a, x.domain, x);
  }
};
template <>
struct call_kernel<gradient_of<sequence_softmax>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand y = c.input(0);
    detail::sequence_arguments a{};
    a.in[0] = view_of_operand(y);
    a.in[1] = c.in(1);
    a.out[0] = c.out(0);
    if (a.out[0]) detail::run_sequences<detail::sequence_softmax_slope_lines>(b, c, a, y.domain, y);
  }
};

template <>
struct call_kernel<sequence_expand> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const int x = c.input(0).domain, out = c.output(0).domain;
    if (detail::repeats_rows(c))
      return detail::sequence_repeat::forward(b, c, c.input(0), c.output(0));
    const host_rows h(c);
    const int copies = c.parent_of(out);
    int item = 0;
    make_sequences(h, out, c.rows_in(copies), [&](int copy) {
      while (copy >= h.sequences(copies).end(item)) ++item;
      return h.sequences(x).length(item);
    });
    row_order order;
    for_each_copy(h, x, out, [&](int first, int rows, int) { order.add(first, rows); });
    move_rows<row_move::gather>(b, c.input(0), c.output(0), order.size(), order.send(c));
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    return detail::repeats_rows(c) ? 0 : row_order::scratch(c);
  }
};
template <>
struct call_kernel<gradient_of<sequence_expand>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand d = c.input(2), dx = c.output(0);
    if (!dx) return;
    if (detail::repeats_rows(c)) return detail::sequence_repeat::backward(b, c, d, dx);
    require_float(c, d);
    detail::copied_arguments a{};
    a.copies = c.sequences(c.parent_of(d.domain));
    a.outs = c.sequences(d.domain);
    a.in[0] = view_of_operand(d);
    a.out[0] = view_of_operand(dx);
    detail::run_sequences<detail::copied_slope_lines>(b, c, a, dx.domain, dx);
  }
};
template <>
struct call_kernel<sequence_expand_as> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    detail::sequence_repeat::forward(b, c, c.input(0), c.output(0));
  }
};
template <>
struct call_kernel<gradient_of<sequence_expand_as>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    if (const operand dx = c.output(0)) detail::sequence_repeat::backward(b, c, c.input(2), dx);
  }
};

template <>
struct call_kernel<sequence_reverse> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand x = c.input(0);
    detail::sequence_arguments a{};
    a.in[0] = view_of_operand(x);
    a.out[0] = c.out(0);
    detail::run_sequences<detail::sequence_copy_lines<true>>(b, c, a, x.domain, x);
  }
};

/// The result has the sequences of another variable, or those with given offsets; the rows do not
/// change.
template <>
struct call_kernel<lod_reset> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand y = c.input(1);
    if (!y || c.kind_of(y.domain) != domain_kind::sequence) make_rows(c);
    require_size(c, c.output(0), c.input(0));
    copy_elements(b, c.input(0), c.output(0));
  }

 private:
  static void make_rows(const call_context& c) {
    std::vector<std::int64_t> offsets;
    if (c.input(1))
      offsets = values_of(c, 1);
    else
      for (int i = 0; i < c.list_size(0); ++i) offsets.push_back(c.integer_at(0, i));
    made_offsets(host_rows(c), c.output(0).domain, c.input(0).rows, c.flag(1), offsets);
  }
};
template <>
struct call_kernel<gradient_of<lod_reset>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    if (const operand dx = c.output(0)) copy_elements(b, c.input(1), dx);
  }
};

}  // namespace lamina::inline LAMINA_ABI::engine::cuda
