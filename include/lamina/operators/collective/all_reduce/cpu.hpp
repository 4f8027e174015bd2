// SPDX-License-Identifier: Apache-2.0
// lamina/operators/collective/all_reduce/cpu.hpp - the kernels of all-reduce: sums and maxima over
// the processes of a run.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstring>
#include <vector>

#include <lamina/engine/common/call_error.hpp>
#include <lamina/engine/common/process_calls.hpp>
#include <lamina/engine/cpu/gemm/panel.hpp>
#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/engine/cpu/vector/row_math.hpp>
#include <lamina/operators/collective/all_reduce/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

namespace detail {

/// Calls f(address in the array, offset in row-major order, size) for each range of elements that
/// is contiguous both in the array's memory and in row-major order. Offset and size are in bytes.
template <class Real, class F>
void for_each_range(const operand& o, const F& f) {
  const std::size_t size = static_cast<std::size_t>(size_of(o.type));
  std::byte* const data = static_cast<std::byte*>(o.data);
  if (o.panel)
    return for_each_row_segment<Real>(
        o.rows, o.columns, [&](std::ptrdiff_t offset, int count, int row, int column) {
          f(data + static_cast<std::size_t>(offset) * size,
            (static_cast<std::size_t>(row) * static_cast<std::size_t>(o.columns) +
             static_cast<std::size_t>(column)) *
                size,
            static_cast<std::size_t>(count) * size);
        });
  const std::size_t row = static_cast<std::size_t>(o.columns) * size;
  for (int r = 0; r < o.rows; ++r)
    f(data + static_cast<std::size_t>(r) * static_cast<std::size_t>(o.stride) * size,
      static_cast<std::size_t>(r) * row, row);
}

/// Reduces X over all processes and writes the result to Out.
template <class Real>
LAMINA_COLD void reduce_over_processes(const call_context& c, process_reduction kind,
                                       bool of_samples) {
  const operand x = c.input(0), out = c.output(0);
  if (!x || !out) return;
  if (x.type != dtype::float32 && x.type != dtype::float64 && x.type != dtype::int32 &&
      x.type != dtype::int64)
    fail(c, {"expected numbers of 4 or 8 bytes, found another type"});
  const std::size_t count = static_cast<std::size_t>(x.rows) * static_cast<std::size_t>(x.columns);
  const std::size_t bytes = count * static_cast<std::size_t>(size_of(x.type));
  process_calls* const others = c.run().source == nullptr ? nullptr : c.run().source->processes;
  if (others == nullptr && !x.panel && !out.panel) return copy_elements(x, out);
  // If X and Out have different layouts, a single process runs the code below as well.
  std::vector<std::byte> own(others == nullptr ? bytes : 0);
  std::byte* const array =
      others == nullptr ? own.data() : static_cast<std::byte*>(others->array(bytes));
  for_each_range<Real>(x, [&](const std::byte* from, std::size_t at, std::size_t n) {
    std::memcpy(array + at, from, n);
  });
  const int place = c.op() == nullptr ? -1 : static_cast<int>(c.op() - c.program().operators);
  if (others != nullptr) others->reduce({kind, of_samples, place, x.type, count});
  for_each_range<Real>(
      out, [&](std::byte* to, std::size_t at, std::size_t n) { std::memcpy(to, array + at, n); });
}

template <class Op>
struct all_reduce_kernel {
  template <class Real = float>
  static void run(const call_context& c) {
    reduce_over_processes<Real>(c, Op::is_max ? process_reduction::max : process_reduction::sum,
                                Op::of_samples);
  }
};

}  // namespace detail

template <>
struct call_kernel<operators::c_allreduce_sum>
    : detail::all_reduce_kernel<operators::c_allreduce_sum> {};
template <>
struct call_kernel<operators::c_allreduce_max>
    : detail::all_reduce_kernel<operators::c_allreduce_max> {};
template <>
struct call_kernel<operators::c_allreduce_sum_of_samples>
    : detail::all_reduce_kernel<operators::c_allreduce_sum_of_samples> {};
template <>
struct call_kernel<operators::c_allreduce_max_of_samples>
    : detail::all_reduce_kernel<operators::c_allreduce_max_of_samples> {};

}}}  // namespace lamina::engine::cpu
