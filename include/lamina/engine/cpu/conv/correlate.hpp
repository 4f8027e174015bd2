// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/conv/correlate.hpp - computes the products of filters with the windows of one
// image. If the number of windows per row is a multiple of the vector length, the windows are not
// copied.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <utility>

#include <lamina/engine/cpu/conv/image_rows.hpp>
#include <lamina/engine/cpu/gemm/gemm_block.hpp>
#include <lamina/engine/cpu/gemm/micro_kernel.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// The windows of an image: `count` rows of `width` adjacent windows. Window (r, x) begins at
/// offset row[r] + x of the image. Tap k of a filter reads the element taps[k] after the begin of
/// the window.
struct window_grid {
  int count, width;
  const int* row;
  int depth;
  const int* taps;
  int channels;  // channels of the image

  int windows() const { return count * width; }
};

namespace detail {

/// The arguments for one tile of filters by windows.
struct correlation_tile {
  int depth;
  left_operand filters;  // one row per filter, one step per tap
  const int* taps;
  const float* const* at;  // address at which each vector of windows begins
  const float* initial;    // where the sums start, one number per row; null means 0
  float* to;
  std::ptrdiff_t stride;     // from row to row in `to`
  const int* positions;      // offset in a row of `to` of each vector
  const int* row_positions;  // if not null: sums are added to `to` at these row offsets
};

template <int Rows, int Vectors>
LAMINA_NOINLINE void correlate_tile(const correlation_tile& t) {
  constexpr int count = chains(Rows * Vectors);
  vector acc[bound(count)][bound(Rows)][bound(Vectors)];
  LAMINA_UNROLL for (int c = 0; c < count; ++c) {
    LAMINA_UNROLL for (int i = 0; i < Rows; ++i) {
      const vector first(c == 0 && t.initial != nullptr ? t.initial[i] : 0.F);
      LAMINA_UNROLL for (int j = 0; j < Vectors; ++j) acc[c][i][j] = first;
    }
  }
  const left_operand filters = t.filters;
  const int* taps = t.taps;
  const float* at[bound(Vectors)];
  LAMINA_UNROLL for (int j = 0; j < Vectors; ++j) at[j] = t.at[j];
  // An instruction can address base, base + row and base + 2 * row.
  constexpr int bases = (Rows + 2) / 3;
  const float* base[bound(bases)];
  LAMINA_UNROLL for (int i = 0; i < bases; ++i) base[i] = filters.data + 3 * i * filters.row;
  const auto advance = [&](auto& chain) __attribute__((always_inline)) {
    const std::ptrdiff_t tap = *taps++;
    vector b[bound(Vectors)];
    LAMINA_UNROLL for (int j = 0; j < Vectors; ++j) {
      b[j] = vector::load_unaligned(at[j] + tap);
      if (Rows > 1) hold_in_register(b[j]);
    }
    LAMINA_UNROLL for (int i = 0; i < Rows; ++i) {
      const vector a(base[i / 3][(i % 3) * filters.row]);
      LAMINA_UNROLL for (int j = 0; j < Vectors; ++j) {
        chain[i][j] = fused_multiply_add(a, b[j], chain[i][j]);
      }
    }
    LAMINA_UNROLL for (int i = 0; i < bases; ++i) base[i] += filters.step;
  };
  int k = 0;
  for (; k + count <= t.depth; k += count) {
    LAMINA_UNROLL for (int c = 0; c < count; ++c) advance(acc[c]);
  }
  if constexpr (count > 1) {
    for (; k < t.depth; ++k) advance(acc[0]);
    LAMINA_UNROLL for (int c = 1; c < count; ++c) {
      LAMINA_UNROLL for (int i = 0; i < Rows; ++i) {
        LAMINA_UNROLL for (int j = 0; j < Vectors; ++j) acc[0][i][j] += acc[c][i][j];
      }
    }
  }
  if (t.row_positions != nullptr) {
    LAMINA_UNROLL for (int i = 0; i < Rows; ++i) {
      float* const row = t.to + t.row_positions[i];
      LAMINA_UNROLL for (int j = 0; j < Vectors; ++j) {
        float* const to = row + t.positions[j];
        (vector::load_unaligned(to) + acc[0][i][j]).store_unaligned(to);
      }
    }
  } else {
    LAMINA_UNROLL for (int i = 0; i < Rows; ++i) {
      float* const row = t.to + i * t.stride;
      LAMINA_UNROLL for (int j = 0; j < Vectors; ++j) acc[0][i][j].store_unaligned(row +
                                                                                   t.positions[j]);
    }
  }
}

/// The number of vectors of windows in a tile of a single filter. A tile of one filter needs more
/// windows than other tiles to have enough independent sums.
inline constexpr int lone_vectors = 8;
constexpr int vectors_of_tile(int rows) { return rows == 1 ? lone_vectors : tile_vectors; }

using correlation_kernel = void (*)(const correlation_tile&);

/// The kernels of tiles of `Vectors` vectors, and of `First` rows and more.
template <int Vectors, int First, class Rows>
struct correlation_kernels;
template <int Vectors, int First, int... Index>
struct correlation_kernels<Vectors, First, std::integer_sequence<int, Index...>> {
  static constexpr correlation_kernel table[] = {&correlate_tile<Index + First, Vectors>...};
};
template <class Vectors>
struct correlation_table;
template <int... V>
struct correlation_table<std::integer_sequence<int, V...>> {
  static correlation_kernel find(int rows, int vectors) {
    using rows_above_one = std::make_integer_sequence<int, tile_rows - 1>;
    static constexpr const correlation_kernel* of[] = {
        correlation_kernels<V + 1, 2, rows_above_one>::table...};
    return of[vectors - 1][rows - 2];
  }
};

/// Computes the products of one filter with eight vectors of windows at a time, and with the
/// remaining vectors four, two and one at a time.
LAMINA_LAZY LAMINA_API void correlate_lone_filter(int vectors, correlation_tile t);

/// Computes the products of a tile of `rows` filters by `vectors` vectors of windows.
template <class = void>
LAMINA_INLINE void correlate_rows(int rows, int vectors, const correlation_tile& t) {
  if (rows == 1) return correlate_lone_filter(vectors, t);
  correlation_table<std::make_integer_sequence<int, tile_vectors>>::find(rows, vectors)(t);
}

#if LAMINA_DEFINES

LAMINA_LAZY_BODY void correlate_lone_filter(int vectors, correlation_tile t) {
  while (vectors > 0) {
    const int now = vectors >= 8 ? 8 : vectors >= 4 ? 4 : vectors >= 2 ? 2 : 1;
    const correlation_kernel kernel = now == 8   ? &correlate_tile<1, 8>
                                      : now == 4 ? &correlate_tile<1, 4>
                                      : now == 2 ? &correlate_tile<1, 2>
                                                 : &correlate_tile<1, 1>;
    kernel(t);
    vectors -= now;
    t.at += now;
    t.positions += now;
  }
}

#endif  // LAMINA_DEFINES

}  // namespace detail

