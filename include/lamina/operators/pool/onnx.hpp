// SPDX-License-Identifier: Apache-2.0
// lamina/operators/pool/onnx.hpp - operators of the family pool, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <lamina/core/compile_time/type_of.hpp>
#include <lamina/io/onnx/onnx_functions.hpp>
#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/io/onnx/onnx_windows.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace onnx {

/// The elements [first, end) along an axis.
inline const std::string& part_of(onnx_operator& op, const std::string& x, std::int64_t first,
                                  std::int64_t end, std::int64_t axis) {
  return op.node("Slice", {x, op.list({first}), op.list({end}), op.list({axis})});
}
/// The maxima or means of windows [first, end) along an axis.
inline std::string reduced_windows(onnx_operator& op, const std::string& x, bool is_average,
                                   std::int64_t axis,
                                   const std::vector<std::pair<std::int64_t, std::int64_t>>& all) {
  std::vector<std::string> each;
  for (const auto& [first, end] : all) {
    const std::vector<std::string> inputs{part_of(op, x, first, end, axis), op.list({axis})};
    each.push_back(is_average ? op.node("ReduceMean", inputs, {{"keepdims", 1}})
                              : extreme(op, "ReduceMax", inputs, true, op.type_of("X")));
  }
  return each.size() == 1 ? each[0] : op.node("Concat", each, {{"axis", axis}});
}

inline void lower_pool(onnx_operator& op) {
  require_channels_first(op, "data_format");
  const bool is_average = op.string("pooling_type", "max") == "avg";
  if (op.flag("global_pooling"))
    return op.out("Out", is_average ? "GlobalAveragePool" : "GlobalMaxPool", {op.in("X")});
  const int sides = op.rank("X") - 2;
  const auto n = static_cast<std::size_t>(sides);
  const std::vector<std::int64_t> size = each_side(op, "ksize", n, 1);
  if (op.flag("adaptive")) {  // windows of several sizes: rows of the result first, then columns
    std::string x = op.in("X");
    for (int d = 0; d < sides; ++d) {
      const std::int64_t in = op.extent("X", 2 + d), out = size[static_cast<std::size_t>(d)];
      std::vector<std::pair<std::int64_t, std::int64_t>> windows;
      for (std::int64_t i = 0; i < out; ++i)
        windows.emplace_back(i * in / out, ((i + 1) * in + out - 1) / out);
      x = reduced_windows(op, x, is_average, 2 + d, windows);
    }
    return op.out("Out", x);
  }
  const std::vector<std::int64_t> strides = each_side(op, "strides", n, 1);
  std::vector<std::int64_t> pads = both_ends(each_side(op, "paddings", n, 0));
  std::string x = op.in("X");
  const bool exclusive = op.flag("exclusive", true);
  if (op.flag("ceil_mode")) {  // the last window may begin inside and end outside of the image
    for (int d = 0; d < sides; ++d) {
      const std::size_t i = static_cast<std::size_t>(d);
      const std::int64_t seen = (op.extent("Out", 2 + d) - 1) * strides[i] + size[i];
      pads[n + i] = std::max<std::int64_t>(0, seen - op.extent("X", 2 + d) - pads[i]);
    }
  }
  std::vector<onnx_attribute> window{{"kernel_shape", size}, {"strides", strides}, {"pads", pads}};
  if (is_average) window.emplace_back("count_include_pad", !exclusive);
  op.out("Out", is_average ? "AveragePool" : "MaxPool", {x}, window);
}

