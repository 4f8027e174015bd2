// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/tensor_chain_product.hpp - what chain_product.hpp does with floats alone, by
// the tensor cores of a team.
#pragma once

#include <cstdint>

#include <lamina/engine/cuda/chain_product.hpp>
#include <lamina/engine/cuda/tensor_product.hpp>

namespace lamina::engine::cuda {

/// By tensor cores: a warp has 32 rows by 32 columns. Activations lie by rows, as their words are
/// made from what lanes have side by side.
template <class Format, int Rows, int Columns, int Depth, int Down, int Across, int Widest,
          int Split>
struct chain_shape<tensor_shape<Format, Rows, Columns, Depth, Down, Across>, Widest, Split> {
  static_assert(Widest % Columns == 0);
  using word = std::uint32_t;
  static constexpr int rows = Rows, warps_across = Across * Split * (Widest / Columns);
  static constexpr int threads = Down * warps_across * fragment::lanes;
  static constexpr int tall = Rows / Down / fragment::rows;
  static constexpr int wide = Columns / Across / Split / fragment::columns;
  static constexpr operand_layout operands =
      tensor_shape<Format, Rows, Columns, Depth, Down, Across>::operands;
  static constexpr int terms = operands.terms;

  static LAMINA_INLINE LAMINA_FN word weight(const float (&x)[terms]) { return Format::word(x); }
  static LAMINA_INLINE LAMINA_FN void put_activations(word* to, int step, int row, int term,
                                                      const pack& x) {
    constexpr int words = pack_width / terms;
    detail::word_pack<words> w;
    LAMINA_CUDA_UNROLL
    for (int i = 0; i < words; ++i) {
      float t[terms];
      LAMINA_CUDA_UNROLL
      for (int j = 0; j < terms; ++j) t[j] = x.v[i * terms + j];
      w.v[i] = Format::word(t);
    }
    detail::store_words(to + row * step + term / terms, w);
  }

  using lane_state = fragment_registers<tall, wide>;
  using place_in_tile = warp_place<tall, wide, warps_across>;

  template <class Team>
  class share {
    static constexpr int here = Team::lanes;

   public:
    LAMINA_INLINE LAMINA_FN explicit share(const Team&) {}

    LAMINA_INLINE LAMINA_FN void multiply(const Team& team, const word* left, int step,
                                          const word* right, int right_step, int depth, int lines) {
      LAMINA_CUDA_UNROLL
      for (int n = 0; n < here; ++n) lanes_[n].clear();
      // All lanes of a warp have the same columns, and so go the same way. Fragments behind the
      // last column are multiplied in vain, the first ones in their place: no lane has to branch.
      const auto uses = [=](int rank) { return place_in_tile(rank).column(0) < lines; };
      for (int word0 = 0; word0 < depth / terms; word0 += fragment::words) {
        LAMINA_CUDA_UNROLL
        for (int n = 0; n < here; ++n) {
          lane_state& mine = lanes_[n];
          const place_in_tile p(team.rank(n));
          if (!uses(team.rank(n))) continue;
          LAMINA_CUDA_UNROLL
          for (int r = 0; r < tall; ++r) {
            LAMINA_CUDA_UNROLL
            for (int i = 0; i < 4; ++i)
              mine.left[r][i] = left[(p.row(r) + fragment::left_row(p.lane, i)) * step + word0 +
                                     fragment::left_word(p.lane, i)];
          }
          LAMINA_CUDA_UNROLL
          for (int c = 0; c < wide; ++c) {
            const int column = p.column(c) < lines ? p.column(c) : 0;
            LAMINA_CUDA_UNROLL
            for (int i = 0; i < 2; ++i)
              mine.right[c][i] = right[(word0 + fragment::right_word(p.lane, i)) * right_step +
                                       column + fragment::right_column(p.lane)];
          }
        }
        multiply_fragments<Format>(
            team, lanes_, uses, [&](int n, int r, int c) -> auto& { return lanes_[n].sums[r][c]; });
      }
    }
    template <class F>
    LAMINA_INLINE LAMINA_FN void each(const Team& team, int lines, const F& f) {
      each_pair(team, [&](int n, int r, int c, int i, int row, int column) {
        if (column >= lines) return;
        float* const sums = lanes_[n].sums[r][c] + i;
        pair x{{sums[0], sums[1]}};
        f(row, column, x);
        sums[0] = x.v[0], sums[1] = x.v[1];
      });
    }
    LAMINA_INLINE LAMINA_FN void keep(const Team& team, word* to, int step, int lines,
                                      int columns) const {
      each_pair(team, [&](int n, int r, int c, int i, int row, int column) {
        if (column >= lines) return;
        detail::word_pack<2 / terms> w;
        LAMINA_CUDA_UNROLL
        for (int k = 0; k < 2 / terms; ++k) {
          float t[terms];
          LAMINA_CUDA_UNROLL
          for (int j = 0; j < terms; ++j)
            t[j] =
                column + k * terms + j < columns ? lanes_[n].sums[r][c][i + k * terms + j] : 0.0f;
          w.v[k] = Format::word(t);
        }
        detail::store_words(to + row * step + column / terms, w);
      });
    }

   protected:
    /// f(lane, fragment row, fragment column, number of the first sum, row, column) for each pair
    /// of sums side by side.
    template <class F>
    static LAMINA_INLINE LAMINA_FN void each_pair(const Team& team, const F& f) {
      LAMINA_CUDA_UNROLL
      for (int n = 0; n < here; ++n) {
        const place_in_tile p(team.rank(n));
        LAMINA_CUDA_UNROLL
        for (int r = 0; r < tall; ++r) {
          LAMINA_CUDA_UNROLL
          for (int c = 0; c < wide; ++c) {
            LAMINA_CUDA_UNROLL
            for (int i = 0; i < 4; i += 2)
              f(n, r, c, i, p.row(r) + fragment::sum_row(p.lane, i),
                p.column(c) + fragment::sum_column(p.lane, i));
          }
        }
      }
    }

