// SPDX-License-Identifier: Apache-2.0
// lamina/operators/resize/onnx.hpp - resizing and padding of images, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/io/onnx/onnx_windows.hpp>
#include <lamina/operators/resize/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace onnx {

/// Selects the source element of each of the `out` elements along a side. The indices depend on
/// rounding in float, so they are computed here and stored as constants.
inline std::string nearest_along(onnx_operator& op, const std::string& x, int axis) {
  const std::int64_t in = op.extent("X", axis), out = op.extent("Out", axis);
  if (in == out) return x;
  std::vector<std::int64_t> from;
  for (int k = 0; k < out; ++k)
    from.push_back(position_between(k, static_cast<int>(in), static_cast<int>(out), true,
                                    op.flag("align_corners", true), 0)
                       .low);
  return op.node("Gather", {x, op.list(from)}, {{"axis", axis}});
}
/// A side with a single result element takes the first source element. ONNX's mode
/// pytorch_half_pixel does this too; half_pixel, which is otherwise the same, does not.
inline void lower_bilinear(onnx_operator& op) {
  const char* mode = op.flag("align_corners", true)     ? "align_corners"
                     : op.integer("align_mode", 1) == 0 ? "pytorch_half_pixel"
                                                        : "asymmetric";
  const std::string& whole = op.node("Shape", {op.in("X")}, {{"start", 0}, {"end", 2}});
  const std::string& sizes = op.node(
      "Concat", {whole, op.list({op.extent("Out", 2), op.extent("Out", 3)})}, {{"axis", 0}});
  op.out("Out", "Resize", {op.in("X"), "", "", sizes},
         {{"mode", "linear"}, {"coordinate_transformation_mode", mode}});
}

inline void lower_pad2d(onnx_operator& op) {
  if (op.has("Paddings")) op.fail("expected paddings as attribute, found them in a variable");
  require_channels_first(op, "data_format");
  const std::vector<std::int64_t> p = each_side(op, "paddings", 4, 0);  // top, bottom, left, right
  const std::string& mode = op.string("mode", "constant");
  std::vector<std::string> inputs{op.in("X"), op.list({0, 0, p[0], p[2], 0, 0, p[1], p[3]})};
  if (mode == "constant") inputs.push_back(op.number(op.real("pad_value"), op.type_of("X")));
  op.out("Out", "Pad", inputs, {{"mode", mode}});
}

/// One side of a Resize: its source coordinates and the weights of the source elements.
struct raised_side {
  std::int64_t in, out;
  double scale;
  double begin = 0, end = 1;  // of the region, for tf_crop_and_resize
  std::string place{}, nearest{};

