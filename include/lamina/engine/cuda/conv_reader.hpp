// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/conv_reader.hpp - images and filters as the sides of the products that a
// convolution and its gradients are.
#pragma once

#include <cstddef>

#include <lamina/engine/call/conv_shape.hpp>
#include <lamina/engine/cuda/divider.hpp>
#include <lamina/engine/cuda/pack.hpp>

namespace lamina::engine::cuda {

/// A place in a volume, and in which one of several.
struct volume_place {
  int number;
  int at[3];
};

/// Divisions by the three sides of a volume.
struct volume_divider {
  divider size, side[2];  // of all; of the height and the width

  volume_divider() = default;
  volume_divider(int depth, int height, int width)
      : size(depth * height * width), side{divider(height), divider(width)} {}
  LAMINA_INLINE LAMINA_FN volume_place place(int i) const {
    volume_place p;
    p.number = size.divide(i);
    p.at[1] = side[1].divide(i);
    p.at[2] = i;
    p.at[0] = side[0].divide(p.at[1]);
    return p;
  }
};

/// A convolution as kernels are given it.
struct conv_geometry {
  conv_side side[3];
  divider stride[3];
  volume_divider large, small, taps;
  int groups, large_channels, small_channels;  // channels: of one group

  conv_geometry() = default;
  explicit conv_geometry(const conv_shape& s)
      : large(s.side[0].large, s.side[1].large, s.side[2].large),
        small(s.side[0].small, s.side[1].small, s.side[2].small),
        taps(s.side[0].filter, s.side[1].filter, s.side[2].filter),
        groups(s.groups),
        large_channels(s.large_channels),
        small_channels(s.small_channels) {
    for (int d = 0; d < 3; ++d) side[d] = s.side[d], stride[d] = divider(s.side[d].stride);
  }

  /// Where tap `tap` of the place `small` of the small image lies in a channel of the large one, or
  /// -1 outside of it.
  LAMINA_INLINE LAMINA_FN int in_large(const volume_place& p, const volume_place& tap) const {
    int to = 0;
    bool inside = true;
    LAMINA_CUDA_UNROLL
    for (int d = 0; d < 3; ++d) {
      const int i = p.at[d] * side[d].stride - side[d].padding + tap.at[d] * side[d].dilation;
      inside = inside && i >= 0 && i < side[d].large;
      to = to * side[d].large + i;
    }
    return inside ? to : -1;
  }
  /// The place of a channel of the small image whose tap `tap` is the place `p` of the large one,
  /// or -1 if there is none.
  LAMINA_INLINE LAMINA_FN int in_small(const volume_place& p, const volume_place& tap) const {
    int to = 0;
    bool inside = true;
    LAMINA_CUDA_UNROLL
    for (int d = 0; d < 3; ++d) {
      int rest = p.at[d] + side[d].padding - tap.at[d] * side[d].dilation;
      inside = inside && rest >= 0;
      rest = rest < 0 ? 0 : rest;
      const int i = stride[d].divide(rest);
      inside = inside && rest == 0 && i < side[d].small;
      to = to * side[d].small + i;
    }
    return inside ? to : -1;
  }
};

/// Which product a convolution is.
enum class conv_kind {
  forward,  // the small image from the large one and the filter
  spread    // the large image from the small one and the filter: a gradient, conv2d_transpose
};

/// The sides of a filter together have at most as many taps where bits stand for them.
inline constexpr int most_filter_sides = 31;

/// The images of one group as columns [term (channel, tap)][place of the result].
template <conv_kind Kind>
struct window_reader {
  static constexpr bool along_depth = false;
  const conv_geometry& c;
  const float* data;  // of the first image, at the first channel of the group
  std::ptrdiff_t stride;
  int columns, depth;

