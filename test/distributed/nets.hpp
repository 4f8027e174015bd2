// SPDX-License-Identifier: Apache-2.0
// test/distributed/nets.hpp - nets that the tests of distributed training train.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <lamina/optimizer/train_options.hpp>

namespace test {

/// What a training has reached.
struct trained_net {
  std::uint64_t parameters = 0;  // checksum of all parameters
  double cost = 0;
  double metric = 0;  // of the last pass, if the net has one
  std::int64_t steps = 0;
  std::size_t bytes = 0;  // of memory that model and training took in this process
  // The same at most behind a step; and the most that the process ever had, with its code.
  std::size_t bytes_in_steps = 0, peak_bytes = 0;
};

/// The names that `train_net` knows.
std::vector<std::string> net_names();
std::vector<std::string> optimizer_names();

/// Trains a net by name with an optimizer by name (the net "table" with a lazy adam, whatever the
/// name). "rule" is the dense net on labels that it can learn; with `parts` above 1, on every so
/// manieth sample from number `part` on. Throws lamina::error for unknown names.
trained_net train_net(std::string_view net, std::string_view optimizer,
                      const lamina::train_options& options, int part = 0, int parts = 1);

}  // namespace test
