// SPDX-License-Identifier: Apache-2.0
// lamina/operators/resize/definition.hpp - resizing of images by interpolation, and padding.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Base of the interpolations: X [N, C, H, W] to Out [N, C, out_h, out_w]. OutSize, if given,
/// repeats the size. `scale` is set if the user gave a factor instead of a size.
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

/// Interpolates each element from the four elements around its position. The position of element k
/// along a side is k (in - 1) / (out - 1) with align_corners, else k in / out. With align_mode 0
/// and without align_corners it is (k + 0.5) in / out - 0.5. Fluid: bilinear_interp.
struct bilinear_interp : interpolation {
  static constexpr const char* type = "bilinear_interp";
};
/// Copies the source element at the position of each element. The position is rounded with
/// align_corners, else truncated. Fluid: nearest_interp.
struct nearest_interp : interpolation {
  static constexpr const char* type = "nearest_interp";
};

}}}  // namespace lamina::operators

namespace lamina { inline namespace LAMINA_ABI {

/// The source of a result element along one side: (1 - part) of element `low` plus part of element
/// `high`.
struct interpolation_position {
  int low, high;
  float part;
};
/// The source position of element k. `in` and `out` are the extents of source and result. All
/// engines share this function, because a position that is rounded differently would select a
/// different element. It computes in float, as Fluid does.
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

/// Adds rows and columns around an image; paddings are the numbers above, below, left and right.
/// The new elements are pad_value ("constant"), the image mirrored at its border element
/// ("reflect"), or the nearest element of the image ("edge"). Fluid: pad2d.
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

/// The index, along one side, of the image element that element k of the padded image copies; -1
/// stands for pad_value.
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
