// SPDX-License-Identifier: Apache-2.0
// lamina/operators/conv/common.hpp - the shape of a convolution: the extents of two images and of
// the filter that relates them.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/common/call_error.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// The indices of the attributes with strides, paddings, dilations and groups, in this order.
inline constexpr int conv_attributes[4] = {0, 1, 2, 3};
inline constexpr int conv_transpose_attributes[4] = {3, 4, 2, 1};

/// One dimension (depth, height or width) of a convolution. `large` is the extent of the padded
/// image, which is the input of a convolution or the output of a transposed convolution; `smaller`
/// is the extent of the other image.
struct conv_side {
  int large = 1, smaller = 1, filter = 1;
  int stride = 1, padding = 0, dilation = 1;
};

/// The shape of a convolution. The images are volumes; two-dimensional images are volumes of depth
/// 1.
struct conv_shape {
  int groups = 1, large_channels = 1, small_channels = 1;  // channels per group
  conv_side side[3];                                       // depth, height, width

  conv_shape() = default;
  /// Sets only the members that follow from the filter: the channels and the extents of the filter.
  constexpr conv_shape(const int* filter_dims, int rank, int group_count)
      : groups(group_count),
        large_channels(filter_dims[1]),
        small_channels(filter_dims[0] / group_count) {
    for (int d = 2; d < rank; ++d) side[3 - (rank - 2) + d - 2].filter = filter_dims[d];
  }
  /// Reads strides, paddings, dilations and groups from the attributes with the indices
  /// `attribute`.
  conv_shape(const operator_call& c, const operand& large, const operand& smaller,
             const operand& filter, const int (&attribute)[4])
      : groups(c.integer(attribute[3])) {
    const int sides = filter.rank - 2;
    for (int i = 0; i < 3; ++i)
      if (c.list_size(attribute[i]) != sides)
        fail(c, {"expected ", sides, " strides, paddings and dilations, found ",
                 c.list_size(attribute[i])});
    large_channels = filter.dims[1];
    small_channels = filter.dims[0] / groups;
    if (large.dims[1] != groups * large_channels || smaller.dims[1] != filter.dims[0])
      fail(c, {"expected images of ", groups * large_channels, " and ", filter.dims[0],
               " channels, found ", large.dims[1], " and ", smaller.dims[1]});
    for (int d = 0; d < sides; ++d)
      side[3 - sides + d] = {large.dims[2 + d],
                             smaller.dims[2 + d],
                             filter.dims[2 + d],
                             c.integer_at(attribute[0], d),
                             c.integer_at(attribute[1], d),
                             c.integer_at(attribute[2], d)};
  }

  constexpr int taps() const { return side[0].filter * side[1].filter * side[2].filter; }
  /// The number of elements of a channel of the large and of the smaller image.
  constexpr int large_size() const { return side[0].large * side[1].large * side[2].large; }
  constexpr int small_size() const { return side[0].smaller * side[1].smaller * side[2].smaller; }
};

}}}  // namespace lamina::engine
