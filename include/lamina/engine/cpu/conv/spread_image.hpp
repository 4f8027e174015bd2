// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/conv/spread_image.hpp - padded copies of images. In such a copy, each tap of a
// filter has a constant offset from the begin of a window, also for strides above 1.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include <lamina/engine/cpu/vector/lane_order.hpp>
#include <lamina/engine/cpu/vector/row_vectors.hpp>
#include <lamina/operators/conv/common.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// One dimension of a spread image. The image is padded and divided into phases, one per residue
/// modulo the stride. Element i of phase f is element i * phases + f - before of the image, or 0
/// outside of the image.
struct spread_side {
  int image = 1, phases = 1, before = 0;
  int span = 1;        // number of elements of a phase
  unsigned met = ~0u;  // bit mask of the phases that a filter reads; only these are copied

  void meet(int position) { met |= phases <= 32 ? 1u << position % phases : ~0u; }
  bool meets(int phase) const { return phases > 32 || (met >> phase & 1u) != 0; }
};

/// A copy of the channels of an image with zeros around it, divided into phases. With the phases,
/// the elements that one tap of a filter reads in adjacent windows are adjacent in memory, whatever
/// the stride is. Layout: [channels][phases of depth, height, width][span of depth, height, width].
struct spread_image {
  int channels = 1;
  spread_side side[3];

  int phase_size() const { return side[0].span * side[1].span * side[2].span; }
  int channel_size() const {
    return phase_size() * side[0].phases * side[1].phases * side[2].phases;
  }
  /// The size of the copy in floats, including padding after the last element, so that whole
  /// vectors can be read.
  std::ptrdiff_t floats() const {
    const std::ptrdiff_t all = static_cast<std::ptrdiff_t>(channels) * channel_size() + 2 * lanes;
    return (all + alignment_floats - 1) / alignment_floats * alignment_floats;
  }
  /// Whether the copy would equal the image, so that no copy is needed.
  bool is_image() const {
    for (const spread_side& s : side)
      if (s.phases != 1 || s.before != 0 || s.span != s.image) return false;
    return true;
  }
  /// The offset, in the copy of a channel, of the element at `position` (z, y, x) of the padded
  /// image.
  LAMINA_LAZY LAMINA_API int offset(const int (&position)[3]) const;

  void clear(float* to) const {
    std::memset(to, 0, static_cast<std::size_t>(floats()) * sizeof(float));
  }
  /// Copies the image. The caller must have set the padding of the copy to zeros (clear()).
  LAMINA_LAZY LAMINA_API void copy(const float* from, float* to) const;
  /// Converts the copy back to an image: image = copy + bias[channel]. Elements of the image that
  /// are not in the copy become the bias.
  LAMINA_LAZY LAMINA_API void copy_back(const float* from, const float* bias, float* to) const;

 private:
  /// Does the work of copy() if the columns have two phases, both of which a filter reads.
  LAMINA_LAZY LAMINA_API void copy_pairs(const float* from, float* to) const;
  /// Does the work of copy_back() if the copy holds the whole image and its columns have two
  /// phases.
  LAMINA_LAZY LAMINA_API void copy_pairs_back(const float* from, const float* bias,
                                              float* to) const;
  /// Whether the copy holds every element of the image.
  LAMINA_LAZY LAMINA_API bool holds_image() const;
  /// Calls f(channel, index in the image, stride in the image, index in the copy, count) for each
  /// row of each phase, where `count` elements of the row lie inside the image.
  template <class F>
  LAMINA_INLINE void for_each_line(F f) const {
    const spread_side &depth = side[0], &height = side[1], &width = side[2];
    std::ptrdiff_t in_copy = 0;
    for (int c = 0; c < channels; ++c)
      for (int fz = 0; fz < depth.phases; ++fz)
        for (int fy = 0; fy < height.phases; ++fy)
          for (int fx = 0; fx < width.phases; ++fx) {
            if (!depth.meets(fz) || !height.meets(fy) || !width.meets(fx)) {
              in_copy += phase_size();
              continue;
            }
            const int shift = fx - width.before;
            const int first = shift < 0 ? (-shift + width.phases - 1) / width.phases : 0;
            int end = width.image - 1 < shift ? 0 : (width.image - 1 - shift) / width.phases + 1;
            if (end > width.span) end = width.span;
            for (int z = 0; z < depth.span; ++z)
              for (int y = 0; y < height.span; ++y, in_copy += width.span) {
                const int iz = z * depth.phases + fz - depth.before;
                const int iy = y * height.phases + fy - height.before;
                if (iz < 0 || iz >= depth.image || iy < 0 || iy >= height.image || first >= end)
                  continue;
                const std::ptrdiff_t row =
                    ((static_cast<std::ptrdiff_t>(c) * depth.image + iz) * height.image + iy) *
                    width.image;
                f(c, row + shift + first * width.phases, width.phases, in_copy + first,
                  end - first);
              }
          }
  }
};

