// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/machine_memory.hpp - the arrays of a machine in the memory of its place, and
// the address of every argument of its schedule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <lamina/engine/cuda/device_buffer.hpp>
#include <lamina/engine/cuda/schedule_table.hpp>
#include <lamina/plan/outside_memory.hpp>

namespace lamina::engine::cuda {

/// Everything of program P whose size its plan tells lies in one arena: constants and seed, the
/// data, what has a fixed place, what has rows. It is allocated anew only when rows grow.
template <class P, class Backend>
class machine_memory {
 public:
  using plan_type = plan<P>;
  using schedule = schedule_table<P, Backend>;
  static constexpr int data_count = P::desc.count.data;
  static constexpr int constants_count = plan_type::lowered.count.constants;
  static constexpr int domains = P::desc.count.domains;
  static constexpr long long fixed_size = plan_type::memory.fixed_size;

  LAMINA_COLD machine_memory(Backend& b, const outside_memory& outside)
      : backend_(b), outside_(outside), arena_(b), numbers_(b), data_(b), results_(b) {
    numbers_.reserve(numbers_bytes);
    results_.reserve(sizeof(fault_word));
    for (int i = 0; i < constants_count; ++i) constants()[i] = constant_table<P>::table.of[i];
  }

  const int* rows() const { return rows_; }
  float* const* arguments() const { return arguments_; }
  float* constants() { return reinterpret_cast<float*>(numbers_.data()); }
  const std::uint64_t* seed() const {
    return reinterpret_cast<const std::uint64_t*>(at(seed_offset));
  }
  fault_word* fault() const { return reinterpret_cast<fault_word*>(at(fault_offset)); }

  float* scratch() const { return floats(scratch_at_); }

  /// Sets how many rows each domain has, and where its sequences begin on the host (null where
  /// there are none). Returns whether everything is to be bound anew.
  bool set_rows(const int* rows, const int* const* offsets) {
    bool same = bound_;
    for (int d = batch::domain; d < domains; ++d) {
      same = same && rows[d] == rows_[d];
      rows_[d] = rows[d];
      host_offsets_[d] = offsets[d];
    }
    return !same;
  }
  /// Finds a place for every array, with so many floats of scratch memory.
  void bind(std::ptrdiff_t scratch) {
    std::size_t end = aligned(numbers_bytes);
    for (int d = batch::domain; d < domains; ++d) {
      const int rows = rows_[d];
      constants()[inverse_rows(d)] = rows > 0 ? 1.0f / static_cast<float>(rows) : 0.0f;
    }
    for (int i = 0; i < data_count; ++i) data_at_[i] = end, end += aligned(bytes_of(i));
    for (int d = batch::domain; d < domains; ++d) {
      if (layout.parent[d] == 0) continue;
      offsets_at_[d] = end;
      end += aligned(bytes_of_offsets(d));
    }
    fixed_at_ = end;
    end += aligned(static_cast<std::size_t>(fixed_size) * sizeof(float));
    for (int d = batch::domain; d < domains; ++d) {
      arena_at_[d] = end;
      end += aligned(static_cast<std::size_t>(layout.width[d]) *
                     static_cast<std::size_t>(rows_[d]) * sizeof(float));
    }
    scratch_at_ = end;
    end += aligned(static_cast<std::size_t>(scratch) * sizeof(float));
    // What was recorded names places of the memory that is gone.
    const bool moved = arena_.reserve(end);
    if (data_.reserve(fixed_at_) || moved) backend_.forget();
    for (int d = batch::domain; d < domains; ++d)
      if (layout.parent[d] != 0) offsets_[d] = reinterpret_cast<const int*>(at(offsets_at_[d]));
    for (int a = 0; a < schedule::arguments; ++a)
      arguments_[a] = address_of(schedule::table.slots[a]);
    bound_ = true;
  }
  /// Where the sequences of each domain begin, in the memory of the place.
  const int* const* offsets() const { return offsets_; }
  void feed(int data, const void* values) { feeds_[data] = values; }

  /// Copies data and seed to where copies to the place start.
  void stage(unsigned long long given, std::uint64_t seed) {
    const fault_word none = no_fault;
    std::memcpy(numbers_.data() + seed_offset, &seed, sizeof(seed));
    std::memcpy(numbers_.data() + fault_offset, &none, sizeof(none));
    for (int i = 0; i < data_count; ++i)
      if (is_given(i, given) && bytes_of(i) != 0)
        std::memcpy(data_.data() + data_at_[i], feeds_[i], bytes_of(i));
    for (int d = batch::domain; d < domains; ++d) {
      if (layout.parent[d] == 0) continue;
      // A part of a mini-batch points into the offsets of the whole.
      int* const to = reinterpret_cast<int*>(data_.data() + offsets_at_[d]);
      const int* const from = host_offsets_[d];
      for (int i = 0; i <= rows_[layout.parent[d]]; ++i)
        to[i] = from == nullptr ? 0 : from[i] - from[0];
    }
  }
  void upload(unsigned long long given) {
    backend_.upload(at(0), numbers_.data(), numbers_bytes);
    for (int i = 0; i < data_count; ++i)
      if (is_given(i, given))
        backend_.upload(at(data_at_[i]), data_.data() + data_at_[i], bytes_of(i));
    for (int d = batch::domain; d < domains; ++d)
      if (layout.parent[d] != 0)
        backend_.upload(at(offsets_at_[d]), data_.data() + offsets_at_[d], bytes_of_offsets(d));
  }
  void download_results() { backend_.download(results_.data(), fault(), sizeof(fault_word)); }
  fault_word found_fault() const {
    fault_word f;
    std::memcpy(&f, results_.data(), sizeof(f));
    return f;
  }

