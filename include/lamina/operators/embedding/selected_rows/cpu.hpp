// SPDX-License-Identifier: Apache-2.0
// lamina/operators/embedding/selected_rows/cpu.hpp - kernels of sums of sparse gradients. A sparse
// gradient stores only some of the rows of a table.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/operators/embedding/selected_rows/definition.hpp>
#if LAMINA_DEFINES
#include <lamina/engine/cpu/memory/selected_rows.hpp>
#include <lamina/engine/cpu/vector/row_math.hpp>
#endif

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

template <>
struct call_kernel<operators::selected_rows_sum> {
  /// Needs no scratch memory and returns 0, but reserves memory for the sum: when scratch memory is
  /// computed, the operands have their rows, so it is known how many rows the sum can have.
  template <class Real = float>
  LAMINA_KERNEL static std::ptrdiff_t scratch(const call_context& c);
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<operators::mixed_rows_sum> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);

 private:
  template <class Real>
  static void add(const Real* from, const operand& to, int row) {
    Real* const sum = to.row<Real>(row);
    for (int j = 0; j < to.columns; ++j) sum[j] += from[j];
  }
};

#if LAMINA_DEFINES

template <class Real>
std::ptrdiff_t call_kernel<operators::selected_rows_sum>::scratch(const call_context& c) {
  const operand out = c.output(0);
  std::size_t rows = 0;
  for (int i = 0; i < c.input_count(0); ++i) rows += rows_of<Real>(c.input(0, i)).capacity();
  if (out) rows_of<Real>(out).reserve(rows, out.columns);
  return 0;
}
LAMINA_INSTANCE(
    std::ptrdiff_t call_kernel<operators::selected_rows_sum>::scratch<float>(const call_context&))
LAMINA_INSTANCE(
    std::ptrdiff_t call_kernel<operators::selected_rows_sum>::scratch<double>(const call_context&))

template <class Real>
void call_kernel<operators::selected_rows_sum>::run(const call_context& c) {
  const operand out = c.output(0);
  if (!out) return;
  basic_selected_rows<Real>& sum = rows_of<Real>(out);
  sum.begin(out.columns);
  for (int i = 0; i < c.input_count(0); ++i) sum.add(rows_of<Real>(c.input(0, i)));
}
LAMINA_INSTANCE(void call_kernel<operators::selected_rows_sum>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::selected_rows_sum>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::mixed_rows_sum>::run(const call_context& c) {
  const operand out = c.output(0);
  if (!out) return;
  clear(out);
  for (int i = 0; i < c.input_count(0); ++i) {
    const operand x = c.input(0, i);
    if (has_selected_rows(x)) {
      const basic_selected_rows<Real>& rows = rows_of<Real>(x);
      for (int k = 0; k < rows.size(); ++k) add(rows.row(k), out, rows.number(k));
    } else {
      for (int r = 0; r < x.rows; ++r) add(x.row<const Real>(r), out, r);
    }
  }
}
LAMINA_INSTANCE(void call_kernel<operators::mixed_rows_sum>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::mixed_rows_sum>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
