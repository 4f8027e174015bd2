// SPDX-License-Identifier: Apache-2.0
// lamina/operators/random/dropout/cuda.cuh - the kernels of dropout. The masks are the same as on
// the CPU.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/numbers/random.hpp>
#include <lamina/engine/cuda/schedule/call_context.hpp>
#include <lamina/operators/random/dropout/common.hpp>
#include <lamina/operators/random/dropout/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

template <>
struct call_kernel<operators::dropout> {
  static void prepare(const call_context& c, call_arguments& a) {
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
    const std::uint64_t seed = a.random.seed(), stream = a.random.stream;
    const std::uint64_t first = static_cast<std::uint64_t>(a.first_row + r) *
                                static_cast<std::uint64_t>(n),
                        end = first + static_cast<std::uint64_t>(n);
    // Each counter gives four random numbers. They are used in the order of the elements of the
    // whole mini-batch, so that the masks do not depend on how the mini-batch is divided.
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

template <>
struct call_kernel<gradient_of<operators::dropout>> {
  static void prepare(const call_context& c, call_arguments& a) {
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

}}}  // namespace lamina::engine::cuda
