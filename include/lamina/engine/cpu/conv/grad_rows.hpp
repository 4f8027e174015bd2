// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/conv/grad_rows.hpp - divides the rows of the smaller image of a convolution, or
// of its gradient, into whole vectors.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstring>

#include <lamina/engine/cpu/conv/conv_forward.hpp>
#include <lamina/engine/cpu/vector/row_vectors.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// Divides the smaller image into vectors whose lanes belong to adjacent windows of the larger
/// image. If the length of a row is not a multiple of the vector length, the image is copied and
/// each row is padded with zeros, either to whole vectors, or to the distance between two rows of
/// windows in the larger image, whichever gives the shorter copy.
class grad_rows {
 public:
  LAMINA_API grad_rows(const conv_shape& s, const conv_forward& forward);

  /// Whether the image is read in place, without a copy.
  bool whole() const { return whole_; }
  int vectors() const { return vectors_; }
  /// The number of row offsets that `fill` writes.
  int row_count() const { return row_count_; }
  /// The size of the padded copy of an image, in floats.
  std::ptrdiff_t floats() const {
    return static_cast<std::ptrdiff_t>(channels_) * vectors_ * lanes;
  }

  /// Stores the offset in the larger image of each row of windows (`rows`) and of each vector of
  /// windows (`where`).
  LAMINA_LAZY LAMINA_API void fill(int* rows, int* where) const;
  void clear(float* to) const {
    std::memset(to, 0, static_cast<std::size_t>(floats()) * sizeof(float));
  }
  /// Copies an image. The caller must have set the gaps between the rows of the copy to zeros
  /// (clear()).
  LAMINA_LAZY LAMINA_API LAMINA_NOINLINE void copy(const float* from, const int* rows,
                                                   float* to) const;

 private:
  conv_forward forward_;
  int channels_, row_count_, count_, width_, vectors_;
  bool whole_, flat_;
};

#if LAMINA_DEFINES

grad_rows::grad_rows(const conv_shape& s, const conv_forward& forward)
    : forward_(forward),
      channels_(s.small_channels),
      row_count_(s.side[0].smaller * s.side[1].smaller) {
  width_ = s.side[2].smaller;
  count_ = row_count_;
  int end = width_;
  if (forward.is_dense()) {
    width_ *= count_;
    count_ = 1;
    end = width_;
  } else {
    end = forward.last_row() + width_;
  }
  whole_ = width_ % lanes == 0;
  const int by_row = count_ * ((width_ + lanes - 1) / lanes);
  const int flat = (end + lanes - 1) / lanes;
  flat_ = flat < by_row;
  vectors_ = flat_ ? flat : by_row;
}

LAMINA_LAZY_BODY void grad_rows::fill(int* rows, int* where) const {
  (void)forward_.fill_rows(rows);
  for (int v = 0, r = 0, x = 0; v < vectors_; ++v) {
    where[v] = flat_ ? v * lanes : rows[r] + x;
    x += lanes;
    if (!flat_ && x >= width_) x = 0, ++r;
  }
}

LAMINA_LAZY_BODY void grad_rows::copy(const float* from, const int* rows, float* to) const {
  const int step = (width_ + lanes - 1) / lanes * lanes;
  for (int o = 0; o < channels_; ++o, to += vectors_ * lanes)
    for (int r = 0; r < count_; ++r, from += width_) {
      float* const line = to + (flat_ ? rows[r] : r * step);
      for_each_row_vector(
          width_, [=](int j, auto like)
                      __attribute__((always_inline)) { store(line + j, load(from + j, like)); });
    }
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
