// SPDX-License-Identifier: Apache-2.0
// helpers/draws.hpp - random choices for the synthetic data of examples, the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <lamina/core/numbers/philox.hpp>

namespace examples {

/// Numbers of a stream of their own.
class draws {
 public:
  draws(std::uint64_t seed, std::uint64_t stream) : seed_(seed), stream_(stream) {}

  /// From 0 to count - 1.
  std::size_t below(std::size_t count) {
    return lamina::philox(seed_, stream_, drawn_++).word[0] % count;
  }
  /// An element of an array.
  template <class T, std::size_t N>
  const T& of(const T (&all)[N]) {
    return all[below(N)];
  }
  bool chance(double probability) {
    return static_cast<double>(below(1u << 24)) < probability * (1u << 24);
  }

 private:
  std::uint64_t seed_, stream_, drawn_ = 0;
};

}  // namespace examples
