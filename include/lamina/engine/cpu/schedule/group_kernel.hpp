// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/schedule/group_kernel.hpp - compiles a group of a plan to a function. A group
// is one operator, its head, with pointwise statements that are fused with it. The head determines
// the loop nest; the statements run inside the loops, one vector at a time. The function reads the
// dimensions at run time, so groups that differ only in size share one function.
#pragma once

#include <lamina/core/config.hpp>

#include <type_traits>

#include <lamina/engine/common/real_numbers.hpp>
#include <lamina/engine/cpu/gemm/gemm.hpp>
#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/engine/cpu/schedule/channel_walk.hpp>
#include <lamina/engine/cpu/schedule/statement_runner.hpp>
#include <lamina/engine/cpu/vector/row_sums.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// The function that runs a group.
using group_function = void (*)(const program_view&, float* const*, const argument_info*,
                                const group_info&, const run_context&);
/// A function that returns the size of the scratch memory that a group needs, in floats.
using scratch_function = std::ptrdiff_t (*)(const program_view&, float* const*,
                                            const argument_info*, const group_info&,
                                            const run_context&);

namespace detail {

template <class Runner>
void run_tile(const basic_tile<typename Runner::real>& t, const void* arguments) {
  using vector = typename Runner::vector;
  constexpr int lanes = static_cast<int>(vector::size);
  static_assert(Runner::channels < 0, "lamina: a product of matrices has no channels");
  const Runner runner(static_cast<float* const*>(arguments));
  if constexpr (Runner::by_column) {
    for (int i = 0; i < t.rows; ++i)
      for (int j = 0; j < t.width; j += lanes)
        runner(vector::load_aligned(t.sums + i * t.width + j),
               {t.offset + i * t.stride + j, t.row + i, t.column + j});
  } else {
    const auto walk = [&](update_step how) __attribute__((always_inline)) {
      for_each_vector(
          t, [&](vector sums, std::ptrdiff_t offset, int column) __attribute__((always_inline)) {
            runner.run(sums, {offset, 0, column}, how);
          });
    };
    // Most updates have neither gradient clipping nor weight decay. For them there is a separate
    // loop, which is faster because it has no code for either.
    if (Runner::numbers > 0 && runner.step != update_step::plain) return walk(runner.step);
    walk(update_step::plain);
  }
}

// The size of the scratch memory of a product does not depend on the statements of its group, so
// all groups with a product share this function.
template <class Real>
LAMINA_COLD inline std::ptrdiff_t gemm_group_scratch(const program_view&, float* const*,
                                                     const argument_info*, const group_info& g,
                                                     const run_context& c) {
  return in_floats<Real>(gemm_scratch_floats<Real>(c.rows_of(g.rows), g.depth, g.columns));
}
template <class Real>
LAMINA_COLD inline std::ptrdiff_t gemm_dx_group_scratch(const program_view&, float* const*,
                                                        const argument_info*, const group_info& g,
                                                        const run_context& c) {
  return in_floats<Real>(gemm_dx_scratch_floats<Real>(c.rows_of(g.rows), g.columns, g.depth));
}
template <class Real>
LAMINA_COLD inline std::ptrdiff_t gemm_dw_group_scratch(const program_view&, float* const*,
                                                        const argument_info*, const group_info& g,
                                                        const run_context& c) {
  return in_floats<Real>(gemm_dw_scratch_floats<Real>(c.rows_of(g.depth), g.rows, g.columns));
}

// Whether a pointwise group that stores this many floats bypasses the caches. From 2^21 floats (8
// MiB) on, it does: the first results would leave the cache before another group reads them.
constexpr bool is_streamed(std::ptrdiff_t floats) {
  return has_streams && floats >= std::ptrdiff_t{1} << 21;
}

// The address of doubles that are stored in an array of floats or of doubles.
LAMINA_INLINE double* doubles_in(float* memory) { return numbers_at<double>(memory); }
LAMINA_INLINE double* doubles_in(double* memory) { return memory; }

// Computes the sum of each of `columns` columns over all rows, and passes the sums to `runner`, one
// vector at a time.
template <class Runner>
LAMINA_INLINE void reduce_rows(const Runner& runner, const typename Runner::real* x, int rows,
                               std::ptrdiff_t stride, int columns,
                               const basic_partial_sums<typename Runner::real>& parts = {}) {
  using Real = typename Runner::real;
  using vector = typename Runner::vector;
  constexpr int lanes = lanes_in<Real>;
  alignas(64) double own_sums[summed_columns];
  alignas(64) Real rounded[summed_columns];
  for (int first = 0; first < columns; first += summed_columns) {
    const int width = columns - first < summed_columns ? columns - first : summed_columns;
    // row_tiles.hpp allocates partial sums with the size of doubles.
    double* const sums = parts.of != nullptr ? doubles_in(parts.of) + first : own_sums;
    if (!parts.continues)
      for (int j = 0; j < width; ++j) sums[j] = 0;
    sum_rows(x + first, rows, stride, width, sums);
    if (!parts.ends) continue;
    for (int j = 0; j < width; ++j) rounded[j] = static_cast<Real>(sums[j]);
    for (int j = 0; j < width; j += lanes)
      runner(vector::load_aligned(rounded + j), {first + j, 0, first + j});
  }
}

// The operands of a matrix product, and its scratch memory.
template <class Real>
struct product_memory {
  const Real *left, *right;
  Real* scratch;
};
template <class Real>
LAMINA_INLINE product_memory<Real> product_arrays(float* const* a, const run_context& c) {
  return {numbers_at<Real>(a[0]), numbers_at<Real>(a[1]), numbers_at<Real>(c.scratch)};
}

// The state of sums over rows that are computed tile by tile (row_tiles.hpp). Programs in double
// have no tiles, so their state is empty.
template <class Real>
LAMINA_INLINE basic_partial_sums<Real> sums_of_rows(const run_context& c) {
  if constexpr (std::is_same_v<Real, float>)
    return c.sums_of_rows;
  else
    return {};
}

}  // namespace detail

