// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/body/conv_reader.cuh - reads images and filters as the operands of matrix
// products. A convolution and its gradients are such products (implicit GEMM: the matrix of windows
// is never stored).
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/engine/cuda/body/conv_tile.hpp>
#include <lamina/engine/cuda/body/divider.cuh>
#include <lamina/engine/cuda/body/pack.cuh>
#include <lamina/operators/conv/common.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

/// The direction of a convolution kernel, which determines the image that is read and the image
/// that is the result. The large image is the input of conv2d, the small image its output.
enum class conv_kind {
  forward,  // computes the small image from the large image
  spread    // computes the large image from the small one: input gradient, conv2d_transpose
};

/// The decoded index of an element in several adjacent volumes: the number of the volume, and the
/// depth, height and width coordinates in it.
struct volume_position {
  int number;
  int at[3];
};

/// The shape of the channels of one group. Each channel is a volume; a channel of a 2D image has
/// depth 1.
struct conv_volume {
  int channels = 1;
  int side[3] = {1, 1, 1};  // depth, height, width
  divider size, height, width;

  conv_volume() = default;
  conv_volume(int channel_count, int d, int h, int w)
      : channels(channel_count), side{d, h, w}, size(d * h * w), height(h), width(w) {}
  /// Floats of all channels of a group.
  LAMINA_INLINE LAMINA_FN int floats() const { return channels * size.divisor(); }
  LAMINA_INLINE LAMINA_FN volume_position position(int i) const {
    volume_position p;
    p.number = size.divide(i);
    p.at[1] = width.divide(i);
    p.at[2] = i;
    p.at[0] = height.divide(p.at[1]);
    return p;
  }
};

/// The shape of a convolution, as an argument of kernels.
struct conv_geometry {
  conv_volume large, smaller, taps;  // taps: positions in one channel of a filter
  divider stride[3];
  int padding[3], dilation[3];
  int groups;

  conv_geometry() = default;
  explicit conv_geometry(const conv_shape& s)
      : large(s.large_channels, s.side[0].large, s.side[1].large, s.side[2].large),
        smaller(s.small_channels, s.side[0].smaller, s.side[1].smaller, s.side[2].smaller),
        taps(1, s.side[0].filter, s.side[1].filter, s.side[2].filter),
        groups(s.groups) {
    for (int d = 0; d < 3; ++d) {
      stride[d] = divider(s.side[d].stride);
      padding[d] = s.side[d].padding;
      dilation[d] = s.side[d].dilation;
    }
  }
  /// to() returns the shape of the image that the kernel writes, from() that of the image that it
  /// reads.
  template <conv_kind Kind>
  LAMINA_INLINE LAMINA_FN const conv_volume& to() const {
    return Kind == conv_kind::forward ? smaller : large;
  }
  template <conv_kind Kind>
  LAMINA_INLINE LAMINA_FN const conv_volume& from() const {
    return Kind == conv_kind::forward ? large : smaller;
  }
};

/// Reads the images of one group as the matrix [term (channel, tap)][position of the result]. An
/// entry is the image element under that tap when the filter is at that position, or 0 outside of
/// the image.
template <conv_kind Kind>
struct window_reader {
  static constexpr bool along_depth = false;
  /// A coordinate that stays outside of the image whichever tap's offset is added.
  static constexpr int outside = -(1 << 30);
  const conv_geometry& c;
  const float* data;      // first image, at the first channel of the group
  std::ptrdiff_t stride;  // floats between consecutive images
  int positions, terms;