/// Packs filters in the order in which class correlation reads them: tile by tile, and within a
/// tile tap by tap. `filter(row, tap)` must return an element.
template <class Filter>
void pack_filters(int rows, int depth, Filter filter, float* to) {
  const even_parts tiles(rows, tile_rows);
  for (int t = 0; t < tiles.count(); ++t)
    for (int k = 0; k < depth; ++k)
      for (int i = 0; i < tiles.size(t); ++i) *to++ = filter(tiles.first(t) + i, k);
}

/// to[i * stride + w] = initial[i] + sum over k of filters[i][k] * image[window w + taps[k]].
/// Windows are read in place if the number of windows per row is a multiple of the vector length,
/// or little less than one; the last vector of a row then repeats some windows of the vector before
/// it. Otherwise windows are copied to panels. The copy may read one vector after the end of the
/// image, so this memory must be readable.
class correlation {
 public:
  /// The size of the scratch memory, in floats.
  static std::ptrdiff_t scratch_floats(int rows, int depth, int channels, int windows) {
    const correlation c({1, windows, nullptr, depth, nullptr, channels}, rows);
    return c.sums_floats() + c.together_ * c.panel_floats() + 2 * alignment_floats + padded(depth);
  }

  LAMINA_API correlation(const window_grid& grid, int rows, float* scratch);

