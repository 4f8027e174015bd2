// SPDX-License-Identifier: Apache-2.0
// lamina/core/numbers/philox.hpp - random numbers from a counter. Source: Salmon et al., "Parallel
// random numbers: as easy as 1, 2, 3" (SC 2011), Philox 4x32-10. Each number is a function of
// (seed, stream, index) alone, so it is the same on every machine, for any number of threads and
// any order of evaluation.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

namespace lamina { inline namespace LAMINA_ABI {

/// Four independent 32-bit random words.
struct random_words {
  std::uint32_t word[4];
};

/// Computes the random words of counter (index, stream) under `seed` by Philox 4x32-10.
LAMINA_FN constexpr random_words philox(std::uint64_t seed, std::uint64_t stream,
                                        std::uint64_t index) {
  random_words c{{static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32),
                  static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32)}};
  std::uint32_t k0 = static_cast<std::uint32_t>(seed);
  std::uint32_t k1 = static_cast<std::uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53u} * c.word[0];
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57u} * c.word[2];
    c = random_words{
        {static_cast<std::uint32_t>(p1 >> 32) ^ c.word[1] ^ k0, static_cast<std::uint32_t>(p1),
         static_cast<std::uint32_t>(p0 >> 32) ^ c.word[3] ^ k1, static_cast<std::uint32_t>(p0)}};
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return c;
}

/// Converts a random word to a number in [0, 1). Only the upper 24 bits of the word are used, so
/// that a float represents the result exactly.
LAMINA_FN constexpr float uniform_from(std::uint32_t word) {
  return static_cast<float>(word >> 8) * 0x1p-24f;
}

/// Returns the random number in [0, 1) with this index in a stream.
LAMINA_FN constexpr float uniform_at(std::uint64_t seed, std::uint64_t stream,
                                     std::uint64_t index) {
  const random_words w = philox(seed, stream, index >> 2);
  // Selects the word by conditions instead of a run-time index, because with such an index a CUDA
  // device would keep the array in memory instead of registers.
  const bool odd = (index & 1) != 0;
  const std::uint32_t low = odd ? w.word[1] : w.word[0], high = odd ? w.word[3] : w.word[2];
  return uniform_from((index & 2) != 0 ? high : low);
}

}}  // namespace lamina
