// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/memory/block_memory.hpp - additional memory for programs with loops and
// branches on a device: numbers in host memory, tensor arrays, and arrays whose rows are made by
// operators.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <lamina/engine/cuda/memory/device_tensor_array.hpp>
#include <lamina/engine/cuda/schedule/host_table.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

/// Copies host numbers to a device asynchronously. The numbers are first copied to staging memory;
/// each keeps a separate address there until the run ends, so the caller may change its own copy at
/// once.
template <class Backend>
class sent_numbers {
 public:
  explicit sent_numbers(Backend& b) : backend_(b) {}
  /// Releases the staging memory of all sent numbers. Call it when all copies are done.
  void clear() { chunk_ = used_ = 0; }
  void copy_to_device(void* to, const void* from, std::size_t bytes) {
    if (bytes == 0) return;
    char* const at = take(bytes);
    std::memcpy(at, from, bytes);
    backend_.upload(to, at, bytes);
  }

 private:
  static constexpr std::size_t chunk_bytes = std::size_t{1} << 16;
  char* take(std::size_t bytes) {
    for (;; ++chunk_, used_ = 0) {
      if (chunk_ == chunks_.size()) {
        chunks_.emplace_back(backend_);
        chunks_.back().reserve(bytes > chunk_bytes ? bytes : chunk_bytes);
      }
      if (chunks_[chunk_].size() - used_ < bytes) continue;
      char* const at = chunks_[chunk_].data() + used_;
      used_ += bytes;
      return at;
    }
  }

  Backend& backend_;
  std::vector<staging_buffer<Backend>> chunks_;
  std::size_t chunk_ = 0, used_ = 0;
};

/// The host numbers, rank tables and tensor arrays of one machine, and the memory of rows that
/// operators make.
template <class P, class Backend>
class block_memory {
 public:
  using known = host_table<P, Backend>;
  using schedule = typename known::schedule;
  static constexpr int domains = known::domains;

  LAMINA_COLD explicit block_memory(Backend& b) : backend_(b), sent_(b) {
    for (int i = 0; i < known::plan_type::memory.arrays; ++i)
      arrays_.emplace_back(device_chunks<Backend>{&b});
    for (int d = 0; d < domains; ++d) made_.emplace_back(b), offsets_.emplace_back(b);
    for (int a = 0; a < schedule::arguments; ++a) {
      if (known::table.number[a] >= 0)
        on_host_[a] = reinterpret_cast<float*>(&numbers_[known::table.number[a]]);
      else if (schedule::table.slot_of[a].space == memory_space::array)
        on_host_[a] = reinterpret_cast<float*>(&array(schedule::table.slot_of[a].offset));
    }
  }

  const void* array_address(int i) const { return &arrays_[static_cast<std::size_t>(i)]; }
  device_tensor_array<Backend>& array(int i) { return arrays_[static_cast<std::size_t>(i)]; }
  /// The host addresses of arguments; null for arguments that only the device has.
  float* const* on_host() const { return on_host_; }

  /// Reserves memory for the rank table that group g makes, if any: one row per sequence.
  void make_ranks(int g, const int* rows) {
    const int n = known::table.made_ranks[g];
    if (n < 0) return;
    const auto& table = known::table.ranks[n];
    const argument_info& info = schedule::table.info[known::table.of_ranks[table.arguments.first]];
    ranks_[n].resize(static_cast<std::size_t>(operator_call::rows_of(rows, info.rows) + 1) *
                     static_cast<std::size_t>(table.width) / 2);
    set_rank_addresses(n, ranks_[n].data());
  }
  /// Sets the host addresses of the numbers that the frames of a loop keep to words of one frame's
  /// head.
  void set_own_addresses(int loop, std::uintptr_t* words) {
    const list_range r = known::table.frames[loop];
    for (int i = r.first; i < r.first + r.count; ++i)
      on_host_[known::table.frame_numbers[i].argument] =
          reinterpret_cast<float*>(words + known::table.frame_numbers[i].word);
  }
  /// Copies the rank tables that the frames of a loop keep to the memory of one frame; `push`
  /// allocates floats there. Called when the iteration ends.
  template <class Push>
  void keep_own(int loop, std::uintptr_t* words, const Push& push) {
    for (int n = 0; n < known::table.ranks_count; ++n) {
      if (known::table.ranks[n].loop != loop) continue;
      float* const to = push(2 * ranks_[n].size());
      std::memcpy(to, ranks_[n].data(), ranks_[n].size() * sizeof(std::int64_t));
      words[known::table.ranks[n].word] = reinterpret_cast<std::uintptr_t>(to);
    }
  }
  /// Lets the rank tables refer to the copies that keep_own() made. Called when the gradient of the
  /// iteration begins.
  void restore_own(int loop, const std::uintptr_t* words) {
    for (int n = 0; n < known::table.ranks_count; ++n)
      if (known::table.ranks[n].loop == loop)
        set_rank_addresses(n, reinterpret_cast<void*>(words[known::table.ranks[n].word]));
  }

