// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/group_kernel.hpp - a distinct group of a plan as a function.
// The loop nest comes from the head; the statements ride on it, one vector at a time. Dimensions
// are read at run time, so groups that differ only in size are one function.
#pragma once

#include <lamina/engine/cpu/call_context.hpp>
#include <lamina/engine/cpu/channel_walk.hpp>
#include <lamina/engine/cpu/gemm.hpp>
#include <lamina/engine/cpu/statement_runner.hpp>

namespace lamina::engine::cpu {

/// A group's function.
using group_function = void (*)(const program_view&, float* const*, const argument_info*,
                                const group_info&, const run_context&);
/// Floats of scratch memory that a group needs.
using scratch_function = std::ptrdiff_t (*)(const program_view&, float* const*,
                                            const argument_info*, const group_info&,
                                            const run_context&);

namespace detail {

template <class Runner>
void run_tile(const tile& t, const void* arguments) {
  static_assert(Runner::channels < 0, "lamina: a product of matrices has no channels");
  const Runner runner(static_cast<float* const*>(arguments));
  if constexpr (Runner::by_column) {
    for (int i = 0; i < t.rows; ++i)
      for (int j = 0; j < t.width; j += lanes)
        runner(vector::load_aligned(t.sums + i * t.width + j),
               {t.offset + i * t.stride + j, t.row + i, t.column + j});
  } else {
    const auto walk = [&](update_step how) __attribute__((always_inline)) {
      for_each_vector(t, [&](vector sums, std::ptrdiff_t offset, int column) {
        runner.run(sums, {offset, 0, column}, how);
      });
    };
    // Most updates have neither clip nor decay, and a loop of their own.
    if (Runner::numbers > 0 && runner.step != update_step::plain) return walk(runner.step);
    walk(update_step::plain);
  }
}

// The scratch memory of a product does not depend on its statements: one function for all groups.
LAMINA_COLD inline std::ptrdiff_t gemm_group_scratch(const program_view&, float* const*,
                                                     const argument_info*, const group_info& g,
                                                     const run_context& c) {
  return gemm_scratch_floats(c.rows_of(g.rows), g.depth, g.columns);
}
LAMINA_COLD inline std::ptrdiff_t gemm_dx_group_scratch(const program_view&, float* const*,
                                                        const argument_info*, const group_info& g,
                                                        const run_context& c) {
  return gemm_dx_scratch_floats(c.rows_of(g.rows), g.columns, g.depth);
}
LAMINA_COLD inline std::ptrdiff_t gemm_dw_group_scratch(const program_view&, float* const*,
                                                        const argument_info*, const group_info& g,
                                                        const run_context& c) {
  return gemm_dw_scratch_floats(c.rows_of(g.depth), g.rows, g.columns);
}

// Columns that are summed together: their sums stay in the first-level cache, and of each row some
// lines in a row are read.
inline constexpr int summed_columns = 256;

// sums[j] += the sum over `rows` rows, `stride` floats apart, of x[j], for j < width, a multiple of
// `lanes`.
LAMINA_NOINLINE inline void add_rows(const float* x, int rows, std::ptrdiff_t stride, int width,
                                     float* sums) {
  constexpr int together = 8;
  int m = 0;
  for (; m + together <= rows; m += together, x += together * stride)
    for (int j = 0; j < width; j += lanes) {
      vector v[together];
      LAMINA_UNROLL for (int i = 0; i < together; ++i) v[i] =
          vector::load_unaligned(x + i * stride + j);
      (vector::load_aligned(sums + j) +
       (((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]))))
          .store_aligned(sums + j);
    }
  for (; m < rows; ++m, x += stride)
    for (int j = 0; j < width; j += lanes)
      (vector::load_aligned(sums + j) + vector::load_unaligned(x + j)).store_aligned(sums + j);
}

// Whether so many floats, which a pointwise group writes, go past the caches: they are more than
// any is to keep until somebody reads them.
constexpr bool is_streamed(std::ptrdiff_t floats) {
  return has_streams && floats >= std::ptrdiff_t{1} << 21;
}

// The sums over rows of `columns` columns, a vector at a time, into `runner`.
template <class Runner>
LAMINA_INLINE void reduce_rows(const Runner& runner, const float* x, int rows,
                               std::ptrdiff_t stride, int columns,
                               const unfinished_sums& parts = {}) {
  alignas(64) float room[summed_columns];
  for (int first = 0; first < columns; first += summed_columns) {
    const int width = columns - first < summed_columns ? columns - first : summed_columns;
    float* const sums = parts.of != nullptr ? parts.of + first : room;
    if (!parts.continues)
      for (int j = 0; j < width; j += lanes) vector(0.f).store_aligned(sums + j);
    add_rows(x + first, rows, stride, width, sums);
    if (!parts.ends) continue;
    for (int j = 0; j < width; j += lanes)
      runner(vector::load_aligned(sums + j), {first + j, 0, first + j});
  }
}

}  // namespace detail

