// SPDX-License-Identifier: Apache-2.0
// lamina/operators/region/patch/common.hpp - the windows of a pyramid and of an
// im2sequence.
#pragma once

#include <lamina/core/config.hpp>

#include <string_view>

#include <lamina/engine/common/call_error.hpp>
#include <lamina/operators/region/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// The attributes of an spp, and the shape of its images.
struct pyramid {
  int levels, channels, height, width;
  bool average;

  pyramid(const operator_call& c, const operand& x)
      : levels(c.integer(0)), channels(x.dims[1]), height(x.dims[2]), width(x.dims[3]) {
    const std::string_view type = text_of(c, 1);
    if (type != "max" && type != "avg")
      fail(c, {"expected a pooling_type 'max' or 'avg', found '", type, "'"});
    if (levels < 1) fail(c, {"expected a positive pyramid_height, found ", levels});
    average = type == "avg";
  }
  template <class Real>
  static LAMINA_INLINE LAMINA_FN Real size(image_range rows, image_range columns) {
    return static_cast<Real>((rows.end - rows.begin) * (columns.end - columns.begin));
  }
};

/// Windows of `kernel` elements over the channels of an image, row by row.
struct patch_grid {
  int height, width, kernel[2], stride[2], padding[4], rows, columns;  // padding: above, left ...
  int channels;

  patch_grid(const operator_call& c, const operand& x)
      : height(x.dims[2]), width(x.dims[3]), channels(x.dims[1]) {
    if (c.list_size(0) != 2 || c.list_size(1) != 2 || c.list_size(2) != 4)
      fail(c, {"expected 2 kernels, 2 strides and 4 paddings, found ", c.list_size(0), ", ",
               c.list_size(1), " and ", c.list_size(2)});
    for (int d = 0; d < 2; ++d) kernel[d] = c.integer_at(0, d), stride[d] = c.integer_at(1, d);
    for (int d = 0; d < 4; ++d) padding[d] = c.integer_at(2, d);
    rows = (height + padding[0] + padding[2] - kernel[0]) / stride[0] + 1;
    columns = (width + padding[1] + padding[3] - kernel[1]) / stride[1] + 1;
  }
  int windows() const { return rows * columns; }
};

}}}  // namespace lamina::engine
