// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/emulated/ptx_memory.hpp - loads, stores and atomics: what they do, and
// whether another thread touches the same word with no barrier between.
#pragma once

#include <string>

#include "engine/cuda/emulated/ptx_numbers.hpp"

namespace test::emulated::detail {

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
  if (is_beside(m, w, v.write, lane))
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
    if (is_beside(m, w, v.write, lane))
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
