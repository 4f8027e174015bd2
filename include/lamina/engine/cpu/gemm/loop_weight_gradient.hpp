// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/gemm/loop_weight_gradient.hpp - gradients of the weights that a loop uses,
// computed with one matrix product for many iterations.
//
// The gradient of a weight is the sum of X^T dY over the iterations. If X and dY have few rows,
// such a product spends most of its time on reading and writing the sum. So the rows of X and dY
// are stored over several iterations, and one product multiplies all of them.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstring>

#include <lamina/engine/common/real_numbers.hpp>
#include <lamina/engine/cpu/gemm/gemm.hpp>
#include <lamina/engine/cpu/gemm/panel_copies.hpp>
#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/plan/plan_operators.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

namespace detail {

/// The largest number of rows that wait for a product.
inline constexpr int deferred_rows = 256;

template <class Real>
inline void add_tile(const basic_tile<Real>& t, const void* context) {
  using vector = vector_in<Real>;
  Real* const sum = static_cast<Real*>(const_cast<void*>(context));
  for_each_vector(t, [&](vector sums, std::ptrdiff_t offset, int) {
    (vector::load_unaligned(sum + offset) + sums).store_unaligned(sum + offset);
  });
}

/// The number of rows that wait in slot 0 of a tensor array, the only slot that is used.
inline int rows_aside(const tensor_array& a) { return a.holds(0) ? a.rows(0) : 0; }

/// Sets the number of rows that wait in a tensor array; the rows in it stay. Returns its
/// memory, which holds up to `deferred_rows` rows.
template <class Real>
inline Real* put_aside(tensor_array& a, int rows, std::ptrdiff_t stride) {
  return numbers_at<Real>(
      a.write(0, rows, static_cast<std::size_t>(in_floats<Real>(deferred_rows * stride))));
}

/// Appends the rows of X to `xs` in row-major order, and the rows of dY to `dys` in panel layout,
/// as the product reads them.
template <class Real>
inline void defer_rows(const operand& x, const operand& dy, tensor_array& xs, tensor_array& dys) {
  const std::ptrdiff_t stride = padded(x.columns);
  const int before = rows_aside(xs), rows = before + x.rows;
  Real* const to = put_aside<Real>(xs, rows, stride) + before * stride;
  if (x.stride == stride)
    std::memcpy(to, x.data, static_cast<std::size_t>(x.rows * stride) * sizeof(Real));
  else
    copy_rows(x.rows, x.columns, static_cast<const Real*>(x.data), x.stride, to, stride);
  pack_rows(before, x.rows, deferred_rows, dy.columns, static_cast<const Real*>(dy.data), dy.stride,
            put_aside<Real>(dys, rows, padded(dy.columns)));
}

/// Adds the product X^T dY of the waiting rows to sum[K,N], which is in panel layout, and removes
/// these rows.
template <class Real>
inline void add_aside(const operand& xs, const operand& dys, const operand& sum, float* scratch) {
  tensor_array &x = array_of(xs), &dy = array_of(dys);
  const int rows = rows_aside(x);
  if (rows == 0) return;
  gemm_dw_packed(rows, sum.rows, sum.columns, numbers_at<Real>(x.data(0)), padded(sum.rows),
                 numbers_at<Real>(dy.data(0)), deferred_rows, &add_tile<Real>, sum.data,
                 numbers_at<Real>(scratch));
  x.erase(0);
  dy.erase(0);
}

}  // namespace detail

template <>
struct call_kernel<operators::defer_product> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
  template <class Real = float>
  LAMINA_KERNEL static std::ptrdiff_t scratch(const call_context& c);
};

template <>
struct call_kernel<operators::deferred_product> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
  template <class Real = float>
  LAMINA_KERNEL static std::ptrdiff_t scratch(const call_context& c);
};

template <>
struct call_kernel<operators::transposed_panels> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::defer_product>::run(const call_context& c) {
  const operand x = c.input(0), dy = c.input(1), sum = c.input(2);
  const operand xs = c.output(0), dys = c.output(1);
  if (x.rows <= 0) return;
  if (detail::rows_aside(array_of(xs)) + x.rows > detail::deferred_rows)
    detail::add_aside<Real>(xs, dys, sum, c.scratch());
  if (x.rows > detail::deferred_rows) {
    gemm_dw(x.rows, sum.rows, sum.columns, static_cast<const Real*>(x.data), x.stride,
            static_cast<const Real*>(dy.data), dy.stride, &detail::add_tile<Real>, sum.data,
            numbers_at<Real>(c.scratch()));
    return;
  }
  detail::defer_rows<Real>(x, dy, array_of(xs), array_of(dys));
}
LAMINA_INSTANCE(void call_kernel<operators::defer_product>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::defer_product>::run<double>(const call_context&))

template <class Real>
std::ptrdiff_t call_kernel<operators::defer_product>::scratch(const call_context& c) {
  const operand x = c.input(0), sum = c.input(2);
  return in_floats<Real>(gemm_dw_scratch_floats<Real>((std::max)(x.rows, detail::deferred_rows),
                                                      sum.rows, sum.columns));
}
LAMINA_INSTANCE(
    std::ptrdiff_t call_kernel<operators::defer_product>::scratch<float>(const call_context&))
LAMINA_INSTANCE(
    std::ptrdiff_t call_kernel<operators::defer_product>::scratch<double>(const call_context&))

template <class Real>
void call_kernel<operators::deferred_product>::run(const call_context& c) {
  detail::add_aside<Real>(c.input(0), c.input(1), c.input(2), c.scratch());
}
LAMINA_INSTANCE(void call_kernel<operators::deferred_product>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::deferred_product>::run<double>(const call_context&))

template <class Real>
std::ptrdiff_t call_kernel<operators::deferred_product>::scratch(const call_context& c) {
  const operand sum = c.input(2);
  return in_floats<Real>(gemm_scratch_floats<Real>(sum.rows, detail::deferred_rows, sum.columns));
}
LAMINA_INSTANCE(
    std::ptrdiff_t call_kernel<operators::deferred_product>::scratch<float>(const call_context&))
LAMINA_INSTANCE(
    std::ptrdiff_t call_kernel<operators::deferred_product>::scratch<double>(const call_context&))

template <class Real>
void call_kernel<operators::transposed_panels>::run(const call_context& c) {
  const operand w = c.input(0);
  transpose_panels(w.rows, w.columns, static_cast<const Real*>(w.data),
                   static_cast<Real*>(c.output(0).data));
}
LAMINA_INSTANCE(void call_kernel<operators::transposed_panels>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::transposed_panels>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