template <class Group>
struct group_kernel;

template <class S>
struct group_kernel<expression::group_expression<group_head::gemm, S>> {
  static void run(const program_view&, float* const* a, const argument_info* info,
                  const group_info& g, const run_context& c) {
    gemm(c.rows_of(g.rows), g.depth, g.columns, a[0], info[0].stride, a[1], padded(g.columns),
         &detail::run_tile<statement_runner<S>>, a, c.scratch,
         c.turns_back() ? panel_order::descending : panel_order::ascending);
  }
  static constexpr bool convolves = false;
  static constexpr scratch_function scratch = &detail::gemm_group_scratch;
};

template <class S>
struct group_kernel<expression::group_expression<group_head::gemm_dx, S>> {
  static void run(const program_view&, float* const* a, const argument_info* info,
                  const group_info& g, const run_context& c) {
    gemm_dx(c.rows_of(g.rows), g.columns, g.depth, a[0], info[0].stride, a[1], padded(g.columns),
            &detail::run_tile<statement_runner<S>>, a, c.scratch);
  }
  static constexpr bool convolves = false;
  static constexpr scratch_function scratch = &detail::gemm_dx_group_scratch;
};

template <class S>
struct group_kernel<expression::group_expression<group_head::gemm_dw, S>> {
  static void run(const program_view&, float* const* a, const argument_info* info,
                  const group_info& g, const run_context& c) {
    gemm_dw(c.rows_of(g.depth), g.rows, g.columns, a[0], info[0].stride, a[1], info[1].stride,
            &detail::run_tile<statement_runner<S>>, a, c.scratch, c.sums_of_rows);
  }
  static constexpr bool convolves = false;
  static constexpr scratch_function scratch = &detail::gemm_dw_group_scratch;
};

template <class S>
struct group_kernel<expression::group_expression<group_head::reduce_rows, S>> {
  static void run(const program_view&, float* const* a, const argument_info* info,
                  const group_info& g, const run_context& c) {
    detail::reduce_rows(statement_runner<S>(a), a[0], c.rows_of(g.depth), info[0].stride,
                        padded(g.columns), c.sums_of_rows);
  }
  static constexpr bool convolves = false;
  static constexpr scratch_function scratch = nullptr;
};

template <class S>
struct group_kernel<expression::group_expression<group_head::pointwise, S>> {
  static void run(const program_view&, float* const* a, [[maybe_unused]] const argument_info* info,
                  const group_info& g, const run_context& c) {
    const statement_runner<S> runner(a);
    const int rows = c.rows_of(g.rows);
    const int width = padded(g.columns);
    if constexpr (statement_runner<S>::channels >= 0) {
      for (int i = 0; i < rows; ++i)
        detail::run_channels(runner, info[statement_runner<S>::channels].columns, g.columns, i,
                             nullptr);
    } else if constexpr (!statement_runner<S>::by_row && !statement_runner<S>::by_column) {
      const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(rows) * width;
      const bool streams = detail::is_streamed(size * runner.stores) && runner.stores_are_aligned();
      for (std::ptrdiff_t o = 0; o < size; o += lanes)
        runner(vector(0.f), {o, 0, 0, 0, nullptr, streams});
      if (streams) end_streams();
    } else if (g.panel) {
      std::ptrdiff_t o = 0;
      for (int first = 0; first < width; first += panel_width) {
        const int end = first + width_of_panel(g.columns, first);
        for (int i = 0; i < rows; ++i)
          for (int j = first; j < end; j += lanes, o += lanes) runner(vector(0.f), {o, i, j});
      }
    } else {
      std::ptrdiff_t o = 0;
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < width; j += lanes, o += lanes) runner(vector(0.f), {o, i, j});
    }
  }
  static constexpr bool convolves = false;
  static constexpr scratch_function scratch = nullptr;
};

template <class Op>
struct group_kernel<expression::call_expression<Op>> {
  static void run(const program_view& p, float* const* a, const argument_info* info,
                  const group_info& g, const run_context& c) {
    call_kernel<Op>::run(call_context(p, a, info, g, c));
  }
  static constexpr scratch_function find_scratch() {
    if constexpr (requires(const call_context& x) { call_kernel<Op>::scratch(x); })
      return [](const program_view& p, float* const* a, const argument_info* info,
                const group_info& g, const run_context& c) -> std::ptrdiff_t {
        return call_kernel<Op>::scratch(call_context(p, a, info, g, c));
      };
    else
      return nullptr;
  }
  static constexpr bool convolves = requires { call_kernel<Op>::convolves; };
  static constexpr scratch_function scratch = find_scratch();
};

}  // namespace lamina::engine::cpu