#if LAMINA_DEFINES

LAMINA_LAZY_BODY int spread_image::offset(const int (&position)[3]) const {
  int phase = 0, at = 0;
  for (int d = 0; d < 3; ++d) {
    phase = phase * side[d].phases + position[d] % side[d].phases;
    at = at * side[d].span + position[d] / side[d].phases;
  }
  return phase * phase_size() + at;
}

LAMINA_LAZY_BODY void spread_image::copy_pairs(const float* from, float* to) const {
  const spread_side &depth = side[0], &height = side[1], &width = side[2];
  // The phase to which column 0 of the image belongs, and the columns of even and of odd numbers
  // that the copy has room for.
  const int odd = width.before % 2, space = width.span - width.before / 2;
  const int even_columns = (std::max)(0, (std::min)((width.image + 1) / 2, space));
  const int pairs = (std::max)(0, (std::min)(width.image / 2, space - odd));
  for (int c = 0; c < channels; ++c, to += channel_size())
    for (int iz = 0; iz < depth.image; ++iz)
      for (int iy = 0; iy < height.image; ++iy, from += width.image) {
        const int z = iz + depth.before, y = iy + height.before;
        if (z / depth.phases >= depth.span || y / height.phases >= height.span ||
            !depth.meets(z % depth.phases) || !height.meets(y % height.phases))
          continue;
        const int phase = (z % depth.phases * height.phases + y % height.phases) * 2;
        float* const row = to + static_cast<std::ptrdiff_t>(phase) * phase_size() +
                           (z / depth.phases * height.span + y / height.phases) * width.span +
                           width.before / 2;
        float* const first = row + odd * phase_size();
        float* const second = row + (1 - odd) * phase_size() + odd;
        for_each_row_vector(
            pairs, [=](int j, auto like) __attribute__((always_inline)) {
              using V = decltype(like);
              if constexpr (std::is_same_v<V, float>) {
                first[j] = from[2 * j];
                second[j] = from[2 * j + 1];
              } else {
                const V a = load(from + 2 * j, like), b = load(from + 2 * j + lanes_of<V>, like);
                store(first + j, even_lanes(a, b));
                store(second + j, odd_lanes(a, b));
              }
            });
        if (even_columns > pairs) first[pairs] = from[2 * pairs];
      }
}

