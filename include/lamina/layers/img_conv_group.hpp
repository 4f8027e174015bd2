// SPDX-License-Identifier: Apache-2.0
// lamina/layers/img_conv_group.hpp - several convolutions followed by a pooling, the block of which
// VGG networks consist.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/conv/layer_conv2d.hpp>
#include <lamina/operators/norm/batch_norm/definition.hpp>
#include <lamina/operators/norm/batch_norm/layer.hpp>
#include <lamina/operators/pool/pool2d/layer.hpp>
#include <lamina/operators/random/dropout/layer.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of img_conv_group.
struct img_conv_group_attr {
  activation act = activation::identity;  // activation after each convolution
  pooling_type type = pooling_type::max;  // or pooling_type::average
  bool batch_norm = false;  // a batch_norm between each convolution and its activation
  float drop_rate = 0;      // with batch_norm: rate of a dropout after each activation
  param_attr param{};       // options of the filters
};

namespace detail {

template <extent2 Size, window Conv, int... Filters>
struct conv_group;
template <extent2 Size, window Conv>
struct conv_group<Size, Conv> {
  template <class V>
  static constexpr V record(V x, const img_conv_group_attr&, int) {
    return x;
  }
};
template <extent2 Size, window Conv, int First, int... More>
struct conv_group<Size, Conv, First, More...> {
  template <class V>
  static constexpr auto record(V x, const img_conv_group_attr& attr, int line) {
    const activation direct = attr.batch_norm ? activation::identity : attr.act;
    auto y = conv2d<First, Size, Conv>(x, {.act = direct, .param = attr.param}, line);
    if (attr.batch_norm) {
      y = layer::batch_norm(y, {.act = attr.act}, line);
      if (attr.drop_rate > 0) y = dropout(y, attr.drop_rate);
    }
    return conv_group<Size, Conv, More...>::record(y, attr, line);
  }
};

}  // namespace detail

/// For each element of `Filters`, a convolution of 3 by 3 with padding 1 and this number of
/// filters; then pool2d<PoolSize, Pool>: `img_conv_group<2, lamina::window{.stride = 2}, 64,
/// 64>(image, {.act = lamina::activation::relu, .batch_norm = true})`. Source: Simonyan and
/// Zisserman 2014. Fluid: nets.img_conv_group.
template <extent2 PoolSize, window Pool, int... Filters, class T, class R, int C, int H, int W>
constexpr auto img_conv_group(variable<T, R, C, H, W> x,
                              const options<img_conv_group_attr, T>& attr = {},
                              int line = __builtin_LINE()) {
  const auto y = detail::conv_group<3, window{.padding = 1}, Filters...>::record(x, attr, line);
  return pool2d<PoolSize, Pool>(y, {.type = attr.type}, line);
}

}}}  // namespace lamina::layer