  /// Copies a variable to the host, as it lies.
  LAMINA_COLD float* fetch(const variable_place& v) {
    const float* const from = address_of(v.slot);
    if (from == nullptr) return nullptr;
    const std::size_t rows = static_cast<std::size_t>(operator_call::rows_of(rows_, v.rows));
    const std::size_t bytes =
        rows * static_cast<std::size_t>(v.stride) * static_cast<std::size_t>(size_of(v.type));
    // Several variables may be looked at side by side.
    for (fetched& f : fetched_)
      if (f.slot.space == v.slot.space && f.slot.offset == v.slot.offset)
        return copy(f, from, bytes);
    fetched_.push_back({v.slot, staging_buffer<Backend>(backend_)});
    return copy(fetched_.back(), from, bytes);
  }

  float* address_of(memory_slot s) const {
    switch (s.space) {
      case memory_space::arena:
        return floats(arena_at_[s.domain]) +
               static_cast<std::ptrdiff_t>(s.offset) * rows_[s.domain];
      case memory_space::fixed:
        return floats(fixed_at_) + s.offset;
      case memory_space::parameter:
        return outside_.parameters[s.offset];
      case memory_space::accumulator:
        return outside_.accumulators == nullptr ? nullptr : outside_.accumulators[s.offset];
      case memory_space::gradient:
        return outside_.gradients == nullptr ? nullptr : outside_.gradients[s.offset];
      case memory_space::updated:
        return (outside_.leaves_updates ? outside_.gradients : outside_.parameters)[s.offset];
      case memory_space::numbers:
        return outside_.leaves_updates ? nullptr : floats(0) + s.offset;
      case memory_space::feed:
        return floats(data_at_[s.offset]);
      case memory_space::none:
        return s.offset >= 0 ? floats(0) + s.offset : nullptr;
      default:
        return nullptr;
    }
  }

 private:
  static constexpr std::size_t aligned(std::size_t n) { return (n + 255) / 256 * 256; }
  static constexpr std::size_t seed_offset =
      (static_cast<std::size_t>(constants_count) * sizeof(float) + 7) / 8 * 8;
  static constexpr std::size_t fault_offset = seed_offset + sizeof(std::uint64_t);
  static constexpr std::size_t numbers_bytes = fault_offset + sizeof(fault_word);

  /// What is needed of the plan at run time: bytes a row and the domain of each data; by domain
  /// floats a row, and the domain whose rows its sequences belong to (0: none).
  struct sizes {
    int row_bytes[at_least_one(data_count)], domain[at_least_one(data_count)];
    int width[domains], parent[domains];
  };
  static constexpr sizes make_layout() {
    sizes s{};
    for (int i = 0; i < data_count; ++i) {
      const plan_variable& d = plan_type::lowered.variables[P::desc.data[i]];
      s.row_bytes[i] = d.columns * size_of(d.type);
      s.domain[i] = domain_of_rows(d.rows);
    }
    for (int d = batch::domain; d < domains; ++d) {
      s.width[d] = plan_type::memory.arena_width[d];
      if (P::desc.domains[d].kind == domain_kind::sequence) s.parent[d] = P::desc.domains[d].parent;
    }
    return s;
  }
  static constexpr sizes layout = make_layout();
  std::size_t bytes_of(int i) const {
    const int d = layout.domain[i];
    return static_cast<std::size_t>(layout.row_bytes[i]) *
           static_cast<std::size_t>(d == 0 ? 1 : rows_[d]);
  }
  std::size_t bytes_of_offsets(int d) const {
    return static_cast<std::size_t>(rows_[layout.parent[d]] + 1) * sizeof(int);
  }
  bool is_given(int i, unsigned long long given) const {
    return (given >> (i & 63) & 1ull) != 0 && feeds_[i] != nullptr;
  }

  struct fetched {
    memory_slot slot;
    staging_buffer<Backend> to;
  };
  float* copy(fetched& f, const float* from, std::size_t bytes) {
    f.to.reserve(bytes < sizeof(float) ? sizeof(float) : bytes);
    backend_.download(f.to.data(), from, bytes);
    backend_.wait();
    return reinterpret_cast<float*>(f.to.data());
  }
  char* at(std::size_t offset) const { return arena_.data() + offset; }
  float* floats(std::size_t offset) const { return reinterpret_cast<float*>(at(offset)); }

  Backend& backend_;
  outside_memory outside_;
  device_buffer<Backend> arena_;
  staging_buffer<Backend> numbers_, data_, results_;
  std::vector<fetched> fetched_;
  const void* feeds_[at_least_one(data_count)] = {};
  std::size_t data_at_[at_least_one(data_count)] = {};
  std::size_t offsets_at_[domains] = {}, arena_at_[domains] = {};
  std::size_t fixed_at_ = 0, scratch_at_ = 0;
  float* arguments_[at_least_one(schedule::arguments)] = {};
  int rows_[domains] = {};
  const int* host_offsets_[domains] = {};
  const int* offsets_[domains] = {};
  bool bound_ = false;
};

}  // namespace lamina::engine::cuda
