// SPDX-License-Identifier: Apache-2.0
// lamina/operators/pool/pool3d/common.hpp - the windows of pooling operators on volumes and on
// images, which are volumes of depth 1.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/engine/common/call_error.hpp>
#include <lamina/operators/pool/pool2d/common_side.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// The indices of the attributes that describe the windows of an operator.
struct window_attributes {
  int ksize, strides, paddings, global_pooling, adaptive;  // -1: none
};
inline constexpr window_attributes pool3d_attributes{1, 3, 4, 2, 6};
inline constexpr window_attributes indexed_pool_attributes{0, 3, 4, 1, 2};

/// The windows along depth, height and width. An image has one window of one element along the
/// depth.
struct volume_windows {
  pool_side side[3];
  int channels;

  /// `x` has the elements of the windows; `y` has one element per window.
  volume_windows(const operator_call& c, const window_attributes& a, const operand& x,
                 const operand& y)
      : channels(x.dims[1]) {
    const int sides = x.rank - 2, none = 3 - sides;
    const bool whole = a.global_pooling >= 0 && c.flag(a.global_pooling);
    const bool adaptive = a.adaptive >= 0 && c.flag(a.adaptive);
    for (int d = 0; d < 3; ++d) side[d] = {1, 1, 1, 1, 0, false};
    for (int d = 0; d < sides; ++d) {
      const int in = x.dims[2 + d];
      side[none + d] = {in,
                        y.dims[2 + d],
                        whole ? in : c.integer_at(a.ksize, d),
                        whole ? 1 : c.integer_at(a.strides, d),
                        whole ? 0 : c.integer_at(a.paddings, d),
                        adaptive};
    }
  }

  std::ptrdiff_t in_size() const { return size_of_volume(side[0].in, side[1].in, side[2].in); }
  std::ptrdiff_t out_size() const { return size_of_volume(side[0].out, side[1].out, side[2].out); }
  /// The number of elements of a window, including elements outside of the volume.
  std::ptrdiff_t window_size() const {
    return size_of_volume(side[0].size, side[1].size, side[2].size);
  }

  /// Calls f(index of the window, held) for each window. held(g) calls g(position in the channel)
  /// for each element of the window, in order.
  template <class F>
  void for_each_window(F f) const {
    std::ptrdiff_t window = 0;
    for (int z = 0; z < side[0].out; ++z)
      for (int y = 0; y < side[1].out; ++y)
        for (int x = 0; x < side[2].out; ++x, ++window)
          f(window, [&](auto g) {
            for (int i = side[0].first(z); i < side[0].end(z); ++i)
              for (int j = side[1].first(y); j < side[1].end(y); ++j)
                for (int k = side[2].first(x); k < side[2].end(x); ++k)
                  g((static_cast<std::ptrdiff_t>(i) * side[1].in + j) * side[2].in + k);
          });
  }

 private:
  static std::ptrdiff_t size_of_volume(int depth, int height, int width) {
    return static_cast<std::ptrdiff_t>(depth) * height * width;
  }
};

}}}  // namespace lamina::engine