  static bool reads_in_place(const window_grid& g, int rows) {
    // Copying the windows costs as much as the products of about four filters with them.
    const int repeated = (lanes - g.width % lanes) % lanes;
    return repeated == 0 || (g.width >= lanes && repeated * (rows + 4) <= 4 * g.width);
  }

  /// Filters that are a multiple of so many floats apart evict each other from the first-level
  /// cache.
  static constexpr std::ptrdiff_t floats_of_way = 1024;
  /// Whether the products of filters that are `filter_stride` floats apart with `windows` windows
  /// take less time if the filters are read where they are. Packed filters pay if they are read
  /// often, or if the filters of a tile have addresses that a cache maps to the same lines.
  static bool reads_unpacked(std::ptrdiff_t windows, std::ptrdiff_t filter_stride) {
    return windows <= 16 * lanes && filter_stride % floats_of_way != 0;
  }

  /// Computes all products. If `filter_stride` is 0, `filters` are in the layout of pack_filters();
  /// otherwise they are rows that are so many floats apart. The products begin at element `first`
  /// of the image of `progress`, which learns what is finished.
  LAMINA_LAZY LAMINA_API LAMINA_NOINLINE void run(const float* filters,
                                                  std::ptrdiff_t filter_stride, const float* image,
                                                  const float* initial, float* to,
                                                  std::ptrdiff_t stride, std::ptrdiff_t first,
                                                  image_progress& progress) const;

 private:
  LAMINA_API correlation(const window_grid& grid, int rows);
  std::ptrdiff_t panel_floats() const { return static_cast<std::ptrdiff_t>(grid_.depth) * width_; }
  std::ptrdiff_t sums_floats() const {
    return static_cast<std::ptrdiff_t>(tiles_.longest()) * sums_stride() + alignment_floats;
  }
  float* panel(int i) const { return panels_ + i * panel_floats(); }

  /// Copies the windows of a panel, tap by tap. Consecutive windows in one row of the grid (a run)
  /// are contiguous in the image. Each run is copied in whole vectors; the copy of the next run
  /// overwrites the excess elements.
  LAMINA_LAZY LAMINA_API void copy_windows(const float* image, int p, float* to) const;

  /// The offsets of the vectors of a row of a tile that is not stored in the image.
  static constexpr int steps_of_vectors[] = {0,         lanes,     2 * lanes, 3 * lanes,
                                             4 * lanes, 5 * lanes, 6 * lanes, 7 * lanes};
  static_assert(detail::lone_vectors == 8);

  /// The vectors of windows of a panel: where they begin, and where their products are stored.
  struct vectors_of_panel {
    int count;
    int begin, windows;  // for a copied panel: its first window, and the number of windows
    const float* at[detail::lone_vectors];
    int positions[detail::lone_vectors];
  };
  LAMINA_LAZY LAMINA_API void find_vectors(const float* image, int p, int slot,
                                           vectors_of_panel& v) const;

  /// The number of panels that are finished together, and the distance of the rows of their sums.
  static constexpr int finished_panels = 4;
  int sums_stride() const { return width_ * finished_panels; }

