// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/fixed_memory.hpp - memory of a place that stays where it is, however many rows
// the data have: constants, seed, what a run reports, variables with a fixed place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <lamina/engine/cuda/call_arguments.hpp>
#include <lamina/engine/cuda/device_buffer.hpp>
#include <lamina/plan/run_time_tables.hpp>

namespace lamina::engine::cuda {

/// That memory for program P, and the numbers in it as the host sets them.
template <class P, class Backend>
class fixed_memory {
 public:
  static constexpr int constants_count = plan<P>::lowered.count.constants;

  LAMINA_COLD explicit fixed_memory(Backend& b)
      : backend_(b), at_place_(b), numbers_(b), results_(b) {
    numbers_.reserve(numbers_bytes);
    results_.reserve(sizeof(fault_word));
    at_place_.reserve(variables_at +
                      static_cast<std::size_t>(plan<P>::memory.fixed_size) * sizeof(float));
    for (int i = 0; i < constants_count; ++i) constants()[i] = constant_table<P>::table.of[i];
  }

  /// The constants on the host, until they are uploaded.
  float* constants() { return reinterpret_cast<float*>(numbers_.data()); }
  /// A run begins, with this seed, and has no fault yet.
  void begin_run(std::uint64_t seed) {
    const fault_word none = no_fault;
    std::memcpy(numbers_.data() + seed_offset, &seed, sizeof(seed));
    std::memcpy(numbers_.data() + fault_offset, &none, sizeof(none));
  }
  std::size_t bytes_at_place() const { return at_place_.size(); }
  void upload() { backend_.upload(at_place_.data(), numbers_.data(), numbers_bytes); }
  /// What a run has reported, once it was waited for.
  void download_results() { backend_.download(results_.data(), fault(), sizeof(fault_word)); }
  fault_word found_fault() const {
    fault_word f;
    std::memcpy(&f, results_.data(), sizeof(f));
    return f;
  }

  // At the place:
  float* constant(int i) const { return at<float>(0) + i; }
  const std::uint64_t* seed() const { return at<const std::uint64_t>(seed_offset); }
  fault_word* fault() const { return at<fault_word>(fault_offset); }
  /// How often a block was begun that a graph runs.
  unsigned* begun(int block) const { return at<unsigned>(begun_offset) + block; }
  float* variables() const { return at<float>(variables_at); }

 private:
  static constexpr std::size_t seed_offset =
      (static_cast<std::size_t>(constants_count) * sizeof(float) + 7) / 8 * 8;
  static constexpr std::size_t fault_offset = seed_offset + sizeof(std::uint64_t);
  static constexpr std::size_t begun_offset = fault_offset + sizeof(fault_word);
  static constexpr std::size_t numbers_bytes =
      begun_offset + static_cast<std::size_t>(P::desc.count.blocks) * sizeof(unsigned);
  static constexpr std::size_t variables_at = (numbers_bytes + 255) / 256 * 256;

  template <class T>
  T* at(std::size_t offset) const {
    return reinterpret_cast<T*>(at_place_.data() + offset);
  }

  Backend& backend_;
  device_buffer<Backend> at_place_;
  staging_buffer<Backend> numbers_, results_;
};

}  // namespace lamina::engine::cuda
