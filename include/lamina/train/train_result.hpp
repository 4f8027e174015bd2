// SPDX-License-Identifier: Apache-2.0
// lamina/train/train_result.hpp - the result of a training.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

namespace lamina { inline namespace LAMINA_ABI {

/// The result of a training run, or of one pass.
struct train_result {
  std::int64_t steps = 0;    // all updates so far, including earlier calls
  std::int64_t samples = 0;  // samples in this call
  double cost = 0;           // mean cost of the last pass
  bool stopped = false;      // an event handler stopped the run
};

}}  // namespace lamina
