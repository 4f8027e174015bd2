// SPDX-License-Identifier: Apache-2.0
// lamina/operators/conv/onnx.hpp - convolutions, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/io/onnx/onnx_windows.hpp>
#include <lamina/operators/elementwise/onnx_quantize.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace onnx {

inline void lower_conv(onnx_operator& op) {
  require_channels_first(op, "data_format");
  std::vector<std::string> inputs{op.in("Input"), op.in("Filter")};
  if (op.has("Bias")) inputs.push_back(op.in("Bias"));
  const std::vector<onnx_attribute> window =
      window_of(op, static_cast<std::size_t>(op.rank("Input") - 2));
  if (!op.has("ResidualData")) return op.out("Output", "Conv", inputs, window);
  op.out("Output", "Add", {op.node("Conv", inputs, window), op.in("ResidualData")});
}

inline void lower_conv_transpose(onnx_operator& op) {
  require_channels_first(op, "data_format");
  std::vector<std::string> inputs{op.in("Input"), op.in("Filter")};
  if (op.has("Bias")) inputs.push_back(op.in("Bias"));
  std::vector<onnx_attribute> window = window_of(op, 2);
  // ONNX's output_padding: by how many rows and columns the output is larger than the smallest one
  // of these strides, paddings and dilations.
  const auto strides = each_side(op, "strides", 2, 1), paddings = each_side(op, "paddings", 2, 0),
             dilations = each_side(op, "dilations", 2, 1);
  std::vector<std::int64_t> more;
  for (int d = 0; d < 2; ++d) {
    const std::size_t i = static_cast<std::size_t>(d);
    const std::int64_t least = (op.extent("Input", 2 + d) - 1) * strides[i] - 2 * paddings[i] +
                               dilations[i] * (op.extent("Filter", 2 + d) - 1) + 1;
    more.push_back(op.extent("Output", 2 + d) - least);
  }
  window.emplace_back("output_padding", more);
  op.out("Output", "ConvTranspose", inputs, window);
}

/// Returns the convolution of one to three sides; the bias may be absent.
inline onnx_imported convolution(onnx_import_node& n, onnx_imported x, onnx_imported filter,
                                 const onnx_imported& bias) {
  n.require_rank(x, 3, 5);
  if (filter.rank() != x.rank()) n.fail("expected X and W with the same number of dimensions");
  std::vector<std::int64_t> kernel;
  for (int d = 2; d < filter.rank(); ++d) kernel.push_back(n.extent(filter, d));
  raised_window w = raised_window_of(n, x, kernel);
  const bool is_signal = x.rank() == 3;
  if (is_signal) {
    x = as_image(n, x, w);
    filter = n.unsqueeze(filter, {2});
  }
  const std::int64_t groups = n.integer("group", 1);
  if (groups < 1 || n.extent(x, 1) != n.extent(filter, 1) * groups ||
      n.extent(filter, 0) % groups != 0)
    n.fail(text("expected filters for ") << n.extent(x, 1) << " channels in " << groups
                                         << " groups, found dimensions " << filter.dims_text());
  if (!w.is_symmetric()) x = padded(n, x, w, 0);
  std::vector<std::int64_t> dims{x.dims[0], n.extent(filter, 0)};
  for (const std::int64_t d : windows_along(n, x, w)) dims.push_back(d);
  const onnx_imported y = n.make(x.rank() == 5 ? "conv3d" : "conv2d",
                                 {{"Input", x}, {"Filter", filter}, {"Bias", bias}},
                                 {{"strides", w.strides},
                                  {"paddings", w.before},
                                  {"dilations", w.dilations},
                                  {"groups", static_cast<int>(groups)}},
                                 x.type, dims, "Output");
  return is_signal ? n.squeeze(y, {2}) : y;
}

/// Returns one number for each channel, of a list, with dimensions that broadcast against results
/// with `sides` sides.
inline onnx_imported for_channels(onnx_import_node& n, const onnx_imported& value, int sides) {
  if (!value.has_value() || value.rank() == 0) return value;
  std::vector<std::int64_t> after;
  for (int d = 1; d <= sides; ++d) after.push_back(d);
  return n.unsqueeze(value, after);
}
/// Returns the convolution of integers without their zero points, in int32. The filter may have a
/// zero point for each result channel.
inline onnx_imported integer_convolution(onnx_import_node& n, const onnx_imported& x,
                                         const onnx_imported& x_zero, const onnx_imported& filter,
                                         const onnx_imported& filter_zero) {
  n.require_rank(x, 3, 5);
  if (filter.rank() != x.rank()) n.fail("expected X and W with the same number of dimensions");
  std::int64_t depth = 1;
  for (int d = 1; d < filter.rank(); ++d) depth *= n.extent(filter, d);
  const onnx_imported x_one =
      x_zero.has_value() && x_zero.rank() > 0 ? n.reshape(x_zero, {}, {1}) : x_zero;
  return exact_product(
      n, without_zero_point(n, x, x_one, false),
      without_zero_point(n, filter, for_channels(n, filter_zero, filter.rank() - 1), false), depth,
      [&](const onnx_imported& a, const onnx_imported& b) { return convolution(n, a, b, {}); });
}
/// y = saturate(round((x * w + bias) * x_scale * w_scale / y_scale) + y_zero_point), with the
/// convolution of the numbers without their zero points.
inline void raise_quantised_conv(onnx_import_node& n) {
  onnx_imported sum = integer_convolution(n, n.in(0), n.in(2), n.in(3), n.in(5));
  const int sides = n.in(0).rank() - 2;
  if (n.has(8)) sum = n.add(sum, for_channels(n, n.cast(n.in(8), dtype::int32), sides));
  const onnx_imported scale =
      n.div(n.mul(n.reshape(n.in(1), {}, {1}), for_channels(n, n.in(4), sides)),
            n.reshape(n.in(6), {}, {1}));
  const onnx_imported zero_point = n.in(7);
  n.out(saturated(n, n.mul(n.cast(sum, scale.type), scale), n.reshape(zero_point, {}, {1}),
                  range_of_quantised(n, zero_point)));
}

