// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/memory/fetched_variables.hpp - host copies of the device arrays that a caller
// fetches after a run.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <vector>

#include <lamina/engine/cuda/device/device_buffer.hpp>
#include <lamina/plan/memory.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

/// Keeps a separate host copy per variable, found by its memory slot, so a caller may use several
/// variables at the same time.
template <class Backend>
class fetched_variables {
 public:
  explicit fetched_variables(Backend& b) : backend_(b) {}

  /// Copies an array to the host, waits, and returns the address of the copy.
  LAMINA_COLD float* fetch(memory_slot slot, const float* from, std::size_t bytes) {
    staging_buffer<Backend>& to = copy_of(slot);
    to.reserve(bytes < sizeof(float) ? sizeof(float) : bytes);
    backend_.download(to.data(), from, bytes);
    backend_.wait();
    return reinterpret_cast<float*>(to.data());
  }
  /// Copies a variable back to the device. The source is the host address `from` or, if that is
  /// null, the copy that fetch() returned.
  LAMINA_COLD void store(memory_slot slot, const float* from, float* to, std::size_t bytes) {
    backend_.upload(to, from != nullptr ? static_cast<const void*>(from) : copy_of(slot).data(),
                    bytes);
    backend_.wait();
  }

 private:
  struct fetched {
    memory_slot slot;
    staging_buffer<Backend> copy;
  };
  staging_buffer<Backend>& copy_of(memory_slot slot) {
    for (fetched& f : all_)
      if (f.slot.space == slot.space && f.slot.offset == slot.offset) return f.copy;
    all_.push_back({slot, staging_buffer<Backend>(backend_)});
    return all_.back().copy;
  }

  Backend& backend_;
  std::vector<fetched> all_;
};

}}}  // namespace lamina::engine::cuda