  struct line_type {
    volume_place place;
    const float* image;  // null: outside
  };
  struct deep_type {
    volume_place tap;
    std::ptrdiff_t channel;  // where it begins; below zero: outside
  };
  LAMINA_INLINE LAMINA_FN line_type line(int q) const {
    line_type l;
    l.place = (Kind == conv_kind::forward ? c.small : c.large).place(q < columns ? q : 0);
    l.image = q < columns ? data + l.place.number * stride : nullptr;
    return l;
  }
  LAMINA_INLINE LAMINA_FN deep_type deep(int k) const {
    deep_type d;
    d.tap = c.taps.place(k < depth ? k : 0);
    const int size = (Kind == conv_kind::forward ? c.large : c.small).size.divisor();
    d.channel = k < depth ? static_cast<std::ptrdiff_t>(d.tap.number) * size : -1;
    return d;
  }
  LAMINA_INLINE LAMINA_FN float get(const line_type& l, const deep_type& d) const {
    const int at =
        Kind == conv_kind::forward ? c.in_large(l.place, d.tap) : c.in_small(l.place, d.tap);
    return l.image != nullptr && d.channel >= 0 && at >= 0 ? l.image[d.channel + at] : 0.0f;
  }
};

/// The same by bits: what of a filter is inside at a place is found out once a place, which bits a
/// tap asks for once a tap, and what is left for each element is one sum and one comparison.
template <conv_kind Kind>
struct masked_window_reader {
  static constexpr bool along_depth = false, shares_terms = true;
  const conv_geometry& c;
  const float* data;  // of the first image, at the first channel of the group
  std::ptrdiff_t stride;
  int columns, depth;

  struct line_type {
    const float* from;  // of the tap 0, wherever that is
    unsigned outside;   // a bit a tap of each side, and one that no term needs but those outside
  };
  struct deep_type {
    int at;          // from there
    unsigned needs;  // a bit of each side
  };
  LAMINA_INLINE LAMINA_FN line_type line(int q) const {
    const volume_place p =
        (Kind == conv_kind::forward ? c.small : c.large).place(q < columns ? q : 0);
    int at = 0, first = 0;
    unsigned inside = 0;
    LAMINA_CUDA_UNROLL
    for (int d = 0; d < 3; ++d) {
      at = at * read_side(d) + origin(d, p.at[d]);
      inside |= taps_inside(d, p.at[d]) << first;
      first += c.side[d].filter;
    }
    return {data + (p.number * stride + at), q < columns ? ~inside : ~0u};
  }
  LAMINA_INLINE LAMINA_FN deep_type deep(int k) const {
    const volume_place tap = c.taps.place(k < depth ? k : 0);
    int at = 0, first = 0;
    unsigned needs = 0;
    LAMINA_CUDA_UNROLL
    for (int d = 0; d < 3; ++d) {
      at = at * read_side(d) + step(d, tap.at[d]);
      needs |= 1u << (first + tap.at[d]);
      first += c.side[d].filter;
    }
    const int size = (Kind == conv_kind::forward ? c.large : c.small).size.divisor();
    return {tap.number * size + at, k < depth ? needs : 1u << most_filter_sides};
  }
  LAMINA_INLINE LAMINA_FN float get(const line_type& l, const deep_type& d) const {
    return (l.outside & d.needs) == 0 ? load_constant<lone_float>(l.from + d.at).v[0] : 0.0f;
  }

