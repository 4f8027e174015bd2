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
    for_each_vector(t, [&](vector sums, std::ptrdiff_t offset, int column) {
      runner(sums, {offset, 0, column});
    });
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

// The sum of `rows` vectors that are `stride` floats apart.
LAMINA_INLINE vector sum_of_rows(const float* x, int rows, std::ptrdiff_t stride) {
  // Four sums, for an addition takes four cycles.
  vector sum[4] = {vector(0.f), vector(0.f), vector(0.f), vector(0.f)};
  int m = 0;
  for (; m + 4 <= rows; m += 4, x += 4 * stride)
    LAMINA_UNROLL for (int i = 0; i < 4; ++i) sum[i] += vector::load_unaligned(x + i * stride);
  for (; m < rows; ++m, x += stride) sum[0] += vector::load_unaligned(x);
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

}  // namespace detail

template <class Group>
struct group_kernel;

template <class S>
struct group_kernel<expression::group_expression<group_head::gemm, S>> {
  static void run(const program_view&, float* const* a, const argument_info* info,
                  const group_info& g, const run_context& c) {
    gemm(c.rows_of(g.rows), g.depth, g.columns, a[0], info[0].stride, a[1], padded(g.columns),
         &detail::run_tile<statement_runner<S>>, a, c.scratch);
  }
  static constexpr scratch_function scratch = &detail::gemm_group_scratch;
};

template <class S>
struct group_kernel<expression::group_expression<group_head::gemm_dx, S>> {
  static void run(const program_view&, float* const* a, const argument_info* info,
                  const group_info& g, const run_context& c) {
    gemm_dx(c.rows_of(g.rows), g.columns, g.depth, a[0], info[0].stride, a[1], padded(g.columns),
            &detail::run_tile<statement_runner<S>>, a, c.scratch);
  }
  static constexpr scratch_function scratch = &detail::gemm_dx_group_scratch;
};

template <class S>
struct group_kernel<expression::group_expression<group_head::gemm_dw, S>> {
  static void run(const program_view&, float* const* a, const argument_info* info,
                  const group_info& g, const run_context& c) {
    gemm_dw(c.rows_of(g.depth), g.rows, g.columns, a[0], info[0].stride, a[1], info[1].stride,
            &detail::run_tile<statement_runner<S>>, a, c.scratch);
  }
  static constexpr scratch_function scratch = &detail::gemm_dw_group_scratch;
};

template <class S>
struct group_kernel<expression::group_expression<group_head::reduce_rows, S>> {
  static void run(const program_view&, float* const* a, const argument_info* info,
                  const group_info& g, const run_context& c) {
    const statement_runner<S> runner(a);
    const int rows = c.rows_of(g.depth);
    const std::ptrdiff_t stride = info[0].stride;
    for (int j = 0; j < padded(g.columns); j += lanes)
      runner(detail::sum_of_rows(a[0] + j, rows, stride), {j, 0, j});
  }
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
      for (std::ptrdiff_t o = 0; o < size; o += lanes) runner(vector(0.f), {o, 0, 0});
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
  static constexpr scratch_function scratch = find_scratch();
};

}  // namespace lamina::engine::cpu
