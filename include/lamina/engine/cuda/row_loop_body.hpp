// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/row_loop_body.hpp - what the threads of a loop do whose iterations compute
// each row from this row alone: a team takes some rows through all of its steps, with weights that
// are brought to shared memory once.
#pragma once

#include <cstddef>
#include <cstdint>

#include <lamina/core/padding.hpp>
#include <lamina/engine/cuda/cell_function.hpp>
#include <lamina/engine/cuda/statement_runner.hpp>
#include <lamina/engine/cuda/team.hpp>

namespace lamina::engine::cuda {

/// One thing to do to the rows of a loop from `first` to before `rows`, as the host lists it. What
/// is done to a row has to do with this row alone.
struct step_head {
  enum : std::int16_t { copy = -1, add = -2, clear = -3 };  // of[1], with of[0]
  std::int16_t kind;   // a group of the loop by its kind, or one of these moves
  std::int16_t waits;  // whether it reads or writes what the steps before have not done with
  std::int32_t first, rows;
  std::int32_t columns;                 // elements of a row
  std::int32_t from_stride, to_stride;  // floats from row to row of a move; of a left side, a group
  std::int32_t depth;                   // terms of a product
  std::int32_t number;                  // of the weights of a product; of the thread that begins a
                                        // move: moves by other threads do not wait for each other;
                                        // the bits of an operator's attribute
};
template <int Arguments>
struct step_item : step_head {
  float* of[Arguments];
};
/// How the host writes a step: in words of eight bytes.
struct step_words {
  using word = std::uint64_t;
  static constexpr int head = sizeof(step_head) / sizeof(word);
  static_assert(sizeof(float*) <= sizeof(word));
  static constexpr int of(int arguments) { return head + arguments; }
};

/// The weights of a product. `at`: where they lie in shared memory, or -1 where they find no room.
struct step_weights {
  const float* from;
  std::ptrdiff_t stride;
  int depth, columns, at;
};

/// What the kernel of a row loop is given; places in shared memory are counted in floats.
struct row_loop_arguments {
  static constexpr int most_weights = 8, most_rows = 4;
  const step_words::word* steps;
  int count;                        // of the steps
  int rows, rows_each;              // of all teams, and of one at a time
  int part_at, left_at, all_words;  // parts of sums; the left side of a product; all of it
  int weight_count;
  step_weights weights[most_weights];
};

/// A group of a row loop: a product, and statements on it ...
template <class S>
struct product_step {
  using runner = statement_runner<S>;
  static constexpr bool multiplies = true;
};
/// ... or statements alone.
template <class S>
struct pointwise_step {
  using runner = statement_runner<S>;
  static constexpr bool multiplies = false;
};

/// An operator, element by element (cell_function.hpp).
template <class Op>
struct cell_step {
  using function = cell_function<Op>;
  static constexpr bool multiplies = false;
};

/// All steps of a loop for some rows after the others.
template <int Threads, int Arguments, class... Steps>
struct row_loop_body {
  using arguments = row_loop_arguments;
  using item = step_item<Arguments>;
  static constexpr int threads = Threads;
  /// Rows of a team at a time, at most; steps that it brings to shared memory at once.
  static constexpr int rows = arguments::most_rows, at_once = 32;
  /// A sum is cut into so many parts at most, for threads that have no column of their own.
  static constexpr int parts = 8;
  static_assert(sizeof(item) == step_words::of(Arguments) * sizeof(step_words::word));

  static int teams(const arguments& g) { return (g.rows + g.rows_each - 1) / g.rows_each; }
  static std::size_t shared_bytes(const arguments& g) {
    return static_cast<std::size_t>(g.all_words) * sizeof(float);
  }
  /// Shared memory before the weights, for products of up to `deepest` terms and `widest` columns.
  static void plan_room(arguments& g, int deepest, int widest) {
    const int packs = padded(widest) / pack_width;
    g.part_at = at_once * static_cast<int>(sizeof(item) / sizeof(float));
    g.left_at = g.part_at + (packs > Threads ? packs : Threads) * g.rows_each * pack_width;
    g.all_words = g.left_at + g.rows_each * padded(deepest);
  }

