// SPDX-License-Identifier: Apache-2.0
// lamina/operators/pool/pool2d/definition.hpp - pooling over the windows of images.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Out = the largest element ("max") or the average ("avg") of each window of an image X [N, C, H,
/// W]. Out [N, C, OH, OW] has one element per window. Along the height, window y covers ksize rows
/// from row y * stride - padding on; the width is treated in the same way. With global_pooling, the
/// only window covers the whole image. With adaptive, ksize is [OH, OW], and window y covers the
/// rows floor(y H / OH) to ceil((y + 1) H / OH) - 1. Padding is never the largest element. An
/// average counts padding as zeros if `exclusive` is false, else it divides by the number of
/// elements of the image in the window. OH is (H - ksize + 2 padding) / stride + 1, rounded up with
/// ceil_mode, else down. If several elements are the largest, the first of them gets the gradient.
/// Fluid: pool2d.
struct pool2d : operator_definition {
  static constexpr const char* type = "pool2d";
  static constexpr auto inputs = slots_x;
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 9> attributes{
      {{"pooling_type", attribute_type::string, 0, "max"},
       {"ksize", attribute_type::integers},
       {"global_pooling", attribute_type::boolean, 0},
       {"strides", attribute_type::integers},
       {"paddings", attribute_type::integers},
       {"exclusive", attribute_type::boolean, 1},
       {"adaptive", attribute_type::boolean, 0},
       {"ceil_mode", attribute_type::boolean, 0},
       {"data_format", attribute_type::string, 0, "NCHW"}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 1;
  static constexpr std::uint32_t gradient_outputs = 1;
  static constexpr auto rows = row_rule::independent;
  static constexpr auto gradient_rows = row_rule::independent;
};

using pool_pool2d_operators = operator_list<pool2d>;

}}}  // namespace lamina::operators
