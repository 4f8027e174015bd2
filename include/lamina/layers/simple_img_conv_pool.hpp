// SPDX-License-Identifier: Apache-2.0
// lamina/layers/simple_img_conv_pool.hpp - a convolution followed by a pooling.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/conv/layer_conv2d.hpp>
#include <lamina/operators/pool/pool2d/layer.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of simple_img_conv_pool.
struct simple_img_conv_pool_attr {
  activation act = activation::identity;
  pooling_type type = pooling_type::max;  // or pooling_type::average
  param_attr param{};                     // options of the filters
  bool bias = true;                       // false: no bias
  param_attr bias_param{};                // options of the bias
  std::string_view name{};                // name of the convolution
};

/// pool2d<PoolSize, Pool>(conv2d<Filters, Size, Conv>(x)):
/// `simple_img_conv_pool<20, 5, 2, lamina::window{.stride = 2}>(image, {.act =
/// lamina::activation::relu})`. Fluid: nets.simple_img_conv_pool.
template <int Filters, extent2 Size, extent2 PoolSize, window Pool = window{},
          window Conv = window{}, class T, class R, int C, int H, int W>
constexpr auto simple_img_conv_pool(variable<T, R, C, H, W> x,
                                    const options<simple_img_conv_pool_attr, T>& attr = {},
                                    int line = __builtin_LINE()) {
  const auto found = conv2d<Filters, Size, Conv>(x,
                                                 {.act = attr.act,
                                                  .param = attr.param,
                                                  .bias = attr.bias,
                                                  .bias_param = attr.bias_param,
                                                  .name = attr.name},
                                                 line);
  return pool2d<PoolSize, Pool>(found, {.type = attr.type}, line);
}

}}}  // namespace lamina::layer
