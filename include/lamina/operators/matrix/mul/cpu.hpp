// SPDX-License-Identifier: Apache-2.0
// lamina/operators/matrix/mul/cpu.hpp - the kernel of mul for products that cannot be fused,
// because x_num_col_dims is above 1 or Y is not a weight.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/operators/matrix/mul/definition.hpp>
#if LAMINA_DEFINES
#include <algorithm>

#include <lamina/engine/common/real_numbers.hpp>
#include <lamina/engine/cpu/gemm/gemm_row_major.hpp>
#include <lamina/engine/cpu/gemm/panel_copies.hpp>
#include <lamina/engine/cpu/vector/row_math.hpp>
#endif

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

#if LAMINA_DEFINES

namespace detail {

/// An array, seen as a matrix of a given width whose rows have a constant stride. An array must be
/// copied to get this form if it is stored in panels, or if its rows hold several matrix rows
/// followed by padding.
struct even_matrix {
  int rows = 0, columns = 1;
  bool is_copied = false;
  std::ptrdiff_t stride = 0;

  even_matrix(const operand& o, int row_dims) {
    const array_layout a = layout_of(o);
    for (int d = row_dims; d < a.rank; ++d) columns *= static_cast<int>(a.extent[d]);
    rows = static_cast<int>(columns == 0 ? 0 : a.size() / columns);
    const bool by_row = rows == o.rows;
    is_copied = o.panel || (!by_row && o.rows > 1 && o.stride != o.columns);
    stride = by_row && !o.panel ? o.stride : columns;
  }
  template <class Real>
  const Real* read(const operand& o, Real*& memory) const {
    if (!o.panel) return is_copied ? without_gaps(o, memory) : o.row<const Real>(0);
    Real* const copy = memory;
    unpack(o.rows, o.columns, o.row<const Real>(0), copy);
    memory += copy_size(o);
    return copy;
  }
  /// Returns the memory for a result: the array itself, or the memory of a copy that `finish` moves
  /// to the array.
  template <class Real>
  Real* write(const operand& o, Real*& memory) const {
    if (!is_copied) return o.row<Real>(0);
    Real* const at = memory;
    memory += copy_size(o);
    return at;
  }
  template <class Real>
  void finish(const operand& o, const Real* written) const {
    if (!is_copied) return;
    if (o.panel) return pack(o.rows, o.columns, written, o.row<Real>(0));
    for (int r = 0; r < o.rows; ++r)
      std::copy_n(written + static_cast<std::ptrdiff_t>(r) * o.columns, o.columns, o.row<Real>(r));
  }
  static std::ptrdiff_t copy_size(const operand& o) {
    const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(o.rows) * o.columns;
    return (size + alignment_floats - 1) / alignment_floats * alignment_floats;
  }
};

/// Returns the number of scratch floats for the arguments that must be copied.
inline std::ptrdiff_t mul_scratch(const call_context& c) {
  std::ptrdiff_t memory = 0;
  for (int i = 0; i < c.schema().input_count; ++i) memory += even_matrix::copy_size(c.input(i));
  for (int i = 0; i < c.schema().output_count; ++i)
    if (const operand o = c.output(i)) memory += even_matrix::copy_size(o);
  return memory;
}

}  // namespace detail

#endif  // LAMINA_DEFINES

template <>
struct call_kernel<operators::mul> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
  template <class Real = float>
  LAMINA_KERNEL static std::ptrdiff_t scratch(const call_context& c);
};