/// Returns a transposed convolution of volumes as the convolution of X, between whose elements
/// there are zeros, with the filter from back to front. `before` and `after` are its paddings.
inline onnx_imported transposed_volume(onnx_import_node& n, onnx_imported x, onnx_imported filter,
                                       const raised_window& w, std::int64_t groups,
                                       const std::vector<std::int64_t>& before,
                                       const std::vector<std::int64_t>& after) {
  const int sides = x.rank() - 2;
  std::vector<std::int64_t> of_filter{groups, n.extent(filter, 0) / groups, n.extent(filter, 1)},
      order{0, 2, 1}, none(static_cast<std::size_t>(sides) + 2, 0), low = none, high = none;
  for (int d = 0; d < sides; ++d) {
    const auto i = static_cast<std::size_t>(d);
    const std::int64_t axis = d + 2, stride = w.strides[i], size = n.extent(x, axis);
    if (stride > 1) {
      std::vector<std::int64_t> more(x.dims.size() + 1, 0), dims = x.dims;
      more[i + 3] = stride - 1;
      dims[i + 2] = size * stride;
      x = n.reshape(
          n.pad(n.unsqueeze(x, {axis + 1}), std::vector<std::int64_t>(more.size(), 0), more, 0),
          dims);
      x = n.slice(x, axis, 0, size * stride - stride + 1);
    }
    low[i + 2] = before[i];
    high[i + 2] = after[i];
    std::vector<std::int64_t> back;
    for (std::int64_t k = w.kernel[i]; k-- > 0;) back.push_back(k);
    filter = n.gather(filter, n.constant_list(back), axis);
    of_filter.push_back(w.kernel[i]);
    order.push_back(d + 3);
  }
  std::vector<std::int64_t> whole{n.extent(filter, 1) * groups, n.extent(filter, 0) / groups};
  whole.insert(whole.end(), w.kernel.begin(), w.kernel.end());
  filter = n.reshape(n.transpose(n.reshape(filter, of_filter), order), whole);
  x = n.pad(x, low, high, 0);
  raised_window inner{w.kernel, {}, w.dilations, {}, {}};
  for (auto* all : {&inner.strides, &inner.before, &inner.after})
    all->assign(w.kernel.size(), all == &inner.strides ? 1 : 0);
  std::vector<std::int64_t> dims{x.dims[0], whole[0]};
  for (const std::int64_t d : windows_along(n, x, inner)) dims.push_back(d);
  return n.make("conv3d", {{"Input", x}, {"Filter", filter}},
                {{"strides", inner.strides},
                 {"paddings", inner.before},
                 {"dilations", inner.dilations},
                 {"groups", static_cast<int>(groups)}},
                x.type, dims, "Output");
}