  void begin_run() { sent_.clear(); }
  /// Copies numbers to the device asynchronously. The caller may change them at once.
  void copy_to_device(void* to, const void* from, std::size_t bytes) {
    void* const kept = bytes > 0 ? backend_.staging_of_graph(bytes) : nullptr;
    if (kept == nullptr) return sent_.copy_to_device(to, from, bytes);
    std::memcpy(kept, from, bytes);
    backend_.upload(to, kept, bytes);
  }
  /// make_offsets() returns host memory, offsets_on_device() device memory for the sequence offsets
  /// of a domain that is not fed.
  int* make_offsets(int domain, int sequences) {
    std::vector<int>& made = host_offsets_[domain];
    const std::size_t wanted = static_cast<std::size_t>(sequences) + 1;
    if (made.size() < wanted) made.resize(wanted);
    return made.data();
  }
  int* offsets_on_device(int domain, std::size_t bytes) {
    auto& made = offsets_[static_cast<std::size_t>(domain)];
    if (bytes > made.size()) made.reserve(bytes + bytes / 4);
    return reinterpret_cast<int*>(made.data());
  }

  /// Reserves memory for `rows` rows of `width` floats of a domain that is not fed. Returns whether
  /// its arrays have moved.
  bool grow(int domain, int rows, int width) {
    int& capacity = capacity_[domain];
    if (rows <= capacity) return false;
    // The old memory is released first: if the new allocation fails, the capacity is 0.
    capacity = 0;
    // Reserve slack: the number of rows varies between runs.
    const int wanted = rows + rows / 4;
    made_[static_cast<std::size_t>(domain)].reserve(
        static_cast<std::size_t>(width) * static_cast<std::size_t>(wanted) * sizeof(float));
    capacity = wanted;
    return true;
  }
  float* begin(int domain) const {
    return reinterpret_cast<float*>(made_[static_cast<std::size_t>(domain)].data());
  }
  int capacity(int domain) const { return capacity_[domain]; }

  /// Sends the host values among arguments `first` to `end` to the device, if a kernel reads them
  /// there.
  void copy_to_device(int first, int end, float* const* on_device) {
    for (int a = first; a < end; ++a)
      if (known::table.sent[a]) {
        const dtype type = schedule::table.info[a].type;
        backend_.template elements<detail::fill_body>(
            {on_device[a], 1, divider(1), type, load_number(on_host_[a], type, 0), 1});
      }
  }

 private:
  void set_rank_addresses(int n, void* at) {
    const list_range r = known::table.ranks[n].arguments;
    for (int i = r.first; i < r.first + r.count; ++i)
      on_host_[known::table.of_ranks[i]] = static_cast<float*>(at);
  }

  Backend& backend_;
  std::vector<device_tensor_array<Backend>> arrays_;
  std::vector<device_buffer<Backend>> made_;  // by domain: memory of rows that are not fed
  std::vector<device_buffer<Backend>> offsets_;
  std::vector<int> host_offsets_[bound(domains)];
  std::vector<std::int64_t> ranks_[bound(known::table.ranks_count)];
  sent_numbers<Backend> sent_;
  std::uint64_t numbers_[bound(known::table.number_count)] = {};
  float* on_host_[bound(schedule::arguments)] = {};
  int capacity_[bound(domains)] = {};
};

namespace detail {
/// Takes the place of block_memory in programs without loops and branches.
struct no_block_memory {
  template <class Backend>
  explicit no_block_memory(Backend&) {}
};
}  // namespace detail

}}}  // namespace lamina::engine::cuda
