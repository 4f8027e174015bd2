// SPDX-License-Identifier: Apache-2.0
// lamina/model/evaluator_options.hpp - what a user may choose for an evaluator.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

namespace lamina::inline LAMINA_ABI {

/// Options of an evaluator: `evaluator e{model, {.threads = 2}}`.
struct evaluator_options {
  /// Threads that share one call of forward(), 1 to 256; results are those of one thread, bit for
  /// bit (model/loops_on_threads.hpp). Programs with loops or branches run on one.
  int threads = 1;
  std::uint64_t seed = 0;
};

}  // namespace lamina::inline LAMINA_ABI
