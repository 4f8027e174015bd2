// SPDX-License-Identifier: Apache-2.0
// lamina/io/onnx/onnx_windows.hpp - strides and paddings of windows over images.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace onnx {

/// Throws unless channels are dimension 1, as ONNX requires.
inline void require_channels_first(onnx_operator& op, const char* attribute) {
  const std::string& layout = op.string(attribute, "NCHW");
  if (layout != "NCHW" && layout != "NCDHW" && layout != "AnyLayout")
    op.fail("expected " + std::string(attribute) + " NCHW, found " + layout);
  const std::string& algorithm = op.string("padding_algorithm", "EXPLICIT");
  if (algorithm != "EXPLICIT") op.fail("expected padding_algorithm EXPLICIT, found " + algorithm);
}

/// Returns a number for each dimension of the image.
inline std::vector<std::int64_t> each_side(const onnx_operator& op, const char* name,
                                           std::size_t sides, std::int64_t otherwise) {
  std::vector<std::int64_t> values = op.integers(name);
  if (values.empty()) values.assign(sides, otherwise);
  if (values.size() != sides)
    op.fail("expected " + std::to_string(sides) + " numbers in attribute '" + name + "', found " +
            std::to_string(values.size()));
  return values;
}
/// Returns paddings in the order of ONNX: those at all beginnings, then those at all ends.
inline std::vector<std::int64_t> both_ends(std::vector<std::int64_t> paddings) {
  const std::size_t n = paddings.size();
  for (std::size_t i = 0; i < n; ++i) paddings.push_back(paddings[i]);
  return paddings;
}

/// The windows of a node over an image: strides, dilations, and paddings before and after each
/// side.
struct raised_window {
  std::vector<std::int64_t> kernel, strides, dilations, before, after;

  /// Whether both ends of each side have the same padding.
  bool is_symmetric() const { return before == after; }
};
/// Returns the windows that a node of convolution or pooling describes. `kernel` has a size for
/// each side of X. `transposed`: automatic paddings are those of ConvTranspose, which the caller
/// computes.
inline raised_window raised_window_of(const onnx_import_node& n, const onnx_imported& x,
                                      const std::vector<std::int64_t>& kernel,
                                      bool transposed = false) {
  const std::size_t sides = kernel.size();
  if (x.dims.size() != sides + 2)
    n.fail(text("expected an image of ") << sides << " sides, found dimensions " << x.dims_text());
  const auto each = [&](const char* name, std::int64_t otherwise, std::size_t count) {
    std::vector<std::int64_t> all = n.integers(name);
    if (all.empty()) all.assign(count, otherwise);
    if (all.size() != count)
      n.fail(text("expected ") << count << " numbers in attribute '" << name << "', found "
                               << text().list(all));
    for (const std::int64_t v : all)
      if (v < 0 || v > 0x7fffff)
        n.fail(text("expected numbers from 0 to 8388607 in attribute '")
               << name << "', found " << v);
    return all;
  };
  const std::vector<std::int64_t> pads = each("pads", 0, 2 * sides);
  raised_window w{kernel,
                  each("strides", 1, sides),
                  each("dilations", 1, sides),
                  {pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(sides)},
                  {pads.begin() + static_cast<std::ptrdiff_t>(sides), pads.end()}};
  for (std::size_t d = 0; d < sides; ++d)
    if (w.strides[d] < 1 || w.dilations[d] < 1 || kernel[d] < 1)
      n.fail("expected kernels, strides and dilations of at least 1");
  const std::string automatic = n.string("auto_pad", "NOTSET");
  if (automatic == "NOTSET" || transposed) return w;
  for (std::size_t d = 0; d < sides; ++d) {
    w.before[d] = w.after[d] = 0;
    if (automatic == "VALID") continue;
    if (automatic != "SAME_UPPER" && automatic != "SAME_LOWER")
      n.fail("expected auto_pad NOTSET, VALID, SAME_UPPER or SAME_LOWER, found " + automatic);
    const std::int64_t in = n.extent(x, static_cast<std::int64_t>(2 + d)),
                       out = (in + w.strides[d] - 1) / w.strides[d];
    const std::int64_t seen = (out - 1) * w.strides[d] + (kernel[d] - 1) * w.dilations[d] + 1;
    const std::int64_t more = std::max<std::int64_t>(0, seen - in);
    w.before[d] = automatic == "SAME_UPPER" ? more / 2 : more - more / 2;
    w.after[d] = more - w.before[d];
  }
  return w;
}
/// Returns X with the padding of the windows around it, which then have none.
inline onnx_imported padded(onnx_import_node& n, const onnx_imported& x, raised_window& w,
                            double value) {
  std::vector<std::int64_t> before{0, 0}, after{0, 0};
  before.insert(before.end(), w.before.begin(), w.before.end());
  after.insert(after.end(), w.after.begin(), w.after.end());
  w.before.assign(w.before.size(), 0);
  w.after = w.before;
  return n.pad(x, before, after, value);
}
/// The number of windows along each side of X; unknown_extent along a side that is not known.
inline std::vector<std::int64_t> windows_along(const onnx_import_node& n, const onnx_imported& x,
                                               const raised_window& w, bool rounded_up = false) {
  std::vector<std::int64_t> all;
  for (std::size_t d = 0; d < w.kernel.size(); ++d) {
    const std::int64_t in = x.dims[2 + d], s = w.strides[d];
    if (in < 0) {
      all.push_back(unknown_extent);
      continue;
    }
    const std::int64_t rest =
        in + w.before[d] + w.after[d] - ((w.kernel[d] - 1) * w.dilations[d] + 1);
    std::int64_t out = rest < 0 ? 0 : (rest + (rounded_up ? s - 1 : 0)) / s + 1;
    // A window that would begin in the padding at the end does not count.
    if (rounded_up && (out - 1) * s >= in + w.before[d]) --out;
    if (out < 1)
      n.fail("expected windows that fit into the image, found dimensions " + x.dims_text());
    all.push_back(out);
  }
  return all;
}
/// A signal of one side as an image of height 1, so that the operators for images take it.
inline onnx_imported as_image(onnx_import_node& n, const onnx_imported& x, raised_window& w) {
  w.kernel.insert(w.kernel.begin(), 1);
  w.strides.insert(w.strides.begin(), 1);
  w.dilations.insert(w.dilations.begin(), 1);
  w.before.insert(w.before.begin(), 0);
  w.after.insert(w.after.begin(), 0);
  return n.unsqueeze(x, {2});
}

inline std::vector<onnx_attribute> window_of(const onnx_operator& op, std::size_t sides) {
  return {{"strides", each_side(op, "strides", sides, 1)},
          {"pads", both_ends(each_side(op, "paddings", sides, 0))},
          {"dilations", each_side(op, "dilations", sides, 1)},
          {"group", op.integer("groups", 1)}};
}

}}}  // namespace lamina::onnx
