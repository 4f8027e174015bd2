// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/chain_gradient_body.hpp - what the threads of a chain of gradients do: while
// slopes go back through the products of a chain, the gradients of all weights and biases are added
// up in registers. Each part of the rows leaves its sums; they are added in a fixed order after.
#pragma once

#include <algorithm>
#include <cstddef>

#include <lamina/engine/cuda/chain_body.hpp>

namespace lamina::engine::cuda {

/// Parts of the rows of a chain. The same on every device: equal inputs give equal bits.
struct chain_parts {
  static constexpr int most = 256, folded = 16;

  static constexpr int count(int rows, int tile) {
    return std::clamp((rows + tile - 1) / tile, 1, most);
  }
  /// Sums of `folded` parts each.
  static constexpr int sums(int parts) { return (parts + folded - 1) / folded; }
  /// Floats for parts and their sums of `floats` each.
  static constexpr std::ptrdiff_t scratch(int rows, int tile, int floats) {
    const int parts = count(rows, tile);
    return std::ptrdiff_t{floats} * (parts + sums(parts));
  }
};

/// Gradients at one place between the products of a chain: of the weight that the slopes there
/// belong to, and of its bias.
struct chain_slope {
  const float* left;  // what the weight was multiplied with
  std::ptrdiff_t left_stride;
  int lines, columns;            // of the weight
  std::ptrdiff_t weights, bias;  // where in a part their gradients begin
};

/// The links are gradients of inputs. `Weights` and `Biases` have a bit for each place between
/// them, that before the first one included, whose gradients are added up.
template <unsigned Weights, unsigned Biases, class Shape, class... L>
struct chain_gradient_body {
  static constexpr int places = 1 + static_cast<int>(sizeof...(L));
  struct arguments {
    std::ptrdiff_t slope_stride;  // of the rows of the first product
    int rows, parts;
    std::ptrdiff_t part_floats;
    int step;          // words from row to row of activations
    int left;          // where the words of left sides begin ...
    int weights;       // ... and those of the first weights
    int shared_words;  // of all
    float* part;
    chain_slope slopes[places];
    chain_links<L...> links;
  };
  using steps = chain_steps<true, Shape>;
  using word = typename Shape::word;
  static constexpr int threads = Shape::threads;
  static std::size_t shared_bytes(const arguments& g) {
    return static_cast<std::size_t>(g.shared_words) * sizeof(word);
  }
  static int teams(const arguments& g) { return g.parts; }

  template <class Team>
  static LAMINA_INLINE LAMINA_FN void run(const arguments& g, const Team& team, void* memory) {
    word* const all = static_cast<word*>(memory);
    steps::load_weights(team, all + g.weights, g.links);
    typename Shape::template gradient_share<Team, places> mine(team);
    const matrix_reader<true> rows{g.links.link.of[0], g.slope_stride, 1, g.rows,
                                   g.links.link.depth};
    for (int part = team.index; part < g.parts; part += team.count) {
      mine.clear();
      LAMINA_CUDA_KEEP_LOOP
      for (int t = part; t * Shape::rows < g.rows; t += g.parts) {
        const int row0 = t * Shape::rows;
        steps::load_rows(team, rows, row0, all, g.step);
        load_left<0>(g, team, all, row0);
        team.barrier();
        follow<0>(g, team, mine, all, all + g.weights, row0, g.links);
      }
      store<0>(g, team, mine, all, g.part + part * g.part_floats);
    }
  }

 private:
  static constexpr bool has(unsigned places_of, int p) { return (places_of >> p & 1u) != 0; }

  template <int P, class Team>
  static LAMINA_INLINE LAMINA_FN void load_left(const arguments& g, const Team& team, word* all,
                                                int row0) {
    if constexpr (has(Weights, P)) {
      const chain_slope& s = g.slopes[P];
      steps::load_rows(team, {s.left, s.left_stride, 1, g.rows, s.lines}, row0, all + g.left,
                       g.step);
    }
  }
  template <int P, class Team, class Share, class... Rest>
  static LAMINA_INLINE LAMINA_FN void follow(const arguments& g, const Team& team, Share& mine,
                                             word* all, const word* weights, int row0,
                                             const chain_links<Rest...>& links) {
    if constexpr (has(Weights, P))
      mine.template add<P>(team, all + g.left, g.step, all, g.step, padded(g.slopes[P].lines),
                           padded(g.slopes[P].columns));
    if constexpr (sizeof...(Rest) > 0)
      follow_link<P>(g, team, mine, all, weights, row0, links);
    else
      team.barrier();
  }
  template <int P, class Team, class Share, class Link, class... Rest>
  static LAMINA_INLINE LAMINA_FN void follow_link(const arguments& g, const Team& team, Share& mine,
                                                  word* all, const word* weights, int row0,
                                                  const chain_links<Link, Rest...>& links) {
    const auto& here = links.link;
    steps::template multiply<Link>(here, g.rows, row0, team, mine, all, g.step, weights);
    if constexpr (has(Biases, P + 1)) mine.template add_rows<P + 1>(team, padded(here.columns));
    mine.keep(team, all, g.step, padded(here.columns), here.columns);
    load_left<P + 1>(g, team, all, row0);
    team.barrier();
    follow<P + 1>(g, team, mine, all, weights + steps::room().weights(here.depth, here.columns),
                  row0, links.rest);
  }

  /// The sums of a part.
  template <int P, class Team, class Share>
  static LAMINA_INLINE LAMINA_FN void store(const arguments& g, const Team& team, const Share& mine,
                                            word* all, float* part) {
    const int columns = padded(g.slopes[P].columns);
    if constexpr (has(Weights, P))
      mine.template store<P>(team, part + g.slopes[P].weights, g.slopes[P].lines, columns);
    if constexpr (has(Biases, P)) {
      // Nobody needs the activations any more.
      float* const rows = reinterpret_cast<float*>(all);
      mine.template store_rows<P>(team, rows, columns);
      team.barrier();
      each_thread(team, [&](int rank) {
        for (int c = rank; c < columns; c += threads) {
          float sum = 0;
          for (int r = 0; r < Share::stored_rows; ++r) sum += rows[r * columns + c];
          part[g.slopes[P].bias + c] = sum;
        }
      });
      team.barrier();
    }
    if constexpr (P + 1 < places) store<P + 1>(g, team, mine, all, part);
  }
};

/// Adds up to 16 parts each, in their order: element i of a sum.
struct fold_parts_body {
  struct arguments {
    const float* part;
    float* to;
    int parts;
    divider floats;  // of a part
    int count;
  };
  static LAMINA_INLINE LAMINA_FN void run(const arguments& g, int i) {
    int at = i;
    const int first = g.floats.divide(at) * chain_parts::folded;
    const std::ptrdiff_t step = static_cast<std::ptrdiff_t>(g.count) / chain_parts::sums(g.parts);
    float sum = 0;
    for (int p = first; p < first + chain_parts::folded && p < g.parts; ++p)
      sum += g.part[p * step + at];
    g.to[i] = sum;
  }
};

}  // namespace lamina::engine::cuda
