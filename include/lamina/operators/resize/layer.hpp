// SPDX-License-Identifier: Apache-2.0
// lamina/operators/resize/layer.hpp - resize_bilinear and resize_nearest, which resize images, and
// pad2d, which pads them.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/one_operator.hpp>
#include <lamina/layers/window.hpp>
#include <lamina/operators/resize/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The elements that pad2d adds around an image: a constant, the mirrored image, or the nearest
/// elements of the image.
enum class pad_mode : std::uint8_t { constant, reflect, edge };

namespace layer {

/// Options of resize_bilinear and resize_nearest.
struct resize_attr {
  bool align_corners = true;  // the corner elements of both images coincide
  int align_mode = 1;         // 0: positions are element centres, unless align_corners
  std::string_view name{};
};

/// Options of pad2d.
struct pad2d_attr {
  float value = 0;  // for pad_mode::constant
  std::string_view name{};
};

namespace detail {
template <class Op, extent2 Size, class T, class R, int C, int H, int W>
constexpr auto resized(variable<T, R, C, H, W> x, const char* key, const resize_attr& attr) {
  constexpr bool good = is_real<T> && has_rows<R> && Size.least(1);
  static_assert(check<good, gets<Size.height, Size.width>, gets_type<variable<T, R, C, H, W>>>,
                "lamina: resize: the images are floating point, one per row, the new size is "
                "positive");
  using result = variable<T, R, C, (good ? Size.height : H), (good ? Size.width : W)>;
  program_builder& b = *x.builder;
  layer_helper layer(b, key, attr.name);
  const auto y = layer.template output<result>();
  b.add_operator(schema_of<Op>(), {x.id, -1}, {y.id},
                 b.attribute_list(Size.height, Size.width, 0, attr.align_corners, attr.align_mode));
  return layer.returns(y);
}
}  // namespace detail

/// Returns an image [C, H, W] resized to the height and width of Size; each element is interpolated
/// from the four elements around its position: `resize_bilinear<lamina::extent2{64, 48}>(x)`. A
/// result with a single row or column holds the first row or column of x. Fluid:
/// layers.resize_bilinear.
template <extent2 Size, class T, class R, int C, int H, int W>
constexpr auto resize_bilinear(variable<T, R, C, H, W> x,
                               const options<resize_attr, T>& attr = {}) {
  return detail::resized<operators::bilinear_interp, Size>(x, "bilinear_interp", attr);
}
/// Returns an image [C, H, W] resized to the height and width of Size; each element is the element
/// of x at the nearest position. Fluid: layers.resize_nearest.
template <extent2 Size, class T, class R, int C, int H, int W>
constexpr auto resize_nearest(variable<T, R, C, H, W> x, const options<resize_attr, T>& attr = {}) {
  return detail::resized<operators::nearest_interp, Size>(x, "nearest_interp", attr);
}

/// Returns an image with additional rows above and below and additional columns left and right:
/// `pad2d<1, 1, 2, 2>(x)`, `pad2d<1, 1, 1, 1, lamina::pad_mode::reflect>(x)`. Fluid: layers.pad2d.
template <int Top, int Bottom, int Left, int Right, pad_mode Mode = pad_mode::constant, class T,
          class R, int C, int H, int W>
constexpr auto pad2d(variable<T, R, C, H, W> x, const options<pad2d_attr, T>& attr = {}) {
  constexpr bool reflects = Mode == pad_mode::reflect;
  constexpr bool good = detail::is_real<T> && has_rows<R> && Top >= 0 && Bottom >= 0 && Left >= 0 &&
                        Right >= 0 &&
                        (!reflects || (Top < H && Bottom < H && Left < W && Right < W));
  static_assert(check<good, gets<Top, Bottom, Left, Right>, gets_type<variable<T, R, C, H, W>>>,
                "lamina: pad2d: floating point images, paddings are not negative, and below the "
                "image's size where it is reflected");
  using result = variable<T, R, C, (good ? H + Top + Bottom : H), (good ? W + Left + Right : W)>;
  program_builder& b = *x.builder;
  layer_helper layer(b, "pad2d", attr.name);
  const auto y = layer.template output<result>();
  const int around[] = {Top, Bottom, Left, Right};
  const attribute_value paddings = b.integer_list(around, 4);
  const attribute_value mode = b.text(reflects                 ? "reflect"
                                      : Mode == pad_mode::edge ? "edge"
                                                               : "constant");
  b.add_operator(schema_of<operators::pad2d>(), {x.id, -1}, {y.id},
                 b.attribute_list(paddings, attr.value, mode, b.text("NCHW")));
  return layer.returns(y);
}

}  // namespace layer
}}  // namespace lamina
