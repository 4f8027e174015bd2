// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/chain_product.hpp - products whose operands stay in the shared memory of a
// team: rows of activations times weights, in float. What becomes of the sums is the next product's
// left side.
#pragma once

#include <lamina/engine/cuda/chain_room.hpp>

namespace lamina::engine::cuda {

/// How a team multiplies a tile of rows by weights of at most `Widest` columns, after the tile that
/// its backend multiplies by elsewhere:
///   word                                    what operands are stored as
///   rows, threads, operands                 of the tile, of the team, how they lie
///   share<Team>                             the sums of the threads that are here
///   gradient_share<Team, Positions>         the same with sums over all rows that the team sees
///   put_activations(words, step, row, term, x)   a pack of terms of a row
///   weight(x)                               one word of terms
/// `Split`: of tensor cores, as many warps for the columns that were one warp's.
template <class Tile, int Widest, int Split = 1>
struct chain_shape;

/// In float: a thread has `each` rows by some packs of columns. Activations lie by terms.
template <int Rows, int Columns, int Depth, int Each, int Widest, int Split>
struct chain_shape<tile_shape<Rows, Columns, Depth, Each>, Widest, Split> {
  static_assert(Each == pack_width && Rows % pack_width == 0 && Widest % Columns == 0);
  using word = float;
  static constexpr int rows = Rows, columns = Columns, wide = Widest / Columns;
  static constexpr int threads = tile_shape<Rows, Columns, Depth, Each>::threads;
  static constexpr int terms = 1, row_step = chain_room::row_step(Rows);
  static constexpr operand_layout operands = tile_shape<Rows, Columns, Depth, Each>::operands;

  static LAMINA_INLINE LAMINA_FN word weight(const float (&x)[terms]) { return x[0]; }
  static LAMINA_INLINE LAMINA_FN void put_activations(word* to, int /*step*/, int row, int term,
                                                      const pack& x) {
    LAMINA_CUDA_UNROLL
    for (int j = 0; j < pack_width; ++j) to[(term + j) * row_step + row] = x.v[j];
  }

  template <class Team>
  class share {
   public:
    LAMINA_INLINE LAMINA_FN explicit share(const Team& team)
        : x_(team.rank() % across * pack_width), y_(team.rank() / across * pack_width) {}

    /// sums = activations * weights over `depth` terms, in their order, for `lines` columns.
    LAMINA_INLINE LAMINA_FN void multiply(const Team&, const word* left, int /*step*/,
                                          const word* right, int right_step, int depth, int lines) {
      // Behind the last column the first ones are multiplied in vain: no thread has to branch.
      int from[wide];
      LAMINA_CUDA_UNROLL
      for (int c = 0; c < wide; ++c) {
        from[c] = column(c) < lines ? column(c) : 0;
        LAMINA_CUDA_UNROLL
        for (int r = 0; r < pack_width; ++r) sums_[c][r] = filled(0.0f);
      }
      for (int k = 0; k < depth; ++k) {
        const pack a = load_pack(left + k * row_step + y_);
        LAMINA_CUDA_UNROLL
        for (int c = 0; c < wide; ++c) {
          const pack b = load_pack(right + k * right_step + from[c]);
          LAMINA_CUDA_UNROLL
          for (int r = 0; r < pack_width; ++r) {
            LAMINA_CUDA_UNROLL
            for (int j = 0; j < pack_width; ++j) sums_[c][r].v[j] += a.v[r] * b.v[j];
          }
        }
      }
    }
    /// f(row, column, sums) for each pack; what it makes of them is kept.
    template <class F>
    LAMINA_INLINE LAMINA_FN void each(const Team&, int lines, const F& f) {
      LAMINA_CUDA_UNROLL
      for (int c = 0; c < wide; ++c) {
        LAMINA_CUDA_UNROLL
        for (int r = 0; r < pack_width; ++r)
          if (column(c) < lines) f(y_ + r, column(c), sums_[c][r]);
      }
    }
    /// Stores what each() has made as activations of `columns` terms; the words behind them are 0.
    LAMINA_INLINE LAMINA_FN void keep(const Team&, word* to, int /*step*/, int lines,
                                      int columns) const {
      LAMINA_CUDA_UNROLL
      for (int c = 0; c < wide; ++c) {
        LAMINA_CUDA_UNROLL
        for (int j = 0; j < pack_width; ++j) {
          const int term = column(c) + j;
          if (term >= lines) continue;
          pack p;
          LAMINA_CUDA_UNROLL
          for (int r = 0; r < pack_width; ++r) p.v[r] = term < columns ? sums_[c][r].v[j] : 0.0f;
          store_pack(to + term * row_step + y_, p);
        }
      }
    }

