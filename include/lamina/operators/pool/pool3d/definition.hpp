// SPDX-License-Identifier: Apache-2.0
// lamina/operators/pool/pool3d/definition.hpp - pool3d, max_pool2d_with_index and its inverse,
// unpool.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>
#include <lamina/operators/pool/pool2d/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// A pool2d of volumes: X is [N, C, D, H, W], Out [N, C, OD, OH, OW]. Fluid: pool3d.
struct pool3d : pool2d {
  static constexpr const char* type = "pool3d";
  static constexpr std::array<attribute_desc, 9> attributes{
      {{"pooling_type", attribute_type::string, 0, "max"},
       {"ksize", attribute_type::integers},
       {"global_pooling", attribute_type::boolean, 0},
       {"strides", attribute_type::integers},
       {"paddings", attribute_type::integers},
       {"exclusive", attribute_type::boolean, 1},
       {"adaptive", attribute_type::boolean, 0},
       {"ceil_mode", attribute_type::boolean, 0},
       {"data_format", attribute_type::string, 0, "NCDHW"}}};
};

/// Out = the largest element of each window of an image, as in pool2d without ceil_mode. Mask,
/// int32, = the position of this element in its channel; among equal elements, the position of the
/// first. Fluid: max_pool2d_with_index.
struct max_pool2d_with_index : operator_definition {
  static constexpr const char* type = "max_pool2d_with_index";
  static constexpr auto inputs = slots_x;
  static constexpr std::array<slot_desc, 2> outputs{{{"Out"}, {"Mask"}}};
  static constexpr std::array<attribute_desc, 5> attributes{
      {{"ksize", attribute_type::integers},
       {"global_pooling", attribute_type::boolean, 0},
       {"adaptive", attribute_type::boolean, 0},
       {"strides", attribute_type::integers},
       {"paddings", attribute_type::integers}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 1;
  static constexpr std::uint32_t gradient_outputs = 2;
};

/// Out = an image that has each element of X [N, C, H, W] at the element's position in the channel,
/// and zeros elsewhere. Indices holds the positions, as Mask of max_pool2d_with_index does; if
/// several elements of a channel have the same position, the last one is used. Out is [N, C, OH,
/// OW] with OH = (H - 1) stride - 2 padding + ksize. Source: Zeiler and Fergus 2014. Fluid: unpool.
struct unpool : operator_definition {
  static constexpr const char* type = "unpool";
  static constexpr std::array<slot_desc, 2> inputs{{{"X"}, {"Indices"}}};
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 4> attributes{
      {{"ksize", attribute_type::integers},
       {"strides", attribute_type::integers},
       {"paddings", attribute_type::integers},
       {"unpooling_type", attribute_type::string, 0, "max"}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 3;
  static constexpr std::uint32_t gradient_outputs = 1;
};

using pool_pool3d_operators = operator_list<pool3d, max_pool2d_with_index, unpool>;

}}}  // namespace lamina::operators
