// SPDX-License-Identifier: Apache-2.0
// lamina/operators/resize/definition.hpp - bilinear_interp and nearest_interp, which resize images,
// and pad2d, which pads them.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Base of the operators that resize images X [N, C, H, W] to Out [N, C, out_h, out_w]. If the
/// input OutSize is present, it must hold the same size; if the user gave a factor instead of a
/// size, `scale` holds it.
struct interpolation : operator_definition {
  static constexpr std::array<slot_desc, 2> inputs{{{"X"}, {"OutSize", false, true}}};
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 5> attributes{
      {{"out_h", attribute_type::integer, 0},
       {"out_w", attribute_type::integer, 0},
       {"scale", attribute_type::real, 0},
       {"align_corners", attribute_type::boolean, 1},
       {"align_mode", attribute_type::integer, 1}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 1;
};

/// Out = X resized: each element is interpolated from the four elements of X around its position.
/// Along a dimension with the extents `in` of X and `out` of Out, the position of element k is k
/// (in - 1) / (out - 1) with align_corners. Without align_corners it is k in / out or, if
/// align_mode is 0, (k + 0.5) in / out - 0.5. Fluid: bilinear_interp.
struct bilinear_interp : interpolation {
  static constexpr const char* type = "bilinear_interp";
};
/// Out = X resized: each element is the element of X at its position. Along each dimension, the
/// position of element k is k (in - 1) / (out - 1), rounded, with align_corners, else k in / out,
/// truncated. Fluid: nearest_interp.
struct nearest_interp : interpolation {
  static constexpr const char* type = "nearest_interp";
};

}}}  // namespace lamina::operators

namespace lamina { inline namespace LAMINA_ABI {

/// The position of an element of the result along one dimension of the source: the element is (1 -
/// fraction) times element `low` plus `fraction` times element `high`.
struct interpolation_position {
  int low, high;
  float fraction;
};
/// Returns the position of element k of the result in the source. `in` and `out` are the extents of
/// source and result. All engines share this function, because a different rounding would select a
/// different element. The function computes in float, as Fluid does.
constexpr interpolation_position position_between(int k, int in, int out, bool is_nearest,
                                                  bool align_corners, int align_mode) {
  float ratio = 0;
  if (out > 1)
    ratio = align_corners ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                          : static_cast<float>(in) / static_cast<float>(out);
  const float at = ratio * static_cast<float>(k);
  if (is_nearest) {
    const int low = static_cast<int>(align_corners ? at + 0.5F : at);
    return {low, low, 0};
  }
  const bool centred = align_mode == 0 && !align_corners;
  float position = centred ? ratio * (static_cast<float>(k) + 0.5F) - 0.5F : at;
  if (position < 0) position = 0;
  int low = static_cast<int>(position);
  if (low > in - 1) low = in - 1;
  return {low, low + 1 < in ? low + 1 : in - 1, position - static_cast<float>(low)};
}

}}  // namespace lamina

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Out = X with additional rows and columns around each image. `paddings` holds the numbers of rows
/// above and below and of columns left and right. The new elements are pad_value if mode is
/// "constant", the image mirrored at its border elements if mode is "reflect", and the nearest
/// elements of the image if mode is "edge". Fluid: pad2d.
struct pad2d : operator_definition {
  static constexpr const char* type = "pad2d";
  static constexpr std::array<slot_desc, 2> inputs{{{"X"}, {"Paddings", false, true}}};
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 4> attributes{
      {{"paddings", attribute_type::integers},
       {"pad_value", attribute_type::real, 0},
       {"mode", attribute_type::string, 0, "constant"},
       {"data_format", attribute_type::string, 0, "NCHW"}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 1;
};

using resize_operators = operator_list<bilinear_interp, nearest_interp, pad2d>;

}}}  // namespace lamina::operators

namespace lamina { inline namespace LAMINA_ABI {

/// Returns the index, along one dimension, of the element of the image that element k of the padded
/// image copies; -1 stands for pad_value.
LAMINA_FN constexpr int position_in_padded(int k, int before, int in, bool reflects, bool repeats) {
  int at = k - before;
  if (at >= 0 && at < in) return at;
  if (reflects) {
    at = at < 0 ? -at : 2 * (in - 1) - at;
    return at < 0 ? 0 : at < in ? at : in - 1;
  }
  return repeats ? (at < 0 ? 0 : in - 1) : -1;
}

}}  // namespace lamina
