// SPDX-License-Identifier: Apache-2.0
// test/operators/conv/conv_rows.hpp - one row per convolution.
#pragma once

#include <laws/operator_row.hpp>

#include <lamina/operators/conv/layer_conv2d_transpose.hpp>
#include <lamina/operators/conv/layer_conv3d.hpp>

namespace rows {

template <class To>
void conv(To& to) {
  of_two_images(to, "conv2d", [](auto x) { return layer::conv2d<3, 3>(x); });
  of_two_images(to, "conv2d_stride",
                [](auto x) { return layer::conv2d<3, 3, window{.stride = 2, .padding = 1}>(x); });
  of_images(to, "conv2d_groups", [](auto x) {
    return layer::conv2d<4, 3, window{.padding = extent2{1, 0}, .dilation = 2, .groups = 2}>(x);
  });
  of_images(to, "conv2d_transpose", [](auto x) {
    return layer::conv2d_transpose<3, 3, window{.stride = 2, .padding = 1}>(x);
  });
  of_images(to, "conv2d_transpose_size", [](auto x) {
    return layer::conv2d_transpose<4, 3, window{.stride = 2, .groups = 2}, extent2{12, 13}>(x);
  });
  to.write("conv3d", []<class T>(block& main) {
    auto x = layer::data<"x", T, 2, 4, 5, 3>(main);
    return squared(layer::conv3d<3, 2>(x, {.act = lamina::activation::relu}));
  });
  of_images(to, "depthwise_conv2d", [](auto x) {
    return layer::conv2d<8, 3, window{.padding = 1, .groups = 4}>(x, {.bias = false});
  });
}

}  // namespace rows
