// SPDX-License-Identifier: Apache-2.0
// lamina/layers/sequence_conv_pool.hpp - a convolution over sequences, pooled to one row per
// sequence.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/sequence/conv/layer.hpp>
#include <lamina/operators/sequence/pool/layer.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of sequence_conv_pool.
struct sequence_conv_pool_attr {
  activation act = activation::sigmoid;
  pooling_type type = pooling_type::max;
  param_attr param{};       // options of the filter
  bool bias = true;         // false: no bias
  param_attr bias_param{};  // options of the bias
  float pad_value = 0;      // the result for a sequence without rows
  std::string_view name{};  // name of the convolution
};

/// sequence_pool(sequence_conv(x)), a row [NumFilters] per sequence. By default, it is the largest
/// result of each filter over all windows of FilterSize elements. Source: Kim 2014, "Convolutional
/// Neural Networks for Sentence Classification". Fluid: nets.sequence_conv_pool.
template <int NumFilters, int FilterSize, class T, class R, int... D>
constexpr auto sequence_conv_pool(variable<T, R, D...> x,
                                  const options<sequence_conv_pool_attr, T>& attr = {},
                                  int line = __builtin_LINE()) {
  const auto found = sequence_conv<NumFilters, FilterSize>(x,
                                                           {.act = attr.act,
                                                            .param = attr.param,
                                                            .bias = attr.bias,
                                                            .bias_param = attr.bias_param,
                                                            .name = attr.name},
                                                           line);
  return sequence_pool(found, {.type = attr.type, .pad_value = attr.pad_value});
}

}}}  // namespace lamina::layer
