// SPDX-License-Identifier: Apache-2.0
// lamina/layers/window.hpp - the positions of the windows of convolutions and pooling layers.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/messages/check.hpp>
#include <lamina/layers/layer_helper.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// A height and a width: `5` is {5, 5}.
struct extent2 {
  int height, width;

  constexpr extent2(int both) : height(both), width(both) {}
  constexpr extent2(int h, int w) : height(h), width(w) {}
  constexpr bool operator==(const extent2&) const = default;
  /// Whether height and width are at least n.
  constexpr bool least(int n) const { return height >= n && width >= n; }
};

/// The positions of the windows of a layer: `window{.stride = 2, .padding = {1, 0}}`.
struct window {
  extent2 stride = 1;      // distance from one window to the next
  extent2 padding = 0;     // zeros around the image, on each side
  extent2 dilation = 1;    // distance from one element of a filter to the next
  int groups = 1;          // number of independent groups of channels
  bool ceil_mode = false;  // pooling: the last window may extend beyond the padding

  constexpr bool operator==(const window&) const = default;
};

namespace layer::detail {

/// Returns the number of windows of `size` elements along one side of an image.
constexpr int windows_along(int image, int size, int stride, int padding, int dilation,
                            bool ceil_mode) {
  if (stride < 1) return 0;
  const int free = image + 2 * padding - (dilation * (size - 1) + 1);
  return free < 0 ? 0 : (free + (ceil_mode ? stride - 1 : 0)) / stride + 1;
}
/// Returns the numbers of windows along the height and the width of an image.
template <int H, int W>
constexpr extent2 windows_in(extent2 size, const window& w) {
  return {
      windows_along(H, size.height, w.stride.height, w.padding.height, w.dilation.height,
                    w.ceil_mode),
      windows_along(W, size.width, w.stride.width, w.padding.width, w.dilation.width, w.ceil_mode)};
}

constexpr attribute_value pair_attribute(program_builder& b, extent2 e) {
  const int both[] = {e.height, e.width};
  return b.integer_list(both, 2);
}

}  // namespace layer::detail
}}  // namespace lamina