 private:
  LAMINA_INLINE LAMINA_FN int read_side(int d) const {
    return Kind == conv_kind::forward ? c.side[d].large : c.side[d].small;
  }
  // A tap of a place of the large image is one of the small image where their difference is whole
  // strides: both leave the same rest then, and so quotients may be subtracted.
  LAMINA_INLINE LAMINA_FN int origin(int d, int place) const {
    return Kind == conv_kind::forward ? place * c.side[d].stride - c.side[d].padding
                                      : c.stride[d].quotient(place + c.side[d].padding);
  }
  LAMINA_INLINE LAMINA_FN int step(int d, int tap) const {
    const int far = tap * c.side[d].dilation;
    return Kind == conv_kind::forward ? far : -c.stride[d].quotient(far);
  }
  static LAMINA_INLINE LAMINA_FN unsigned bits_below(int end, int most) {
    const int n = end < 0 ? 0 : end < most ? end : most;
    return (1u << n) - 1;
  }
  LAMINA_INLINE LAMINA_FN unsigned taps_inside(int d, int place) const {
    const conv_side& side = c.side[d];
    if (side.dilation == 1 && (Kind == conv_kind::forward || side.stride == 1)) {
      const int at = origin(d, place);
      const int end = Kind == conv_kind::forward ? side.large - at : at + 1;
      const int first = Kind == conv_kind::forward ? -at : at - side.small + 1;
      return bits_below(end, side.filter) & ~bits_below(first, side.filter);
    }
    unsigned bits = 0;
    LAMINA_CUDA_KEEP_LOOP
    for (int tap = 0; tap < side.filter; ++tap) {
      bool inside = false;
      if constexpr (Kind == conv_kind::forward) {
        const int i = place * side.stride - side.padding + tap * side.dilation;
        inside = i >= 0 && i < side.large;
      } else {
        int rest = place + side.padding - tap * side.dilation;
        if (rest >= 0) inside = c.stride[d].divide(rest) < side.small && rest == 0;
      }
      bits |= (inside ? 1u : 0u) << tap;
    }
    return bits;
  }
};

/// Rows whose terms lie where a row begins and how far a term is from there. What is multiplied for
/// a line behind the last one nobody stores: it is the first one.
struct row_reader {
  static constexpr bool along_depth = true;
  const conv_geometry& c;
  const float* data;
  std::ptrdiff_t stride;
  int rows, depth;

  struct line_type {
    const float* from;
  };
  struct deep_type {
    std::ptrdiff_t at;  // below zero: outside
  };
  LAMINA_INLINE LAMINA_FN float get(line_type l, deep_type d) const {
    return d.at >= 0 ? load_constant<lone_float>(l.from + d.at).v[0] : 0.0f;
  }
};

/// The filters of one group, from the first of them, as rows [channel of the result][term (channel,
/// tap)].
template <conv_kind Kind>
struct filter_reader : row_reader {
  static constexpr bool shares_terms = Kind == conv_kind::spread;
  LAMINA_INLINE LAMINA_FN line_type line(int r) const {
    const std::ptrdiff_t step = Kind == conv_kind::forward ? stride : c.taps.size.divisor();
    return {data + (r < rows ? r : 0) * step};
  }
  LAMINA_INLINE LAMINA_FN deep_type deep(int k) const {
    if (k >= depth) return {-1};
    if constexpr (Kind == conv_kind::forward) {
      return {k};
    } else {
      int tap = k;
      const int filter = c.taps.size.divide(tap);
      return {filter * stride + tap};
    }
  }
};

/// For the gradient of the filters, whose terms are the places of the small images of all rows: the
/// small images, from the first channel of the group, as rows [channel][term] ...
struct slope_reader : row_reader {
  static constexpr bool shares_terms = true;
  LAMINA_INLINE LAMINA_FN line_type line(int r) const {
    return {data + static_cast<std::ptrdiff_t>(r < rows ? r : 0) * c.small.size.divisor()};
  }
  LAMINA_INLINE LAMINA_FN deep_type deep(int k) const {
    if (k >= depth) return {-1};
    const int image = c.small.size.divide(k);
    return {image * stride + k};
  }
};
/// ... and what they see as columns [term][(channel, tap)]: the columns of the convolution itself,
/// turned.
template <class Windows>
struct seen_reader {
  static constexpr bool along_depth = true, shares_terms = true;
  Windows of;

  using line_type = typename Windows::deep_type;
  using deep_type = typename Windows::line_type;
  LAMINA_INLINE LAMINA_FN line_type line(int i) const { return of.deep(i); }
  LAMINA_INLINE LAMINA_FN deep_type deep(int k) const { return of.line(k); }
  LAMINA_INLINE LAMINA_FN float get(const line_type& l, const deep_type& d) const {
    return of.get(d, l);
  }
};

}  // namespace lamina::engine::cuda
