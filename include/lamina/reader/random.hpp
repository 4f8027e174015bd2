// SPDX-License-Identifier: Apache-2.0
// lamina/reader/random.hpp - random numbers for one element of a reader.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

#include <lamina/core/invoke.hpp>
#include <lamina/core/numbers/philox.hpp>
#include <lamina/core/numbers/random.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace reader {

/// Random numbers that depend only on a seed, the number of the pass and the position of the
/// element. So the numbers are the same in each run, in any thread, and after a resume. The class
/// satisfies std::uniform_random_bit_generator, so the distributions of <random> accept it.
class random {
 public:
  using result_type = std::uint32_t;

  random(std::uint64_t seed, std::uint64_t pass, std::uint64_t position) : stream_(position) {
    const random_words key = philox(seed, pass, own_index);
    key_ = static_cast<std::uint64_t>(key.word[1]) << 32 | key.word[0];
  }

  static constexpr result_type min LAMINA_NO_MACRO() { return 0; }
  static constexpr result_type max LAMINA_NO_MACRO() { return 0xffffffffu; }
  result_type operator()() {
    if (count_ % 4 == 0) words_ = philox(key_, stream_, count_ / 4);
    return words_.word[count_++ % 4];
  }

  /// Returns a random number of the uniform distribution U(low, high).
  float uniform(float low = 0, float high = 1) {
    return low + (high - low) * uniform_from((*this)());
  }
  /// Returns a random number of the normal distribution N(mean, deviation^2).
  float normal(float mean = 0, float deviation = 1) {
    const std::uint32_t first = (*this)(), second = (*this)();
    return mean + deviation * static_cast<float>(box_muller(first, second).first);
  }
  /// Returns a uniform random integer in [0, end), where `end` must be positive. The probabilities
  /// of the integers differ by at most 2^-32.
  std::uint32_t below(std::uint32_t end) {
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>((*this)()) * end >> 32);
  }
  /// Returns true with this probability.
  bool chance(float probability) { return uniform() < probability; }

 private:
  // With this constant, the numbers differ from those of a shuffle with the same seed.
  static constexpr std::uint64_t own_index = 0x6d61702072616e64u;

  std::uint64_t key_ = 0, stream_, count_ = 0;
  random_words words_{};
};

namespace detail {

/// Whether a function can be called with elements; whether it can be called with elements,
/// position, pass and random numbers.
template <class F, class... A>
inline constexpr bool accepts_elements = std::is_invocable_v<F, A...>;
template <class F, class... A>
inline constexpr bool accepts_positions =
    std::is_invocable_v<F, A..., std::uint64_t, std::uint64_t, random&>;

/// Calls f(elements...) or, if f accepts it, f(elements..., position, pass, random).
template <class F, class... A>
decltype(auto) call_at([[maybe_unused]] std::uint64_t seed, [[maybe_unused]] std::uint64_t pass,
                       [[maybe_unused]] std::uint64_t position, F& f, A&&... elements) {
  if constexpr (accepts_elements<F&, A...>) {
    return lamina::invoke(f, std::forward<A>(elements)...);
  } else {
    random numbers(seed, pass, position);
    return lamina::invoke(f, std::forward<A>(elements)..., position, pass, numbers);
  }
}
template <class F, class... A>
using result_at = decltype(call_at(std::uint64_t{}, std::uint64_t{}, std::uint64_t{},
                                   std::declval<F&>(), std::declval<A>()...));

}  // namespace detail

}}}  // namespace lamina::reader
