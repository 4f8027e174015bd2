// SPDX-License-Identifier: Apache-2.0
// test/operators/resize/resize_rows.hpp - one row per way to another size of an image.
#pragma once

#include <laws/operator_row.hpp>

#include <lamina/operators/resize/layer.hpp>

namespace rows {

template <class To>
void resize(To& to) {
  of_images(to, "bilinear_interp", [](auto x) { return layer::resize_bilinear<extent2{8, 9}>(x); });
  of_images(to, "bilinear_interp_centred", [](auto x) {
    return layer::resize_bilinear<extent2{3, 9}>(x, {.align_corners = false, .align_mode = 0});
  });
  of_images(to, "bilinear_interp_edge", [](auto x) {
    return layer::resize_bilinear<extent2{8, 4}>(x, {.align_corners = false});
  });
  of_images(to, "nearest_interp", [](auto x) {
    return std::tuple{layer::resize_nearest<extent2{7, 9}>(x),
                      layer::resize_nearest<extent2{10, 3}>(x, {.align_corners = false})};
  });
  of_images(to, "pad2d", [](auto x) {
    return std::tuple{layer::pad2d<1, 0, 2, 1>(x, {.value = 0.5f}),
                      layer::pad2d<1, 2, 3, 0, lamina::pad_mode::reflect>(x),
                      layer::pad2d<0, 1, 1, 2, lamina::pad_mode::edge>(x)};
  });
}

}  // namespace rows
