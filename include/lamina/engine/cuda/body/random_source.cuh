// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/body/random_source.cuh - the seed and the stream of an operator's random
// numbers.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

#include <lamina/core/random.hpp>

namespace lamina::inline LAMINA_ABI::engine::cuda {

/// Seed and stream of an operator: the same numbers as on the CPU.
struct random_source {
  std::uint64_t own_seed, stream;
  const std::uint64_t* run_seed;  // on the device; null: own_seed

  LAMINA_FN std::uint64_t seed() const { return run_seed != nullptr ? *run_seed : own_seed; }
};

}  // namespace lamina::inline LAMINA_ABI::engine::cuda
