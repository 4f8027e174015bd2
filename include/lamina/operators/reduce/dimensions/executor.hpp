// SPDX-License-Identifier: Apache-2.0
// lamina/operators/reduce/dimensions/executor.hpp - the operators mean, the mean of all elements,
// and reduce_*: sums, means, products, maxima and minima along dimensions.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <type_traits>

#include <lamina/core/numbers/extremes.hpp>
#include <lamina/core/numbers/whole_sum.hpp>
#include <lamina/core/numbers/wrapping.hpp>
#include <lamina/executor/call_context.hpp>
#include <lamina/executor/kernel_shape.hpp>

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

/// The shape of Out, and for each element of X, the index of the element of Out to which it is
/// reduced.
struct reduction_plan {
  tensor_shape shape;
  std::vector<std::size_t> position;
  std::size_t count = 1;  // elements per result
};
template <class Real>
reduction_plan plan_reduction(const call_context<Real>& ctx, const tensor_shape& from) {
  std::vector<bool> reduced(from.size(), ctx.flag("reduce_all"));
  std::vector<int> dims = ctx.integer_list("dim");
  if (dims.empty()) dims.push_back(0);
  for (const int d : dims) reduced[ctx.checked_axis(d, from.size())] = true;
  reduction_plan plan;
  std::vector<std::size_t> stride(from.size(), 0);
  std::size_t size = 1;
  for (std::size_t d = from.size(); d-- > 0;) {
    if (reduced[d]) {
      plan.count *= from[d];
    } else {
      stride[d] = size;
      size *= from[d];
    }
  }
  for (std::size_t d = 0; d < from.size(); ++d) {
    if (!reduced[d]) plan.shape.push_back(from[d]);
    if (reduced[d] && ctx.flag("keep_dim")) plan.shape.push_back(1);
  }
  if (plan.shape.empty()) plan.shape.push_back(1);
  plan.position.resize(size_of(from));
  for (std::size_t i = 0; i < plan.position.size(); ++i) {
    std::size_t rest = i, at = 0;
    for (std::size_t d = from.size(); d-- > 0; rest /= from[d]) at += rest % from[d] * stride[d];
    plan.position[i] = at;
  }
  return plan;
}

/// The function by which elements are combined.
enum class reduction_kind { sum, mean, max, min, product };

/// Out = X reduced along some dimensions. Floating-point numbers are reduced in double. Integers
/// are reduced in int64: sums and products wrap around, and means are rounded towards 0.
template <class Real, reduction_kind Kind>
void reduce_forward(call_context<Real>& ctx) {
  const reduction_plan plan = plan_reduction(ctx, ctx.input("X").shape());
  ctx.give("Out", with_values(ctx, "X", [&]<class T>(const xt::xarray<T>& x) {
             if constexpr (Kind == reduction_kind::mean && std::is_integral_v<T>) {
               auto means = zeros<T>(plan.shape);
               std::vector<whole_sum> sums(means.size());
               for (std::size_t i = 0; i < x.size(); ++i) sums[plan.position[i]].add(x.flat(i));
               for (std::size_t i = 0; i < means.size(); ++i)
                 means.flat(i) = sums[i].mean(static_cast<std::int64_t>(plan.count));
               return tensor(std::move(means));
             }
             using wide = std::conditional_t<std::is_floating_point_v<T>, double, T>;
             auto out = zeros<wide>(plan.shape);
             if (Kind == reduction_kind::product) out.fill(wide(1));
             std::vector<bool> begun(out.size(), false);
             for (std::size_t i = 0; i < x.size(); ++i) {
               const std::size_t p = plan.position[i];
               wide& to = out.flat(p);
               const wide value = static_cast<wide>(x.flat(i));
               if (!begun[p])
                 to = value;
               else if (Kind == reduction_kind::sum || Kind == reduction_kind::mean)
                 to = math::wrapping_sum(to, value);
               else if (Kind == reduction_kind::product)
                 to = math::wrapping_product(to, value);
               else if (Kind == reduction_kind::max ? math::is_above(value, to)
                                                    : math::is_below(value, to))
                 to = value;
               begun[p] = true;
             }
             if constexpr (Kind == reduction_kind::mean)
               for (std::size_t i = 0; plan.count > 0 && i < out.size(); ++i)
                 out.flat(i) /= static_cast<wide>(plan.count);
             return tensor(xt::xarray<T>(xt::cast<T>(out)));
           }));
}

/// Computes the gradient of each element. The gradient is dOut for a sum, dOut / count for a mean,
/// and dOut times the product of all other elements for a product. For a maximum or minimum, it is
/// dOut at the first element that equals the result, else 0.
template <class Real, reduction_kind Kind>
void reduce_gradient(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  const auto& d = ctx.real("Out@GRAD");
  const reduction_plan plan = plan_reduction(ctx, shape_of(x));
  auto dx = zeros<Real>(shape_of(x));
  std::vector<bool> found(d.size(), false);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Real grad = d.flat(plan.position[i]);
    if constexpr (Kind == reduction_kind::sum) dx.flat(i) = grad;
    if constexpr (Kind == reduction_kind::mean) dx.flat(i) = grad / static_cast<Real>(plan.count);
    if constexpr (Kind == reduction_kind::max || Kind == reduction_kind::min) {
      if (found[plan.position[i]] ||
          !math::is_same(x.flat(i), ctx.real("Out").flat(plan.position[i])))
        continue;
      dx.flat(i) = grad;
      found[plan.position[i]] = true;
    }
    if constexpr (Kind == reduction_kind::product) {
      Real others = grad;
      for (std::size_t j = 0; j < x.size(); ++j)
        if (j != i && plan.position[j] == plan.position[i]) others *= x.flat(j);
      dx.flat(i) = others;
    }
  }
  ctx.give("X@GRAD", std::move(dx));
}

/// Out = whether all elements along some dimensions are true or, if All is false, whether at least
/// one is true.
template <class Real, bool All>
void reduce_truth(call_context<Real>& ctx) {
  const xt::xarray<bool> x = ctx.input("X").template cast<bool>();
  const reduction_plan plan = plan_reduction(ctx, shape_of(x));
  xt::xarray<bool> out = zeros<bool>(plan.shape);
  out.fill(All);
  for (std::size_t i = 0; i < x.size(); ++i)
    if (x.flat(i) != All) out.flat(plan.position[i]) = !All;
  ctx.give("Out", std::move(out));
}

template <class Real>
void add_reduction_kernels(kernel_table<Real>& table) {
  table["reduce_sum"] = reduce_forward<Real, reduction_kind::sum>;
  table["reduce_mean"] = reduce_forward<Real, reduction_kind::mean>;
  table["reduce_max"] = reduce_forward<Real, reduction_kind::max>;
  table["reduce_min"] = reduce_forward<Real, reduction_kind::min>;
  table["reduce_prod"] = reduce_forward<Real, reduction_kind::product>;
  table["reduce_sum_grad"] = reduce_gradient<Real, reduction_kind::sum>;
  table["reduce_mean_grad"] = reduce_gradient<Real, reduction_kind::mean>;
  table["reduce_max_grad"] = reduce_gradient<Real, reduction_kind::max>;
  table["reduce_min_grad"] = reduce_gradient<Real, reduction_kind::min>;
  table["reduce_prod_grad"] = reduce_gradient<Real, reduction_kind::product>;
  table["reduce_all"] = reduce_truth<Real, true>;
  table["reduce_any"] = reduce_truth<Real, false>;
}

}}}  // namespace lamina::kernel
