// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/tensor_product.hpp - a tile of a product by the tensor cores of a team: what
// tile_product.hpp does with floats alone, for the same sides and the same bodies.
//
// Two tiles of words are in shared memory: while one is multiplied, the next is on its way from
// memory to registers, and is rounded when it is stored. Why not cp.async: it copies bytes, so each
// warp would round what it reads, most numbers twice, and bfloat16 would take twice the room.
// What is known of terms is found out a tile before they are loaded, by one thread for all.
#pragma once

#include <cstdint>
#include <type_traits>

#include <lamina/engine/cuda/tensor_format.hpp>
#include <lamina/engine/cuda/tensor_side.hpp>
#include <lamina/engine/cuda/warp_fragments.hpp>

namespace lamina::engine::cuda {

template <class Shape>
struct tensor_memory;
template <class Shape, class Team>
class tensor_share;

/// A tile of Rows x Columns, `Depth` terms at a time, by Down x Across warps.
template <class Format, int Rows, int Columns, int Depth, int Down, int Across>
struct tensor_shape {
  using format = Format;
  using memory = tensor_memory<tensor_shape>;
  template <class Team>
  using share = tensor_share<tensor_shape, Team>;
  static constexpr int rows = Rows, columns = Columns, depth = Depth;
  static constexpr int words = Depth / Format::terms;
  static constexpr operand_layout operands{Format::terms, 8, true};
  static constexpr int across = Across, threads = Down * Across * fragment::lanes;
  /// Fragments of a warp.
  static constexpr int tall = Rows / Down / fragment::rows;
  static constexpr int wide = Columns / Across / fragment::columns;
  static_assert(tall * Down * fragment::rows == Rows &&
                wide * Across * fragment::columns == Columns && words % fragment::words == 0);

  /// A tile of as many warps that is `Fold` times lower and twice as wide, these side by side; of
  /// half as many terms at a time, for what a thread has on its way to shared memory is in
  /// registers.
  template <int Fold>
  using flat = std::conditional_t<
      Fold == 1, tensor_shape,
      tensor_shape<Format, Rows / Fold, 2 * Columns, Depth / 2, 1, Down * Across>>;
};

/// What the threads of a team share: two tiles of words of either side with their terms, and, when
/// these are no longer needed, the sums. Rows of sums lie so far apart that pairs of half a warp
/// are in different banks.
template <class Shape>
struct tensor_memory {
  static constexpr int sum_stride = Shape::columns + 8;
  struct tile {
    alignas(16) std::uint32_t left[detail::side_room<Shape::rows, Shape::words>];
    alignas(16) std::uint32_t right[detail::side_room<Shape::columns, Shape::words>];
    detail::shared_terms<Shape::depth> left_terms, right_terms;
  };
  union {
    tile tiles[2];
    alignas(16) float sums[Shape::rows * sum_stride];
  };
};

/// The share of the threads of a team that are here: the calling one on a device, all of them on
/// the host, where one thread does the work of all in turns from barrier to barrier.
template <class Shape, class Team>
class tensor_share {
  using format = typename Shape::format;
  using memory = tensor_memory<Shape>;
  using lane_state = fragment_registers<Shape::tall, Shape::wide>;
  using place_in_tile = warp_place<Shape::tall, Shape::wide, Shape::across>;
  static constexpr int here = Team::lanes;

 public:
  LAMINA_INLINE LAMINA_FN explicit tensor_share(const Team&) {}

  /// Sums of the terms from `first` to before `end` of the tile that begins at (row0, column0).
  template <class Left, class Right>
  LAMINA_INLINE LAMINA_FN void multiply(const Team& team, memory& s, int first, int end, int row0,
                                        const Left& left, int column0, const Right& right) {
    detail::side_words<Shape, Shape::rows, Left> rows[here];
    detail::side_words<Shape, Shape::columns, Right> columns[here];
    LAMINA_CUDA_UNROLL
    for (int n = 0; n < here; ++n) {
      rows[n].begin(left, team.rank(n), row0);
      columns[n].begin(right, team.rank(n), column0);
      lanes_[n].clear();
    }
    const auto find = [&](int k, typename memory::tile& to) {
      LAMINA_CUDA_UNROLL
      for (int n = 0; n < here; ++n) {
        find_terms<0>(left, k, team.rank(n), to.left_terms);
        find_terms<1>(right, k, team.rank(n), to.right_terms);
      }
    };
    const auto load = [&](int k, typename memory::tile& from) {
      LAMINA_CUDA_UNROLL
      for (int n = 0; n < here; ++n)
        rows[n].load(left, k, from.left_terms), columns[n].load(right, k, from.right_terms);
    };
    const auto store = [&](typename memory::tile& to) {
      LAMINA_CUDA_UNROLL
      for (int n = 0; n < here; ++n) rows[n].store(to.left), columns[n].store(to.right);
    };
    if constexpr (detail::shares_terms<Left> || detail::shares_terms<Right>) {
      find(first, s.tiles[0]);
      find(first + Shape::depth, s.tiles[1]);
      team.barrier();
    }
    if (first < end) load(first, s.tiles[0]), store(s.tiles[0]);
    team.barrier();
    int at = 0;
    for (int k = first; k < end; k += Shape::depth) {
      const bool more = k + Shape::depth < end;
      if (more) load(k + Shape::depth, s.tiles[at ^ 1]);
      multiply_tile<Left::along_depth, Right::along_depth>(team, s.tiles[at]);
      if (k + 2 * Shape::depth < end) find(k + 2 * Shape::depth, s.tiles[at]);
      at ^= 1;
      if (more) store(s.tiles[at]);
      team.barrier();
    }
  }

