// SPDX-License-Identifier: Apache-2.0
// lamina/layers/log_softmax.hpp - logarithms of sums of exponentials and of softmax.
#pragma once

#include <lamina/core/config.hpp>

#include <string_view>

#include <lamina/layers/stop_gradient.hpp>
#include <lamina/operators/activation/simple/layer.hpp>
#include <lamina/operators/elementwise/assign/layer.hpp>
#include <lamina/operators/elementwise/binary/layer.hpp>
#include <lamina/operators/elementwise/clip/layer.hpp>
#include <lamina/operators/elementwise/unary/layer.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of logsumexp and log_softmax.
struct log_softmax_attr {
  std::string_view name{};
};

namespace detail {

/// The largest element along Axis, which is kept with extent 1. It is subtracted from x, so that no
/// exponential overflows. It is limited to finite numbers, because infinity less infinity is NaN.
/// It needs no gradient, because the result does not depend on what is subtracted.
template <int Axis, class V>
constexpr auto kept_largest(V x) {
  constexpr double most = 3.4028234663852886e38;
  return clip(stop_gradient(reduce_max<Axis>(x, keep_dim)), -most, most);
}
/// log(sum e^x) along Axis, which is kept with extent 1, for x without large elements.
template <int Axis, class V>
constexpr auto kept_log_of_sum(V x) {
  return log(reduce_sum<Axis>(exp(x), keep_dim));
}
template <int Axis, class V>
constexpr bool is_inner_axis() {
  constexpr int axis = dimension(Axis, whole_shape<V>.rank);
  return is_real<typename V::value_type> && axis >= 0 && whole_shape<V>.at[axis < 0 ? 0 : axis] > 0;
}

}  // namespace detail

/// log(sum_i e^x_i) along dimension Axis of the whole shape, without overflow for any finite x. The
/// dimension goes; with `keep_dim` it stays with extent 1. Minus infinity if all x_i are. The
/// gradient is softmax(x). PyTorch: logsumexp.
template <int Axis = -1, class T, class R, int... D>
constexpr auto logsumexp(variable<T, R, D...> x, keep_dim_t,
                         const options<log_softmax_attr, T>& attr = {}) {
  using in = variable<T, R, D...>;
  constexpr bool inner = detail::is_inner_axis<Axis, in>();
  static_assert(check<inner, gets<Axis>, gets_type<in>>,
                "lamina: logsumexp: floating point, and the axis is an inner dimension, not the "
                "rows");
  if constexpr (inner) {
    layer_helper layer(*x.builder, "logsumexp", attr.name);
    const auto largest = detail::kept_largest<Axis>(x);
    return layer.returns(
        elementwise_add(detail::kept_log_of_sum<Axis>(elementwise_sub(x, largest)), largest));
  } else {
    return x;
  }
}
template <int Axis = -1, class T, class R, int... D>
constexpr auto logsumexp(variable<T, R, D...> x, const options<log_softmax_attr, T>& attr = {}) {
  using in = variable<T, R, D...>;
  layer_helper layer(*x.builder, "logsumexp", attr.name);
  const auto kept = logsumexp<Axis>(x, keep_dim);
  constexpr extents whole = whole_shape<in>;
  if constexpr (whole.rank - int{whole.has_rows()} == 1)
    return layer.returns(kept);  // a row of one number has the shape [1]
  else
    return layer.returns(squeeze<Axis>(kept));
}

/// log(softmax(x)) = x - log(sum_i e^x_i) along dimension Axis of the whole shape. Unlike
/// log(softmax(x)) it is finite for all finite x. The cost of a classifier needs no log_softmax:
/// softmax_with_cross_entropy takes logits. PyTorch: log_softmax.
template <int Axis = -1, class T, class R, int... D>
constexpr auto log_softmax(variable<T, R, D...> x, const options<log_softmax_attr, T>& attr = {},
                           int line = __builtin_LINE()) {
  using in = variable<T, R, D...>;
  constexpr bool inner = detail::is_inner_axis<Axis, in>();
  static_assert(check<inner, gets<Axis>, gets_type<in>>,
                "lamina: log_softmax: floating point, and the axis is an inner dimension, not the "
                "rows");
  if constexpr (inner) {
    layer_helper layer(*x.builder, "log_softmax", attr.name);
    // The sum of the exponentials is subtracted last: added to a large element it would be rounded.
    const auto less = elementwise_sub(x, detail::kept_largest<Axis>(x), {}, line);
    return layer.returns(elementwise_sub(less, detail::kept_log_of_sum<Axis>(less), {}, line));
  } else {
    return x;
  }
}

}}}  // namespace lamina::layer
