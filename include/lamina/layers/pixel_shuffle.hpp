// SPDX-License-Identifier: Apache-2.0
// lamina/layers/pixel_shuffle.hpp - channels become pixels.
#pragma once

#include <lamina/core/config.hpp>

#include <string_view>

#include <lamina/operators/shape/reshape/layer.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of pixel_shuffle.
struct pixel_shuffle_attr {
  std::string_view name{};
};

/// An image [C * Factor^2, H, W] as [C, H * Factor, W * Factor]: out[c, h * Factor + i, w * Factor
/// + j] = x[(c * Factor + i) * Factor + j, h, w]. Source: Shi et al. 2016. PyTorch: pixel_shuffle.
/// Fluid: pixel_shuffle.
template <int Factor, class T, class R, int C, int H, int W>
constexpr auto pixel_shuffle(variable<T, R, C, H, W> x,
                             const options<pixel_shuffle_attr, T>& attr = {}) {
  constexpr bool divides = Factor > 0 && C % (Factor > 0 ? Factor * Factor : 1) == 0;
  static_assert(check<divides, gets<Factor>, gets_type<variable<T, R, C, H, W>>>,
                "lamina: pixel_shuffle: the square of the factor divides the number of channels");
  if constexpr (divides) {
    constexpr int out = C / (Factor * Factor);
    layer_helper layer(*x.builder, "pixel_shuffle", attr.name);
    if constexpr (has_rows<R>)
      return layer.returns(reshape<out, H * Factor, W * Factor>(
          transpose<0, 1, 4, 2, 5, 3>(reshape<out, Factor, Factor, H, W>(x))));
    else
      return layer.returns(reshape<out, H * Factor, W * Factor>(
          transpose<0, 3, 1, 4, 2>(reshape<out, Factor, Factor, H, W>(x))));
  } else {
    return x;
  }
}

}}}  // namespace lamina::layer
