// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/emulated/ptx_processor.hpp - the way of a launch through its blocks, warps and
// memory.
#pragma once

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cuda/emulated/ptx_instructions.hpp"
#include "engine/cuda/emulated/ptx_module.hpp"

namespace test::emulated {

inline std::string machine::place(int lane) const {
  const std::string_view text = std::string_view(code->text).substr(now->text, now->text_size);
  const int thread = current->number * 32 + lane;
  return "'" + std::string(text) + "' of thread " + std::to_string(thread) + " of block (" +
         std::to_string(block_at.x) + ", " + std::to_string(block_at.y) + ") in " + running->name;
}
inline void machine::tell(const std::string& what, int lane) {
  if (told.insert({running, now->text, what}).second) around->tell_fault(place(lane) + " " + what);
}
inline void machine::fail(const std::string& what, int lane) {
  throw std::runtime_error(place(lane) + " " + what);
}

inline char* machine::find(std::uint64_t address, std::size_t bytes, space where, int lane,
                           visits** seen, bool writes) {
  if (address % bytes != 0)
    fail((writes ? "writes " : "reads ") + std::to_string(bytes) +
             " bytes at an address that ends in " + std::to_string(address % 16),
         lane);
  if (where == space::generic) {
    const std::uint64_t window = address & window_mask;
    where = window == shared_window ? space::shared : space::global;
    if (window == shared_window) address &= ~window_mask;
  }
  switch (where) {
    case space::parameter:
      if (address + bytes > running->parameter_bytes || writes) fail("leaves the parameters", lane);
      return const_cast<char*>(parameters) + address;
    case space::shared:
      address &= 0xffffffff;
      if (address + bytes > shared_bytes)
        fail("reaches shared memory at " + std::to_string(address) + " of " +
                 std::to_string(shared_bytes) + " bytes",
             lane);
      if (finds_races) *seen = &shared_visits[address / 4];
      return shared.data() + address;
    case space::local: {
      if (address + bytes > running->local_bytes) fail("leaves its local memory", lane);
      const std::size_t thread = static_cast<std::size_t>(current->number * 32 + lane);
      return local.data() + thread * running->local_bytes + address;
    }
    default:
      break;
  }
  char* const p = reinterpret_cast<char*>(address);
  if (p < range_begin || p + bytes > range_end) {
    char *begin = nullptr, *end = nullptr;
    bool found = around->find_allocation(address, begin, end);
    range_is_watched = found && finds_races;
    if (!found) {
      for (const auto& [at, size] : code->ranges)
        if (p >= at && p < at + size) begin = at, end = at + size, found = true;
    }
    if (!found || p + bytes > end) {
      range_begin = range_end = nullptr;
      fail(std::string(writes ? "writes" : "reads") + " memory that is none of the device's", lane);
    }
    range_begin = begin, range_end = end;
  }
  if (range_is_watched) *seen = visits_of(p);
  return p;
}

inline visits* machine::visits_of(const char* p) {
  const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(p), page = address / page_bytes;
  if (last_visits == nullptr || page != last_page) {
    std::unique_ptr<visits[]>& found = pages[page];
    if (found == nullptr) found = std::make_unique<visits[]>(page_bytes / 4);
    last_page = page;
    last_visits = found.get();
  }
  return last_visits + address % page_bytes / 4;
}

inline void machine::run(kernel& k, dim3 grid_size, dim3 block_size,
                         const std::vector<char>& arguments, std::size_t dynamic_shared) {
  if (!k.decoded) decode(*code, k);
  running = &k;
  parameters = arguments.data();
  grid = grid_size, size = block_size;
  ++launch;
  run_once.insert(&k);
  range_begin = range_end = nullptr;
  // Visits of an earlier launch are beside nothing.
  if (pages.size() > most_pages) pages.clear(), last_visits = nullptr;
  shared_bytes = k.shared_bytes + dynamic_shared;
  const int threads = static_cast<int>(size.x * size.y * size.z), warps = (threads + 31) / 32;
  shared.resize(shared_bytes);
  local.resize(static_cast<std::size_t>(warps) * 32 * k.local_bytes);
  if (finds_races) shared_visits.resize(shared_bytes / 4 + 1);
  static std::vector<std::uint64_t> registers;
  static std::vector<std::uint32_t> predicates;
  registers.resize(std::max(registers.size(), static_cast<std::size_t>(warps) * 32 *
                                                  static_cast<std::size_t>(k.registers)));
  predicates.resize(std::max(predicates.size(), static_cast<std::size_t>(warps * k.predicates)));
  std::vector<warp> all(static_cast<std::size_t>(warps));
  for (int n = 0; n < warps; ++n) {
    warp& w = all[static_cast<std::size_t>(n)];
    w.number = n;
    w.registers =
        registers.data() + static_cast<std::size_t>(n) * 32 * static_cast<std::size_t>(k.registers);
    w.predicates = predicates.data() + static_cast<std::size_t>(n * k.predicates);
    w.constants = k.constants.data();
  }
  const std::int64_t blocks = std::int64_t{grid.x} * grid.y * grid.z;
  for (std::int64_t n = 0; n < blocks; ++n) {
    block = static_cast<std::int32_t>(order == 0 ? n : blocks - 1 - n);
    block_at = {static_cast<unsigned>(block) % grid.x,
                static_cast<unsigned>(block) / grid.x % grid.y,
                static_cast<unsigned>(block) / grid.x / grid.y};
    barrier = 0;
    // Memory of another block, and registers of other threads, are in it.
    std::memset(shared.data(), 0xff, shared.size());
    if (finds_races) std::fill(shared_visits.begin(), shared_visits.end(), visits{});
    for (warp& w : all) {
      const int in_warp = std::min(32, threads - w.number * 32);
      w.pc = 0;
      w.group = w.alive = in_warp == 32 ? ~0u : (1u << in_warp) - 1;
      w.others.clear();
      w.next_other = std::numeric_limits<int>::max();
      w.at_barrier = false;
      w.sync = 0;
      for (int l = 0; l < 32; ++l) {
        const unsigned t = static_cast<unsigned>(w.number * 32 + l);
        const std::uint64_t values[] = {t % size.x,
                                        t / size.x % size.y,
                                        t / size.x / size.y,
                                        size.x,
                                        size.y,
                                        size.z,
                                        block_at.x,
                                        block_at.y,
                                        block_at.z,
                                        grid.x,
                                        grid.y,
                                        grid.z,
                                        static_cast<unsigned>(l),
                                        (1u << l) - 1,
                                        l == 31 ? ~0u : (2u << l) - 1,
                                        1u << l,
                                        ~((1u << l) - 1),
                                        l == 31 ? 0 : ~((2u << l) - 1),
                                        static_cast<unsigned>(w.number),
                                        0};
        for (std::size_t v = 0; v < std::size(values); ++v)
          w.registers[v * 32 + static_cast<std::size_t>(l)] = values[v];
      }
    }
    for (;;) {
      bool any = false;
      for (warp& w : all) {
        if (w.alive == 0 || w.at_barrier) continue;
        any = true;
        current = &w;
        const instruction* const begin = k.code.data();
        while (w.alive != 0 && !w.at_barrier) {
          const instruction& i = begin[w.pc];
          now = &i;
          w.active = w.group;
          if (i.guard >= 0)
            w.active &= i.guard_is_false ? ~w.predicates[i.guard] : w.predicates[i.guard];
          if (w.active == 0) {
            ++w.pc;
          } else if (i.ends_group) {
            i.run(*this, w, i);
            if (w.group == 0 || w.at_barrier) continue;
          } else {
            i.run(*this, w, i);
            ++w.pc;
          }
          if (w.pc >= w.next_other) detail::reschedule(*this, w);
        }
      }
      if (any) {
        bool all_wait = true;
        for (const warp& w : all) all_wait = all_wait && (w.alive == 0 || w.at_barrier);
        if (!all_wait) continue;
      }
      bool waiting = false, result = false;
      for (const warp& w : all) {
        waiting = waiting || (w.alive != 0 && w.at_barrier);
        result = result || (w.alive != 0 && w.at_barrier && w.barrier_mask != 0);
      }
      if (!waiting) break;
      ++barrier;
      for (warp& w : all) {
        if (!w.at_barrier) continue;
        w.at_barrier = false;
        if (w.barrier_result >= 0)
          w.predicates[w.barrier_result] = result != w.barrier_inverts ? ~0u : 0;
      }
    }
  }
}

}  // namespace test::emulated
