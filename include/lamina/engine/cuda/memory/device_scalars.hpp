// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/memory/device_scalars.hpp - copies single numbers from device memory to the
// host.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include <lamina/engine/cuda/device/device_buffer.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

/// Copies numbers from a device to the host and waits until they arrive.
template <class Backend>
class device_scalars {
 public:
  explicit device_scalars(Backend& b) : backend_(b), read_(b) {}

  void begin_run() { counts_.clear(); }
  void read(void* to, const void* from, std::size_t bytes) {
    read_.reserve(bytes);
    backend_.download(read_.data(), from, bytes);
    backend_.wait();
    std::memcpy(to, read_.data(), bytes);
  }
  /// Returns the host's copy of the counter at device address `at`, which no kernel changes during
  /// a run. It is read from the device once per run.
  std::int64_t& count(const void* at) {
    for (auto& [of, n] : counts_)
      if (of == at) return n;
    std::int64_t n = 0;
    read(&n, at, sizeof(n));
    counts_.push_back({at, n});
    return counts_.back().second;
  }

 private:
  Backend& backend_;
  staging_buffer<Backend> read_;
  std::vector<std::pair<const void*, std::int64_t>> counts_;  // the numbers that this run has read
};

}}}  // namespace lamina::engine::cuda