LAMINA_LAZY_BODY void spread_image::copy(const float* from, float* to) const {
  bool is_padded = true;
  for (const spread_side& s : side) is_padded = is_padded && s.before >= 0;
  if (is_padded && side[2].phases == 2 && side[2].meets(0) && side[2].meets(1))
    return copy_pairs(from, to);
  for_each_line([=](int, std::ptrdiff_t image, int step, std::ptrdiff_t in_copy, int count) {
    const float* const source = from + image;
    float* const target = to + in_copy;
    if (step == 1)
      for_each_row_vector(
          count, [=](int j, auto like)
                     __attribute__((always_inline)) { store(target + j, load(source + j, like)); });
    else if (step == 2)  // one phase; copy_pairs() copies both
      for_each_row_vector(
          count, [=](int j, auto like) __attribute__((always_inline)) {
            if constexpr (std::is_same_v<decltype(like), float>)
              target[j] = source[2 * j];
            else
              store(target + j,
                    even_and_odd_lanes(load(source + 2 * j, like),
                                       load(source + 2 * j + lanes_of<decltype(like)> - 1, like)));
          });
    else
      for (int j = 0; j < count; ++j) target[j] = source[static_cast<std::ptrdiff_t>(j) * step];
  });
}

LAMINA_LAZY_BODY void spread_image::copy_back(const float* from, const float* bias,
                                              float* to) const {
  const bool all = holds_image();
  if (all && side[2].phases == 2) return copy_pairs_back(from, bias, to);
  if (!all) {
    const std::ptrdiff_t size =
        static_cast<std::ptrdiff_t>(side[0].image) * side[1].image * side[2].image;
    for (int c = 0; c < channels; ++c) {
      const float more = bias == nullptr ? 0.0F : bias[c];
      float* const image = to + c * size;
      std::ptrdiff_t i = 0;
      for (; i + lanes <= size; i += lanes) vector(more).store_unaligned(image + i);
      for (; i < size; ++i) image[i] = more;
    }
  }
  for_each_line([=](int c, std::ptrdiff_t image, int step, std::ptrdiff_t in_copy, int count) {
    const float* const source = from + in_copy;
    float* const target = to + image;
    const float more = bias == nullptr ? 0.0F : bias[c];
    if (step == 1)
      for_each_row_vector(
          count, [=](int j, auto like) __attribute__((always_inline)) {
            store(target + j, load(source + j, like) + decltype(like)(more));
          });
    else
      for (int j = 0; j < count; ++j)
        target[static_cast<std::ptrdiff_t>(j) * step] = source[j] + more;
  });
}

LAMINA_LAZY_BODY void spread_image::copy_pairs_back(const float* from, const float* bias,
                                                    float* to) const {
  const spread_side &depth = side[0], &height = side[1], &width = side[2];
  // The phase to which column 0 of the image belongs.
  const int odd = width.before % 2;
  for (int c = 0; c < channels; ++c, from += channel_size()) {
    const float more = bias == nullptr ? 0.0F : bias[c];
    for (int iz = 0; iz < depth.image; ++iz)
      for (int iy = 0; iy < height.image; ++iy, to += width.image) {
        const int z = iz + depth.before, y = iy + height.before;
        const int phase = (z % depth.phases * height.phases + y % height.phases) * 2;
        const float* const row = from + static_cast<std::ptrdiff_t>(phase) * phase_size() +
                                 (z / depth.phases * height.span + y / height.phases) * width.span +
                                 width.before / 2;
        const float* const first = row + odd * phase_size();
        const float* const second = row + (1 - odd) * phase_size() + odd;
        for_each_row_vector(
            width.image / 2, [=](int j, auto like) __attribute__((always_inline)) {
              using V = decltype(like);
              const V a = load(first + j, like) + V(more), b = load(second + j, like) + V(more);
              if constexpr (std::is_same_v<V, float>) {
                to[2 * j] = a;
                to[2 * j + 1] = b;
              } else {
                store(to + 2 * j, first_in_turn(a, b));
                store(to + 2 * j + lanes_of<V>, second_in_turn(a, b));
              }
            });
        if (width.image % 2 != 0) to[width.image - 1] = first[width.image / 2] + more;
      }
  }
}

LAMINA_LAZY_BODY bool spread_image::holds_image() const {
  for (const spread_side& s : side)
    for (int f = 0; f < s.phases; ++f)
      if (!s.meets(f) || f - s.before + (s.span - 1) * s.phases < s.image - s.phases) return false;
  return true;
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
