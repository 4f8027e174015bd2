// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/body/random_source.cuh - selects the random numbers of an operator by a seed
// and a stream.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

#include <lamina/core/numbers/random.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

/// The seed and the stream of an operator's random numbers, which are the same as on the CPU.
struct random_source {
  std::uint64_t own_seed, stream;
  const std::uint64_t* run_seed;  // in device memory; null: use own_seed

  LAMINA_FN std::uint64_t seed() const { return run_seed != nullptr ? *run_seed : own_seed; }
};

}}}  // namespace lamina::engine::cuda
