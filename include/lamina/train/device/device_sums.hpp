// SPDX-License-Identifier: Apache-2.0
// lamina/train/device/device_sums.hpp - all-reduce over the devices of the processes of a training.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

namespace lamina { inline namespace LAMINA_ABI {

/// Connects the devices of the processes of a distributed training, one device per process. All
/// processes must call the functions equally often and in the same order. The work is enqueued on
/// the stream of the device.
class device_sums {
 public:
  virtual ~device_sums() = default;

  /// Calls of all_reduce_sum() and spread() between begin() and end() may be combined.
  virtual void begin() = 0;
  virtual void end() = 0;
  /// Replaces `count` floats of device memory by their weighted sum over all processes: sum(weight
  /// * floats). If the weight is 0, this process adds zeros, whatever its floats are.
  virtual void all_reduce_sum(float* data, std::size_t count, float weight) = 0;
  /// Broadcasts the floats of rank 0 to all processes.
  virtual void spread(float* data, std::size_t count) = 0;

 protected:
  device_sums() = default;
  device_sums(const device_sums&) = default;
  device_sums& operator=(const device_sums&) = default;
};

}}  // namespace lamina