  /// f(row, column, sums) for each pack, by its place in the tile; neighbouring threads take
  /// neighbouring packs.
  template <class F>
  LAMINA_INLINE LAMINA_FN void each(const Team& team, memory& s, const F& f) const {
    each_some<1>(team, s,
                 [&](int row, int, int column, const pack(&sums)[1]) { f(row, column, sums[0]); });
  }
  /// f(first row, rows from pack to pack, column, sums) for N packs below each other, or for all
  /// that a thread has.
  template <int N, class F>
  LAMINA_INLINE LAMINA_FN void each_some(const Team& team, memory& s, const F& f) const {
    LAMINA_CUDA_UNROLL
    for (int n = 0; n < here; ++n) {
      const place_in_tile p(team.rank(n));
      LAMINA_CUDA_UNROLL
      for (int r = 0; r < Shape::tall; ++r) {
        LAMINA_CUDA_UNROLL
        for (int c = 0; c < Shape::wide; ++c) {
          LAMINA_CUDA_UNROLL
          for (int i = 0; i < 4; ++i)
            s.sums[(p.row(r) + fragment::sum_row(p.lane, i)) * memory::sum_stride + p.column(c) +
                   fragment::sum_column(p.lane, i)] = lanes_[n].sums[r][c][i];
        }
      }
    }
    team.barrier();
    constexpr int wide = Shape::columns / pack_width, step = Shape::threads / wide;
    constexpr int all = Shape::rows / step, together = N < all ? N : all;
    static_assert(step * wide == Shape::threads && all * step == Shape::rows &&
                  all % together == 0);
    for (int n = 0; n < here; ++n) {
      const int column = team.rank(n) % wide * pack_width;
      LAMINA_CUDA_KEEP_LOOP
      for (int row = team.rank(n) / wide; row < Shape::rows; row += together * step) {
        pack sums[together];
        LAMINA_CUDA_UNROLL
        for (int k = 0; k < together; ++k)
          sums[k] = load_pack(&s.sums[(row + k * step) * memory::sum_stride + column]);
        f(row, step, column, sums);
      }
    }
    team.barrier();
  }

 private:
  /// Warps of their own find out about the terms of the left and of the right side.
  template <int Which, class Side>
  static LAMINA_INLINE LAMINA_FN void find_terms(const Side& side, int k, int rank,
                                                 detail::shared_terms<Shape::depth>& to) {
    if constexpr (detail::shares_terms<Side>) {
      static_assert(Shape::threads >= 2 * fragment::lanes && Shape::depth <= fragment::lanes);
      const int term = rank - Which * fragment::lanes;
      if (term >= 0 && term < Shape::depth) to.template of<Side>()[term] = side.deep(k + term);
    }
  }
  template <bool LeftAlong, bool RightAlong>
  LAMINA_INLINE LAMINA_FN void multiply_tile(const Team& team, const typename memory::tile& from) {
    using left = detail::word_layout<LeftAlong, Shape::rows, Shape::words>;
    using right = detail::word_layout<RightAlong, Shape::columns, Shape::words>;
    LAMINA_CUDA_UNROLL
    for (int word0 = 0; word0 < Shape::words; word0 += fragment::words) {
      LAMINA_CUDA_UNROLL
      for (int n = 0; n < here; ++n) {
        lane_state& mine = lanes_[n];
        const place_in_tile p(team.rank(n));
        LAMINA_CUDA_UNROLL
        for (int r = 0; r < Shape::tall; ++r) {
          LAMINA_CUDA_UNROLL
          for (int i = 0; i < 4; ++i)
            mine.left[r][i] =
                from.left[(p.row(r) + fragment::left_row(p.lane, i)) * left::line_step +
                          (word0 + fragment::left_word(p.lane, i)) * left::word_step];
        }
        LAMINA_CUDA_UNROLL
        for (int c = 0; c < Shape::wide; ++c) {
          LAMINA_CUDA_UNROLL
          for (int i = 0; i < 2; ++i)
            mine.right[c][i] =
                from.right[(p.column(c) + fragment::right_column(p.lane)) * right::line_step +
                           (word0 + fragment::right_word(p.lane, i)) * right::word_step];
        }
      }
      multiply_fragments<format>(
          team, lanes_, [](int) { return true; },
          [&](int n, int r, int c) -> auto& { return lanes_[n].sums[r][c]; });
    }
  }
  lane_state lanes_[here];
};

}  // namespace lamina::engine::cuda
