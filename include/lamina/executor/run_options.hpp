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

/// The values of data variables, by name. A value whose rows form sequences has a LoD
/// (tensor/lod_tensor.hpp).
using feed_map = std::map<std::string, lod_tensor, std::less<>>;

/// Options of a run.
struct run_options {
  std::uint64_t seed = 0;       // seeds random operators that have no seed attribute
  std::uint64_t step = 0;       // number of the mini-batch; dropout draws a new mask for each
  std::uint64_t first_row = 0;  // index of the first row of this part in the whole mini-batch
  bool check_nan = false;       // throws lamina::error at the first result that is not finite
  /// For each parameter, the attributes of its update operator, in the order of the operator's
  /// schema. A training loop can change them in each step. If the list is empty, the recorded
  /// attributes are used.
  std::vector<std::vector<float>> update_numbers{};
  // The largest number of iterations of a while loop; run() throws if a loop needs more.
  std::uint64_t iterations = 1000000;
  /// The function that the operator read_minibatch calls. It must store the feeds of the next
  /// mini-batch and return whether another mini-batch follows.
  std::function<bool(feed_map&)> next_minibatch{};
  /// The other processes that run the program, for c_allreduce_sum: a world_calls
  /// (train/world_calls.hpp). If it is null, only this process runs the program.
  engine::process_calls* processes = nullptr;
  std::ostream* print_to = nullptr;  // output of the print operator; null: std::cerr
};

}}  // namespace lamina
