// SPDX-License-Identifier: Apache-2.0
// lamina/operators/random/dropout/cpu.hpp - the kernels of dropout.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/operators/random/dropout/definition.hpp>
#if LAMINA_DEFINES
#include <cstdint>

#include <lamina/core/numbers/random.hpp>
#include <lamina/engine/cpu/vector/row_math.hpp>
#include <lamina/operators/random/dropout/common.hpp>
#endif

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

#if LAMINA_DEFINES

namespace detail {

/// Computes the random words of `many` successive counters. The loops run over all counters, so
/// that the compiler vectorises the function philox(). Word w of counter i goes to words[4 * i +
/// w].
inline void philox_block(std::uint64_t seed, std::uint64_t stream, std::uint64_t first,
                         std::uint32_t* words) {
  constexpr int many = 16;
  alignas(64) std::uint32_t c[4][many];
  for (int i = 0; i < many; ++i) {
    const std::uint64_t index = first + static_cast<std::uint64_t>(i);
    c[0][i] = static_cast<std::uint32_t>(index);
    c[1][i] = static_cast<std::uint32_t>(index >> 32);
    c[2][i] = static_cast<std::uint32_t>(stream);
    c[3][i] = static_cast<std::uint32_t>(stream >> 32);
  }
  std::uint32_t k0 = static_cast<std::uint32_t>(seed), k1 = static_cast<std::uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < many; ++i) {
      const std::uint64_t p0 = std::uint64_t{0xD2511F53u} * c[0][i];
      const std::uint64_t p1 = std::uint64_t{0xCD9E8D57u} * c[2][i];
      const std::uint32_t c1 = c[1][i], c3 = c[3][i];
      c[0][i] = static_cast<std::uint32_t>(p1 >> 32) ^ c1 ^ k0;
      c[1][i] = static_cast<std::uint32_t>(p1);
      c[2][i] = static_cast<std::uint32_t>(p0 >> 32) ^ c3 ^ k1;
      c[3][i] = static_cast<std::uint32_t>(p0);
    }
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  for (int i = 0; i < many; ++i)
    for (int w = 0; w < 4; ++w) words[4 * i + w] = c[w][i];
}

}  // namespace detail

#endif  // LAMINA_DEFINES

template <>
struct call_kernel<operators::dropout> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<gradient_of<operators::dropout>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::dropout>::run(const call_context& c) {
  const operand in = c.input(0), out = c.output(0), mask = c.output(1);
  require_real<Real>(c, in);
  const Real factor = dropout_factor<Real>(c);
  if (c.flag(1)) {
    for (int r = 0; r < in.rows; ++r)
      for (int j = 0; j < in.columns; ++j) {
        out.row<Real>(r)[j] = factor * in.row<const Real>(r)[j];
        if (mask) mask.row<std::uint8_t>(r)[j] = 1;
      }
    return;
  }
  const std::uint64_t seed =
      c.flag(2) ? static_cast<std::uint64_t>(c.number(3)) : c.run().seed + c.run().step;
  const std::uint64_t stream =
      dropout_stream(static_cast<std::uint64_t>(c.ordinal()), c.run().iteration);
  const Real p = static_cast<Real>(c.number(0));
  // If a mini-batch is computed in parts, rows are counted from the beginning of the whole
  // mini-batch, so that the masks do not depend on the parts. Variables without rows are in each
  // part as a whole, and are counted from 0.
  const bool has_rows = in.rank > 0 && in.dims[0] < 0;
  const std::uint64_t offset =
      has_rows ? static_cast<std::uint64_t>(c.run().first_row[in.domain]) : 0;
  const bool flat = in.rank == 1 && !has_rows;
  const std::uint64_t width = static_cast<std::uint64_t>(in.columns);
  constexpr std::uint64_t together = 64;
  alignas(64) std::uint32_t words[together];
  std::uint64_t known = ~std::uint64_t{0};
  for (int r = 0; r < in.rows; ++r) {
    const Real* x = in.row<const Real>(r);
    Real* y = out.row<Real>(r);
    std::uint8_t* m = mask ? mask.row<std::uint8_t>(r) : nullptr;
    std::uint64_t index = flat ? 0 : (offset + static_cast<std::uint64_t>(r)) * width;
    for (int j = 0; j < in.columns;) {
      const std::uint64_t block = index / together;
      if (block != known) {
        detail::philox_block(seed, stream, block * (together / 4), words);
        known = block;
      }
      const std::uint32_t* word = words + index % together;
      const std::uint64_t rest = together - index % together;
      const std::uint64_t wanted = static_cast<std::uint64_t>(in.columns - j);
      const int n = static_cast<int>(rest < wanted ? rest : wanted);
      for (int i = 0; i < n; ++i) {
        const bool kept = uniform_from(word[i]) >= p;
        y[j + i] = kept ? x[j + i] * factor : Real(0);
      }
      if (m != nullptr)
        for (int i = 0; i < n; ++i) m[j + i] = uniform_from(word[i]) >= p ? 1 : 0;
      j += n;
      index += static_cast<std::uint64_t>(n);
    }
  }
}
LAMINA_INSTANCE(void call_kernel<operators::dropout>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::dropout>::run<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::dropout>>::run(const call_context& c) {
  const operand mask = c.input(0), grad = c.input(1), dx = c.output(0);
  if (!dx) return;
  const Real factor = dropout_factor<Real>(c);
  for (int r = 0; r < dx.rows; ++r) {
    const std::uint8_t* m = mask.row<const std::uint8_t>(r);
    const Real* d = grad.row<const Real>(r);
    Real* g = dx.row<Real>(r);
    for (int j = 0; j < dx.columns; ++j) g[j] = m[j] != 0 ? d[j] * factor : Real(0);
  }
}
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::dropout>>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::dropout>>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
