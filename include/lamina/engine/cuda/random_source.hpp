// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/random_source.hpp - where the random numbers of an operator come from.
#pragma once

#include <cstdint>

#include <lamina/core/random.hpp>

namespace lamina::engine::cuda {

/// Seed and stream of an operator: the same numbers as on the CPU.
struct random_source {
  std::uint64_t own_seed, own_stream;
  const std::uint64_t* run_seed;  // at the place; null: own_seed
  // At the place: how many passes of the block have begun, where a graph repeats it; then
  // own_stream is that of the first one. Null: own_stream.
  const unsigned* passes;

  LAMINA_FN std::uint64_t seed() const { return run_seed != nullptr ? *run_seed : own_seed; }
  LAMINA_FN std::uint64_t stream() const {
    return passes != nullptr ? later_stream(own_stream, *passes - 1) : own_stream;
  }
};

}  // namespace lamina::engine::cuda