  /// Computes tile t of a panel. If `apart` is not null, the sums are stored there, `sums_stride()`
  /// floats from row to row, and not in the image.
  template <class = void>
  LAMINA_INLINE void run_tile(const float* filters, std::ptrdiff_t filter_stride,
                              const float* initial, float* to, std::ptrdiff_t stride, int t,
                              const vectors_of_panel& v, float* apart = nullptr) const {
    const int row = tiles_.first(t), rows = tiles_.size(t);
    to += row * stride + v.begin;
    const bool whole = v.count * lanes == v.windows, direct = whole && apart == nullptr;
    float* const sums = apart == nullptr ? sums_ : apart;
    const left_operand of_tile =
        filter_stride == 0
            ? left_operand{filters + static_cast<std::ptrdiff_t>(row) * grid_.depth, 1, rows}
            : left_operand{filters + row * filter_stride, filter_stride, 1};
    const detail::correlation_tile task{grid_.depth,
                                        of_tile,
                                        in_place_ ? grid_.taps : steps_,
                                        v.at,
                                        initial == nullptr ? nullptr : initial + row,
                                        direct ? to : sums,
                                        direct ? stride : sums_stride(),
                                        apart == nullptr ? v.positions : steps_of_vectors,
                                        nullptr};
    detail::correlate_rows(rows, v.count, task);
    if (whole) return;
    for (int i = 0; i < rows; ++i, to += stride)
      for (int j = 0; j < v.windows; ++j) to[j] = sums_[i * sums_stride() + j];
  }

  window_grid grid_;
  even_parts tiles_;
  int width_;  // columns of a panel
  int together_;
  int row_vectors_;
  bool in_place_;
  float *sums_ = nullptr, *panels_ = nullptr;
  const int* steps_ = nullptr;
};

#if LAMINA_DEFINES

correlation::correlation(const window_grid& grid, int rows, float* scratch)
    : correlation(grid, rows) {
  sums_ = scratch;
  panels_ = scratch + sums_floats();
  if (in_place_) return;
  int* const steps =
      reinterpret_cast<int*>(panels_ + together_ * panel_floats() + 2 * alignment_floats);
  for (int k = 0; k < grid.depth; ++k) steps[k] = k * width_;
  steps_ = steps;
}

LAMINA_LAZY_BODY void correlation::run(const float* filters, std::ptrdiff_t filter_stride,
                                       const float* image, const float* initial, float* to,
                                       std::ptrdiff_t stride, std::ptrdiff_t begin,
                                       image_progress& progress) const {
  const int panels =
      ((in_place_ ? grid_.count * row_vectors_ * lanes : grid_.windows()) + width_ - 1) / width_;
  // If the filters are large, each tile of filters is read once and all panels in turn; otherwise
  // each panel is read once and all filters in turn.
  // If a channel and the panels consist of whole vectors, each tile is finished before it is
  // stored. Otherwise whole channels are finished, if the windows fit into one round.
  const int size = grid_.windows(),
            rows = tiles_.first(tiles_.count() - 1) + tiles_.size(tiles_.count() - 1);
  const bool in_tiles = size % lanes == 0 && (!in_place_ || grid_.width % lanes == 0) &&
                        progress.finishes_tiles_at(begin);
  // Tile t of panels from `from` on.
  const auto finish_tile = [&](int t, int from, int end) {
    const std::ptrdiff_t row = begin + static_cast<std::ptrdiff_t>(tiles_.first(t)) * size;
    const int last = end * width_ < size ? end * width_ : size;
    progress.finish_tile(row + from * width_,
                         {sums_, sums_stride(), tiles_.size(t), last - from * width_, size});
  };
  const std::ptrdiff_t filter_floats =
      static_cast<std::ptrdiff_t>(tiles_.count()) * tiles_.longest() * grid_.depth;
  const bool by_tile = filter_floats > 4096 || in_tiles;
  for (int first = 0; first < panels; first += together_) {
    const int end = first + together_ < panels ? first + together_ : panels;
    if (!in_place_)
      for (int p = first; p < end; ++p) copy_windows(image, p, panel(p - first));
    vectors_of_panel v;
    if (by_tile) {
      for (int t = 0; t < tiles_.count(); ++t)
        for (int p = first; p < end; ++p) {
          find_vectors(image, p, p - first, v);
          const int of_part = (p - first) % finished_panels;
          run_tile(filters, filter_stride, initial, to, stride, t, v,
                   in_tiles ? sums_ + of_part * width_ : nullptr);
          if (in_tiles && (p + 1 == end || of_part + 1 == finished_panels))
            finish_tile(t, p - of_part, p + 1);
          if (p + 1 == panels && first == 0 && !in_tiles)
            progress.reach(begin +
                           static_cast<std::ptrdiff_t>(tiles_.first(t) + tiles_.size(t)) * size);
        }
    } else {
      for (int p = first; p < end; ++p) {
        find_vectors(image, p, p - first, v);
        for (int t = 0; t < tiles_.count(); ++t)
          run_tile(filters, filter_stride, initial, to, stride, t, v);
      }
    }
  }
  if (in_tiles) progress.skip_to(begin + static_cast<std::ptrdiff_t>(rows) * size);
}