/// The function that runs a group whose numbers are of type `Real`.
template <class Group, class Real = float>
struct group_kernel;

template <class S, class Real>
struct group_kernel<expression::group_expression<fusion_anchor::gemm, S>, Real> {
  static void run(const program_view&, float* const* a, const argument_info* info,
                  const group_info& g, const run_context& c) {
    const auto [left, right, scratch_memory] = detail::product_arrays<Real>(a, c);
    gemm(c.rows_of(g.rows), g.depth, g.columns, left, info[0].stride, right, padded(g.columns),
         &detail::run_tile<statement_runner<S, Real>>, a, scratch_memory,
         c.turns_back() != g.turns ? panel_order::descending : panel_order::ascending);
  }
  static constexpr bool convolves = false;
  static constexpr scratch_function scratch = &detail::gemm_group_scratch<Real>;
};

template <class S, class Real>
struct group_kernel<expression::group_expression<fusion_anchor::gemm_dx, S>, Real> {
  static void run(const program_view&, float* const* a, const argument_info* info,
                  const group_info& g, const run_context& c) {
    const auto [left, right, scratch_memory] = detail::product_arrays<Real>(a, c);
    gemm_dx(c.rows_of(g.rows), g.columns, g.depth, left, info[0].stride, right, padded(g.columns),
            &detail::run_tile<statement_runner<S, Real>>, a, scratch_memory);
  }
  static constexpr bool convolves = false;
  static constexpr scratch_function scratch = &detail::gemm_dx_group_scratch<Real>;
};

template <class S, class Real>
struct group_kernel<expression::group_expression<fusion_anchor::gemm_dw, S>, Real> {
  static void run(const program_view&, float* const* a, const argument_info* info,
                  const group_info& g, const run_context& c) {
    const auto [left, right, scratch_memory] = detail::product_arrays<Real>(a, c);
    gemm_dw(c.rows_of(g.depth), g.rows, g.columns, left, info[0].stride, right, info[1].stride,
            &detail::run_tile<statement_runner<S, Real>>, a, scratch_memory,
            detail::sums_of_rows<Real>(c));
  }
  static constexpr bool convolves = false;
  static constexpr scratch_function scratch = &detail::gemm_dw_group_scratch<Real>;
};