  /// Returns the source coordinate of a result element. As in PyTorch and ONNX Runtime, the corners
  /// are those of the whole elements of the result, and quotients are rounded to float, which
  /// decides between two neighbours.
  double source(std::int64_t i) const {
    const double x = static_cast<double>(i), n = static_cast<double>(in), length = scale * n;
    const auto over_scale = [&](double y) {
      return static_cast<double>(static_cast<float>(y) / static_cast<float>(scale));
    };
    if (place == "align_corners")
      return out == 1 ? 0 : x * (n - 1) / (static_cast<double>(out) - 1);
    if (place == "asymmetric") return over_scale(x);
    if (place == "tf_crop_and_resize")
      return begin * (n - 1) + (length == 1 ? (end - begin) * (n - 1) / 2
                                            : x * (end - begin) * (n - 1) / (length - 1));
    if (place == "pytorch_half_pixel" && length == 1) return -0.5;
    const double centred = over_scale(x + 0.5) - 0.5;
    return place == "half_pixel_symmetric"
               ? centred + n / 2 * (1 - static_cast<double>(out) / length)
               : centred;
  }
  /// Returns the index of the element that a result element copies in mode nearest.
  std::int64_t nearest_to(std::int64_t i) const {
    const double at = source(i), low = std::floor(at), part = at - low;
    double chosen = low;
    if (part != 0) {
      if (nearest == "ceil") chosen = low + 1;
      if (nearest == "round_prefer_floor") chosen = part <= 0.5 ? low : low + 1;
      if (nearest == "round_prefer_ceil") chosen = part < 0.5 ? low : low + 1;
    }
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(chosen), 0, in - 1);
  }
};
/// The forms of bilinear_interp and nearest_interp: attributes align_corners and align_mode.
inline constexpr std::pair<bool, int> interpolation_forms[] = {{false, 0}, {false, 1}, {true, 1}};
/// Returns the forms in which a side reads the elements that lamina's operators read, as bits.
inline int forms_of(const raised_side& side, bool is_nearest) {
  int forms = 0;
  const int in = static_cast<int>(side.in), out = static_cast<int>(side.out);
  for (int f = is_nearest ? 1 : 0; f < 3; ++f) {
    const auto [corners, align] = interpolation_forms[f];
    bool same = side.place != "tf_crop_and_resize";
    for (int i = 0; i < out && same; ++i) {
      const interpolation_position p = position_between(i, in, out, is_nearest, corners, align);
      const double at = p.low == p.high ? p.low : p.low + static_cast<double>(p.fraction);
      same =
          is_nearest
              ? side.nearest_to(i) == p.low
              : std::abs(std::clamp(side.source(i), 0.0, static_cast<double>(in - 1)) - at) < 1e-4;
    }
    forms |= same ? 1 << f : 0;
  }
  return forms;
}
/// The value of an interpolation kernel at a distance: linear, or cubic with a coefficient.
inline double interpolation_weight(double x, bool cubic, double a) {
  x = std::abs(x);
  if (!cubic) return (std::max)(0.0, 1 - x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}
/// Resizes one side as the product with a matrix [out, in], whose rows are the weights of the
/// source elements.
inline onnx_imported resized_side(onnx_import_node& n, const onnx_imported& x, int axis,
                                  const raised_side& side, const std::string& mode,
                                  double outside) {
  const std::int64_t last = side.in - 1;
  if (mode == "nearest") {
    std::vector<std::int64_t> from;
    for (std::int64_t i = 0; i < side.out; ++i) from.push_back(side.nearest_to(i));
    return n.gather(x, n.constant_list(from), axis);
  }
  const bool cubic = mode == "cubic", leaves_out = n.flag("exclude_outside");
  const double a = static_cast<double>(n.real("cubic_coeff_a", -0.75F));
  const double shrunk = n.flag("antialias") ? (std::min)(side.scale, 1.0) : 1;
  const double reach = (cubic ? 2 : 1) / shrunk;
  n.require_size({side.out, side.in});
  std::vector<double> matrix(static_cast<std::size_t>(side.out * side.in), 0);
  std::vector<std::int64_t> is_inside;
  bool all_inside = true;
  for (std::int64_t i = 0; i < side.out; ++i) {
    const double at = side.source(i);
    const bool inside =
        side.place != "tf_crop_and_resize" || (at >= 0 && at <= static_cast<double>(last));
    is_inside.push_back(inside);
    all_inside = all_inside && inside;
    double sum = 0;
    double* row = matrix.data() + i * side.in;
    for (auto k = static_cast<std::int64_t>(std::floor(at - reach));
         static_cast<double>(k) <= at + reach; ++k) {
      const double weight = interpolation_weight((static_cast<double>(k) - at) * shrunk, cubic, a);
      if (weight == 0 || (leaves_out && (k < 0 || k > last))) continue;
      row[std::clamp<std::int64_t>(k, 0, last)] += weight;
      sum += weight;
    }
    if ((leaves_out || shrunk < 1) && sum != 0)
      for (std::int64_t k = 0; k < side.in; ++k) row[k] /= sum;
  }
  const onnx_imported weights = onnx_import::constant(
      tensor({static_cast<std::size_t>(side.out), static_cast<std::size_t>(side.in)}, matrix)
          .cast(x.type));
  const int rank = x.rank();
  const onnx_imported front = n.transpose(x, onnx_import_node::moved(rank, axis, rank - 1));
  onnx_imported y = n.matmul(front, weights, false, true);
  y = n.transpose(y, onnx_import_node::moved(rank, rank - 1, axis));
  if (all_inside) return y;
  std::vector<std::int64_t> dims(static_cast<std::size_t>(rank), 1);
  dims[static_cast<std::size_t>(axis)] = side.out;
  return n.where(n.cast(n.reshape(n.constant_list(is_inside), dims), dtype::boolean), y,
                 n.number(outside, x.type));
}
/// Resizes a side whose extent, or whose extent in the result, is known only at run time.
/// `result` is the latter as a scalar, or absent if the scale is known.
inline onnx_imported resized_at_run_time(onnx_import_node& n, const onnx_imported& x,
                                         std::int64_t axis, const raised_side& side,
                                         const onnx_imported& result, const std::string& mode) {
  const dtype real = dtype::float64, whole = dtype::int64;
  const onnx_imported in = n.cast(n.extent_of(x, axis), real);
  const auto number = [&](double v) { return n.number(v, real); };
  const auto refuse = [&](const std::string& what) {
    if (result.has_value()) (void)n.list(3, "sizes");  // names the input
    n.fail("expected sides that are known before a run for " + what);
  };
  if (n.flag("antialias") || mode == "cubic")
    refuse("mode " + mode + (n.flag("antialias") ? " with antialias" : ""));
  const onnx_imported out =
      result.has_value() ? n.cast(result, real) : n.unary("floor", n.mul(in, number(side.scale)));
  const onnx_imported scale = result.has_value() ? n.div(out, in) : number(side.scale);
  const onnx_imported count = n.cast(out, whole);
  const onnx_imported i =
      n.cast(n.positions(count.constant != nullptr ? count.constant->cast<std::int64_t>().flat(0)
                                                   : n.symbol_of(count, 0, true),
                         1, 0),
             real);
  onnx_imported at;
  if (side.place == "asymmetric") {
    at = n.div(i, scale);
  } else if (side.place == "half_pixel" || side.place == "pytorch_half_pixel") {
    // They differ for a single element, which reads the first one with pytorch_half_pixel.
    at = n.sub(n.div(n.add(i, number(0.5)), scale), number(0.5));
    if (side.place == "pytorch_half_pixel")
      at = n.mul(at, n.cast(n.binary("greater_than", out, number(1), dtype::boolean), real));
  } else if (side.place == "align_corners") {
    const onnx_imported most = n.binary("elementwise_max", n.sub(out, number(1)), number(1));
    at = n.mul(i, n.div(n.sub(in, number(1)), most));
  } else {
    refuse("coordinate_transformation_mode " + side.place);
  }
  const auto inside = [&](const onnx_imported& p) {
    return n.binary("elementwise_min", n.binary("elementwise_max", p, number(0)),
                    n.sub(in, number(1)));
  };
  if (mode == "nearest") {
    if (side.nearest == "round_prefer_floor")
      at = n.unary("ceil", n.sub(at, number(0.5)));
    else if (side.nearest == "round_prefer_ceil")
      at = n.unary("floor", n.add(at, number(0.5)));
    else
      at = n.unary(side.nearest == "ceil" ? "ceil" : "floor", at);
    return n.gather(x, n.cast(inside(at), whole), axis);
  }
  const onnx_imported p = inside(at), low = n.unary("floor", p);
  std::vector<std::int64_t> dims(static_cast<std::size_t>(x.rank() - axis), 1);
  dims[0] = i.dims[0];
  const onnx_imported part = n.cast(n.reshape(n.sub(p, low), dims), x.type);
  const onnx_imported from = n.gather(x, n.cast(low, whole), axis),
                      to = n.gather(x, n.cast(inside(n.add(low, number(1))), whole), axis);
  return n.add(from, n.mul(n.sub(to, from), part));
}
/// Resize and Upsample: nearest, linear or cubic along each side whose scale is not 1.
inline void raise_resize(onnx_import_node& n) {
  const bool is_old = n.type() == "Upsample" || n.version() < 11;
  const onnx_imported given = n.in(0);
  const dtype real = is_floating(given.type) ? given.type : dtype::float64;
  std::vector<std::int64_t> axes = n.integers("axes"), sizes;
  if (axes.empty())
    for (int d = 0; d < given.rank(); ++d) axes.push_back(d);
  for (std::int64_t& d : axes) d = n.axis(d, given.rank());
  const auto numbers = [&](std::size_t i, const char* what) {
    const auto all = n.constant(i, what).cast<double>();
    return std::vector<double>(all.begin(), all.end());
  };
  std::vector<double> scales, region;
  if (n.type() == "Upsample" && n.has_attribute("scales")) {
    for (const float s : n.reals("scales")) scales.push_back(static_cast<double>(s));
  } else if (is_old) {
    scales = numbers(1, "scales");
  } else {
    if (n.has(1)) region = numbers(1, "a region");
    if (n.has(2)) scales = numbers(2, "scales");
    if (n.has(3)) sizes = n.numbers(3, "sizes");
  }
  if ((sizes.empty() ? scales.size() : sizes.size()) != axes.size())
    n.fail(text("expected a scale or a size for ") << axes.size() << " dimensions");
  // A side may be unknown: one that keeps its size has the scale 1, others the scale 0.
  bool all_known = true;
  const auto is_kept = [&](std::size_t i) {
    return is_symbol(sizes[i]) && sizes[i] == given.dims[static_cast<std::size_t>(axes[i])];
  };
  for (const std::int64_t s : sizes) all_known = all_known && !is_symbol(s);
  for (const std::int64_t s : sizes)
    if (!is_symbol(s) && (s < 0 || s > 0x7fffff))
      n.fail(text("expected sizes from 0 to 8388607, found ") << s);
  for (const double edge : region)
    if (!(std::abs(edge) < 1e6))
      n.fail(text("expected a region near the image, found ").print("%g", edge));
  if (!sizes.empty()) {
    scales.clear();
    for (std::size_t i = 0; i < axes.size(); ++i)
      scales.push_back(is_kept(i) ? 1
                       : is_symbol(sizes[i]) || given.dims[static_cast<std::size_t>(axes[i])] < 0
                           ? 0
                           : static_cast<double>(sizes[i]) /
                                 static_cast<double>(n.extent(given, axes[i])));
    const std::string policy = n.string("keep_aspect_ratio_policy", "stretch");
    if (policy != "stretch") {
      if (!all_known) (void)n.list(3, "sizes");
      const double one = policy == "not_larger" ? *std::min_element(scales.begin(), scales.end())
                                                : *std::max_element(scales.begin(), scales.end());
      for (std::size_t i = 0; i < axes.size(); ++i) {
        scales[i] = one;
        sizes[i] =
            static_cast<std::int64_t>(one * static_cast<double>(n.extent(given, axes[i])) + 0.5);
      }
    }
  }
  const std::string mode = n.string("mode", "nearest");
  if (mode != "nearest" && mode != "linear" && mode != "cubic")
    n.fail("expected mode nearest, linear or cubic, found " + mode);
  onnx_imported x = mode == "nearest" ? given : n.cast(given, real);
  // Sides of images that lamina's own operators resize in one of these forms, at once.
  int forms = x.rank() == 4 && x.type == dtype::float32 && x.constant == nullptr &&
                      mode != "cubic" && !n.flag("antialias") && !n.flag("exclude_outside") &&
                      x.dims[2] > 0 && x.dims[3] > 0
                  ? 7
                  : 0;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (is_symbol(sizes[i]) && !is_kept(i)) forms = 0;
  std::int64_t image[] = {0, 0};  // the extents of these sides in the result
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto d = static_cast<std::size_t>(axes[i]);
    if (scales[i] == 1 && region.empty()) continue;
    raised_side side{x.dims[d], 0, scales[i]};
    const bool at_run_time = side.in < 0 || (!sizes.empty() && is_symbol(sizes[i]));
    if (!at_run_time &&
        (!(scales[i] > 0) || side.in < 1 || !(scales[i] * static_cast<double>(side.in) < 8388608)))
      n.fail(text("expected scales above 0 of sides with elements, found ").print("%g", scales[i]));
    side.out = sizes.empty() ? static_cast<std::int64_t>(scales[i] * static_cast<double>(side.in))
                             : sizes[i];
    side.place = is_old ? "asymmetric" : n.string("coordinate_transformation_mode", "half_pixel");
    side.nearest = is_old ? "floor" : n.string("nearest_mode", "round_prefer_floor");
    bool known = false;
    for (const char* place : {"align_corners", "asymmetric", "tf_crop_and_resize",
                              "pytorch_half_pixel", "half_pixel_symmetric", "half_pixel"})
      known = known || side.place == place;
    if (!known) n.fail("expected a coordinate_transformation_mode of ONNX, found " + side.place);
    if (at_run_time) {
      x = resized_at_run_time(n, x, axes[i], side,
                              sizes.empty() ? onnx_imported() : n.scalar_of(sizes[i]), mode);
      continue;
    }
    if (side.place == "tf_crop_and_resize") {
      if (region.size() != 2 * axes.size()) n.fail("expected a region for tf_crop_and_resize");
      side.begin = region[i];
      side.end = region[axes.size() + i];
    }
    if (side.out < 0 || side.out > 0x7fffff)
      n.fail(text("expected sizes from 0 to 8388607, found ") << side.out);
    const int same =
        d >= 2 && forms != 0 && side.out > 0 ? forms & forms_of(side, mode == "nearest") : 0;
    if (same != 0) {
      forms = same;
      image[d - 2] = side.out;
      continue;
    }
    x = resized_side(n, x, static_cast<int>(d), side, mode,
                     static_cast<double>(n.real("extrapolation_value")));
  }
  if (image[0] + image[1] > 0) {
    int form = 0;
    while ((forms >> form) % 2 == 0) ++form;
    const auto [corners, align] = interpolation_forms[form];
    for (std::size_t d = 0; d < 2; ++d) image[d] = image[d] > 0 ? image[d] : x.dims[d + 2];
    x = n.make(mode == "nearest" ? "nearest_interp" : "bilinear_interp", {{"X", x}},
               {{"out_h", static_cast<int>(image[0])},
                {"out_w", static_cast<int>(image[1])},
                {"align_corners", corners},
                {"align_mode", align}},
               x.type, {x.dims[0], x.dims[1], image[0], image[1]});
  }
  n.out(n.cast(x, given.type));
}

inline void add_resize(onnx_operators& to) {
  to.add_node("Resize", raise_resize);
  to.add_node("Upsample", raise_resize);
  to.add("bilinear_interp", lower_bilinear);
  to.add("nearest_interp", [](onnx_operator& op) {
    op.out("Out", nearest_along(op, nearest_along(op, op.in("X"), 2), 3));
  });
  to.add("pad2d", lower_pad2d);
}

}}}  // namespace lamina::onnx
