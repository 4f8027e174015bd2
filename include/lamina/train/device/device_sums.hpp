// SPDX-License-Identifier: Apache-2.0
// lamina/train/device/device_sums.hpp - sums over the devices of the processes that train together.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

namespace lamina::inline LAMINA_ABI {

/// The devices of the processes of a distributed training, one for each. All processes must call
/// the functions equally often and in the same order. The work is put on the stream of the device.
class device_sums {
 public:
  virtual ~device_sums() = default;

  /// Calls to add_up() and spread() between begin() and end() may be carried out together.
  virtual void begin() = 0;
  virtual void end() = 0;
  /// Replaces `count` floats of device memory by their weighted sum over all processes: sum(weight
  /// * floats). If the weight is 0, this process adds zeros, whatever its floats are.
  virtual void add_up(float* data, std::size_t count, float weight) = 0;
  /// Gives all processes the floats of rank 0.
  virtual void spread(float* data, std::size_t count) = 0;

 protected:
  device_sums() = default;
  device_sums(const device_sums&) = default;
  device_sums& operator=(const device_sums&) = default;
};

}  // namespace lamina::inline LAMINA_ABI