  // The sum of the coordinates of a line and of a term addresses an element. If the large image is
  // the result, the sum is in units of the large image and must be a multiple of the stride.
  struct line_type {
    const float* image;
    int at[3];
  };
  struct deep_type {
    int channel;  // offset of the channel in the image, in floats
    int at[3];
  };
  LAMINA_INLINE LAMINA_FN line_type line(int q) const {
    const volume_position p = c.template to<Kind>().position(q < positions ? q : 0);
    line_type l{data + p.number * stride, {}};
    LAMINA_CUDA_UNROLL
    for (int d = 0; d < 3; ++d)
      l.at[d] = Kind == conv_kind::forward ? p.at[d] * c.stride[d].divisor() - c.padding[d]
                                           : p.at[d] + c.padding[d];
    if (q >= positions) l.at[0] = outside;
    return l;
  }
  LAMINA_INLINE LAMINA_FN deep_type deep(int k) const {
    const volume_position tap = c.taps.position(k < terms ? k : 0);
    deep_type t{tap.number * c.template from<Kind>().size.divisor(), {}};
    LAMINA_CUDA_UNROLL
    for (int d = 0; d < 3; ++d)
      t.at[d] = (Kind == conv_kind::forward ? 1 : -1) * tap.at[d] * c.dilation[d];
    if (k >= terms) t.at[0] = outside;
    return t;
  }
  LAMINA_INLINE LAMINA_FN float get(const line_type& l, const deep_type& t) const {
    const conv_volume& from = c.template from<Kind>();
    int position = 0;
    LAMINA_CUDA_UNROLL
    for (int d = 0; d < 3; ++d) {
      int i = l.at[d] + t.at[d];
      if (i < 0) return 0.0f;
      if constexpr (Kind == conv_kind::spread) {
        int rest = i;
        i = c.stride[d].divide(rest);
        if (rest != 0) return 0.0f;
      }
      if (i >= from.side[d]) return 0.0f;
      position = position * from.side[d] + i;
    }
    return load_constant<lone_float>(l.image + t.channel + position).v[0];
  }
};

/// Reads the same matrix as window_reader, but faster, by bit masks. A mask per position has a bit
/// for each tap of each side that is outside of the image; a mask per tap has the bits of that tap.
/// So an element costs one sum and one comparison. The sides of the filter may have at most
/// most_filter_sides taps in total.
template <conv_kind Kind>
struct masked_window_reader {
  static constexpr bool along_depth = false;
  const conv_geometry& c;
  const float* data;      // first image, at the first channel of the group
  std::ptrdiff_t stride;  // floats between consecutive images
  int positions, terms;

  struct line_type {
    const float* first;  // address of the element under tap 0, maybe outside of the image
    unsigned outside;    // one bit per tap of each side, and one for terms past the last term
  };
  struct deep_type {
    int at;          // offset from tap 0, in floats
    unsigned needs;  // one bit per side
  };
  LAMINA_INLINE LAMINA_FN line_type line(int q) const {
    const volume_position p = c.template to<Kind>().position(q < positions ? q : 0);
    int at = 0, first = 0;
    unsigned inside = 0;
    LAMINA_CUDA_UNROLL
    for (int d = 0; d < 3; ++d) {
      at = at * side(d) + origin(d, p.at[d]);
      inside |= taps_inside(d, p.at[d]) << first;
      first += c.taps.side[d];
    }
    return {data + (p.number * stride + at), q < positions ? ~inside : ~0u};
  }
  LAMINA_INLINE LAMINA_FN deep_type deep(int k) const {
    const volume_position tap = c.taps.position(k < terms ? k : 0);
    int at = 0, first = 0;
    unsigned needs = 0;
    LAMINA_CUDA_UNROLL
    for (int d = 0; d < 3; ++d) {
      at = at * side(d) + step(d, tap.at[d]);
      needs |= 1u << (first + tap.at[d]);
      first += c.taps.side[d];
    }
    return {tap.number * c.template from<Kind>().size.divisor() + at,
            k < terms ? needs : 1u << most_filter_sides};
  }
  LAMINA_INLINE LAMINA_FN float get(const line_type& l, const deep_type& t) const {
    return (l.outside & t.needs) == 0 ? load_constant<lone_float>(l.first + t.at).v[0] : 0.0f;
  }

