// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/correlate.hpp - the products of filters with the windows of one image, without
// a copy of the windows where rows of windows are whole vectors.
#pragma once

#include <cstddef>
#include <utility>

#include <lamina/engine/cpu/micro_kernel.hpp>
#include <lamina/engine/cpu/sweep.hpp>

namespace lamina::engine::cpu {

/// Windows of an image: `count` rows of `width` neighbouring ones. Window (r, x) begins at row[r] +
/// x, and meets tap k of a filter taps[k] further on.
struct window_grid {
  int count, width;
  const int* row;
  int depth;
  const int* taps;

  int windows() const { return count * width; }
};

namespace detail {

/// A tile of filters by windows.
struct correlation_tile {
  int depth;
  const float* filters;  // for each tap as many as the tile has rows
  const int* taps;
  const float* at[tile_vectors];  // where the vectors of windows begin
  const float* initial;           // a number for each row; null: zeros
  float* to;
  std::ptrdiff_t stride;  // from row to row there
};

template <int Rows, int Vectors>
LAMINA_NOINLINE void correlate_tile(const correlation_tile& t) {
  constexpr int count = chains(Rows * Vectors);
  vector acc[count][Rows][Vectors];
  LAMINA_UNROLL for (int c = 0; c < count; ++c) {
    LAMINA_UNROLL for (int i = 0; i < Rows; ++i) {
      const vector first(c == 0 && t.initial != nullptr ? t.initial[i] : 0.F);
      LAMINA_UNROLL for (int j = 0; j < Vectors; ++j) acc[c][i][j] = first;
    }
  }
  const float* filters = t.filters;
  const int* taps = t.taps;
  const float* at[Vectors];
  LAMINA_UNROLL for (int j = 0; j < Vectors; ++j) at[j] = t.at[j];
  const auto advance = [&](auto& chain) __attribute__((always_inline)) {
    const std::ptrdiff_t tap = *taps++;
    vector b[Vectors];
    LAMINA_UNROLL for (int j = 0; j < Vectors; ++j) {
      b[j] = vector::load_unaligned(at[j] + tap);
      hold_in_register(b[j]);
    }
    LAMINA_UNROLL for (int i = 0; i < Rows; ++i) {
      const vector a(filters[i]);
      LAMINA_UNROLL for (int j = 0; j < Vectors; ++j) {
        chain[i][j] = fused_multiply_add(a, b[j], chain[i][j]);
      }
    }
    filters += Rows;
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
  float* to = t.to;
  LAMINA_UNROLL for (int i = 0; i < Rows; ++i, to += t.stride) {
    LAMINA_UNROLL for (int j = 0; j < Vectors; ++j) acc[0][i][j].store_unaligned(to + j * lanes);
  }
}

using correlation_kernel = void (*)(const correlation_tile&);

template <int Vectors, class Rows>
struct correlation_kernels;
template <int Vectors, int... I>
struct correlation_kernels<Vectors, std::integer_sequence<int, I...>> {
  static constexpr correlation_kernel table[] = {&correlate_tile<I + 1, Vectors>...};
};
template <class Vectors>
struct correlation_table;
template <int... V>
struct correlation_table<std::integer_sequence<int, V...>> {
  static correlation_kernel find(int rows, int vectors) {
    static constexpr const correlation_kernel* of[] = {
        correlation_kernels<V + 1, std::make_integer_sequence<int, tile_rows>>::table...};
    return of[vectors - 1][rows - 1];
  }
};
inline correlation_kernel find_correlation_kernel(int rows, int vectors) {
  return correlation_table<std::make_integer_sequence<int, tile_vectors>>::find(rows, vectors);
}

/// Windows are copied, a panel of them at a time, where a row of them is no whole number of
/// vectors. This many panels are multiplied together.
constexpr int panels_together(int depth, int windows) {
  const int fitting = resident_floats / ((depth > 0 ? depth : 1) * panel_width);
  const int all = (windows + panel_width - 1) / panel_width;
  return fitting < 1 ? 1 : fitting < all ? fitting : all;
}
constexpr bool reads_in_place(const window_grid& g) { return g.width % lanes == 0; }

}  // namespace detail

/// Filters as `correlate` reads them: for each tile of rows, tap by tap. `filter(row, tap)`.
template <class Filter>
void pack_filters(int rows, int depth, Filter filter, float* to) {
  const even_parts tiles(rows, tile_rows);
  for (int t = 0; t < tiles.count(); ++t)
    for (int k = 0; k < depth; ++k)
      for (int i = 0; i < tiles.size(t); ++i) *to++ = filter(tiles.first(t) + i, k);
}

/// Where the products go: window w of row i to `data[i * stride + w]`, or, with `places`, to
/// `data[i * stride + places[w]]`.
struct correlation_target {
  float* data;
  std::ptrdiff_t stride;
  const int* places;
};

/// Floats of scratch memory for `correlate`.
constexpr std::ptrdiff_t correlate_scratch_floats(int depth, int windows) {
  return static_cast<std::ptrdiff_t>(detail::panels_together(depth, windows)) * depth *
             panel_width +
         2 * alignment_floats + tile_rows * panel_width + padded(depth);
}

/// target[i][w] = initial[i] + sum over k of filters[i][k] * image[window w + taps[k]]. Behind the
/// image there must be a vector's room unless the grid's width is a whole number of vectors.
class correlation {
 public:
  correlation(const window_grid& grid, int rows, const float* filters, float* scratch)
      : grid_(grid), tiles_(rows, tile_rows), filters_(filters) {
    sums_ = scratch;
    panels_ = scratch + tile_rows * panel_width;
    together_ = detail::panels_together(grid.depth, grid.windows());
    in_place_ = detail::reads_in_place(grid);
    if (in_place_) return;
    int* steps = reinterpret_cast<int*>(
        panels_ + static_cast<std::ptrdiff_t>(together_) * grid.depth * panel_width +
        2 * alignment_floats);
    for (int k = 0; k < grid.depth; ++k) steps[k] = k * panel_width;
    steps_ = steps;
  }

