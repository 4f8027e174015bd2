// SPDX-License-Identifier: Apache-2.0
// lamina/core/numbers/random.hpp - the assignment of random numbers to elements.
//
// All engines share this convention: the random number of an element depends only on a seed, a
// stream and the element's index.
// Initial values of parameters:
//   seed     the operator's seed, or the run's seed if the operator's is 0
//   stream   the number of the parameter
//   index    the position in the parameter, row by row
// Dropout masks:
//   seed     the operator's seed with fix_seed, else the run's seed + step
//   stream   the number of the operator among the dropout operators + 2^32 + 2^40 * iteration.
//            `iteration` is the number of earlier executions of the operator in the same run: 0
//            outside loops, so that each iteration of a loop has its own mask
//   index    global row * row width + column, so that a mini-batch split over machines has the same
//            mask. Rows of a time step or of a branch count from its first row
// Random numbers of uniform_random and similar operators inside a program, one per element:
//   seed     the operator's seed if that is not 0, else the run's seed + step
//   stream   the number of the operator among the operators of its type + 2^33 * the type +
//            2^40 * iteration, as for dropout masks
//   index    as for dropout masks
#pragma once

#include <lamina/core/config.hpp>

#include <cmath>
#include <cstdint>

#include <lamina/core/numbers/philox.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Returns a random number of U(low, high) for one element.
LAMINA_FN constexpr float random_uniform_at(std::uint64_t seed, std::uint64_t stream,
                                            std::uint64_t index, float low, float high) {
  return low + (high - low) * uniform_at(seed, stream, index);
}

/// Two independent numbers with the distribution N(0, 1), from two random words. Source: Box and
/// Muller, "A note on the generation of random normal deviates" (1958).
struct normal_pair {
  double first, second;
};
LAMINA_FN inline normal_pair box_muller(std::uint32_t a, std::uint32_t b) {
  const double radius = std::sqrt(-2 * std::log(1 - static_cast<double>(uniform_from(a))));
  const double turn = 2 * static_cast<double>(uniform_from(b));
#if defined(__CUDA_ARCH__)
  // On a device, cos and sin of an arbitrary angle would need a table on the stack; cospi and sinpi
  // do not.
  return {radius * cospi(turn), radius * sinpi(turn)};
#else
  const double angle = 3.141592653589793 * turn;
  return {radius * std::cos(angle), radius * std::sin(angle)};
#endif
}

/// Returns a random number of N(0, 1) for one element, from words 0 and 1 of philox(seed, stream,
/// index).
LAMINA_FN inline float random_normal_at(std::uint64_t seed, std::uint64_t stream,
                                        std::uint64_t index) {
  const random_words w = philox(seed, stream, index);
  return static_cast<float>(box_muller(w.word[0], w.word[1]).first);
}

/// Returns a random number of N(0, 1), truncated to [-2, 2], for one element. For k = 0, 1, ... it
/// converts philox(seed, stream + k * 2^40, index) to four normal numbers, until one of them is
/// within the limits.
LAMINA_FN inline float random_truncated_normal_at(std::uint64_t seed, std::uint64_t stream,
                                                  std::uint64_t index) {
  for (std::uint64_t k = 0;; ++k) {
    const random_words w = philox(seed, stream + (k << 40), index);
    const normal_pair p = box_muller(w.word[0], w.word[1]);
    const normal_pair q = box_muller(w.word[2], w.word[3]);
    const double drawn[4] = {p.first, p.second, q.first, q.second};
    for (const double x : drawn)
      if (x >= -2 && x <= 2) return static_cast<float>(x);
  }
}

/// Returns the stream for execution number `iteration` of an operator; `first` is the stream for
/// execution 0. The first 2^24 executions have different streams.
LAMINA_FN constexpr std::uint64_t later_stream(std::uint64_t first, std::uint64_t iteration) {
  return first + (iteration << 40);
}
/// Returns the stream of the n-th dropout operator of a program, for execution `iteration`.
LAMINA_FN constexpr std::uint64_t dropout_stream(std::uint64_t n, std::uint64_t iteration = 0) {
  return later_stream(n + (std::uint64_t{1} << 32), iteration);
}

/// Operators that fill a variable with random numbers.
enum class random_type : std::uint8_t {
  uniform = 1,
  normal,
  truncated_normal,
  uniform_like,
  normal_like
};
/// Returns the stream of the n-th operator of a type, for execution `iteration`.
LAMINA_FN constexpr std::uint64_t random_stream(random_type type, std::uint64_t n,
                                                std::uint64_t iteration = 0) {
  return later_stream(n + (static_cast<std::uint64_t>(type) << 33), iteration);
}

/// Whether dropout keeps an element.
LAMINA_FN constexpr bool dropout_keeps(std::uint64_t seed, std::uint64_t stream,
                                       std::uint64_t index, float probability) {
  return uniform_at(seed, stream, index) >= probability;
}

}}  // namespace lamina
