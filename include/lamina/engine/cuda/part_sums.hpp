// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/part_sums.hpp - sums over all rows, a number or some a channel: parts of them
// by teams of their own, then the parts joined in an order that depends on sizes alone.
#pragma once

#include <algorithm>
#include <cstdint>

#include <lamina/engine/cuda/call_site.hpp>
#include <lamina/engine/cuda/part_walks.hpp>

namespace lamina::engine::cuda {

/// Into how many parts sums are cut: as many as keep a device of about 256 resident teams at work.
/// The same on every device: equal inputs give equal bits.
struct part_split {
  static constexpr int resident = 256;
  /// Elements of a channel in the shortest part, 16 a thread: below twice as many a team adds them
  /// up at once.
  static constexpr int shortest = 4096;
  /// Channels of fewer elements a row are read as columns, if there are many rows: memory gives 32
  /// bytes at once.
  static constexpr int narrow = 8, many_rows = 256;

  static int parts(int teams, int terms, int least) {
    return std::clamp(resident / std::max(1, teams), 1, std::max(1, terms / least));
  }
  static bool by_columns(int rows, int size) { return size < narrow && rows >= many_rows; }
  static int of_channels(int rows, int channels, int size) {
    return parts(channels, rows * size, shortest);
  }
  template <class Shape, class Pack>
  static int of_columns(int rows, int columns) {
    constexpr int tile = Shape::packs * Pack::width, least = Shape::lanes * 16 / Pack::width;
    return parts((columns + tile - 1) / tile, rows, least);
  }
};

/// What is summed up is a type with `arguments`, derived from part_sum_arguments, `sums`, the
/// numbers of a channel, and
///   part(a, walk, found)           found[k]: of the part that is walked along
///   join(a, channel, team, found)  found[k]: of the parts that were left
///   finish(a, channel, found)      by one thread: what becomes of the sums
/// Those whose parts are added up have `join` from here.
template <int Sums>
struct added_parts {
  static constexpr int sums = Sums;

  template <class Team>
  static LAMINA_INLINE LAMINA_FN void join(const part_sum_arguments& a, int channel,
                                           const Team& team, float (&found)[Sums]) {
    const int inner = a.inner.divisor();
    for (int k = 0; k < Sums; ++k) found[k] = 0;
    for (int i = team.rank(); i < a.parts * inner; i += team.size()) {
      int j = i;
      const int part = a.inner.divide(j);
      LAMINA_CUDA_UNROLL
      for (int k = 0; k < Sums; ++k) found[k] += a.at(k, part, channel * inner + j);
    }
    for (int k = 0; k < Sums; ++k) found[k] = sum_of(team, found[k]);
  }
};

namespace detail {

/// The sums of one part; of the only one they are finished.
template <class Sum, class Walk>
LAMINA_INLINE LAMINA_FN void sum_part(const typename Sum::arguments& a, const Walk& walk) {
  using pack_type = typename Walk::pack_type;
  pack_type found[Sum::sums];
  Sum::part(a, walk, found);
  walk.leave([&](int part, int number, int lane) {
    float own[Sum::sums];
    LAMINA_CUDA_UNROLL
    for (int k = 0; k < Sum::sums; ++k) own[k] = found[k].v[lane];
    if (a.is_whole()) return Sum::finish(a, number, own);
    LAMINA_CUDA_UNROLL
    for (int k = 0; k < Sum::sums; ++k) a.at(k, part, number) = own[k];
  });
}

}  // namespace detail

/// Line i: channel i % channels of part i / channels.
template <class Sum>
struct channel_parts_body {
  using arguments = typename Sum::arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, const Team& team) {
    for (int i = team.index; i < a.lines; i += team.count) {
      const int part = i / a.channels, channel = i - part * a.channels;
      if (a.packs)
        detail::sum_part<Sum>(a, channel_walk<pack, Team>(a, team, channel, part));
      else
        detail::sum_part<Sum>(a, channel_walk<lone_float, Team>(a, team, channel, part));
    }
  }
};

/// Tiles of columns, of all parts.
template <class Sum, class Shape>
struct column_parts_body {
  using arguments = typename Sum::arguments;
  static constexpr int threads = Shape::threads;
  using shared = column_lanes<Shape>;
  static int teams(const arguments& a) { return a.parts * tiles(a); }

  template <class Team>
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, const Team& team, shared& s) {
    for (int t = team.index; t < a.parts * tiles(a); t += team.count) {
      const int part = t / tiles(a), tile = t % tiles(a);
      if (a.packs)
        detail::sum_part<Sum>(a, column_walk<pack, Shape, Team>(a, team, s, tile, part));
      else
        detail::sum_part<Sum>(a, column_walk<lone_float, Shape, Team>(a, team, s, tile, part));
    }
  }

 private:
  static LAMINA_FN int tiles(const arguments& a) {
    const int each = Shape::packs * (a.packs ? pack_width : 1);
    return (a.channels * a.size + each - 1) / each;
  }
};

