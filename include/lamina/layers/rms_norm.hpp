// SPDX-License-Identifier: Apache-2.0
// lamina/layers/rms_norm.hpp - normalisation by the root of the mean square.
#pragma once

#include <lamina/core/config.hpp>

#include <string_view>

#include <lamina/layers/layer_helper.hpp>
#include <lamina/operators/elementwise/binary/layer.hpp>
#include <lamina/operators/elementwise/sum/layer.hpp>
#include <lamina/operators/elementwise/unary/layer.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of rms_norm.
struct rms_norm_attr {
  float epsilon = 1e-6f;
  bool scale = true;  // a trained factor per element of the last dimension, at first 1
  param_attr param{};
  std::string_view name{};
};

/// x / sqrt(mean(x^2) + epsilon) * g, where the mean is over the last dimension, of extent N, and g
/// [N] is a parameter. Source: Zhang and Sennrich 2019. PyTorch: nn.RMSNorm, whose default epsilon
/// is that of the type.
template <class T, class R, int... D>
constexpr auto rms_norm(variable<T, R, D...> x, const options<rms_norm_attr, T>& attr = {},
                        int line = __builtin_LINE()) {
  using in = variable<T, R, D...>;
  constexpr extents whole = whole_shape<in>;
  constexpr bool fits = detail::is_real<T> && whole.at[whole.rank - 1] > 0;
  static_assert(check<fits, gets_type<in>>,
                "lamina: rms_norm: floating point with an inner dimension");
  if constexpr (fits) {
    constexpr int width = whole.at[whole.rank - 1];
    x.builder->require_option(attr.epsilon >= 0, line, "rms_norm: epsilon >= 0");
    layer_helper layer(*x.builder, "rms_norm", attr.name);
    const auto mean_square = reduce_mean<-1>(square(x), keep_dim);
    const auto size = sqrt(scale(mean_square, 1, {.bias = attr.epsilon}));
    const auto y = elementwise_div(x, size, {}, line);
    if (!attr.scale) return layer.returns(y);
    const variable<T, once, width> factor{
        x.builder,
        layer.parameter(attr.param, ".w_", {width}, dtype_of<T>, init::constant(1), line)};
    return layer.returns(elementwise_mul(y, factor, {}, line));
  } else {
    return x;
  }
}

}}}  // namespace lamina::layer