template <class S, class Real>
struct group_kernel<expression::group_expression<fusion_anchor::reduce_rows, S>, Real> {
  static void run(const program_view&, float* const* a, const argument_info* info,
                  const group_info& g, const run_context& c) {
    detail::reduce_rows(statement_runner<S, Real>(a), numbers_at<Real>(a[0]), c.rows_of(g.depth),
                        info[0].stride, padded(g.columns), detail::sums_of_rows<Real>(c));
  }
  static constexpr bool convolves = false;
  static constexpr scratch_function scratch = nullptr;
};

template <class S, class Real>
struct group_kernel<expression::group_expression<fusion_anchor::pointwise, S>, Real> {
  static void run(const program_view&, float* const* a, [[maybe_unused]] const argument_info* info,
                  const group_info& g, const run_context& c) {
    using runner_type = statement_runner<S, Real>;
    constexpr int step = lanes_in<Real>, full_width = panel_width_in<Real>;
    const runner_type runner(a);
    const int rows = c.rows_of(g.rows);
    const int width = padded(g.columns);
    if constexpr (runner_type::channels >= 0) {
      for (int i = 0; i < rows; ++i)
        detail::run_channels(runner, info[runner_type::channels].columns, g.columns, i, nullptr);
    } else if constexpr (!runner_type::by_row && !runner_type::by_column) {
      const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(rows) * width;
      const bool streams =
          detail::is_streamed(in_floats<Real>(size * runner.stores)) && runner.stores_are_aligned();
      for (std::ptrdiff_t o = 0; o < size; o += step)
        runner(vector_in<Real>(Real(0)), {o, 0, 0, 0, nullptr, 0, streams});
      if (streams) end_streams();
    } else if (g.panel) {
      std::ptrdiff_t o = 0;
      for (int first = 0; first < width; first += full_width) {
        const int end = first + width_of_panel<Real>(g.columns, first);
        for (int i = 0; i < rows; ++i)
          for (int j = first; j < end; j += step, o += step)
            runner(vector_in<Real>(Real(0)), {o, i, j});
      }
    } else {
      std::ptrdiff_t o = 0;
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < width; j += step, o += step)
          runner(vector_in<Real>(Real(0)), {o, i, j});
    }
  }
  static constexpr bool convolves = false;
  static constexpr scratch_function scratch = nullptr;
};

/// Whether the kernel of an operator can compute in double, that is, whether its `run` can be
/// instantiated for double.
template <class Op>
constexpr bool computes_in_double() {
  return requires(const call_context& c) { call_kernel<Op>::template run<double>(c); };
}

template <class Op, class Real>
struct group_kernel<expression::call_expression<Op>, Real> {
  // In a program in double, an operator without a kernel for double gets the kernel for float. The
  // machine rejects such a program (machine.hpp) with one clear error; without this kernel, the
  // compiler would report a second error.
  using number = std::conditional_t<computes_in_double<Op>(), Real, float>;
  static constexpr bool in_float = std::is_same_v<number, float>;
  static void run(const program_view& p, float* const* a, const argument_info* info,
                  const group_info& g, const run_context& c) {
    if constexpr (in_float)
      call_kernel<Op>::run(call_context(p, a, info, g, c));
    else
      call_kernel<Op>::template run<number>(call_context(p, a, info, g, c));
  }
  static constexpr scratch_function find_scratch() {
    if constexpr (!requires(const call_context& x) { call_kernel<Op>::scratch(x); })
      return nullptr;
    else if constexpr (in_float)
      return [](const program_view& p, float* const* a, const argument_info* info,
                const group_info& g, const run_context& c) -> std::ptrdiff_t {
        return call_kernel<Op>::scratch(call_context(p, a, info, g, c));
      };
    else
      return [](const program_view& p, float* const* a, const argument_info* info,
                const group_info& g, const run_context& c) -> std::ptrdiff_t {
        return call_kernel<Op>::template scratch<number>(call_context(p, a, info, g, c));
      };
  }
  static constexpr bool convolves = requires { call_kernel<Op>::convolves; };
  static constexpr scratch_function scratch = find_scratch();
};

}}}  // namespace lamina::engine::cpu