/// Line i: channel i, of its parts.
template <class Sum>
struct joined_parts_body {
  using arguments = typename Sum::arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, const Team& team) {
    for (int i = team.index; i < a.channels; i += team.count) {
      float found[Sum::sums];
      Sum::join(a, i, team, found);
      if (team.rank() == 0) Sum::finish(a, i, found);
    }
  }
};

/// Whether an array is whole packs where `columns` elements of it are.
inline bool is_packs(const float* of, std::ptrdiff_t stride, int columns) {
  return reinterpret_cast<std::uintptr_t>(of) % sizeof(pack) == 0 && stride % pack_width == 0 &&
         columns % pack_width == 0;
}

/// Floats for the parts of as many rows, or of fewer.
template <class Sum>
std::ptrdiff_t channel_part_floats(int rows, int channels, int size) {
  const int parts = part_split::of_channels(rows, channels, size);
  return parts == 1 ? 0 : std::ptrdiff_t{Sum::sums} * parts * channels;
}
template <class Sum, class Backend>
std::ptrdiff_t column_part_floats(int rows, int channels, int size) {
  using shape = typename Backend::sum_tile;
  const int columns = channels * size;
  const int parts = std::max(part_split::of_columns<shape, pack>(rows, columns),
                             part_split::of_columns<shape, lone_float>(rows, columns));
  return parts == 1 && size == 1 ? 0 : std::ptrdiff_t{Sum::sums} * parts * columns;
}
template <class Sum, class Backend>
std::ptrdiff_t image_part_floats(int rows, int channels, int size) {
  return part_split::by_columns(rows, size) ? column_part_floats<Sum, Backend>(rows, channels, size)
                                            : channel_part_floats<Sum>(rows, channels, size);
}

namespace detail {

/// Cuts the terms into parts of equal lengths, the last one perhaps shorter.
inline void cut_terms(part_sum_arguments& a, int parts) {
  a.part_terms = std::max(1, (a.terms + parts - 1) / parts);
  a.parts = std::max(1, (a.terms + a.part_terms - 1) / a.part_terms);
}
template <class Sum, class Backend>
void join_parts(Backend& b, typename Sum::arguments& a) {
  if (a.is_whole()) return;
  a.lines = a.channels;
  a.width = a.parts * a.inner.divisor();
  b.template lines<joined_parts_body<Sum>>(a);
}

}  // namespace detail

/// Sums by channels; given are rows, channels, size and, by `packs`, whether all that is summed up
/// is whole packs.
template <class Sum, class Backend>
void sum_channels(Backend& b, typename Sum::arguments a, float* scratch) {
  a.term_elements = a.packs ? pack_width : 1;
  a.row_terms = divider(a.size / a.term_elements);
  a.terms = a.rows * (a.size / a.term_elements);
  a.inner = divider(1);
  a.numbers = a.channels;
  a.found = scratch;
  detail::cut_terms(a, part_split::of_channels(a.rows, a.channels, a.size));
  a.lines = a.channels * a.parts;
  a.width = a.part_terms * a.term_elements;
  b.template lines<channel_parts_body<Sum>>(a);
  detail::join_parts<Sum>(b, a);
}
/// Sums by columns, `size` of which are a channel's.
template <class Sum, class Backend>
void sum_columns(Backend& b, typename Sum::arguments a, float* scratch) {
  using shape = typename Backend::sum_tile;
  a.term_elements = 1;
  a.terms = a.rows;
  a.inner = divider(a.size);
  a.numbers = std::ptrdiff_t{a.channels} * a.size;
  a.found = scratch;
  const int columns = a.channels * a.size;
  detail::cut_terms(a, a.packs ? part_split::of_columns<shape, pack>(a.rows, columns)
                               : part_split::of_columns<shape, lone_float>(a.rows, columns));
  b.template teams<column_parts_body<Sum, shape>>(a);
  detail::join_parts<Sum>(b, a);
}
/// Sums over images; `packs`, for the way that is taken, from is_packs(..., elements in a row).
template <class Sum, class Backend>
void sum_images(Backend& b, const typename Sum::arguments& a, float* scratch) {
  if (part_split::by_columns(a.rows, a.size))
    sum_columns<Sum>(b, a, scratch);
  else
    sum_channels<Sum>(b, a, scratch);
}
/// Elements that have to be whole packs for this.
inline int elements_together(int rows, int channels, int size) {
  return part_split::by_columns(rows, size) ? channels * size : size;
}

}  // namespace lamina::engine::cuda
