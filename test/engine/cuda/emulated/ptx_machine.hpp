// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/emulated/ptx_machine.hpp - a processor that runs decoded kernels: warps of 32
// threads, blocks one after the other.
//
// It checks what a device lets pass by chance: addresses and their alignment, threads that read
// what others write without a barrier between, shuffles and barriers that not all threads reach.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "engine/cuda/emulated/ptx_kernel.hpp"

namespace test::emulated {

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};

/// Threads of a warp that are at the same instruction.
struct lane_group {
  int pc;
  std::uint32_t lanes;
  bool waits = false;  // for other threads of the warp, at this very instruction
};

struct warp {
  std::uint64_t* registers;
  std::uint32_t* predicates;
  const std::uint64_t* constants;
  int number, pc;
  std::uint32_t group, active;  // of the group those that the guard lets through
  std::uint32_t alive;
  std::vector<lane_group> others;
  int next_other;  // the smallest pc of another group
  bool at_barrier = false;
  int barrier_result = -1;  // the predicate of a reduction
  std::uint32_t barrier_mask = 0;
  bool barrier_inverts = false;
  std::uint16_t sync = 0;  // barriers of the warp so far

  const std::uint64_t* value(operand o) const {
    return o >= 0 ? registers + std::size_t(o) * 32 : constants + std::size_t(~o) * 32;
  }
  std::uint64_t* result(operand o) { return registers + std::size_t(o) * 32; }
};

/// Who wrote or read a word last. Below 0 a thread stands for many: of all warps, or of the warp
/// that it is less than many_threads.
inline constexpr std::int32_t many_blocks = -2;
inline constexpr std::int16_t many_warps = -1, many_threads = -2;
struct visit {
  std::uint32_t launch = 0;
  std::int32_t block = -1;
  std::int16_t thread = 0;
  std::uint16_t barrier = 0, sync = 0;
};
struct visits {
  visit write, read;
};

/// What a processor is told by those who have its memory, and tells them.
struct surroundings {
  /// The allocation around an address; false where there is none.
  virtual bool find_allocation(std::uint64_t address, char*& begin, char*& end) = 0;
  virtual void tell_fault(const std::string& what) = 0;

 protected:
  ~surroundings() = default;
};

struct machine {
  // Of the process.
  surroundings* around = nullptr;
  const module* code = nullptr;
  bool finds_races = true;
  unsigned order = 0;                // of blocks: 0 from the first on, 1 from the last
  std::set<const kernel*> run_once;  // kernels that were launched
  /// What was told, and of which instruction.
  std::set<std::tuple<const kernel*, std::uint32_t, std::string>> told;
  // Of a launch.
  kernel* running = nullptr;
  const char* parameters = nullptr;
  std::uint32_t launch = 0;
  // Of a block.
  std::vector<char> shared;
  std::size_t shared_bytes = 0;
  std::vector<visits> shared_visits;
  std::vector<char> local;
  std::uint16_t barrier = 0;
  std::int32_t block = 0;
  dim3 block_at, grid, size;
  const instruction* now = nullptr;
  warp* current = nullptr;

  /// The memory of an allocation that was found last.
  char *range_begin = nullptr, *range_end = nullptr;
  bool range_is_watched = false;
  /// Visits of global memory, by page: only those pages that kernels touch have any.
  static constexpr std::size_t page_bytes = 4096, most_pages = 1 << 14;
  std::unordered_map<std::uintptr_t, std::unique_ptr<visits[]>> pages;
  std::uintptr_t last_page = 0;
  visits* last_visits = nullptr;
  visits* visits_of(const char* p);

  void run(kernel& k, dim3 grid_size, dim3 block_size, const std::vector<char>& arguments,
           std::size_t dynamic_shared);
  char* find(std::uint64_t address, std::size_t bytes, space where, int lane, visits** seen,
             bool writes);
  [[noreturn]] void fail(const std::string& what, int lane);
  void tell(const std::string& what, int lane);
  std::string place(int lane) const;
};

/// Generic addresses of shared memory; all others are of global memory.
inline constexpr std::uint64_t shared_window = 0x5100'0000'0000'0000,
                               window_mask = 0xff00'0000'0000'0000;

}  // namespace test::emulated
