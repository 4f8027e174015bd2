// SPDX-License-Identifier: Apache-2.0
// lamina/operators/resize/onnx_grid_sample.hpp - imports ONNX's GridSample and AffineGrid.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/operators/elementwise/onnx_quantize.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace onnx {

/// Imports one GridSample: reads the elements of x [N, C, sides...] around positions that a grid
/// [N, positions..., sides] gives, each from -1 to 1.
class grid_sample_import {
 public:
  explicit grid_sample_import(onnx_import_node& node) : n(node) {}

  onnx_imported run() {
    const onnx_imported &x = n.in(0), &grid = n.in(1);
    n.require_rank(x, 3, 8);
    const int sides = x.rank() - 2;
    if (grid.rank() != x.rank() || n.extent(grid, -1) != sides)
      n.fail(text("expected a grid of ") << x.rank() << " dimensions, the last one of " << sides
                                         << ", found " << grid.dims_text());
    mode_ = n.string("mode", "linear");
    padding_ = n.string("padding_mode", "zeros");
    if (mode_ == "bilinear") mode_ = "linear";
    if (mode_ == "bicubic") mode_ = "cubic";
    if (mode_ != "linear" && mode_ != "nearest" && mode_ != "cubic")
      n.fail("expected mode linear, nearest or cubic, found '" + mode_ + "'");
    if (padding_ != "zeros" && padding_ != "border" && padding_ != "reflection")
      n.fail("expected padding_mode zeros, border or reflection, found '" + padding_ + "'");

    // The rows are the elements of all channels at one place.
    std::vector<std::int64_t> order{0}, positions(grid.dims.begin(), grid.dims.end() - 1);
    std::int64_t places = 1;
    for (int d = 0; d < sides; ++d) {
      order.push_back(2 + d);
      places *= n.extent(x, 2 + d);
      n.require_size({places});
    }
    order.push_back(1);
    const std::int64_t channels = n.extent(x, 1);
    const std::int64_t all = x.dims[0] < 0 ? -1 : x.dims[0] * places;
    if (places == 0 || channels == 0) n.fail("expected an input with elements, found none");
    const onnx_imported rows = n.reshape(n.transpose(x, order), {all, channels}, {-1, channels});

    std::vector<std::vector<tap>> taps;
    std::int64_t stride = places;
    for (int d = 0; d < sides; ++d) {
      stride /= n.extent(x, 2 + d);
      const onnx_imported g =
          n.squeeze(n.slice(grid, sides + 1, sides - 1 - d, sides - d), {sides + 1});
      taps.push_back(taps_of(g, n.extent(x, 2 + d), stride));
    }
    // The first row of each sample.
    onnx_imported sample = n.make("range",
                                  {{"Start", n.number(0, dtype::int64)},
                                   {"End", n.extent_of(grid, 0)},
                                   {"Step", n.number(1, dtype::int64)}},
                                  {}, dtype::int64, {grid.dims[0]});
    std::vector<std::int64_t> first{grid.dims[0]};
    first.resize(static_cast<std::size_t>(sides) + 1, 1);
    sample = n.reshape(n.mul(sample, n.number(static_cast<double>(places), dtype::int64)), first);

    std::int64_t count = 1;
    for (const std::int64_t p : positions) count = p < 0 || count < 0 ? -1 : count * p;
    onnx_imported sum;
    std::vector<std::size_t> at(taps.size(), 0);
    for (bool more = true; more;) {
      onnx_imported row = sample, weight;
      for (std::size_t d = 0; d < taps.size(); ++d) {
        const tap& t = taps[d][at[d]];
        row = n.binary("elementwise_add", t.index, row);
        if (t.weight.has_value()) weight = weight.has_value() ? n.mul(weight, t.weight) : t.weight;
      }
      onnx_imported part = n.gather(rows, n.reshape(row, {count}, {-1}), 0);
      if (weight.has_value()) part = n.mul(part, n.reshape(weight, {count, 1}, {-1, 1}));
      sum = sum.has_value() ? n.add(sum, part) : part;
      more = false;
      for (std::size_t d = 0; d < at.size() && !more; ++d) {
        more = ++at[d] < taps[d].size();
        if (!more) at[d] = 0;
      }
    }
    positions.push_back(channels);
    std::vector<std::int64_t> shape = positions;  // only the number of samples may be unknown
    std::vector<std::int64_t> back{0, sides + 1};
    for (int d = 1; d <= sides; ++d) back.push_back(d);
    return n.transpose(n.reshape(sum, positions, shape), back);
  }

 private:
  /// An element that a position reads along one side: its index times the stride of the side, and
  /// its weight; without a weight: 1.
  struct tap {
    onnx_imported index, weight;
  };

  // Reflects positions at both ends until they are between them.
  onnx_imported reflected(const onnx_imported& p, double low, double high) {
    const double range = high - low;
    if (range <= 0) return n.affine(n.unary("fill_zeros_like", p), 1, low);
    const onnx_imported y =
        n.binary("elementwise_mod", n.affine(p, 1, -low), n.number(2 * range, p.type));
    return n.affine(n.unary("abs", n.affine(y, 1, -range)), -1, low + range);
  }
  onnx_imported limited_to(const onnx_imported& p, std::int64_t size) {
    return n.binary("elementwise_min", n.binary("elementwise_max", p, n.number(0, p.type)),
                    n.number(static_cast<double>(size - 1), p.type));
  }