/// ConvTranspose of one to three sides, whose extents may be known only at run time.
inline void raise_conv_transpose(onnx_import_node& n) {
  onnx_imported x = n.in(0), filter = n.in(1);
  n.require_rank(x, 3, 5);
  if (filter.rank() != x.rank()) n.fail("expected X and W with the same number of dimensions");
  std::vector<std::int64_t> kernel;
  for (int d = 2; d < filter.rank(); ++d) kernel.push_back(n.extent(filter, d));
  raised_window w = raised_window_of(n, x, kernel, true);
  const std::size_t sides = kernel.size();
  std::vector<std::int64_t> more = n.integers("output_padding"),
                            wanted = n.integers("output_shape");
  if (more.empty()) more.assign(sides, 0);
  if (wanted.size() > sides)
    wanted.erase(wanted.begin(), wanted.end() - static_cast<std::ptrdiff_t>(sides));
  for (const auto* all : {&more, &wanted})
    for (const std::int64_t v : *all)
      if (v < 0 || v > 0x7fffffff)
        n.fail(text("expected output_padding and output_shape from 0 to 2147483647, found ") << v);
  if (more.size() != sides || (!wanted.empty() && wanted.size() != sides))
    n.fail("expected output_padding and output_shape with a number for each side");
  const std::string automatic = n.string("auto_pad", "NOTSET");
  const bool is_same = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
  if (automatic == "VALID") w.before.assign(sides, 0), w.after.assign(sides, 0);
  for (std::size_t d = 0; d < sides && (is_same || !wanted.empty()); ++d) {
    const std::int64_t in = n.extent(x, static_cast<std::int64_t>(2 + d)),
                       out = wanted.empty() ? in * w.strides[d] : wanted[d];
    const std::int64_t whole = (in - 1) * w.strides[d] + (kernel[d] - 1) * w.dilations[d] + 1;
    const std::int64_t cut = std::max<std::int64_t>(0, whole + more[d] - out);
    // SAME_UPPER has the larger part at the end, as the convolution of which this is the reverse.
    w.before[d] = automatic == "SAME_UPPER" ? cut / 2 : cut - cut / 2;
    w.after[d] = cut - w.before[d];
    more[d] = out - whole + cut;
  }
  const bool is_signal = sides == 1;
  if (is_signal) {
    x = as_image(n, x, w);
    filter = n.unsqueeze(filter, {2});
    more.insert(more.begin(), 0);
  }
  const std::int64_t groups = n.integer("group", 1);
  if (groups < 1 || n.extent(x, 1) != n.extent(filter, 0) || n.extent(x, 1) % groups != 0)
    n.fail(text("expected filters for ")
           << n.extent(x, 1) << " channels, found dimensions " << filter.dims_text());
  // The result is that without padding, cut at both ends or with more zeros at the end.
  std::vector<std::int64_t> whole, result, before, after;
  bool fits = true;  // whether conv2d_transpose has this padding
  for (std::size_t d = 0; d < w.kernel.size(); ++d) {
    const std::int64_t in = x.dims[2 + d], reach = (w.kernel[d] - 1) * w.dilations[d];
    const std::int64_t end = more[d] - w.after[d];  // elements more at the end
    whole.push_back(in < 0 ? unknown_extent : (in - 1) * w.strides[d] + reach + 1);
    result.push_back(in < 0 ? unknown_extent : whole[d] - w.before[d] + end);
    if (in >= 0 && result[d] < 1) n.fail("expected a result with elements, found none");
    before.push_back(reach - w.before[d]);
    after.push_back(reach + end);
    fits = fits && w.before[d] == w.after[d] && more[d] < (in < 0 ? 1 : w.strides[d]);
  }
  const std::int64_t channels = n.extent(filter, 1) * groups;
  std::vector<std::int64_t> dims{x.dims[0], channels};
  onnx_imported y;
  if (sides == 3) {
    y = transposed_volume(n, x, filter, w, groups, before, after);
  } else {
    const std::vector<std::int64_t> none(whole.size(), 0), &size = fits ? result : whole;
    dims.insert(dims.end(), size.begin(), size.end());
    std::vector<onnx_set> attributes{{"strides", w.strides},
                                     {"paddings", fits ? w.before : none},
                                     {"dilations", w.dilations},
                                     {"groups", static_cast<int>(groups)}};
    if (n.is_known(size)) attributes.emplace_back("output_size", size);
    y = n.make("conv2d_transpose", {{"Input", x}, {"Filter", filter}}, attributes, x.type, dims,
               "Output");
    for (std::size_t d = 0; d < whole.size() && !fits; ++d) {
      const std::int64_t axis = static_cast<std::int64_t>(d) + 2, end = more[d] - w.after[d];
      const std::int64_t cut = std::max<std::int64_t>(0, -end);
      if (w.before[d] > 0 || cut > 0)
        y = n.slice(y, axis, w.before[d], whole[d] < 0 ? unknown_extent : whole[d] - cut, cut);
      std::vector<std::int64_t> tail(y.dims.size(), 0);
      tail[d + 2] = std::max<std::int64_t>(0, end);
      y = n.pad(y, std::vector<std::int64_t>(tail.size(), 0), tail, 0);
    }
  }
  if (n.has(2)) y = n.add(y, for_channels(n, n.in(2), y.rank() - 2));
  n.out(is_signal ? n.squeeze(y, {2}) : y);
}

inline void add_image(onnx_operators& to) {
  to.add_node("Conv",
              [](onnx_import_node& n) { n.out(convolution(n, n.in(0), n.in(1), n.optional(2))); });
  to.add_node("ConvInteger", [](onnx_import_node& n) {
    n.out(integer_convolution(n, n.in(0), n.optional(2), n.in(1), n.optional(3)));
  });
  to.add_node("QLinearConv", raise_quantised_conv);
  to.add_node("ConvTranspose", raise_conv_transpose);
  for (const char* type : {"conv2d", "depthwise_conv2d", "conv3d"}) to.add(type, lower_conv);
  to.add("conv2d_transpose", lower_conv_transpose);
}

}}}  // namespace lamina::onnx
