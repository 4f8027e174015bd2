// SPDX-License-Identifier: Apache-2.0
// lamina/operators/conv/definition.hpp - convolutions of images and volumes.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Output[n, o, y, x] = Bias[o] + ResidualData[n, o, y, x] + the sum over c, i, j of Input[n, c, y
/// * stride - padding + i * dilation, x * stride - padding + j * dilation] * Filter[o, c, i, j].
/// Elements of Input outside of the image count as 0; an absent Bias or ResidualData counts as 0.
/// Input is [N, C, H, W], Filter [O, C / groups, kh, kw] and Output [N, O, (H + 2 padding -
/// (dilation (kh - 1) + 1)) / stride + 1, ...]. If `groups` is more than 1, the channels of Input
/// and Output are divided into as many groups, and the output channels of a group read only the
/// input channels of the same group. Fluid: conv2d.
struct conv2d : operator_definition {
  static constexpr const char* type = "conv2d";
  static constexpr std::array<slot_desc, 4> inputs{
      {{"Input"}, {"Filter"}, {"Bias", false, true}, {"ResidualData", false, true}}};
  static constexpr std::array<slot_desc, 1> outputs{{{"Output"}}};
  static constexpr std::array<attribute_desc, 6> attributes{
      {{"strides", attribute_type::integers},
       {"paddings", attribute_type::integers},
       {"dilations", attribute_type::integers},
       {"groups", attribute_type::integer, 1},
       {"data_format", attribute_type::string, 0, "NCHW"},
       {"padding_algorithm", attribute_type::string, 0, "EXPLICIT"}}};
  static constexpr std::uint32_t differentiable = 15;
  static constexpr std::uint32_t gradient_inputs = 15;
  static constexpr auto products = product_rule::convolution;
};

/// A conv2d with one group per input channel. Fluid: depthwise_conv2d.
struct depthwise_conv2d : conv2d {
  static constexpr const char* type = "depthwise_conv2d";
};

/// A conv2d of volumes: Input is [N, C, D, H, W], Filter [O, C / groups, kd, kh, kw]. Fluid:
/// conv3d.
struct conv3d : conv2d {
  static constexpr const char* type = "conv3d";
  static constexpr std::array<attribute_desc, 6> attributes{
      {{"strides", attribute_type::integers},
       {"paddings", attribute_type::integers},
       {"dilations", attribute_type::integers},
       {"groups", attribute_type::integer, 1},
       {"data_format", attribute_type::string, 0, "NCDHW"},
       {"padding_algorithm", attribute_type::string, 0, "EXPLICIT"}}};
};

/// The transposed convolution: computes from Input what conv2d computes as the gradient of its
/// input from the gradient of its output, and adds Bias [O]. Input is [N, C, H, W], Filter [C, O /
/// groups, kh, kw] and Output [N, O, (H - 1) stride - 2 padding + dilation (kh - 1) + 1, ...]. If
/// output_size is given, it replaces the height and width of Output; it must not be smaller than
/// these extents and must exceed them by less than `stride`. Fluid: conv2d_transpose.
struct conv2d_transpose : operator_definition {
  static constexpr const char* type = "conv2d_transpose";
  static constexpr std::array<slot_desc, 3> inputs{{{"Input"}, {"Filter"}, {"Bias", false, true}}};
  static constexpr std::array<slot_desc, 1> outputs{{{"Output"}}};
  static constexpr std::array<attribute_desc, 7> attributes{
      {{"output_size", attribute_type::integers},
       {"groups", attribute_type::integer, 1},
       {"dilations", attribute_type::integers},
       {"strides", attribute_type::integers},
       {"paddings", attribute_type::integers},
       {"data_format", attribute_type::string, 0, "NCHW"},
       {"padding_algorithm", attribute_type::string, 0, "EXPLICIT"}}};
  static constexpr std::uint32_t differentiable = 7;
  static constexpr std::uint32_t gradient_inputs = 7;
  static constexpr auto products = product_rule::transposed_convolution;
};

using conv_operators = operator_list<conv2d, depthwise_conv2d, conv3d, conv2d_transpose>;

}}}  // namespace lamina::operators