 private:
  LAMINA_INLINE LAMINA_FN int side(int d) const { return c.template from<Kind>().side[d]; }
  // If the large image is the result, a tap at a position corresponds to an element of the small
  // image only if position - tap is a multiple of the stride. Then both divisions by the stride
  // leave the same remainder, so the quotients may be subtracted.
  LAMINA_INLINE LAMINA_FN int origin(int d, int position) const {
    return Kind == conv_kind::forward ? position * c.stride[d].divisor() - c.padding[d]
                                      : c.stride[d].quotient(position + c.padding[d]);
  }
  LAMINA_INLINE LAMINA_FN int step(int d, int tap) const {
    const int distant = tap * c.dilation[d];
    return Kind == conv_kind::forward ? distant : -c.stride[d].quotient(distant);
  }
  /// Returns a word whose lowest `n` bits are set, with `n` limited to the range from 0 to `most`.
  static LAMINA_INLINE LAMINA_FN unsigned bits_below(int n, int most) {
    return (1u << (n < 0 ? 0 : n < most ? n : most)) - 1;
  }
  LAMINA_INLINE LAMINA_FN unsigned taps_inside(int d, int position) const {
    const int taps = c.taps.side[d];
    if (c.dilation[d] == 1 && (Kind == conv_kind::forward || c.stride[d].divisor() == 1)) {
      const int at = origin(d, position);
      const int end = Kind == conv_kind::forward ? side(d) - at : at + 1;
      const int first = Kind == conv_kind::forward ? -at : at - side(d) + 1;
      return bits_below(end, taps) & ~bits_below(first, taps);
    }
    unsigned bits = 0;
    LAMINA_CUDA_KEEP_LOOP
    for (int tap = 0; tap < taps; ++tap) {
      bool inside = false;
      if constexpr (Kind == conv_kind::forward) {
        const int i = position * c.stride[d].divisor() - c.padding[d] + tap * c.dilation[d];
        inside = i >= 0 && i < side(d);
      } else {
        int rest = position + c.padding[d] - tap * c.dilation[d];
        if (rest >= 0) inside = c.stride[d].divide(rest) < side(d) && rest == 0;
      }
      bits |= (inside ? 1u : 0u) << tap;
    }
    return bits;
  }
};

/// The transposed matrix of windows, for the gradient of the filters, which is a sum over
/// positions.
template <class Windows>
struct turned_window_reader {
  static constexpr bool along_depth = true;
  Windows of;

  using line_type = typename Windows::deep_type;
  using deep_type = typename Windows::line_type;
  LAMINA_INLINE LAMINA_FN line_type line(int i) const { return of.deep(i); }
  LAMINA_INLINE LAMINA_FN deep_type deep(int k) const { return of.line(k); }
  LAMINA_INLINE LAMINA_FN float get(const line_type& l, const deep_type& d) const {
    return of.get(d, l);
  }
};

/// Selects the reader of windows: by bit masks, or for filters with too many taps for a mask
/// (conv_tile.hpp).
template <conv_kind Kind, bool ManyTaps>
struct window_reader_of {
  using type = masked_window_reader<Kind>;
};
template <conv_kind Kind>
struct window_reader_of<Kind, true> {
  using type = window_reader<Kind>;
};

/// Reads the filters as the matrix [filter][term (channel, tap)], which is also their layout in
/// memory.
struct filter_reader {
  static constexpr bool along_depth = true;
  const float* data;      // first filter of the group
  std::ptrdiff_t stride;  // floats between consecutive filters
  int filters, terms;

  using line_type = const float*;
  using deep_type = int;
  // For a line past the last one any valid line may be read, because its sums are not stored.
  LAMINA_INLINE LAMINA_FN line_type line(int r) const {
    return data + (r < filters ? r : 0) * stride;
  }
  LAMINA_INLINE LAMINA_FN deep_type deep(int k) const { return k; }
  LAMINA_INLINE LAMINA_FN float get(line_type filter, int k) const {
    return k < terms ? load_constant<lone_float>(filter + k).v[0] : 0.0f;
  }
};

/// Reads an array [number][channel][element] as the matrix [channel][term (number, element)]. The
/// array is the filters if the large image is the result, or the small images for the gradient of
/// the filters.
struct channel_reader {
  static constexpr bool along_depth = true;
  const float* data;      // starts at the first channel of the group
  std::ptrdiff_t stride;  // floats between consecutive numbers
  divider size;           // elements per channel
  int channels, terms;

  using line_type = const float*;
  using deep_type = std::ptrdiff_t;  // offset of a term; negative for a term past the last one
  LAMINA_INLINE LAMINA_FN line_type line(int r) const {
    return data + static_cast<std::ptrdiff_t>(r < channels ? r : 0) * size.divisor();
  }
  LAMINA_INLINE LAMINA_FN deep_type deep(int k) const {
    if (k >= terms) return -1;
    const int number = size.divide(k);
    return number * stride + k;
  }
  LAMINA_INLINE LAMINA_FN float get(line_type channel, deep_type at) const {
    return at >= 0 ? load_constant<lone_float>(channel + at).v[0] : 0.0f;
  }
};

}}}  // namespace lamina::engine::cuda
