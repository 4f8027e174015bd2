// SPDX-License-Identifier: Apache-2.0
// lamina/operators/matrix/matmul/cpu.hpp - products of matrices and of batches of matrices: matmul.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/operators/matrix/matmul/definition.hpp>
#if LAMINA_DEFINES
#include <algorithm>

#include <lamina/engine/common/real_numbers.hpp>
#include <lamina/engine/cpu/gemm/gemm_row_major.hpp>
#include <lamina/engine/cpu/vector/row_math.hpp>
#include <lamina/operators/matrix/matmul/common.hpp>
#endif

namespace lamina::inline LAMINA_ABI::engine::cpu {

template <>
struct call_kernel<operators::matmul> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
  template <class Real = float>
  LAMINA_KERNEL static std::ptrdiff_t scratch(const call_context& c);
};

template <>
struct call_kernel<gradient_of<operators::matmul>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
  template <class Real = float>
  LAMINA_KERNEL static std::ptrdiff_t scratch(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::matmul>::run(const call_context& c) {
  const operand x = c.input(0), y = c.input(1), out = c.output(0);
  require_real<Real>(c, x);
  const matmul_shape s(c, x, y, out);
  const Real alpha = static_cast<Real>(c.number(2));
  for (int i = 0; i < s.count; ++i)
    gemm_row_major(
        s.m, s.k, s.n, alpha, {x.row<const Real>(0) + s.x.at(i), s.x.stride, s.x.transposed},
        {y.row<const Real>(0) + s.y.at(i), s.y.stride, s.y.transposed},
        out.row<Real>(0) + s.out_at(i), s.out_stride, false, numbers_at<Real>(c.scratch()));
}
LAMINA_INSTANCE(void call_kernel<operators::matmul>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::matmul>::run<double>(const call_context&))

template <class Real>
std::ptrdiff_t call_kernel<operators::matmul>::scratch(const call_context& c) {
  const matmul_shape s(c, c.input(0), c.input(1), c.output(0));
  return in_floats<Real>(gemm_row_major_scratch_floats<Real>(s.m, s.k, s.n));
}
LAMINA_INSTANCE(std::ptrdiff_t call_kernel<operators::matmul>::scratch<float>(const call_context&))
LAMINA_INSTANCE(std::ptrdiff_t call_kernel<operators::matmul>::scratch<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::matmul>>::run(const call_context& c) {
  const operand x = c.input(0), y = c.input(1), slope = c.input(2);
  const operand dx = c.output(0), dy = c.output(1);
  const matmul_shape s(c, x, y, slope);
  const Real alpha = static_cast<Real>(c.number(2));
  // The first product overwrites a matrix that all products share; the others are added to it.
  const matrix_side gx = side_like(dx ? dx : x, s.x, c.flag(0), true);
  const matrix_side gy = side_like(dy ? dy : y, s.y, c.flag(1), false);
  if (dx && s.count == 0) clear(dx);
  if (dy && s.count == 0) clear(dy);
  for (int i = 0; i < s.count; ++i) {
    const Real* d = slope.row<const Real>(0) + s.out_at(i);
    const Real* a = x.row<const Real>(0) + s.x.at(i);
    const Real* b = y.row<const Real>(0) + s.y.at(i);
    if (dx) {
      Real* to = dx.row<Real>(0) + gx.at(i);
      const bool adds = i > 0 && s.x.count == 1;
      if (s.x.transposed)
        gemm_row_major(s.k, s.n, s.m, alpha, {b, s.y.stride, s.y.transposed},
                       {d, s.out_stride, true}, to, gx.stride, adds, numbers_at<Real>(c.scratch()));
      else
        gemm_row_major(s.m, s.n, s.k, alpha, {d, s.out_stride, false},
                       {b, s.y.stride, !s.y.transposed}, to, gx.stride, adds,
                       numbers_at<Real>(c.scratch()));
    }
    if (dy) {
      Real* to = dy.row<Real>(0) + gy.at(i);
      const bool adds = i > 0 && s.y.count == 1;
      if (s.y.transposed)
        gemm_row_major(s.n, s.m, s.k, alpha, {d, s.out_stride, true},
                       {a, s.x.stride, s.x.transposed}, to, gy.stride, adds,
                       numbers_at<Real>(c.scratch()));
      else
        gemm_row_major(s.k, s.m, s.n, alpha, {a, s.x.stride, !s.x.transposed},
                       {d, s.out_stride, false}, to, gy.stride, adds,
                       numbers_at<Real>(c.scratch()));
    }
  }
}
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::matmul>>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::matmul>>::run<double>(const call_context&))

template <class Real>
std::ptrdiff_t call_kernel<gradient_of<operators::matmul>>::scratch(const call_context& c) {
  const matmul_shape s(c, c.input(0), c.input(1), c.input(2));
  return in_floats<Real>((std::max)({gemm_row_major_scratch_floats<Real>(s.m, s.n, s.k),
                                     gemm_row_major_scratch_floats<Real>(s.k, s.n, s.m),
                                     gemm_row_major_scratch_floats<Real>(s.k, s.m, s.n),
                                     gemm_row_major_scratch_floats<Real>(s.n, s.m, s.k)}));
}
LAMINA_INSTANCE(
    std::ptrdiff_t call_kernel<gradient_of<operators::matmul>>::scratch<float>(const call_context&))
LAMINA_INSTANCE(std::ptrdiff_t call_kernel<gradient_of<operators::matmul>>::scratch<double>(
    const call_context&))

#endif  // LAMINA_DEFINES

}  // namespace lamina::inline LAMINA_ABI::engine::cpu
