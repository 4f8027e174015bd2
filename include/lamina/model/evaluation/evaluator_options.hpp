// SPDX-License-Identifier: Apache-2.0
// lamina/model/evaluation/evaluator_options.hpp - the options of an evaluator.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

namespace lamina { inline namespace LAMINA_ABI {

/// Options of an evaluator: `evaluator e{model, {.threads = 2}}`.
struct evaluator_options {
  /// The number of threads that share the work of one call of forward(), from 1 to 256. The results
  /// have the same bits as with one thread (model/evaluation/loops_on_threads.hpp). Programs with
  /// loops or branches run on one thread.
  int threads = 1;
  std::uint64_t seed = 0;
};

}}  // namespace lamina
