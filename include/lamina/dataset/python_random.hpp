// SPDX-License-Identifier: Apache-2.0
// lamina/dataset/python_random.hpp - the random numbers of Python, for data sets that PaddlePaddle
// splits with them.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>

namespace lamina { inline namespace LAMINA_ABI { namespace dataset {

/// The numbers of Python's `random.Random(seed).random()`, bit for bit: MT19937 with the seed as a
/// key of words of 32 bits. Source: Matsumoto and Nishimura, init_by_array.
class python_random {
 public:
  explicit python_random(std::uint64_t seed) : words_(begin(seed)) {}

  /// Returns a uniform number in [0, 1) with 53 random bits.
  double operator()() {
    const std::uint64_t high = words_() >> 5, low = words_() >> 6;
    return static_cast<double>(high << 26 | low) / 9007199254740992.;  // 2^53
  }

 private:
  static constexpr std::size_t size = 624;

  /// A seed sequence that gives std::mt19937 exactly this state.
  struct first_state {
    using result_type = std::uint_least32_t;
    std::array<std::uint32_t, size> state;
    template <class To>
    void generate(To first, To last) const {
      for (std::size_t i = 0; first != last && i < size; ++i) *first++ = state[i];
    }
  };
  LAMINA_API static std::mt19937 begin(std::uint64_t seed);

  std::mt19937 words_;
};

#if LAMINA_DEFINES

std::mt19937 python_random::begin(std::uint64_t seed) {
  const std::uint32_t key[2] = {static_cast<std::uint32_t>(seed),
                                static_cast<std::uint32_t>(seed >> 32)};
  const std::uint32_t length = key[1] != 0 ? 2 : 1;
  first_state first;
  auto& s = first.state;
  s[0] = 19650218u;
  for (std::uint32_t i = 1; i < size; ++i) s[i] = 1812433253u * (s[i - 1] ^ s[i - 1] >> 30) + i;
  std::size_t i = 1;
  const auto mixed = [&](std::uint32_t factor) {
    return s[i] ^ (s[i - 1] ^ s[i - 1] >> 30) * factor;
  };
  const auto advance = [&] {
    if (++i < size) return;
    s[0] = s[size - 1];
    i = 1;
  };
  for (std::uint32_t k = 0; k < size; ++k, advance())
    s[i] = mixed(1664525u) + key[k % length] + k % length;
  for (std::uint32_t k = 0; k + 1 < size; ++k, advance())
    s[i] = mixed(1566083941u) - static_cast<std::uint32_t>(i);
  s[0] = 0x80000000u;
  return std::mt19937(first);
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::dataset
