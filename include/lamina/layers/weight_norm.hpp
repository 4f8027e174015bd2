// SPDX-License-Identifier: Apache-2.0
// lamina/layers/weight_norm.hpp - weights as directions with trained lengths.
#pragma once

#include <lamina/core/config.hpp>

#include <string_view>

#include <lamina/layers/layer_helper.hpp>
#include <lamina/operators/elementwise/binary/layer.hpp>
#include <lamina/operators/norm/norm/layer.hpp>
#include <lamina/operators/shape/reshape/layer.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of weight_norm.
struct weight_norm_attr {
  param_attr param{};  // the lengths g, at first 1
  std::string_view name{};
};

/// g v / |v|: the weight v without rows, with a trained length g [N] for each of the N indices of
/// dimension Dim. |v| is the L2 norm over all other dimensions; where it is 0, the result is 0, and
/// so is the gradient to v. The default, the last dimension, gives one length per output if v is a
/// weight [inputs, outputs] by which matmul multiplies; PyTorch's weights of Linear are transposed,
/// so its default is 0. Both v and g get gradients. Source: Salimans and Kingma 2016. PyTorch:
/// nn.utils.parametrizations.weight_norm, which begins with g = |v| and has g as original0, v as
/// original1.
template <int Dim = -1, class T, class R, int... D>
constexpr auto weight_norm(variable<T, R, D...> v, const options<weight_norm_attr, T>& attr = {},
                           int line = __builtin_LINE()) {
  using in = variable<T, R, D...>;
  constexpr int rank = static_cast<int>(sizeof...(D)), dim = dimension(Dim, rank);
  constexpr bool fits = detail::is_real<T> && !has_rows<R> && rank >= 2 && dim >= 0;
  static_assert(check<fits, gets<Dim>, gets_type<in>>,
                "lamina: weight_norm: a floating point parameter with two dimensions or more, and "
                "one of these dimensions");
  if constexpr (fits) {
    constexpr extents whole = whole_shape<in>;
    constexpr int count = whole.at[dim];
    constexpr int before = [] {
      int n = 1;
      for (int i = 0; i < dim; ++i) n *= whole_shape<in>.at[i];
      return n;
    }();
    constexpr int after = (D * ... * 1) / (count * before);
    layer_helper layer(*v.builder, "weight_norm", attr.name);
    const variable<T, once, count> length{
        v.builder,
        layer.parameter(attr.param, ".w_", {count}, dtype_of<T>, init::constant(1), line)};
    const auto scaled = [&](auto directions) {
      return elementwise_mul<0>(l2_normalize<1>(directions, {.epsilon = 0}, line), length, {},
                                line);
    };
    if constexpr (after == 1) {
      const auto columns = l2_normalize<0>(reshape<before, count>(v), {.epsilon = 0}, line);
      return layer.returns(reshape<D...>(elementwise_mul(columns, length, {}, line)));
    } else if constexpr (before == 1) {
      return layer.returns(reshape<D...>(scaled(reshape<count, after>(v))));
    } else {
      const auto turned = transpose<1, 0, 2>(reshape<before, count, after>(v));
      const auto made =
          reshape<count, before, after>(scaled(reshape<count, before * after>(turned)));
      return layer.returns(reshape<D...>(transpose<1, 0, 2>(made)));
    }
  } else {
    return v;
  }
}

}}}  // namespace lamina::layer