correlation::correlation(const window_grid& grid, int rows)
    : grid_(grid), tiles_(rows, tile_rows), width_(detail::vectors_of_tile(rows) * lanes) {
  in_place_ = grid.row != nullptr && reads_in_place(grid, rows);
  row_vectors_ = (grid.width + lanes - 1) / lanes;
  // The number of panels of windows that are processed together. They stay in the cache while all
  // filters are read.
  const int floats = (in_place_ ? grid.channels : grid.depth) * width_;
  const int fitting = floats > 0 ? resident_floats / floats : 1;
  const int all = (grid.windows() + width_ - 1) / width_;
  together_ = fitting < 1 ? 1 : fitting < all ? fitting : all;
}

LAMINA_LAZY_BODY void correlation::copy_windows(const float* image, int p, float* to) const {
  struct run_of_windows {
    int from, to, count;
  };
  run_of_windows runs[detail::lone_vectors * lanes];
  int n = 0;
  const int begin = p * width_;
  const int end = begin + width_ < grid_.windows() ? begin + width_ : grid_.windows();
  for (int w = begin; w < end;) {
    const int r = w / grid_.width, x = w - r * grid_.width;
    const int count = grid_.width - x < end - w ? grid_.width - x : end - w;
    runs[n++] = {grid_.row[r] + x, w - begin, count};
    w += count;
  }
  for (int k = 0; k < grid_.depth; ++k, to += width_) {
    const float* const from = image + grid_.taps[k];
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < runs[i].count; j += lanes)
        vector::load_unaligned(from + runs[i].from + j).store_unaligned(to + runs[i].to + j);
  }
}

LAMINA_LAZY_BODY void correlation::find_vectors(const float* image, int p, int slot,
                                                vectors_of_panel& v) const {
  const int together = width_ / lanes;
  if (in_place_) {
    const int first = p * together, rest = grid_.count * row_vectors_ - first;
    v.count = rest < together ? rest : together;
    v.windows = v.count * lanes;
    v.begin = 0;
    int r = first / row_vectors_, x = (first - r * row_vectors_) * lanes;
    for (int j = 0; j < v.count; ++j) {
      const int from = x + lanes > grid_.width ? grid_.width - lanes : x;
      v.at[j] = image + grid_.row[r] + from;
      v.positions[j] = r * grid_.width + from;
      x += lanes;
      if (x >= grid_.width) x = 0, ++r;
    }
  } else {
    v.begin = p * width_;
    const int rest = grid_.windows() - v.begin;
    v.windows = rest < width_ ? rest : width_;
    v.count = (v.windows + lanes - 1) / lanes;
    for (int j = 0; j < v.count; ++j) {
      v.at[j] = panel(slot) + j * lanes;
      v.positions[j] = j * lanes;
    }
  }
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
