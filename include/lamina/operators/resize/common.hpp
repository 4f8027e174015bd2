// SPDX-License-Identifier: Apache-2.0
// lamina/operators/resize/common.hpp - finds the element of an image that an element of the padded
// image copies, for pad2d.
#pragma once

#include <lamina/core/config.hpp>

#include <string_view>

#include <lamina/engine/common/call_error.hpp>
#include <lamina/operators/resize/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// One dimension of an image, of extent `in`, and of the padded image, of extent `out`. `before`
/// elements of padding come before the first element of the image.
struct padded_side {
  int before, in, out;
  bool reflects, repeats;

  /// Returns the element of the image that element k of the padded image copies; -1 if it is a
  /// constant.
  LAMINA_FN constexpr int at(int k) const {
    return position_in_padded(k, before, in, reflects, repeats);
  }
  /// Returns the next element after k of the padded image that may copy element i of the image; at
  /// least `out` if no later element copies it.
  LAMINA_FN constexpr int next(int k, int i) const {
    ++k;
    if (!reflects && !repeats) return k <= before + i ? before + i : out;
    if (k >= before && k < before + i) return before + i;
    return k > before + i && k < before + in ? before + in : k;
  }
};

/// The height and the width of an image and its padding. The constructor throws lamina::error for
/// attributes that pad2d does not support.
struct padded_image {
  padded_side rows{}, columns{};

  padded_image() = default;
  padded_image(const operator_call& c, const operand& image, const operand& padded) {
    const std::string_view mode = text_of(c, 2);
    const bool reflects = mode == "reflect", repeats = mode == "edge";
    if (c.list_size(0) != 4 || (!reflects && !repeats && mode != "constant"))
      fail(c, {"expected 4 paddings and a mode 'constant', 'reflect' or 'edge', found ",
               c.list_size(0), " and '", mode, "'"});
    rows = {c.integer_at(0, 0), image.dims[2], padded.dims[2], reflects, repeats};
    columns = {c.integer_at(0, 2), image.dims[3], padded.dims[3], reflects, repeats};
  }
};

}}}  // namespace lamina::engine
