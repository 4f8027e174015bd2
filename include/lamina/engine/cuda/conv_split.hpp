// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/conv_split.hpp - images that a convolution makes, by the tiles that it takes:
// in one go, or, of few tiles and many terms, in parts of the terms.
#pragma once

#include <algorithm>
#include <cstddef>

#include <lamina/engine/cuda/conv_body.hpp>
#include <lamina/engine/cuda/conv_tiles.hpp>
#include <lamina/engine/cuda/split_product.hpp>

namespace lamina::engine::cuda::detail {

/// How the terms of a convolution are cut where it has few tiles: as many parts as keep a device of
/// about 384 resident teams at work. The same on every device: equal inputs give equal bits.
template <conv_kind Kind, class Shape>
class conv_split {
 public:
  static constexpr int resident = 384;
  /// Terms of the shortest part.
  static constexpr int shortest = 8 * Shape::depth < 128 ? 8 * Shape::depth : 128;

  explicit conv_split(const conv_shape& s) : groups_(s.groups), taps_(s.taps()) {
    const bool forward = Kind == conv_kind::forward;
    made_ = forward ? s.small_channels : s.large_channels;
    read_ = forward ? s.large_channels : s.small_channels;
    size_ = forward ? s.small_size() : s.large_size();
  }
  int terms() const { return read_ * taps_; }
  /// Of images whose rows are whole packs: those are added up.
  int most() const { return columns() % pack_width == 0 ? std::max(1, terms() / shortest) : 1; }
  int parts(int rows) const {
    const auto tiles = [](int n, int each) { return (n + each - 1) / each; };
    const int all = groups_ * tiles(made_, Shape::rows) * tiles(rows * size_, Shape::columns);
    return std::clamp(resident / std::max(1, all), 1, most());
  }
  int part_terms(int parts) const { return product_split<Shape>::part_terms(terms(), parts); }
  /// Floats for the parts of as many rows, or of fewer, which may be cut into more.
  std::ptrdiff_t scratch(int rows) const {
    if (most() == 1) return 0;
    return std::min(std::ptrdiff_t{rows} * columns() * most(),
                    std::ptrdiff_t{resident} * Shape::rows * Shape::columns);
  }

 private:
  int columns() const { return groups_ * made_ * size_; }

  int groups_, taps_, made_, read_, size_;
};

template <conv_kind Kind, class S, class Shape, class Backend, class Arguments>
void launch_conv_tiles(Backend& b, const Arguments& g, const conv_shape& s, float* scratch) {
  const conv_split<Kind, Shape> split(s);
  const int parts = scratch == nullptr ? 1 : split.parts(g.rows);
  if (parts == 1) return b.template teams<conv_body<Kind, S, Shape>>(g);
  part_conv_arguments p{};
  p.of[0] = g.of[0];
  p.of[1] = g.of[1];
  p.of[2] = scratch;
  p.rows = g.rows;
  p.columns = g.columns;
  p.left_stride = g.left_stride;
  p.right_stride = g.right_stride;
  p.conv = g.conv;
  p.seen = g.seen;
  p.part_terms = split.part_terms(parts);
  p.parts = (g.seen + p.part_terms - 1) / p.part_terms;
  b.template teams<part_conv_body<Kind, Shape>>(p);
  add_product_parts<S>(b, g, g.columns, scratch, p.parts);
}

/// `scratch`: room for parts; null where there is none.
template <conv_kind Kind, class S, unsigned Ways, class Backend, class Arguments>
void launch_conv(Backend& b, Arguments g, const conv_shape& s, float* scratch) {
  g.conv = conv_geometry(s);
  g.seen = conv_sides<Kind>::read(g.conv) * s.taps();
  take_way<Ways>(way_of_images<Kind>(s), [&]<conv_way Way>() {
    if constexpr (Way == conv_way::direct)
      b.template cells<direct_conv_body<Kind, S>>(g);
    else
      launch_conv_tiles<Kind, S, conv_tile<Backend, Way>>(b, g, s, scratch);
  });
}
/// Floats for the parts of the images `to` of a convolution.
template <conv_kind Kind, unsigned Ways, class Backend>
std::ptrdiff_t conv_scratch(const conv_shape& s, int rows) {
  std::ptrdiff_t floats = 0;
  take_way<Ways>(way_of_images<Kind>(s), [&]<conv_way Way>() {
    if constexpr (Way != conv_way::direct)
      floats = conv_split<Kind, conv_tile<Backend, Way>>(s).scratch(rows);
  });
  return floats;
}

}  // namespace lamina::engine::cuda::detail
