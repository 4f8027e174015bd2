// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/emulated/ptx_memory.hpp - loads, stores and atomics: what they do, which sectors
// and banks they touch, and whether another thread does so with no barrier between.
#pragma once

#include <algorithm>
#include <string>

#include "engine/cuda/emulated/ptx_numbers.hpp"

namespace test::emulated::detail {

/// The 32-byte sectors of global memory, or the wavefronts of shared memory, of a request.
inline void count_request(machine& m, const warp& w, const instruction& i, const u64* address,
                          std::size_t bytes) {
  u64 all[64];
  int count = 0;
  std::size_t used = 0;
  const bool shared =
      i.where == space::shared ||
      (i.where == space::generic && (address[std::countr_zero(w.active)] & window_mask) != 0);
  if (!shared) {
    each_lane(w.active, [&](int l) {
      const u64 first = (address[l] + static_cast<s64>(i.offset)) / 32;
      all[count++] = first;
      used += bytes;
    });
    std::sort(all, all + count);
    const auto distinct = static_cast<std::size_t>(std::unique(all, all + count) - all);
    ++m.count->requests;
    m.count->sectors += distinct;
    m.count->needed_sectors += std::min<std::size_t>((used + 31) / 32, distinct);
    return;
  }
  // Lanes go together as long as their bytes fit into all banks.
  const int together = static_cast<int>(std::min<std::size_t>(32, 128 / bytes));
  ++m.count->shared_requests;
  for (int begin = 0; begin < 32; begin += together) {
    u32 words[32][32];
    int in_bank[32] = {}, most = 0;
    for (int l = begin; l < begin + together; ++l) {
      if ((w.active >> l & 1) == 0) continue;
      const u32 first = static_cast<u32>(address[l] + static_cast<u64>(s64{i.offset})) / 4;
      for (u32 word = first; word < first + std::max<std::size_t>(1, bytes / 4); ++word) {
        int& n = in_bank[word % 32];
        if (std::find(words[word % 32], words[word % 32] + n, word) != words[word % 32] + n)
          continue;
        words[word % 32][n++] = word;
        most = std::max(most, n);
      }
    }
    m.count->wavefronts += static_cast<u64>(most);
    m.count->needed_wavefronts += most > 0;
  }
}

/// The warp of the thread, or of the threads, that a visit is of.
inline int warp_of(const visit& v) {
  return v.thread >= 0 ? v.thread / 32 : many_threads - v.thread;
}
inline bool same_block(const machine& m, const visit& v) { return v.block == m.block; }
/// Whether a visit of another thread is separated from one of this thread by no barrier.
inline bool is_beside(const machine& m, const warp& w, const visit& v, int lane) {
  if (v.launch != m.launch) return false;
  if (!same_block(m, v)) return true;
  if (v.barrier != m.barrier) return false;
  if (v.thread == many_warps) return true;
  const int thread = w.number * 32 + lane;
  if (v.thread == thread) return false;
  return warp_of(v) != w.number || v.sync == w.sync;
}
inline void note_read(const machine& m, const warp& w, visit& v, int lane) {
  const s16 thread = static_cast<s16>(w.number * 32 + lane);
  const visit mine{m.launch, m.block, thread, m.barrier, w.sync};
  if (v.launch != m.launch) {
    v = mine;
  } else if (!same_block(m, v)) {
    v.block = many_blocks;
  } else if (v.barrier != m.barrier) {
    v = mine;
  } else if (v.thread == many_warps || warp_of(v) != w.number) {
    v.thread = many_warps;
  } else if (v.thread != thread && v.sync == w.sync) {
    v.thread = static_cast<s16>(many_threads - w.number);
  } else {
    v = mine;
  }
}
inline void check_read(machine& m, const warp& w, visits& v, int lane, const instruction& i) {
  if (m.may_be_beside(v.write))
    m.tell("reads what a launch beside this one writes", lane);
  else if (is_beside(m, w, v.write, lane))
    m.tell(std::string("reads what ") +
               (same_block(m, v.write) ? "another thread" : "another block") +
               " writes, with no barrier between",
           lane);
  else if (i.read_only && v.write.launch == m.launch)
    m.tell("reads through the read-only cache what the kernel writes", lane);
  note_read(m, w, v.read, lane);
}
inline void check_write(machine& m, const warp& w, visits& v, int lane, bool changes) {
  if (changes) {
    if (m.may_be_beside(v.write) || m.may_be_beside(v.read))
      m.tell("writes what a launch beside this one reads or writes", lane);
    else if (is_beside(m, w, v.write, lane))
      m.tell(std::string("writes what ") +
                 (same_block(m, v.write) ? "another thread" : "another block") +
                 " writes, with no barrier between",
             lane);
    else if (is_beside(m, w, v.read, lane))
      m.tell(std::string("writes what ") +
                 (same_block(m, v.read) ? "another thread" : "another block") +
                 " reads, with no barrier between",
             lane);
  }
  v.write = {m.launch, m.block, static_cast<s16>(w.number * 32 + lane), m.barrier, w.sync};
}

template <class T>
void load(machine& m, warp& w, const instruction& i) {
  const u64* a = w.value(i.of[0]);
  const std::size_t bytes = sizeof(T) * i.vector;
  if (m.counts && i.where != space::parameter && i.where != space::local)
    count_request(m, w, i, a, bytes);
  u64 result[4][32];
  each_lane(w.active, [&](int l) {
    visits* seen = nullptr;
    const char* const p =
        m.find(a[l] + static_cast<u64>(s64{i.offset}), bytes, i.where, l, &seen, false);
    if (seen != nullptr && !i.is_volatile && sizeof(T) >= 4)
      for (std::size_t n = 0; n < bytes / 4; ++n) check_read(m, w, seen[n], l, i);
    for (int n = 0; n < i.vector; ++n) {
      T x;
      std::memcpy(&x, p + sizeof(T) * static_cast<std::size_t>(n), sizeof(T));
      result[n][l] = put<T>(x);
    }
  });
  for (int n = 0; n < i.vector; ++n) {
    if (i.to[n] == no_operand) continue;
    u64* d = w.result(i.to[n]);
    each_lane(w.active, [&](int l) { d[l] = result[n][l]; });
  }
}
template <class T>
void store(machine& m, warp& w, const instruction& i) {
  const u64* a = w.value(i.of[0]);
  const std::size_t bytes = sizeof(T) * i.vector;
  if (m.counts && i.where != space::local) count_request(m, w, i, a, bytes);
  each_lane(w.active, [&](int l) {
    visits* seen = nullptr;
    char* const p = m.find(a[l] + static_cast<u64>(s64{i.offset}), bytes, i.where, l, &seen, true);
    T x[4];
    for (int n = 0; n < i.vector; ++n) x[n] = get<T>(w.value(i.of[n + 1])[l]);
    if (seen != nullptr && !i.is_volatile && sizeof(T) >= 4)
      for (std::size_t n = 0; n < bytes / 4; ++n)
        check_write(m, w, seen[n], l,
                    std::memcmp(p + 4 * n, reinterpret_cast<const char*>(x) + 4 * n, 4) != 0);
    std::memcpy(p, x, bytes);
  });
}
template <class T, auto F>
void atomic(machine& m, warp& w, const instruction& i) {
  const u64 *a = w.value(i.of[0]), *b = w.value(i.of[1]);
  each_lane(w.active, [&](int l) {
    visits* seen = nullptr;
    char* const p =
        m.find(a[l] + static_cast<u64>(s64{i.offset}), sizeof(T), i.where, l, &seen, true);
    T before;
    std::memcpy(&before, p, sizeof(T));
    const T after = F(before, get<T>(b[l]));
    std::memcpy(p, &after, sizeof(T));
    if (i.to[0] != no_operand) w.result(i.to[0])[l] = put<T>(before);
  });
}
inline constexpr auto exchange = [](auto, auto b) { return b; };
inline void to_shared(machine&, warp& w, const instruction& i) {
  const u64* a = w.value(i.of[0]);
  u64* d = w.result(i.to[0]);
  const u64 window = i.modifier == 1 ? shared_window : 0;
  each_lane(w.active, [&](int l) { d[l] = (a[l] & ~window_mask) | window; });
}
inline void copy_64(machine& m, warp& w, const instruction& i) { one<u64, u64, same>(m, w, i); }

}  // namespace test::emulated::detail
