// SPDX-License-Identifier: Apache-2.0
// lamina/operators/elementwise/binary/cpu.hpp - the gradient of a sum X + Y where Y has one number
// per channel of the images X, as the bias of a convolution has.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/vector/long_sums.hpp>
#include <lamina/operators/elementwise/cpu.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// Computes Y@GRAD of elementwise_add. If Y has one number per index of dimension 1, this is a
/// vectorised sum over the rows and the dimensions after it; for any other shape of Y, the general
/// kernel runs.
template <>
struct call_kernel<gradient_of<operators::elementwise_add>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<gradient_of<operators::elementwise_add>>::run(const call_context& c) {
  using general = gradient_of<operators::elementwise_add>;
  detail::pointwise_output<general, 0, Real>::run(c);
  const operand grad = c.input(0), dy = c.output(1);
  if (!dy) return;
  const bool channels = c.integer(0) == 1 && dy.rank == 1 && grad.rank > 2 && grad.domain != 0 &&
                        grad.dims[1] == dy.columns && grad.type == dtype_of<Real> &&
                        dy.type == dtype_of<Real>;
  if (!channels) return detail::pointwise_output<general, 1, Real>::run(c);
  clear(dy);
  detail::add_channels(grad, dy.columns, dy.row<Real>(0));
}
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::elementwise_add>>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::elementwise_add>>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
