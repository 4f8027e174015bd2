// SPDX-License-Identifier: Apache-2.0
// lamina/operators/reduce/mean/executor.hpp - the operator mean, the mean of all elements.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <type_traits>

#include <lamina/core/numbers/whole_sum.hpp>
#include <lamina/executor/kernel_shape.hpp>
#include <lamina/executor/kernel_table.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// Out = the sum of all elements / their number, for integers rounded towards 0; 0 if there are no
/// elements.
template <class Real>
void mean_forward(call_context<Real>& ctx) {
  ctx.give("Out", with_values(ctx, "X", []<class T>(const xt::xarray<T>& x) {
             if constexpr (std::is_integral_v<T>) {
               whole_sum all;
               for (std::size_t i = 0; i < x.size(); ++i) all.add(x.flat(i));
               const auto mean = all.mean(static_cast<std::int64_t>(x.size()));
               return tensor::filled<T>({1}, number_cast<T>(mean));
             }
             double sum = 0;
             for (std::size_t i = 0; i < x.size(); ++i) sum += static_cast<double>(x.flat(i));
             if (x.size() > 0) sum /= static_cast<double>(x.size());
             return tensor::filled<T>({1}, number_cast<T>(sum));
           }));
}

/// dX = dOut / number of elements, for each element.
template <class Real>
void mean_gradient(call_context<Real>& ctx) {
  if (!ctx.wants("X@GRAD")) return;
  auto dx = zeros<Real>(ctx.output_shape("X@GRAD"));
  dx.fill(ctx.real("Out@GRAD").flat(0) / static_cast<Real>(dx.size()));
  ctx.give("X@GRAD", std::move(dx));
}

template <class Real>
void add_mean_kernels(kernel_table<Real>& table) {
  table["mean"] = mean_forward<Real>;
  table["mean_grad"] = mean_gradient<Real>;
}

}}}  // namespace lamina::kernel