    lane_state lanes_[here];
  };

  /// A warp adds up 16 `tall` lines by 8 `wide` columns of each product over rows.
  template <class Team, int Positions>
  class gradient_share : public share<Team> {
    using base = share<Team>;
    static constexpr int here = Team::lanes;

   public:
    LAMINA_INLINE LAMINA_FN explicit gradient_share(const Team& team) : base(team) {}

    LAMINA_INLINE LAMINA_FN void clear() {
      LAMINA_CUDA_UNROLL
      for (int n = 0; n < here; ++n) {
        LAMINA_CUDA_UNROLL
        for (int p = 0; p < Positions; ++p) {
          LAMINA_CUDA_UNROLL
          for (int c = 0; c < wide; ++c) {
            LAMINA_CUDA_UNROLL
            for (int r = 0; r < tall; ++r) {
              LAMINA_CUDA_UNROLL
              for (int i = 0; i < 4; ++i) products_[n][p][r][c][i] = 0;
            }
            columns_[n][p][c] = {};
          }
        }
      }
    }
    template <int P>
    LAMINA_INLINE LAMINA_FN void add(const Team& team, const word* left, int left_step,
                                     const word* right, int right_step, int lines, int columns) {
      const auto uses = [=](int rank) {
        const place_in_tile p(rank);
        return p.row(0) < lines && p.column(0) < columns;
      };
      LAMINA_CUDA_KEEP_LOOP
      for (int word0 = 0; word0 < Rows / terms; word0 += fragment::words) {
        LAMINA_CUDA_UNROLL
        for (int n = 0; n < here; ++n) {
          auto& mine = this->lanes_[n];
          const place_in_tile p(team.rank(n));
          if (!uses(team.rank(n))) continue;
          LAMINA_CUDA_UNROLL
          for (int r = 0; r < tall; ++r) {
            const int row = p.row(r) < lines ? p.row(r) : 0;
            LAMINA_CUDA_UNROLL
            for (int i = 0; i < 4; ++i)
              mine.left[r][i] = across_rows(left, left_step, word0 + word_of_rows(p.lane, i / 2),
                                            row + fragment::left_row(p.lane, i));
          }
          LAMINA_CUDA_UNROLL
          for (int c = 0; c < wide; ++c) {
            const int column = p.column(c) < columns ? p.column(c) : 0;
            LAMINA_CUDA_UNROLL
            for (int i = 0; i < 2; ++i)
              mine.right[c][i] = across_rows(right, right_step, word0 + word_of_rows(p.lane, i),
                                             column + fragment::right_column(p.lane));
          }
        }
        multiply_fragments<Format>(
            team, this->lanes_,
            uses, [&](int n, int r, int c) -> auto& { return products_[n][P][r][c]; });
      }
    }
    template <int P>
    LAMINA_INLINE LAMINA_FN void add_rows(const Team& team, int lines) {
      LAMINA_CUDA_UNROLL
      for (int n = 0; n < here; ++n) {
        const place_in_tile p(team.rank(n));
        LAMINA_CUDA_UNROLL
        for (int c = 0; c < wide; ++c) {
          if (p.column(c) >= lines) continue;
          LAMINA_CUDA_UNROLL
          for (int r = 0; r < tall; ++r) {
            LAMINA_CUDA_UNROLL
            for (int i = 0; i < 4; ++i) columns_[n][P][c].v[i % 2] += this->lanes_[n].sums[r][c][i];
          }
        }
      }
    }
    template <int P>
    LAMINA_INLINE LAMINA_FN void store(const Team& team, float* to, int lines, int columns) const {
      base::each_pair(team, [&](int n, int r, int c, int i, int line, int column) {
        const float* const sums = products_[n][P][r][c] + i;
        if (line < lines && column < columns)
          store_pack(to + line * columns + column, pair{{sums[0], sums[1]}});
      });
    }
    static constexpr int stored_rows = Down * 8;
    template <int P>
    LAMINA_INLINE LAMINA_FN void store_rows(const Team& team, float* to, int columns) const {
      LAMINA_CUDA_UNROLL
      for (int n = 0; n < here; ++n) {
        const place_in_tile p(team.rank(n));
        const int row = team.rank(n) / fragment::lanes / warps_across * 8 + p.lane / 4;
        LAMINA_CUDA_UNROLL
        for (int c = 0; c < wide; ++c)
          if (const int column = p.column(c) + fragment::sum_column(p.lane, 0); column < columns)
            store_pack(to + row * columns + column, columns_[n][P][c]);
      }
    }

   private:
    /// Which rows are word `half` of a lane: any order is right that both sides have. Rows lie an
    /// odd multiple of four banks apart, so that every second one of them is read without
    /// conflicts.
    static LAMINA_INLINE LAMINA_FN int word_of_rows(int lane, int half) {
      return terms == 1 ? lane % 4 * 2 + half : lane % 4 + half * 4;
    }
    /// Word `w` of the terms that lie below each other: those of one activation in several rows.
    static LAMINA_INLINE LAMINA_FN word across_rows(const word* from, int step, int w, int line) {
      if constexpr (terms == 1) {
        return from[w * step + line];
      } else {
        const int shift = line % 2 * 16;
        const word low = from[2 * w * step + line / 2] >> shift;
        const word high = from[(2 * w + 1) * step + line / 2] >> shift;
        return (low & 0xffffU) | high << 16;
      }
    }

    float products_[here][Positions][tall][wide][4];
    pair columns_[here][Positions][wide];
  };
};

}  // namespace lamina::engine::cuda