template <>
struct call_kernel<gradient_of<operators::mul>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
  template <class Real = float>
  LAMINA_KERNEL static std::ptrdiff_t scratch(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::mul>::run(const call_context& c) {
  const operand x = c.input(0), y = c.input(1), out = c.output(0);
  require_real<Real>(c, x);
  const int x_dims = c.integer(0);
  const detail::even_matrix a(x, x_dims), b(y, c.integer(1)), z(out, x_dims);
  Real* memory = numbers_at<Real>(c.scratch());
  const Real* from = a.read(x, memory);
  Real* to = z.write(out, memory);
  if (y.panel) {
    const detail::basic_plain_store<Real> store{to, z.stride, b.columns, 1, false};
    gemm(a.rows, a.columns, b.columns, from, a.stride, y.row<const Real>(0), z.stride,
         &detail::basic_plain_store<Real>::run, &store, memory);
  } else {
    const Real* weight = b.read(y, memory);
    gemm_row_major(a.rows, a.columns, b.columns, 1, {from, a.stride}, {weight, b.stride}, to,
                   z.stride, false, memory);
  }
  z.finish(out, to);
}
LAMINA_INSTANCE(void call_kernel<operators::mul>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::mul>::run<double>(const call_context&))

template <class Real>
std::ptrdiff_t call_kernel<operators::mul>::scratch(const call_context& c) {
  const detail::even_matrix a(c.input(0), c.integer(0)), b(c.input(1), c.integer(1));
  return in_floats<Real>(detail::mul_scratch(c) +
                         gemm_row_major_scratch_floats<Real>(a.rows, a.columns, b.columns));
}
LAMINA_INSTANCE(std::ptrdiff_t call_kernel<operators::mul>::scratch<float>(const call_context&))
LAMINA_INSTANCE(std::ptrdiff_t call_kernel<operators::mul>::scratch<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::mul>>::run(const call_context& c) {
  const operand x = c.input(0), y = c.input(1), grad = c.input(2);
  const operand dx = c.output(0), dy = c.output(1);
  const int x_dims = c.integer(0), y_dims = c.integer(1);
  const detail::even_matrix a(x, x_dims), b(y, y_dims), z(grad, x_dims);
  const int m = a.rows, k = a.columns, n = b.columns;
  Real* memory = numbers_at<Real>(c.scratch());
  const Real* d = z.read(grad, memory);
  if (dx) {
    const detail::even_matrix g(dx, x_dims);
    Real* after = memory;
    Real* to = g.write(dx, after);
    if (y.panel) {
      const detail::basic_plain_store<Real> store{to, g.stride, k, 1, false};
      gemm_dx(m, k, n, d, z.stride, y.row<const Real>(0), g.stride,
              &detail::basic_plain_store<Real>::run, &store, after);
    } else {
      const Real* weight = b.read(y, after);
      gemm_row_major(m, n, k, 1, {d, z.stride}, {weight, b.stride, true}, to, g.stride, false,
                     after);
    }
    g.finish(dx, to);
  }
  if (dy) {
    Real* after = memory;
    const Real* from = a.read(x, after);
    if (dy.panel) {
      gemm_dw(m, k, n, from, a.stride, d, z.stride, &store_tile<Real>, dy.row<Real>(0), after);
      return;
    }
    const detail::even_matrix g(dy, y_dims);
    Real* to = g.write(dy, after);
    gemm_row_major(k, m, n, 1, {from, a.stride, true}, {d, z.stride}, to, g.stride, false, after);
    g.finish(dy, to);
  }
}
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::mul>>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::mul>>::run<double>(const call_context&))

template <class Real>
std::ptrdiff_t call_kernel<gradient_of<operators::mul>>::scratch(const call_context& c) {
  const detail::even_matrix a(c.input(0), c.integer(0)), b(c.input(1), c.integer(1));
  const int m = a.rows, k = a.columns, n = b.columns;
  return in_floats<Real>(
      detail::mul_scratch(c) +
      (std::max)({gemm_row_major_scratch_floats<Real>(m, n, k),
                  gemm_row_major_scratch_floats<Real>(k, m, n),
                  gemm_dx_scratch_floats<Real>(m, k, n), gemm_dw_scratch_floats<Real>(m, k, n)}));
}
LAMINA_INSTANCE(
    std::ptrdiff_t call_kernel<gradient_of<operators::mul>>::scratch<float>(const call_context&))
LAMINA_INSTANCE(
    std::ptrdiff_t call_kernel<gradient_of<operators::mul>>::scratch<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
