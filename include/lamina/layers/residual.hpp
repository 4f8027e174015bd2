// SPDX-License-Identifier: Apache-2.0
// lamina/layers/residual.hpp - the blocks of residual networks.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/conv/layer_conv2d.hpp>
#include <lamina/operators/elementwise/binary/layer_arithmetic.hpp>
#include <lamina/operators/norm/batch_norm/layer.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// act(batch_norm(conv2d<Filters, Size, Window>(x))). The convolution has no bias, because
/// batch_norm has one. PaddlePaddle's book: conv_bn_layer.
template <int Filters, extent2 Size, window Window = window{}, class T, class R, int C, int H,
          int W>
constexpr auto conv_bn(variable<T, R, C, H, W> x, activation act = activation::relu,
                       int line = __builtin_LINE()) {
  return batch_norm(conv2d<Filters, Size, Window>(x, {.bias = false}, line), {.act = act}, line);
}

namespace detail {

/// The shortcut of a residual block: x, or, if the block changes the shape, a convolution of x of 1
/// by 1.
template <int Filters, int Stride, class T, class R, int C, int H, int W>
constexpr auto shortcut(variable<T, R, C, H, W> x, int line) {
  if constexpr (C == Filters && Stride == 1)
    return x;
  else
    return conv_bn<Filters, 1, window{.stride = Stride}>(x, activation::identity, line);
}
template <class V>
constexpr V add_relu(V a, V b) {
  layer_helper layer(*a.builder, operators::elementwise_add::type);
  const int sum = layer.output_like(a.id);
  a.builder->add_operator(schema_of<operators::elementwise_add>(), {a.id, b.id}, {sum},
                          a.builder->attribute_list(-1));
  return layer.returns(V{a.builder, apply_activation(layer, activation::relu, sum)});
}

}  // namespace detail

/// relu(x + conv_bn(conv_bn(x))) with two convolutions of 3 by 3; the first has the stride
/// `Stride`. If the shape changes, a convolution of 1 by 1 of x replaces x in the sum. Source: He
/// et al. 2015, figure 5 (left). PaddlePaddle's book: basicblock.
template <int Filters, int Stride = 1, class T, class R, int C, int H, int W>
constexpr auto basic_block(variable<T, R, C, H, W> x, int line = __builtin_LINE()) {
  const auto first =
      conv_bn<Filters, 3, window{.stride = Stride, .padding = 1}>(x, activation::relu, line);
  const auto second = conv_bn<Filters, 3, window{.padding = 1}>(first, activation::identity, line);
  return detail::add_relu(second, detail::shortcut<Filters, Stride>(x, line));
}

/// relu(x + f(x)) where f consists of three conv_bn: 1 by 1 to `Filters` channels, 3 by 3, and 1 by
/// 1 to 4 * Filters channels. Source: He et al. 2015, figure 5 (right). PaddlePaddle's book:
/// bottleneck.
template <int Filters, int Stride = 1, class T, class R, int C, int H, int W>
constexpr auto bottleneck_block(variable<T, R, C, H, W> x, int line = __builtin_LINE()) {
  const auto narrow = conv_bn<Filters, 1, window{.stride = Stride}>(x, activation::relu, line);
  const auto seen = conv_bn<Filters, 3, window{.padding = 1}>(narrow, activation::relu, line);
  const auto wide = conv_bn<4 * Filters, 1>(seen, activation::identity, line);
  return detail::add_relu(wide, detail::shortcut<4 * Filters, Stride>(x, line));
}

}}}  // namespace lamina::layer
