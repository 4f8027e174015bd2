// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/chain_body.hpp - what the threads of a chain of products do: all weights come
// to shared memory once, and then tile after tile of rows goes through all products.
#pragma once

#include <cstddef>

#include <lamina/engine/cuda/chain_room.hpp>
#include <lamina/engine/cuda/group_body.hpp>
#include <lamina/engine/cuda/tensor_chain_product.hpp>
#include <lamina/plan/instruction.hpp>

namespace lamina::engine::cuda {

/// A product of a chain: statements on its sums, and the number of the one whose value is the next
/// product's left side; of -1 it is the sum itself.
template <class S, int Value>
struct chain_link {
  using runner = statement_runner<S>;
  static constexpr int value = Value;

  struct arguments {
    float* of[detail::largest<1, runner::arguments - 1>() + 1];
    std::ptrdiff_t weight_stride;
    int columns, depth;
  };
};

/// What a kernel is told of each link.
template <class... L>
struct chain_links {
  static constexpr int count = 0;
};
template <class First, class... L>
struct chain_links<First, L...> {
  static constexpr int count = 1 + static_cast<int>(sizeof...(L));
  typename First::arguments link;
  [[no_unique_address]] chain_links<L...> rest;
};

/// What the threads of a team do between the products of a chain. `Turned`: the weights are read as
/// the gradient of an input reads them.
template <bool Turned, class Shape>
struct chain_steps {
  using word = typename Shape::word;
  static constexpr int terms = Shape::operands.terms;
  static constexpr int threads = Shape::threads;
  /// Made of numbers: devices do not see the object that they are of.
  static LAMINA_INLINE LAMINA_FN constexpr chain_room room() {
    return {{Shape::operands.terms, Shape::operands.gap, Shape::operands.by_rows}};
  }

  template <class Team>
  static LAMINA_INLINE LAMINA_FN void load_weights(const Team&, word*, const chain_links<>&) {}
  template <class Team, class... Rest>
  static LAMINA_INLINE LAMINA_FN void load_weights(const Team& team, word* to,
                                                   const chain_links<Rest...>& links) {
    const auto& g = links.link;
    const float* const from = g.of[1];
    const int lines = padded(g.columns), words = room().words(g.depth);
    const int step = room().weight_step(g.columns);
    each_thread(team, [&](int rank) {
      LAMINA_CUDA_KEEP_LOOP
      for (int i = rank; i < lines * words; i += threads) {
        const int w = i / lines, line = i % lines;
        float x[terms];
        LAMINA_CUDA_UNROLL
        for (int t = 0; t < terms; ++t) {
          const int term = w * terms + t;
          const bool inside = line < g.columns && term < g.depth;
          x[t] = inside
                     ? from[Turned ? line * g.weight_stride + term : term * g.weight_stride + line]
                     : 0.0f;
        }
        to[w * step + line] = Shape::weight(x);
      }
    });
    load_weights(team, to + room().weights(g.depth, g.columns), links.rest);
  }

  /// A tile of rows of a matrix as activations; outside they are 0.
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void load_rows(const Team& team, const matrix_reader<true>& from,
                                                int row0, word* to, int step) {
    if (from.has_packs())
      load_rows_as<true>(team, from, row0, to, step);
    else
      load_rows_as<false>(team, from, row0, to, step);
  }

  /// One product of a tile of rows and what is computed from it.
  template <class Link, class Team, class Share>
  static LAMINA_INLINE LAMINA_FN void multiply(const typename Link::arguments& g, int rows,
                                               int row0, const Team& team, Share& mine,
                                               const word* activations, int step,
                                               const word* weights) {
    const int width = padded(g.columns);
    mine.multiply(team, activations, step, weights, room().weight_step(g.columns), padded(g.depth),
                  width);
    team.barrier();
    mine.each(team, width, [&](int y, int x, auto& sums) {
      const int row = row0 + y;
      if (row < rows)
        sums = Link::runner::template run_for<Link::value>(
            g.of, sums, {static_cast<std::ptrdiff_t>(row) * width + x, row, x});
    });
  }

 private:
  template <bool Packs, class Team>
  static LAMINA_INLINE LAMINA_FN void load_rows_as(const Team& team,
                                                   const matrix_reader<true>& from, int row0,
                                                   word* to, int step) {
    const int packs = padded(from.depth) / pack_width;
    each_thread(team, [&](int rank) {
      LAMINA_CUDA_KEEP_LOOP
      for (int i = rank; i < packs * Shape::rows; i += threads) {
        const int row = i / packs, term = i % packs * pack_width;
        pack x = from.template neighbours<Packs>(row0 + row, term);
        LAMINA_CUDA_UNROLL
        for (int j = 0; j < pack_width; ++j)
          if (term + j >= from.depth) x.v[j] = 0.0f;
        Shape::put_activations(to, step, row, term, x);
      }
    });
  }
};

/// All products of a chain for tile after tile of rows.
template <bool Turned, class Shape, class... L>
struct chain_body {
  struct arguments {
    std::ptrdiff_t left_stride;  // of the rows of the first product
    int rows;
    int step;          // words from row to row of activations
    int weights;       // where the words of the first weights begin
    int shared_words;  // of all
    chain_links<L...> links;
  };
  using steps = chain_steps<Turned, Shape>;
  using word = typename Shape::word;
  static constexpr int threads = Shape::threads;
  static std::size_t shared_bytes(const arguments& g) {
    return static_cast<std::size_t>(g.shared_words) * sizeof(word);
  }
  static int teams(const arguments& g) { return (g.rows + Shape::rows - 1) / Shape::rows; }

  template <class Team>
  static LAMINA_INLINE LAMINA_FN void run(const arguments& g, const Team& team, void* memory) {
    word* const all = static_cast<word*>(memory);
    steps::load_weights(team, all + g.weights, g.links);
    typename Shape::template share<Team> mine(team);
    const matrix_reader<true> rows{g.links.link.of[0], g.left_stride, 1, g.rows,
                                   g.links.link.depth};
    LAMINA_CUDA_KEEP_LOOP
    for (int t = team.index; t * Shape::rows < g.rows; t += team.count) {
      steps::load_rows(team, rows, t * Shape::rows, all, g.step);
      team.barrier();
      follow(g, team, mine, all, all + g.weights, t * Shape::rows, g.links);
    }
  }

 private:
  template <class Team, class Share, class Link, class... Rest>
  static LAMINA_INLINE LAMINA_FN void follow(const arguments& g, const Team& team, Share& mine,
                                             word* activations, const word* weights, int row0,
                                             const chain_links<Link, Rest...>& links) {
    const auto& here = links.link;
    steps::template multiply<Link>(here, g.rows, row0, team, mine, activations, g.step, weights);
    if constexpr (sizeof...(Rest) > 0) {
      mine.keep(team, activations, g.step, padded(here.columns), here.columns);
      team.barrier();
      follow(g, team, mine, activations, weights + steps::room().weights(here.depth, here.columns),
             row0, links.rest);
    }
  }
};

}  // namespace lamina::engine::cuda