  LAMINA_NOINLINE void run(const float* image, const float* initial,
                           const correlation_target& target) const {
    const int panels = (grid_.windows() + panel_width - 1) / panel_width;
    // What is larger is read once: the filters, tile by tile, or the image, panel by panel.
    const std::ptrdiff_t filter_floats =
        static_cast<std::ptrdiff_t>(tiles_.count()) * tiles_.longest() * grid_.depth;
    const bool by_tile = filter_floats > 4096;
    for (int first = 0; first < panels; first += in_place_ ? panels : together_) {
      const int end = in_place_ || first + together_ > panels ? panels : first + together_;
      if (!in_place_)
        for (int p = first; p < end; ++p) copy_windows(image, p, panel(p - first));
      if (by_tile) {
        for (int t = 0; t < tiles_.count(); ++t)
          for (int p = first; p < end; ++p) run_tile(image, initial, target, t, p, p - first);
      } else {
        for (int p = first; p < end; ++p)
          for (int t = 0; t < tiles_.count(); ++t)
            run_tile(image, initial, target, t, p, p - first);
      }
    }
  }

 private:
  float* panel(int i) const {
    return panels_ + static_cast<std::ptrdiff_t>(i) * grid_.depth * panel_width;
  }

  /// The windows of a panel, tap by tap: a run of windows in one row of the grid is contiguous in
  /// the image. Runs are copied in whole vectors; what is too much is overwritten by the next.
  void copy_windows(const float* image, int p, float* to) const {
    struct run_of_windows {
      int from, to, count;
    };
    run_of_windows runs[panel_width];
    int n = 0;
    const int begin = p * panel_width;
    const int end = begin + panel_width < grid_.windows() ? begin + panel_width : grid_.windows();
    for (int w = begin; w < end;) {
      const int r = w / grid_.width, x = w - r * grid_.width;
      const int count = grid_.width - x < end - w ? grid_.width - x : end - w;
      runs[n++] = {grid_.row[r] + x, w - begin, count};
      w += count;
    }
    for (int k = 0; k < grid_.depth; ++k, to += panel_width) {
      const float* const from = image + grid_.taps[k];
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < runs[i].count; j += lanes)
          vector::load_unaligned(from + runs[i].from + j).store_unaligned(to + runs[i].to + j);
    }
  }

  LAMINA_INLINE void run_tile(const float* image, const float* initial,
                              const correlation_target& target, int t, int p, int slot) const {
    detail::correlation_tile tile;
    const int row = tiles_.first(t), rows = tiles_.size(t);
    const int begin = p * panel_width;
    const int rest = grid_.windows() - begin;
    const int count = rest < panel_width ? rest : panel_width;
    int vectors = tile_vectors;
    if (in_place_) {
      vectors = count / lanes;
      for (int j = 0; j < vectors; ++j) {
        const int w = begin + j * lanes, r = w / grid_.width;
        tile.at[j] = image + grid_.row[r] + (w - r * grid_.width);
      }
      tile.taps = grid_.taps;
    } else {
      for (int j = 0; j < tile_vectors; ++j) tile.at[j] = panel(slot) + j * lanes;
      tile.taps = steps_;
    }
    tile.depth = grid_.depth;
    tile.filters = filters_ + static_cast<std::ptrdiff_t>(row) * grid_.depth;
    tile.initial = initial == nullptr ? nullptr : initial + row;
    float* const to = target.data + row * target.stride;
    const bool direct = target.places == nullptr && vectors * lanes == count;
    tile.to = direct ? to + begin : sums_;
    tile.stride = direct ? target.stride : panel_width;
    detail::find_correlation_kernel(rows, vectors)(tile);
    if (direct) return;
    for (int i = 0; i < rows; ++i) {
      const float* from = sums_ + i * panel_width;
      float* line = to + i * target.stride;
      if (target.places == nullptr)
        for (int j = 0; j < count; ++j) line[begin + j] = from[j];
      else
        for (int j = 0; j < count; ++j) line[target.places[begin + j]] = from[j];
    }
  }

  window_grid grid_;
  even_parts tiles_;
  const float* filters_;
  float *sums_, *panels_;
  const int* steps_ = nullptr;
  int together_;
  bool in_place_;
};

}  // namespace lamina::engine::cpu
