// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/row_pass_body.hpp - products of few rows and what stands between them: a team
// takes a pack of rows through all steps, of a product with a thread a column or, of few columns, a
// part of its terms.
//
// A tile of 64 rows has its weights read once for all of them, but is one team's: of few rows most
// of a device would rest.
#pragma once

#include <cstddef>

#include <lamina/engine/cuda/call_site.hpp>
#include <lamina/engine/cuda/chain_body.hpp>
#include <lamina/engine/cuda/split_product.hpp>

namespace lamina::engine::cuda {

/// How a product of a pack of rows is shared by threads: some columns, each in some parts of its
/// terms. By sizes alone: equal inputs give equal bits.
struct row_product_parts {
  int width, count, terms;  // columns of whole packs; parts of a sum, and terms of each

  static constexpr int fewest = 8;  // terms of a part
  LAMINA_INLINE LAMINA_FN row_product_parts(int threads, int columns, int depth)
      : width(padded(columns)) {
    const int free = threads / width, wanted = (depth + fewest - 1) / fewest;
    count = free < wanted ? free : wanted;
    if (count < 1) count = 1;
    terms = (depth + count - 1) / count;
  }
};

/// What a step hands on where it hands on nothing: a value of a chain_link is another.
inline constexpr int no_value = -2;

/// A product, as a link of a chain. `Turned` as in chain_body; `Loads`: its left side comes from
/// memory and not from the step before; `Constant`: no step writes what its statements read.
template <class S, int Value, bool Turned, bool Loads, bool Constant>
struct row_product {
  using runner = statement_runner<S>;
  static constexpr int value = Value;
  static constexpr bool turned = Turned, loads = Loads, constant = Constant;

  struct arguments : chain_link<S, Value>::arguments {
    std::ptrdiff_t left_stride;
  };
};
/// The parts of a product that other teams have computed, added up as the head of statements.
template <class S, int Value>
struct row_part_sum {
  using runner = statement_runner<S>;
  static constexpr int value = Value;

  struct arguments {
    float* of[at_least_one(runner::arguments)];
    const float* part;
    std::ptrdiff_t step;  // floats from part to part
    int parts, columns;
  };
};
/// Statements on nothing.
template <class S>
struct row_statements {
  using runner = statement_runner<S>;

  struct arguments {
    float* of[at_least_one(runner::arguments)];
    int width;
  };
};
/// The kernel of an operator, a line of which is a row.
template <class Op>
struct row_call {
  using arguments = call_arguments;
};

/// All steps for pack after pack of rows.
template <int Threads, class... Steps>
struct row_pass_body {
  struct arguments {
    int rows;
    int weights_at, all_words;  // where weights that are read by their rows begin, and their end
    chain_links<Steps...> steps;
  };
  static_assert(sizeof(arguments) <= 4096);  // what devices take by value
  static constexpr int threads = Threads;
  /// All teams are at work at once, and none has to share a processor with many: steps may have the
  /// registers that they need.
  static constexpr int least_resident = 2;
  static constexpr int sums_at = row_pass_room::activations;
  static std::size_t shared_bytes(const arguments& g) {
    return static_cast<std::size_t>(g.all_words) * sizeof(float);
  }
  static int teams(const arguments& g) { return (g.rows + pack_width - 1) / pack_width; }

  template <class Team>
  static LAMINA_INLINE LAMINA_FN void run(const arguments& g, const Team& team, void* memory) {
    float* const all = static_cast<float*>(memory);
    load_weights(team, all + g.weights_at, g.steps);
    LAMINA_CUDA_KEEP_LOOP
    for (int t = team.index; t * pack_width < g.rows; t += team.count)
      follow(g, team, all, all + g.weights_at, t * pack_width, g.steps);
  }

 private:
  template <class Step>
  static constexpr bool is_turned = [] {
    if constexpr (requires { Step::turned; }) return Step::turned;
    return false;
  }();

  template <class Team>
  static LAMINA_INLINE LAMINA_FN void load_weights(const Team&, float*, const chain_links<>&) {}
  /// The rows of weights as they lie, for products that go along them.
  template <class Team, class Step, class... Rest>
  static LAMINA_INLINE LAMINA_FN void load_weights(const Team& team, float* to,
                                                   const chain_links<Step, Rest...>& steps) {
    if constexpr (is_turned<Step>) {
      const auto& g = steps.link;
      const int step = row_pass_room::line_step(g.depth);
      const int lines = threads / g.depth, terms = threads % g.depth;
      each_thread(team, [&](int rank) {
        int line = rank / g.depth, term = rank % g.depth;
        for (int i = rank; i < g.columns * g.depth; i += threads) {
          to[line * step + term] = g.of[1][line * g.weight_stride + term];
          line += lines, term += terms;
          if (term >= g.depth) term -= g.depth, ++line;
        }
      });
      to += row_pass_room::weights(g.columns, g.depth);
    }
    load_weights(team, to, steps.rest);
  }