  std::vector<tap> taps_of(const onnx_imported& g, std::int64_t size, std::int64_t stride) {
    const double length = static_cast<double>(size);
    const bool corners = n.flag("align_corners");
    const double low = corners ? 0 : -0.5, high = corners ? length - 1 : length - 0.5;
    // -1 and 1 are the centres of the first and the last element, or their outer edges.
    onnx_imported p = corners ? n.affine(n.affine(g, 1, 1), (length - 1) / 2, 0)
                              : n.affine(n.affine(n.affine(g, 1, 1), length, -1), 0.5, 0);
    if (mode_ == "nearest") p = rounded_to_even(n, p);
    // A cubic kernel reads several elements around a position outside of x, too.
    if (padding_ == "border" && mode_ != "cubic") p = limited_to(p, size);
    if (padding_ == "reflection") p = reflected(p, low, high);
    if (mode_ == "nearest") return {one_tap(p, {}, size, stride, low, high)};
    const onnx_imported before = n.unary("floor", p), part = n.sub(p, before);
    if (mode_ == "linear")
      return {one_tap(before, n.affine(part, -1, 1), size, stride, low, high),
              one_tap(n.affine(before, 1, 1), part, size, stride, low, high)};
    // Keys' cubic convolution with a = -0.75, as in PyTorch.
    const double a = -0.75;
    const auto inner_weight =
        [&](const onnx_imported& d) {  // (a + 2) d^3 - (a + 3) d^2 + 1, d <= 1
          return n.affine(n.mul(n.mul(n.affine(d, a + 2, -(a + 3)), d), d), 1, 1);
        };
    const auto outer_weight = [&](const onnx_imported& d) {  // a (d^3 - 5 d^2 + 8 d - 4), 1 < d < 2
      const onnx_imported inner = n.affine(n.mul(n.affine(d, 1, -5), d), 1, 8);
      return n.affine(n.affine(n.mul(inner, d), 1, -4), a, 0);
    };
    const onnx_imported rest = n.affine(part, -1, 1);
    const onnx_imported weights[4] = {outer_weight(n.affine(part, 1, 1)), inner_weight(part),
                                      inner_weight(rest), outer_weight(n.affine(rest, 1, 1))};
    std::vector<tap> all;
    for (int k = 0; k < 4; ++k)
      all.push_back(one_tap(n.affine(before, 1, k - 1), weights[k], size, stride, low, high));
    return all;
  }

  // An element outside of x is 0, the nearest one of x, or that of the reflected index. A position
  // that is NaN reads element 0, with a weight of NaN if the mode has weights.
  tap one_tap(onnx_imported i, onnx_imported weight, std::int64_t size, std::int64_t stride,
              double low, double high) {
    if (padding_ == "reflection") i = rounded_to_even(n, reflected(i, low, high));
    if (padding_ != "zeros") i = limited_to(i, size);
    const onnx_imported inside = n.binary(
        "logical_and", n.binary("greater_equal", i, n.number(0, i.type), dtype::boolean),
        n.binary("less_equal", i, n.number(static_cast<double>(size - 1), i.type), dtype::boolean),
        dtype::boolean);
    if (padding_ == "zeros")
      weight = weight.has_value() ? n.kept(weight, inside) : n.cast(inside, i.type);
    const onnx_imported index = n.cast(n.kept(i, inside), dtype::int64);
    return {n.mul(index, n.number(static_cast<double>(stride), dtype::int64)), weight};
  }

  onnx_import_node& n;
  std::string mode_{}, padding_{};
};

inline void raise_grid_sample(onnx_import_node& n) { n.out(grid_sample_import(n).run()); }

/// AffineGrid: theta [N, sides, sides + 1] times the positions (x, y, ..., 1) of a result of the
/// given size [N, C, sides...].
inline void raise_affine_grid(onnx_import_node& n) {
  const onnx_imported& theta = n.in(0);
  const std::vector<std::int64_t> size = n.list(1, "a size");
  n.require_rank(theta, 3, 3);
  const std::int64_t sides = static_cast<std::int64_t>(size.size()) - 2;
  if (sides < 1 || sides > 3 || n.extent(theta, 1) != sides || n.extent(theta, 2) != sides + 1)
    n.fail(text("expected theta [N, sides, sides + 1] for a size of 1 to 3 sides, found ")
           << theta.dims_text() << " and size " << text().list(size));
  std::vector<std::int64_t> dims(size.begin() + 2, size.end());
  std::int64_t places = 1;
  for (const std::int64_t d : dims) {
    if (d < 1) n.fail(text("expected sides from 1 on, found ").list(size));
    n.require_size({places, d});
    places *= d;
  }
  n.require_size({places, sides + 1});
  std::vector<double> all;
  for (std::int64_t p = 0; p < places; ++p) {
    std::int64_t rest = p;
    for (std::int64_t d = sides; d-- > 0;) {  // x first, which is the last side
      const std::int64_t extent = dims[static_cast<std::size_t>(d)], i = rest % extent;
      rest /= extent;
      const double length = static_cast<double>(extent), at = static_cast<double>(i);
      all.push_back(n.flag("align_corners") ? (extent == 1 ? 0.0 : 2 * at / (length - 1) - 1)
                                            : (2 * at + 1) / length - 1);
    }
    all.push_back(1);
  }
  const onnx_imported base = onnx_import::constant(
      tensor({static_cast<std::size_t>(places), static_cast<std::size_t>(sides + 1)}, all)
          .cast(theta.type));
  const onnx_imported moved = n.matmul(base, n.transpose(theta, {0, 2, 1}));
  std::vector<std::int64_t> result{theta.dims[0]};
  result.insert(result.end(), dims.begin(), dims.end());
  result.push_back(sides);
  n.out(n.reshape(moved, result));
}

inline void add_resize_grid_sample(onnx_operators& to) {
  to.add_node("GridSample", raise_grid_sample);
  to.add_node("AffineGrid", raise_affine_grid);
}

}}}  // namespace lamina::onnx
