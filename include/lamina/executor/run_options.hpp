// SPDX-License-Identifier: Apache-2.0
// lamina/executor/run_options.hpp - seeds and switches of one run of a program.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include <lamina/engine/common/process_calls.hpp>
#include <lamina/tensor/lod_tensor.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The values of data variables by name; those of sequences carry a LoD (tensor/lod_tensor.hpp).
using feed_map = std::map<std::string, lod_tensor, std::less<>>;

/// Options of a run.
struct run_options {
  std::uint64_t seed = 0;       // for operators without their own seed
  std::uint64_t step = 0;       // number of the mini-batch: dropout draws a new mask in each
  std::uint64_t first_row = 0;  // index of the first row of this part in the whole mini-batch
  bool check_nan = false;       // throw lamina::error at the first result that is not finite
  /// For each parameter, the attributes of its update operator, in the order of its schema, for a
  /// training loop that changes them in each step. If empty, the recorded attributes are used.
  std::vector<std::vector<float>> update_numbers{};
  std::uint64_t iterations = 1000000;  // upper bound per while loop; throws if it is exceeded
  /// For read_minibatch: stores the feeds of the next mini-batch and returns whether another one
  /// follows.
  std::function<bool(feed_map&)> next_minibatch{};
  /// The other processes that run the program, for c_allreduce_sum: a world_calls
  /// (train/world_calls.hpp). Null: this process runs it alone.
  engine::process_calls* processes = nullptr;
  std::ostream* print_to = nullptr;  // output of the print operator; null: std::cerr
};

}}  // namespace lamina