/// Adds a pool2d or pool3d of windows without padding, or with the same padding at both ends.
inline onnx_imported pooled(onnx_import_node& n, const onnx_imported& x, const raised_window& w,
                            const std::vector<std::int64_t>& out, const char* type, bool exclusive,
                            bool rounded_up) {
  std::vector<std::int64_t> dims{x.dims[0], x.dims[1]};
  dims.insert(dims.end(), out.begin(), out.end());
  return n.make(x.rank() == 5 ? "pool3d" : "pool2d", {{"X", x}},
                {{"pooling_type", type},
                 {"ksize", w.kernel},
                 {"strides", w.strides},
                 {"paddings", w.before},
                 {"exclusive", exclusive},
                 {"ceil_mode", rounded_up}},
                x.type, dims);
}
/// Returns the last element of a window along side d, counted from the first element of X.
inline std::int64_t end_of_windows(const raised_window& w, const std::vector<std::int64_t>& out,
                                   std::size_t d) {
  return (out[d] - 1) * w.strides[d] + (w.kernel[d] - 1) * w.dilations[d] + 1;
}
inline bool is_dilated(const raised_window& w) {
  return std::any_of(w.dilations.begin(), w.dilations.end(), [](std::int64_t d) { return d != 1; });
}
/// Returns X, which has its padding already, with the elements of dilated windows next to each
/// other. The windows are then `packed_window`s.
inline onnx_imported packed(onnx_import_node& n, onnx_imported x, const raised_window& w,
                            const std::vector<std::int64_t>& out) {
  for (std::size_t d = 0; d < out.size() && is_dilated(w); ++d) {
    n.require_size({out[d], w.kernel[d]});
    std::vector<std::int64_t> index;
    for (std::int64_t o = 0; o < out[d]; ++o)
      for (std::int64_t k = 0; k < w.kernel[d]; ++k)
        index.push_back(o * w.strides[d] + k * w.dilations[d]);
    x = n.gather(x, n.constant_list(index), static_cast<std::int64_t>(2 + d));
  }
  return x;
}
inline raised_window packed_window(raised_window w) {
  if (is_dilated(w)) w.strides = w.kernel;
  w.dilations.assign(w.kernel.size(), 1);
  w.before.assign(w.kernel.size(), 0);
  w.after = w.before;
  return w;
}
/// MaxPool with the positions of the largest elements, which ONNX counts over the whole batch.
inline void raise_indexed_pool(onnx_import_node& n) {
  const onnx_imported& x = n.in(0);
  n.require_rank(x, 4, 4);
  const raised_window w = raised_window_of(n, x, n.integers("kernel_shape"));
  if (!w.is_symmetric() || is_dilated(w) || n.flag("ceil_mode") || n.flag("storage_order"))
    n.fail(
        "expected the positions of a pool without ceil_mode, dilations and storage_order, with "
        "the same padding at both ends");
  const std::int64_t height = n.extent(x, 2), width = n.extent(x, 3);
  std::vector<std::int64_t> dims{x.dims[0], x.dims[1]};
  const std::vector<std::int64_t> out = windows_along(n, x, w, false);
  dims.insert(dims.end(), out.begin(), out.end());
  const std::vector<onnx_imported> made =
      n.make_all("max_pool2d_with_index", {{"X", x}},
                 {{"ksize", w.kernel}, {"strides", w.strides}, {"paddings", w.before}},
                 {{"Out", x.type, dims}, {"Mask", dtype::int32, dims}});
  const onnx_imported image = n.mul(n.positions(x.dims[0], 4, 0), n.scalar_of(x.dims[1]));
  const onnx_imported channels = n.positions(x.dims[1], 4, 1);
  const onnx_imported plane = n.mul(n.add(n.full(image, channels), channels),
                                    n.number(static_cast<double>(height * width), dtype::int64));
  n.out(0, made[0]);
  n.out(1, n.add(n.cast(made[1], dtype::int64), plane));
}
/// MaxUnpool: elements at the positions in input 1 of an image of zeros. A larger output_shape has
/// further zeros at the ends of its sides.
inline void raise_unpool(onnx_import_node& n) {
  const onnx_imported &x = n.in(0), &index = n.in(1);
  n.require_rank(x, 3, 5);
  const raised_window w = raised_window_of(n, x, n.integers("kernel_shape"));
  std::vector<std::int64_t> dims{n.extent(x, 0), n.extent(x, 1)};
  for (std::size_t d = 0; d < w.kernel.size(); ++d)
    dims.push_back((n.extent(x, static_cast<std::int64_t>(d) + 2) - 1) * w.strides[d] +
                   w.kernel[d] - w.before[d] - w.after[d]);
  for (const std::int64_t d : dims)
    if (d < 0 || d > 0x7fffffff)
      n.fail(text("expected sides from 0 to 2147483647, found ").list(dims));
  n.require_size(dims);
  std::int64_t size = 1, count = 1;
  for (const std::int64_t d : dims) size *= d;
  for (const std::int64_t d : x.dims) count *= d;
  if (index.dims != x.dims)
    n.fail(text("expected positions of dimensions ")
           << x.dims_text() << ", found " << index.dims_text());
  onnx_imported y = n.reshape(n.make("scatter",
                                     {{"X", n.filled(0, x.type, {size, 1})},
                                      {"Ids", n.reshape(index, {count})},
                                      {"Updates", n.reshape(x, {count, 1})}},
                                     {{"overwrite", true}}, x.type, {size, 1}),
                              dims);
  if (n.has(2)) {
    const std::vector<std::int64_t> wanted = n.list(2, "output_shape");
    std::vector<std::int64_t> more;
    for (std::size_t d = 0; d < dims.size() && wanted.size() == dims.size(); ++d)
      more.push_back(wanted[d] - dims[d]);
    if (more.empty() || *std::min_element(more.begin(), more.end()) < 0 ||
        *std::max_element(more.begin(), more.end()) > 0x7fffffff)
      n.fail(text("expected an output_shape of at least ").list(dims)
             << ", found " << text().list(wanted));
    y = n.pad(y, std::vector<std::int64_t>(dims.size(), 0), more, 0);
  }
  n.out(y);
}
/// MaxPool and AveragePool of one to three sides. Where the operators of lamina lack a kind of
/// padding, X gets it before: of -infinity for a maximum. A mean is then the quotient of two means,
/// of X and of the weights, which are 1 for each element that counts.
inline void raise_pool(onnx_import_node& n) {
  if (n.wants(1)) return raise_indexed_pool(n);
  onnx_imported x = n.in(0);
  n.require_rank(x, 3, 5);
  const bool is_mean = n.type() == "AveragePool", rounded_up = n.flag("ceil_mode");
  raised_window w = raised_window_of(n, x, n.integers("kernel_shape"));
  const bool is_signal = x.rank() == 3;
  const dtype type = x.type;
  if (!is_floating(type)) x = n.cast(x, dtype::float64);
  if (is_signal) x = as_image(n, x, w);
  const std::vector<std::int64_t> out = windows_along(n, x, w, rounded_up);
  const bool counts_padding = n.flag("count_include_pad");
  // Windows that are rounded up end outside of the image and its padding.
  std::vector<std::int64_t> beyond;
  bool is_beyond = false;
  for (std::size_t d = 0; d < out.size(); ++d) {
    if (out[d] < 0) {
      // Fluid rounds up, too, but counts a window that begins after the image.
      if (rounded_up && (w.before[d] > 0 || w.after[d] > 0 || w.strides[d] > w.kernel[d]))
        (void)n.extent(x, static_cast<std::int64_t>(2 + d));
      beyond.push_back(0);
      continue;
    }
    const std::int64_t end = end_of_windows(w, out, d);
    beyond.push_back(std::max<std::int64_t>(
        0, end - n.extent(x, static_cast<std::int64_t>(2 + d)) - w.before[d] - w.after[d]));
    is_beyond = is_beyond || beyond.back() > 0;
  }
  onnx_imported y;
  if (w.is_symmetric() && !is_beyond && !is_dilated(w)) {
    bool windows_overlap_padding =
        false;  // a padding as wide as a window leaves windows without elements
    for (std::size_t d = 0; d < out.size(); ++d)
      windows_overlap_padding = windows_overlap_padding || w.before[d] >= w.kernel[d];
    if (!windows_overlap_padding)
      y = pooled(n, x, w, out, is_mean ? "avg" : "max", !counts_padding, rounded_up);
  }
  if (!y.has_value()) {
    std::vector<std::int64_t> ones_dims{1, 1};
    ones_dims.insert(ones_dims.end(), x.dims.begin() + 2, x.dims.end());
    std::vector<std::int64_t> before{0, 0}, after{0, 0}, last{0, 0};
    before.insert(before.end(), w.before.begin(), w.before.end());
    after.insert(after.end(), w.after.begin(), w.after.end());
    last.insert(last.end(), beyond.begin(), beyond.end());
    const std::vector<std::int64_t> none(before.size(), 0);
    onnx_imported ones;
    if (is_mean)
      ones = n.pad(n.pad(n.filled(1, x.type, ones_dims), before, after, counts_padding ? 1 : 0),
                   none, last, 0);
    for (std::size_t d = 0; d < after.size(); ++d) after[d] += last[d];
    const double outside = is_mean ? 0 : -std::numeric_limits<double>::infinity();
    const raised_window inner = packed_window(w);
    x = packed(n, n.pad(x, before, after, outside), w, out);
    y = pooled(n, x, inner, out, is_mean ? "avg" : "max", false, false);
    if (is_mean) y = n.div(y, pooled(n, packed(n, ones, w, out), inner, out, "avg", false, false));
  }
  if (is_signal) y = n.squeeze(y, {2});
  n.out(n.cast(y, type));
}
/// LpPool: (the sum of |x|^p over a window)^(1/p), by the mean of a window.
inline void raise_lp_pool(onnx_import_node& n) {
  onnx_imported x = n.in(0);
  n.require_rank(x, 3, 5);
  raised_window w = raised_window_of(n, x, n.integers("kernel_shape"));
  const bool is_signal = x.rank() == 3, rounded_up = n.flag("ceil_mode");
  if (is_signal) x = as_image(n, x, w);
  const std::vector<std::int64_t> out = windows_along(n, x, w, rounded_up);
  double count = 1;
  for (std::size_t d = 0; d < out.size(); ++d) {
    count *= static_cast<double>(w.kernel[d]);
    const std::int64_t end = end_of_windows(w, out, d);
    const std::int64_t have =
        n.extent(x, static_cast<std::int64_t>(2 + d)) + w.before[d] + w.after[d];
    w.after[d] += (std::max<std::int64_t>)(0, end - have);
  }
  const double p = static_cast<double>(n.integer("p", 2));
  onnx_imported power =
      p == 2 ? n.unary("square", x) : n.unary("pow", n.unary("abs", x), {{"factor", p}});
  power = packed(n, padded(n, power, w, 0), w, out);
  const onnx_imported sum =
      n.affine(pooled(n, power, packed_window(w), out, "avg", false, false), count, 0);
  onnx_imported y = p == 2 ? n.unary("sqrt", sum) : n.unary("pow", sum, {{"factor", 1 / p}});
  if (is_signal) y = n.squeeze(y, {2});
  n.out(y);
}
inline onnx_raising raise_global_pool(const char* type, const char* reduction) {
  return [type, reduction](onnx_import_node& n) {
    const onnx_imported& x = n.in(0);
    n.require_rank(x, 3, 16);
    std::vector<std::int64_t> axes, dims{x.dims[0], x.dims[1]};
    for (int d = 2; d < x.rank(); ++d) axes.push_back(d);
    if (x.rank() != 4) return n.out(n.reduce(reduction, x, axes, true));
    n.out(n.make("pool2d", {{"X", x}},
                 {{"pooling_type", type},
                  {"global_pooling", true},
                  {"ksize", std::vector<std::int64_t>{1, 1}},
                  {"strides", std::vector<std::int64_t>{1, 1}},
                  {"paddings", std::vector<std::int64_t>{0, 0}}},
                 x.type, {x.dims[0], x.dims[1], 1, 1}));
  };
}