   protected:
    static constexpr int across = Columns / pack_width;
    LAMINA_INLINE LAMINA_FN int column(int c) const { return x_ + c * Columns; }

    int x_, y_;
    pack sums_[wide][pack_width];
  };

  /// A thread adds up every `down`-th line by every `across`-th column of each product over rows:
  /// packs of rows, which so lie in different banks.
  template <class Team, int Positions>
  class gradient_share : public share<Team> {
    using base = share<Team>;
    static constexpr int across = Columns / pack_width, down = Rows / pack_width;
    static constexpr int high = Widest / down, broad = Widest / across;

   public:
    LAMINA_INLINE LAMINA_FN explicit gradient_share(const Team& team)
        : base(team), column0_(team.rank() % across), line0_(team.rank() / across) {}

    LAMINA_INLINE LAMINA_FN void clear() {
      LAMINA_CUDA_UNROLL
      for (int p = 0; p < Positions; ++p) {
        LAMINA_CUDA_UNROLL
        for (int i = 0; i < high; ++i) {
          LAMINA_CUDA_UNROLL
          for (int j = 0; j < broad; ++j) products_[p][i][j] = 0;
        }
        LAMINA_CUDA_UNROLL
        for (int c = 0; c < wide; ++c) columns_[p][c] = filled(0.0f);
      }
    }
    /// Adds left^T * right over the rows of a tile, which has `lines` and `columns` terms.
    template <int P>
    LAMINA_INLINE LAMINA_FN void add(const Team&, const word* left, int, const word* right, int,
                                     int lines, int columns) {
      // Here, too, the first ones stand for those that are not there, and what comes of it is not
      // stored.
      const word *rights[broad], *lefts[high];
      LAMINA_CUDA_UNROLL
      for (int j = 0; j < broad; ++j) {
        const int column = column0_ + j * across;
        rights[j] = right + (column < columns ? column : 0) * row_step;
      }
      LAMINA_CUDA_UNROLL
      for (int i = 0; i < high; ++i) {
        const int line = line0_ + i * down;
        lefts[i] = left + (line < lines ? line : 0) * row_step;
      }
      LAMINA_CUDA_KEEP_LOOP
      for (int k = 0; k < Rows; k += pack_width) {
        pack b[broad];
        LAMINA_CUDA_UNROLL
        for (int j = 0; j < broad; ++j) b[j] = load_pack(rights[j] + k);
        LAMINA_CUDA_UNROLL
        for (int i = 0; i < high; ++i) {
          const pack a = load_pack(lefts[i] + k);
          LAMINA_CUDA_UNROLL
          for (int j = 0; j < broad; ++j) {
            LAMINA_CUDA_UNROLL
            for (int r = 0; r < pack_width; ++r) products_[P][i][j] += a.v[r] * b[j].v[r];
          }
        }
      }
    }
    /// Adds the rows that each() has made.
    template <int P>
    LAMINA_INLINE LAMINA_FN void add_rows(const Team&, int lines) {
      LAMINA_CUDA_UNROLL
      for (int c = 0; c < wide; ++c) {
        if (this->column(c) >= lines) continue;
        LAMINA_CUDA_UNROLL
        for (int r = 0; r < pack_width; ++r) {
          LAMINA_CUDA_UNROLL
          for (int j = 0; j < pack_width; ++j) columns_[P][c].v[j] += this->sums_[c][r].v[j];
        }
      }
    }
    template <int P>
    LAMINA_INLINE LAMINA_FN void store(const Team&, float* to, int lines, int columns) const {
      LAMINA_CUDA_UNROLL
      for (int i = 0; i < high; ++i) {
        LAMINA_CUDA_UNROLL
        for (int j = 0; j < broad; ++j)
          if (const int l = line0_ + i * down, c = column0_ + j * across; l < lines && c < columns)
            to[l * columns + c] = products_[P][i][j];
      }
    }
    /// Stores sums of rows, by threads of equal columns: `stored_rows` rows of `columns`.
    static constexpr int stored_rows = down;
    template <int P>
    LAMINA_INLINE LAMINA_FN void store_rows(const Team&, float* to, int columns) const {
      LAMINA_CUDA_UNROLL
      for (int c = 0; c < wide; ++c)
        if (this->column(c) < columns)
          store_pack(to + line0_ * columns + this->column(c), columns_[P][c]);
    }

   private:
    int column0_, line0_;
    float products_[Positions][high][broad];
    pack columns_[Positions][wide];
  };
};

}  // namespace lamina::engine::cuda
