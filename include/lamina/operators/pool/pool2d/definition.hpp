// SPDX-License-Identifier: Apache-2.0
// lamina/operators/pool/pool2d/definition.hpp - pooling over the windows of images.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// The largest element ("max") or the average ("avg") of each window of an image [N, C, H, W]. Out
/// [N, C, OH, OW] has one element per window. Row y of Out reads ksize rows that start at y *
/// stride - padding. With global_pooling it reads all rows. With adaptive, ksize is [OH, OW], and
/// row y reads the rows from floor(y H / OH) to before ceil((y + 1) H / OH). Padding is never the
/// largest element; an average counts padding unless `exclusive`. OH is (H - ksize + 2 padding) /
/// stride + 1, rounded up with ceil_mode, else down. The gradient of a largest element goes to its
/// first position. Fluid: pool2d.
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
