// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/row_chain_body.hpp - a chain of products of few rows: a team takes a pack of
// rows through all products, with a thread a column or, of few columns, a part of its terms.
//
// A tile of 64 rows has its weights read once for all of them, but is one team's: of few rows most
// of a device would rest.
#pragma once

#include <cstddef>

#include <lamina/engine/cuda/chain_body.hpp>

namespace lamina::engine::cuda {

/// How a product of a pack of rows is shared by threads: some columns, each in some parts of its
/// terms. By sizes alone: equal inputs give equal bits.
struct row_chain_parts {
  int width, count, terms;  // columns of whole packs; parts of a sum, and terms of each

  static constexpr int fewest = 8;  // terms of a part
  LAMINA_INLINE LAMINA_FN row_chain_parts(int threads, int columns, int depth)
      : width(padded(columns)) {
    const int free = threads / width, wanted = (depth + fewest - 1) / fewest;
    count = free < wanted ? free : wanted;
    if (count < 1) count = 1;
    terms = (depth + count - 1) / count;
  }
};

/// Floats of the shared memory of such a team.
struct row_chain_room {
  /// A pack of rows for each term, and for each thread or column.
  static constexpr int activations = chain_limits::width * pack_width;
  static constexpr int sums(int threads) {
    return (threads > chain_limits::width ? threads : chain_limits::width) * pack_width;
  }
  /// Weights that are read by their rows, of which neighbours lie in different banks.
  LAMINA_FN static constexpr int line_step(int depth) { return depth | 1; }
  LAMINA_FN static constexpr int weights(int columns, int depth) {
    return columns * line_step(depth);
  }
};

/// All products of a chain for pack after pack of rows. `Turned` as in chain_body.
template <bool Turned, int Threads, class... L>
struct row_chain_body {
  struct arguments {
    std::ptrdiff_t left_stride;  // of the rows of the first product
    int rows;
    int weights;  // floats of all that are read by their rows
    chain_links<L...> links;
  };
  static constexpr int threads = Threads;
  static constexpr int sums_at = row_chain_room::activations;
  static constexpr int weights_at = sums_at + row_chain_room::sums(Threads);
  static std::size_t shared_bytes(const arguments& g) {
    return static_cast<std::size_t>(weights_at + g.weights) * sizeof(float);
  }
  static int teams(const arguments& g) { return (g.rows + pack_width - 1) / pack_width; }

  template <class Team>
  static LAMINA_INLINE LAMINA_FN void run(const arguments& g, const Team& team, void* memory) {
    float* const all = static_cast<float*>(memory);
    if constexpr (Turned) load_weights(team, all + weights_at, g.links);
    LAMINA_CUDA_KEEP_LOOP
    for (int t = team.index; t * pack_width < g.rows; t += team.count) {
      load_rows(g, team, all, t * pack_width);
      team.barrier();
      follow(g, team, all, all + weights_at, t * pack_width, g.links);
    }
  }

 private:
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void load_weights(const Team&, float*, const chain_links<>&) {}
  /// The rows of weights as they lie, for a product that goes along them.
  template <class Team, class... Rest>
  static LAMINA_INLINE LAMINA_FN void load_weights(const Team& team, float* to,
                                                   const chain_links<Rest...>& links) {
    const auto& g = links.link;
    const int step = row_chain_room::line_step(g.depth);
    const int lines = threads / g.depth, terms = threads % g.depth;
    each_thread(team, [&](int rank) {
      int line = rank / g.depth, term = rank % g.depth;
      for (int i = rank; i < g.columns * g.depth; i += threads) {
        to[line * step + term] = g.of[1][line * g.weight_stride + term];
        line += lines, term += terms;
        if (term >= g.depth) term -= g.depth, ++line;
      }
    });
    load_weights(team, to + row_chain_room::weights(g.columns, g.depth), links.rest);
  }
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void load_rows(const arguments& g, const Team& team, float* to,
                                                int row0) {
    const int depth = g.links.link.depth;
    const float* const from = g.links.link.of[0] + row0 * g.left_stride;
    each_thread(team, [&](int rank) {
      LAMINA_CUDA_KEEP_LOOP
      for (int k = rank; k < depth; k += threads) {
        pack p;
        LAMINA_CUDA_UNROLL
        for (int r = 0; r < pack_width; ++r)
          p.v[r] = row0 + r < g.rows ? from[r * g.left_stride + k] : 0.0f;
        store_pack(to + k * pack_width, p);
      }
    });
  }

  template <class Team, class Link, class... Rest>
  static LAMINA_INLINE LAMINA_FN void follow(const arguments& g, const Team& team, float* all,
                                             const float* weights, int row0,
                                             const chain_links<Link, Rest...>& links) {
    const auto& here = links.link;
    const row_chain_parts parts(threads, here.columns, here.depth);
    multiply(team, here, parts, all, weights);
    team.barrier();
    finish<Link>(g, team, here, parts, all, row0);
    // What is kept is read by all; of the last product, the next rows overwrite what was.
    team.barrier();
    if constexpr (sizeof...(Rest) > 0)
      follow(g, team, all, weights + row_chain_room::weights(here.columns, here.depth), row0,
             links.rest);
  }
  /// Parts of sums: activations * weights over some terms, for a column.
  template <class Team, class Link>
  static LAMINA_INLINE LAMINA_FN void multiply(const Team& team, const Link& g,
                                               const row_chain_parts& parts, float* all,
                                               const float* weights) {
    const int step = row_chain_room::line_step(g.depth);
    each_thread(team, [&](int rank) {
      for (int u = rank; u < parts.count * parts.width; u += threads) {
        const int part = u / parts.width, column = u % parts.width, first = part * parts.terms;
        const int end = g.depth - first < parts.terms ? g.depth : first + parts.terms;
        pack sum = filled(0.0f);
        if (column < g.columns)
          for (int k = first; k < end; ++k) {
            const float w =
                Turned ? weights[column * step + k] : g.of[1][k * g.weight_stride + column];
            const pack a = load_pack(all + k * pack_width);
            LAMINA_CUDA_UNROLL
            for (int r = 0; r < pack_width; ++r) sum.v[r] += a.v[r] * w;
          }
        store_pack(all + sums_at + u * pack_width, sum);
      }
    });
  }
  /// The parts of sums added in their order, and what is computed from them: a thread a pack of
  /// columns of a row.
  template <class Link, class Team>
  static LAMINA_INLINE LAMINA_FN void finish(const arguments& g, const Team& team,
                                             const typename Link::arguments& here,
                                             const row_chain_parts& parts, float* all, int row0) {
    each_thread(team, [&](int rank) {
      for (int u = rank; u < parts.width; u += threads) {
        const int r = u % pack_width, x = u - r, row = row0 + r;
        pack sums = filled(0.0f);
        for (int p = 0; p < parts.count; ++p) {
          LAMINA_CUDA_UNROLL
          for (int j = 0; j < pack_width; ++j)
            sums.v[j] += all[sums_at + (p * parts.width + x + j) * pack_width + r];
        }
        if (row < g.rows)
          sums = Link::runner::template run_for<Link::value>(
              here.of, sums, {static_cast<std::ptrdiff_t>(row) * parts.width + x, row, x});
        LAMINA_CUDA_UNROLL
        for (int j = 0; j < pack_width; ++j)
          all[(x + j) * pack_width + r] = x + j < here.columns ? sums.v[j] : 0.0f;
      }
    });
  }
};

}  // namespace lamina::engine::cuda
