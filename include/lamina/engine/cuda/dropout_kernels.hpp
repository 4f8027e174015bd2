// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/dropout_kernels.hpp - dropout: the same masks as on the CPU.
#pragma once

#include <lamina/core/random.hpp>
#include <lamina/engine/call/dropout_factor.hpp>
#include <lamina/engine/cuda/call_site.hpp>
#include <lamina/engine/cuda/cell_function.hpp>
#include <lamina/operators/dropout.hpp>

namespace lamina::engine::cuda {

template <>
struct call_kernel<dropout> {
  static void prepare(const call_site& c, call_arguments& a) {
    c.set_arrays(a, 1, 2);
    require_float(c, c.input(0));
    a.number[0] = static_cast<float>(c.number(0));
    a.number[1] = dropout_factor(c);
    a.integer[0] = c.integer(1);
    a.random = c.random(dropout_stream(static_cast<std::uint64_t>(c.ordinal())),
                        static_cast<std::uint64_t>(c.number(3)), c.flag(2));
    a.first_row = c.run.first_row[c.input(0).domain];
    c.share_rows(a, a.in[0]);
  }
  template <class Team>
  static LAMINA_FN void line(const call_arguments& a, int r, const Team& team) {
    const int n = a.in[0].columns;
    const float* const x = a.in[0].row<const float>(r);
    float* const y = a.out[0].row<float>(r);
    std::uint8_t* const mask = a.out[1] ? a.out[1].row<std::uint8_t>(r) : nullptr;
    if (a.integer[0] != 0) {
      for (int j = team.rank(); j < n; j += team.size()) {
        y[j] = a.number[1] * x[j];
        if (mask != nullptr) mask[j] = 1;
      }
      return;
    }
    const std::uint64_t seed = a.random.seed(), stream = a.random.stream();
    const std::uint64_t first = static_cast<std::uint64_t>(a.first_row + r) *
                                static_cast<std::uint64_t>(n),
                        end = first + static_cast<std::uint64_t>(n);
    // Four numbers a counter, as they lie in the whole mini-batch.
    for (std::uint64_t b = first / 4 + static_cast<std::uint64_t>(team.rank()); b * 4 < end;
         b += static_cast<std::uint64_t>(team.size())) {
      const random_words words = philox(seed, stream, b);
      for (std::uint64_t w = 0; w < 4; ++w) {
        const std::uint64_t at = b * 4 + w;
        if (at < first || at >= end) continue;
        const std::uint64_t j = at - first;
        const bool kept = uniform_from(words.word[w]) >= a.number[0];
        y[j] = kept ? x[j] * a.number[1] : 0.0f;
        if (mask != nullptr) mask[j] = kept ? 1 : 0;
      }
    }
  }
};

/// X, Seed; Out, Mask: an element of the line above.
template <>
struct cell_function<dropout> {
  enum : int { x = 0, out = 2, mask, run_seed, own_seed, own_stream, first, probability };

  static cell_call call(const call_site& c) {
    call_arguments a{};
    call_kernel<dropout>::prepare(c, a);
    const operand of = c.input(0);
    cell_call r{of.rows, of.columns, c.output(1).stride, of.stride, a.number[1], {}};
    r.words[0] = reinterpret_cast<std::uint64_t>(a.random.run_seed);
    r.words[own_seed - run_seed] = a.random.own_seed;
    r.words[own_stream - run_seed] = a.random.own_stream;
    r.words[first - run_seed] =
        static_cast<std::uint64_t>(a.first_row) * static_cast<std::uint64_t>(of.columns);
    // Nothing is dropped by a probability below that of any number.
    r.words[probability - run_seed] =
        __builtin_bit_cast(std::uint32_t, a.integer[0] != 0 ? -1.0f : a.number[0]);
    return r;
  }
  static LAMINA_INLINE LAMINA_FN void run(const cell_arrays& a, int row, int cell) {
    const random_source random{a.word(own_seed), a.word(own_stream),
                               reinterpret_cast<const std::uint64_t*>(a.of[run_seed]), nullptr};
    const std::uint64_t at = a.word(first) +
                             static_cast<std::uint64_t>(row) * static_cast<std::uint64_t>(a.cells) +
                             static_cast<std::uint64_t>(cell);
    const float least = __builtin_bit_cast(float, static_cast<std::uint32_t>(a.word(probability)));
    const bool kept = uniform_at(random.seed(), random.stream(), at) >= least;
    const std::ptrdiff_t i = row * a.stride + cell;
    a.of[out][i] = kept ? a.of[x][i] * a.number : 0.0f;
    if (a.of[mask] != nullptr)
      reinterpret_cast<std::uint8_t*>(a.of[mask])[row * a.broad_stride + cell] = kept ? 1 : 0;
  }
};
/// Mask, the slope of Out; that of X.
template <>
struct cell_function<gradient_of<dropout>> {
  static cell_call call(const call_site& c) {
    const operand mask = c.input(0), dx = c.output(0);
    return {dx.rows, dx.columns, mask.stride, dx.stride, dropout_factor(c), {}};
  }
  static LAMINA_INLINE LAMINA_FN void run(const cell_arrays& a, int row, int cell) {
    const auto* const mask = reinterpret_cast<const std::uint8_t*>(a.of[0]);
    const std::ptrdiff_t i = row * a.stride + cell;
    a.of[2][i] = mask[row * a.broad_stride + cell] != 0 ? a.of[1][i] * a.number : 0.0f;
  }
};

template <>
struct call_kernel<gradient_of<dropout>> {
  static void prepare(const call_site& c, call_arguments& a) {
    c.set_arrays(a, 2, 1);
    a.number[0] = dropout_factor(c);
    c.share_rows(a, a.out[0]);
  }
  template <class Team>
  static LAMINA_FN void line(const call_arguments& a, int r, const Team& team) {
    const std::uint8_t* const mask = a.in[0].row<const std::uint8_t>(r);
    const float* const d = a.in[1].row<const float>(r);
    float* const g = a.out[0].row<float>(r);
    for (int j = team.rank(); j < a.out[0].columns; j += team.size())
      g[j] = mask[j] != 0 ? d[j] * a.number[0] : 0.0f;
  }
};

}  // namespace lamina::engine::cuda