  template <class Team>
  static LAMINA_INLINE LAMINA_FN void run(const arguments& g, const Team& team, void* memory) {
    float* const room = static_cast<float*>(memory);
    for (int w = 0; w < g.weight_count; ++w)
      if (g.weights[w].at >= 0) keep(g.weights[w], team, room + g.weights[w].at);
    const item* const steps = static_cast<const item*>(memory);
    LAMINA_CUDA_KEEP_LOOP
    for (int row0 = team.index * g.rows_each; row0 < g.rows; row0 += team.count * g.rows_each) {
      LAMINA_CUDA_KEEP_LOOP
      for (int first = 0; first < g.count; first += at_once) {
        const int count = g.count - first < at_once ? g.count - first : at_once;
        bring(g, first, count, team, static_cast<step_words::word*>(memory));
        team.barrier();
        LAMINA_CUDA_KEEP_LOOP
        for (int i = 0; i < count; ++i) perform(g, steps[i], row0, team, room);
        team.barrier();
      }
    }
  }

 private:
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void keep(const step_weights& w, const Team& team, float* to) {
    const int width = padded(w.columns);
    each_thread(team, [&](int rank) {
      LAMINA_CUDA_KEEP_LOOP
      for (int i = rank; i < w.depth * width; i += Threads) {
        const int term = i / width, column = i % width;
        to[i] = column < w.columns ? w.from[term * w.stride + column] : 0.0f;
      }
    });
  }
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void bring(const arguments& g, int first, int count,
                                            const Team& team, step_words::word* to) {
    constexpr int words = step_words::of(Arguments);
    const step_words::word* const from = g.steps + static_cast<std::ptrdiff_t>(first) * words;
    each_thread(team, [&](int rank) {
      for (int i = rank; i < count * words; i += Threads) to[i] = from[i];
    });
  }

  /// One step. All threads of the team take the same way.
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void perform(const arguments& g, const item& s, int row0,
                                              const Team& team, float* room) {
    const int left = s.rows - row0, n = left < g.rows_each ? left : g.rows_each;
    // Steps behind a product rely on that its threads have waited for each other.
    if (s.waits != 0 || (n <= 0 && s.depth > 0)) team.barrier();
    if (n <= 0) return;
    if (s.kind < 0)
      move(s, row0, n, team);
    else
      compute<0, Steps...>(g, s, row0, n, team, room);
  }
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void move(const item& s, int row0, int n, const Team& team) {
    each_thread(team, [&](int rank) {
      for (int i = (rank + Threads - s.number) % Threads; i < n * s.columns; i += Threads) {
        const int row = row0 + i / s.columns, column = i % s.columns;
        if (row < s.first) continue;
        float* const to = s.of[1] + static_cast<std::ptrdiff_t>(row) * s.to_stride + column;
        float x = 0;
        if (s.kind != step_head::clear)
          x = s.of[0][static_cast<std::ptrdiff_t>(row) * s.from_stride + column];
        *to = s.kind == step_head::add ? *to + x : x;
      }
    });
  }
  template <int Kind, class Step, class... More, class Team>
  static LAMINA_INLINE LAMINA_FN void compute(const arguments& g, const item& s, int row0, int n,
                                              const Team& team, float* room) {
    if (s.kind == Kind) {
      if constexpr (Step::multiplies)
        multiply<Step>(g, s, row0, n, team, room);
      else if constexpr (requires { typename Step::function; })
        call<Step>(s, row0, n, team);
      else
        apply<Step>(s, row0, n, team);
      return;
    }
    if constexpr (sizeof...(More) > 0) compute<Kind + 1, More...>(g, s, row0, n, team, room);
  }

  template <class Step, class Team>
  static LAMINA_INLINE LAMINA_FN void call(const item& s, int row0, int n, const Team& team) {
    const cell_arrays arrays{s.of, s.from_stride, s.to_stride, s.columns,
                             __builtin_bit_cast(float, s.number)};
    each_thread(team, [&](int rank) {
      for (int i = rank; i < n * s.columns; i += Threads)
        Step::function::run(arrays, row0 + i / s.columns, i % s.columns);
    });
  }
  template <class Step, class Team>
  static LAMINA_INLINE LAMINA_FN void apply(const item& s, int row0, int n, const Team& team) {
    const int packs = s.to_stride / pack_width;
    each_thread(team, [&](int rank) {
      for (int i = rank; i < n * packs; i += Threads)
        finish<Step>(s, filled(0.0f), row0 + i / packs, i % packs);
    });
  }
  /// Statements on a pack of a row, which may read what this kernel has written.
  template <class Step>
  static LAMINA_INLINE LAMINA_FN void finish(const item& s, const pack& x, int row, int packs) {
    const int column = packs * pack_width;
    Step::runner::template run_for<-1, false>(
        s.of, x, {static_cast<std::ptrdiff_t>(row) * s.to_stride + column, row, column});
  }