inline void add_pool_pool2d(onnx_operators& to) {
  to.add("pool2d", lower_pool);
  to.add_node("MaxPool", raise_pool);
  to.add_node("AveragePool", raise_pool);
  to.add_node("LpPool", raise_lp_pool);
  to.add_node("MaxUnpool", raise_unpool);
  to.add_node("GlobalMaxPool", raise_global_pool("max", "reduce_max"));
  to.add_node("GlobalAveragePool", raise_global_pool("avg", "reduce_mean"));
}

/// Converts positions: ONNX counts them over the whole batch, Fluid within a channel.
inline void lower_indexed_pool(onnx_operator& op) {
  if (op.flag("global_pooling") || op.flag("adaptive"))
    op.fail("expected windows of one size, found those of a global or adaptive pool");
  const std::vector<std::string> found =
      op.nodes("MaxPool", {op.in("X")}, 2,
               {{"kernel_shape", each_side(op, "ksize", 2, 1)},
                {"strides", each_side(op, "strides", 2, 1)},
                {"pads", both_ends(each_side(op, "paddings", 2, 0))}});
  if (op.wants("Out")) op.out("Out", found[0]);
  const std::int64_t plane = op.extent("X", 2) * op.extent("X", 3);
  if (op.wants("Mask"))
    op.out("Mask", op.cast(op.node("Mod", {found[1], op.list({plane})}), dtype::int32));
}
inline void lower_unpool(onnx_operator& op) {
  const std::int64_t height = op.extent("Out", 2), width = op.extent("Out", 3);
  const std::string& rows = op.node("Shape", {op.in("X")}, {{"start", 0}, {"end", 2}});
  const std::string& shape = op.node("Concat", {rows, op.list({height * width})}, {{"axis", 0}});
  const std::string& zeros = op.node("Expand", {op.number(0, op.type_of("X")), shape});
  const std::string& positions = op.reshape(op.cast(op.in("Indices"), dtype::int64), {0, 0, -1});
  const std::string& all = op.node(
      "ScatterElements", {zeros, positions, op.reshape(op.in("X"), {0, 0, -1})}, {{"axis", 2}});
  op.out("Out", "Reshape", {all, op.list({0, 0, height, width})});
}

inline void add_pool_pool3d(onnx_operators& to) {
  to.add("pool3d", lower_pool);
  to.add("max_pool2d_with_index", lower_indexed_pool);
  to.add("unpool", lower_unpool);
}

}}}  // namespace lamina::onnx
