// SPDX-License-Identifier: Apache-2.0
// test/distributed/nets.hpp - the nets that are trained in tests of distributed training.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <lamina/optimizer/train_options.hpp>

namespace test {

/// The results of a training.
struct trained_net {
  std::uint64_t parameters = 0;  // checksum of all parameters
  double cost = 0;
  double metric = 0;  // the metric of the last pass, if the net has one
  std::int64_t steps = 0;
  // the memory that model and training added to this process by the end of training
  std::size_t bytes = 0;
  // The largest such amount after any step, and the peak memory of the whole process, including its
  // code.
  std::size_t bytes_in_steps = 0, peak_bytes = 0;
};

/// The names that `train_net` accepts.
std::vector<std::string> net_names();
std::vector<std::string> optimizer_names();

/// Trains a net, given by name, with an optimizer, given by name. The net "table" is always trained
/// with a lazy adam. The net "rule" is the dense net with labels that it can learn; it is trained
/// on the samples whose index modulo `parts` is `part`. Throws lamina::error for unknown names.
trained_net train_net(std::string_view net, std::string_view optimizer,
                      const lamina::train_options& options, int part = 0, int parts = 1);

}  // namespace test