  /// Each thread has a pack of columns, for all rows, of a part of the terms. Terms are added in
  /// an order that depends on the sizes alone.
  template <class Step, class Team>
  static LAMINA_INLINE LAMINA_FN void multiply(const arguments& g, const item& s, int row0, int n,
                                               const Team& team, float* room) {
    float* const left = room + g.left_at;
    pack* const part = reinterpret_cast<pack*>(room + g.part_at);
    const int width = s.to_stride, packs = width / pack_width, step = padded(s.depth);
    const int wanted = Threads / packs < 1 ? 1 : Threads / packs;
    const int most = wanted < parts ? wanted : parts;
    const int terms = (s.depth + most * pack_width - 1) / (most * pack_width) * pack_width;
    const int cut = (s.depth + terms - 1) / terms;
    each_thread(team, [&](int rank) {
      for (int i = rank; i < n * step; i += Threads) {
        const int r = i / step, k = i % step;
        left[i] =
            k < s.depth ? s.of[0][static_cast<std::ptrdiff_t>(row0 + r) * s.from_stride + k] : 0.0f;
      }
    });
    team.barrier();
    const step_weights& w = g.weights[s.number];
    each_thread(team, [&](int rank) {
      for (int i = rank; i < cut * packs; i += Threads) {
        const int first = i / packs * terms, p = i % packs;
        const int end = s.depth - first < terms ? s.depth : first + terms;
        pack sums[rows];
        LAMINA_CUDA_UNROLL
        for (int r = 0; r < rows; ++r) sums[r] = filled(0.0f);
        if (w.at >= 0)
          add_terms(sums, left, step, n, first, end,
                    [at = room + w.at + p * pack_width, width](int k) {
                      return load_pack(at + k * width);
                    });
        else
          add_terms(sums, left, step, n, first, end,
                    [&w, p](int k) { return weights_of(w, k, p); });
        LAMINA_CUDA_UNROLL
        for (int r = 0; r < rows; ++r)
          if (r < n) part[(i / packs * n + r) * packs + p] = sums[r];
      }
    });
    team.barrier();
    each_thread(team, [&](int rank) {
      for (int i = rank; i < n * packs; i += Threads) {
        pack sum = part[i];
        for (int c = 1; c < cut; ++c) add(sum, part[c * n * packs + i]);
        finish<Step>(s, sum, row0 + i / packs, i % packs);
      }
    });
  }
  template <class Weights>
  static LAMINA_INLINE LAMINA_FN void add_terms(pack (&sums)[rows], const float* left, int step,
                                                int n, int first, int end, const Weights& weights) {
    LAMINA_CUDA_KEEP_LOOP
    for (int k = first; k < end; k += pack_width) {
      pack w[pack_width];
      LAMINA_CUDA_UNROLL
      for (int t = 0; t < pack_width; ++t) w[t] = k + t < end ? weights(k + t) : filled(0.0f);
      LAMINA_CUDA_UNROLL
      for (int r = 0; r < rows; ++r) {
        if (r >= n) continue;
        const pack x = load_pack(left + r * step + k);
        LAMINA_CUDA_UNROLL
        for (int t = 0; t < pack_width; ++t) {
          LAMINA_CUDA_UNROLL
          for (int j = 0; j < pack_width; ++j) sums[r].v[j] += x.v[t] * w[t].v[j];
        }
      }
    }
  }
  /// Weights that are not kept.
  static LAMINA_INLINE LAMINA_FN pack weights_of(const step_weights& w, int k, int p) {
    const float* const from = w.from + k * w.stride + p * pack_width;
    if (reinterpret_cast<std::uintptr_t>(w.from) % sizeof(pack) == 0 &&
        w.stride % pack_width == 0 && w.stride >= padded(w.columns))
      return load_constant(from);
    pack x = filled(0.0f);
    LAMINA_CUDA_UNROLL
    for (int j = 0; j < pack_width; ++j)
      if (p * pack_width + j < w.columns) x.v[j] = load_constant<lone_float>(from + j).v[0];
    return x;
  }
  static LAMINA_INLINE LAMINA_FN void add(pack& sum, const pack& x) {
    LAMINA_CUDA_UNROLL
    for (int j = 0; j < pack_width; ++j) sum.v[j] += x.v[j];
  }
};

}  // namespace lamina::engine::cuda
