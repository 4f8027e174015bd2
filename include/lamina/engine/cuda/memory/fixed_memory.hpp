// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/memory/fixed_memory.hpp - device memory whose address does not depend on the
// number of rows: constants, the seed, the fault word that reports errors, and variables with a
// fixed address.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <lamina/engine/cuda/device/device_buffer.hpp>
#include <lamina/engine/cuda/schedule/call_arguments.cuh>
#include <lamina/engine/cuda/schedule/host_values.hpp>
#include <lamina/plan/run_time_tables.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {
/// Returns how many floats of the fixed variables are copied to the host after each run. They
/// include every scalar with a fixed address that a caller may fetch, such as a cost or a metric.
/// Returns 0 if they are too many to copy after each run.
template <class P>
constexpr int find_result_floats() {
  constexpr int most = 1 << 14;
  int end = 0;
  for (int n = 0; n < plan<P>::pinned.count; ++n) {
    const plan_variable& v = plan<P>::lowered.variables[plan<P>::pinned.ids[n]];
    const memory_slot at = plan<P>::memory.slot_of[v.root];
    if (at.space == memory_space::fixed && v.rows == 1 && v.columns == 1)
      end = (std::max)(end, at.offset + row_width(v));
  }
  return end <= most ? end : 0;
}
}  // namespace detail

/// The fixed memory of program P, and the host memory for its upload before a run and its download
/// after the run.
template <class P, class Backend>
class fixed_memory {
 public:
  static constexpr int constants_count = plan<P>::lowered.count.constants;
  /// The number of floats of variables that are copied to the host after each run, together with
  /// the fault word.
  static constexpr int result_floats = detail::find_result_floats<P>();

  LAMINA_COLD explicit fixed_memory(Backend& b)
      : backend_(b), on_device_(b), numbers_(b), results_(b) {
    numbers_.reserve(numbers_bytes);
    results_.reserve(results_bytes);
    on_device_.reserve(variables_at +
                       static_cast<std::size_t>(plan<P>::memory.fixed_size) * sizeof(float));
    for (int i = 0; i < constants_count; ++i) constants()[i] = constant_table<P>::table.of[i];
  }

  /// The host copy of the constants, which upload() sends to the device.
  float* constants() { return reinterpret_cast<float*>(numbers_.data()); }
  /// Sets the seed and clears the fault word, for the next upload.
  void begin_run(std::uint64_t seed) {
    const fault_word none = no_fault;
    std::memcpy(numbers_.data() + seed_offset, &seed, sizeof(seed));
    std::memcpy(numbers_.data() + fault_offset, &none, sizeof(none));
    knows_results_ = false;
  }
  std::size_t bytes_on_device() const { return on_device_.size(); }
  void upload() { backend_.upload(on_device_.data(), numbers_.data(), numbers_bytes); }
  /// Copies the fault word and the result variables of a run to the host. The copies are valid
  /// after the host has waited for the device.
  void download_results() { backend_.download(results_.data(), fault(), results_bytes); }
  fault_word found_fault() {
    fault_word f;
    std::memcpy(&f, results_.data(), sizeof(f));
    knows_results_ = f == no_fault;
    return f;
  }
  /// The host copy of a variable after the last run. Null if the variable is not copied after each
  /// run, or if the device may have changed it since.
  float* result(memory_slot of, std::size_t bytes) {
    const bool came = of.space == memory_space::fixed &&
                      static_cast<std::size_t>(of.offset) * sizeof(float) + bytes <=
                          static_cast<std::size_t>(result_floats) * sizeof(float);
    if (!knows_results_ || !came) return nullptr;
    return reinterpret_cast<float*>(results_.data() + (variables_at - fault_offset)) + of.offset;
  }
  void forget_results() { knows_results_ = false; }

  // The functions below return addresses in device memory.
  float* constant(int i) const { return at<float>(0) + i; }
  const std::uint64_t* seed() const { return at<const std::uint64_t>(seed_offset); }
  fault_word* fault() const { return at<fault_word>(fault_offset); }
  float* variables() const { return at<float>(variables_at); }

 private:
  static constexpr std::size_t seed_offset =
      (static_cast<std::size_t>(constants_count) * sizeof(float) + 7) / 8 * 8;
  static constexpr std::size_t fault_offset = seed_offset + sizeof(std::uint64_t);
  static constexpr std::size_t numbers_bytes = fault_offset + sizeof(fault_word);
  static constexpr std::size_t variables_at = (numbers_bytes + 255) / 256 * 256;
  static constexpr std::size_t results_bytes =
      result_floats == 0
          ? sizeof(fault_word)
          : variables_at - fault_offset + static_cast<std::size_t>(result_floats) * sizeof(float);
  template <class T>
  T* at(std::size_t offset) const {
    return reinterpret_cast<T*>(on_device_.data() + offset);
  }

  Backend& backend_;
  device_buffer<Backend> on_device_;
  staging_buffer<Backend> numbers_, results_;
  bool knows_results_ = false;
};

}}}  // namespace lamina::engine::cuda
