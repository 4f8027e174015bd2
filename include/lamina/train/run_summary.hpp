// SPDX-License-Identifier: Apache-2.0
// lamina/train/run_summary.hpp - the result of running a training loop.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

namespace lamina { inline namespace LAMINA_ABI {

/// The mini-batches that a run has read, and the cost that it has computed.
struct run_summary {
  std::int64_t minibatches = 0;
  std::int64_t samples = 0;  // samples of all processes
  double cost = 0;  // the first variable that the program returns, if it is one real number
};

}}  // namespace lamina