  template <class Team>
  static LAMINA_INLINE LAMINA_FN void follow(const arguments&, const Team&, float*, const float*,
                                             int, const chain_links<>&) {}
  template <class Team, class Step, class... Rest>
  static LAMINA_INLINE LAMINA_FN void follow(const arguments& g, const Team& team, float* all,
                                             const float* weights, int row0,
                                             const chain_links<Step, Rest...>& steps) {
    do_step(static_cast<Step*>(nullptr), g, team, steps.link, all, weights, row0);
    // What is kept is read by all; of the last step, the next rows overwrite what was.
    team.barrier();
    if constexpr (is_turned<Step>)
      weights += row_pass_room::weights(steps.link.columns, steps.link.depth);
    follow(g, team, all, weights, row0, steps.rest);
  }

  template <class S, int Value, bool Turned, bool Loads, bool Constant, class Team>
  static LAMINA_INLINE LAMINA_FN void do_step(row_product<S, Value, Turned, Loads, Constant>*,
                                              const arguments& g, const Team& team,
                                              const auto& here, float* all, const float* weights,
                                              int row0) {
    if constexpr (Loads) {
      load_rows(g, team, here, all, row0);
      team.barrier();
    }
    const row_product_parts parts(threads, here.columns, here.depth);
    multiply<Turned>(team, here, parts, all, weights);
    team.barrier();
    each_thread(team, [&](int rank) {
      for (int u = rank; u < parts.width; u += threads) {
        const int r = u % pack_width, x = u - r;
        // The parts of sums in their order.
        pack sums = filled(0.0f);
        for (int p = 0; p < parts.count; ++p) {
          LAMINA_CUDA_UNROLL
          for (int j = 0; j < pack_width; ++j)
            sums.v[j] += all[sums_at + (p * parts.width + x + j) * pack_width + r];
        }
        finish<statement_runner<S>, Value, Constant>(g, here, sums, parts.width, row0, r, x, all);
      }
    });
  }
  template <class S, int Value, class Team>
  static LAMINA_INLINE LAMINA_FN void do_step(row_part_sum<S, Value>*, const arguments& g,
                                              const Team& team, const auto& here, float* all,
                                              const float*, int row0) {
    const int width = padded(here.columns);
    each_thread(team, [&](int rank) {
      for (int u = rank; u < width; u += threads) {
        const int r = u % pack_width, x = u - r, row = row0 + r;
        pack sums = filled(0.0f);
        if (row < g.rows)
          sums = sum_of_parts(here.part + static_cast<std::ptrdiff_t>(row) * width + x, here.step,
                              here.parts);
        finish<statement_runner<S>, Value, false>(g, here, sums, width, row0, r, x, all);
      }
    });
  }
  template <class S, class Team>
  static LAMINA_INLINE LAMINA_FN void do_step(row_statements<S>*, const arguments& g,
                                              const Team& team, const auto& here, float*,
                                              const float*, int row0) {
    each_thread(team, [&](int rank) {
      for (int u = rank; u < here.width; u += threads) {
        const int r = u % pack_width, x = u - r, row = row0 + r;
        if (row < g.rows)
          statement_runner<S>::template run_for<-1, false>(
              here.of, filled(0.0f), {static_cast<std::ptrdiff_t>(row) * here.width + x, row, x});
      }
    });
  }
  template <class Op, class Team>
  static LAMINA_INLINE LAMINA_FN void do_step(row_call<Op>*, const arguments& g, const Team& team,
                                              const call_arguments& here, float*, const float*,
                                              int row0) {
    const int end = g.rows - row0 < pack_width ? g.rows : row0 + pack_width;
    each_line(team, row0, end,
              [&](int row, const auto& mine) { call_kernel<Op>::line(here, row, mine); });
  }

  template <class Team, class Product>
  static LAMINA_INLINE LAMINA_FN void load_rows(const arguments& g, const Team& team,
                                                const Product& here, float* to, int row0) {
    const float* const from = here.of[0] + row0 * here.left_stride;
    each_thread(team, [&](int rank) {
      LAMINA_CUDA_KEEP_LOOP
      for (int k = rank; k < here.depth; k += threads) {
        pack p;
        LAMINA_CUDA_UNROLL
        for (int r = 0; r < pack_width; ++r)
          p.v[r] = row0 + r < g.rows ? from[r * here.left_stride + k] : 0.0f;
        store_pack(to + k * pack_width, p);
      }
    });
  }
  /// Parts of sums: activations * weights over some terms, for a column.
  template <bool Turned, class Team, class Product>
  static LAMINA_INLINE LAMINA_FN void multiply(const Team& team, const Product& g,
                                               const row_product_parts& parts, float* all,
                                               const float* weights) {
    const int step = row_pass_room::line_step(g.depth);
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
  /// What is computed from sums, a pack of columns of row r of the pack; and what is handed on.
  template <class Runner, int Value, bool Constant, class Product>
  static LAMINA_INLINE LAMINA_FN void finish(const arguments& g, const Product& here, pack sums,
                                             int width, int row0, int r, int x, float* all) {
    constexpr bool hands_on = Value != no_value;
    const int row = row0 + r;
    if (row < g.rows)
      sums = Runner::template run_for < hands_on ? Value : -1,
      Constant > (here.of, sums, {static_cast<std::ptrdiff_t>(row) * width + x, row, x});
    if constexpr (hands_on) {
      LAMINA_CUDA_UNROLL
      for (int j = 0; j < pack_width; ++j)
        all[(x + j) * pack_width + r] = x + j < here.columns ? sums.v[j] : 0.0f;
    }
  }
};

}  // namespace lamina::engine::cuda
