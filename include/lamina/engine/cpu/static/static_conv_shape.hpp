// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/static/static_conv_shape.hpp - the sizes of a program's conv2d as compile-time
// constants.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/plan/plan.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// The sizes of a conv2d along one dimension of the image: height or width.
struct static_conv_side {
  int in, filter, stride, padding, dilation;
  constexpr int out() const { return (padded() - (filter - 1) * dilation - 1) / stride + 1; }
  constexpr int padded() const { return in + 2 * padding; }
};

/// The sizes of a conv2d in a plan. The first operand of its instruction is the image, the second
/// is the filter.
struct static_conv_shape {
  int groups, channels, filters;  // `channels` per filter, `filters` per group
  static_conv_side height, width;

  constexpr static_conv_shape(const auto& program, const instruction& i) : static_conv_shape() {
    const operator_desc& op = program.operators[i.op];
    const variable_desc& x = program.variables[program.arguments[op.inputs]];
    const variable_desc& w = program.variables[program.arguments[op.inputs + 1]];
    const attribute_value* const attribute = program.attributes + op.attributes;
    groups = static_cast<int>(attribute[3].number);
    filters = program.dims[w.dims] / groups;
    channels = program.dims[w.dims + 1];
    const auto side = [&](int d) {
      const auto number = [&](int a) { return program.integers[attribute[a].offset + d]; };
      return static_conv_side{program.dims[x.dims + 2 + d], program.dims[w.dims + 2 + d], number(0),
                              number(1), number(2)};
    };
    height = side(0);
    width = side(1);
  }

  /// Floats of a copy of the image with zeros around it; 0 if the image needs no padding.
  constexpr std::ptrdiff_t padded_floats() const {
    if (height.padding == 0 && width.padding == 0) return 0;
    return static_cast<std::ptrdiff_t>(groups) * channels * height.padded() * width.padded();
  }

 private:
  constexpr static_conv_shape()
      : groups(1), channels(1), filters(1), height{1, 1, 1, 0, 1}, width{1, 1, 1, 0, 1} {}
};

}}}  // namespace lamina::engine::cpu
