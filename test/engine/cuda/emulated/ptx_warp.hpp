// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/emulated/ptx_warp.hpp - what threads do together: shuffles, votes and
// barriers; and which of them go on where a warp parts.
#pragma once

#include <bit>

#include "engine/cuda/emulated/ptx_numbers.hpp"

namespace test::emulated::detail {

// ---- threads together ----

inline void reschedule(machine& m, warp& w);

/// Waits until these threads of the warp are at this instruction. False where they are not yet.
inline bool gather(machine& m, warp& w, u32 members) {
  members &= w.alive;
  if ((w.group & members) == members) return true;
  w.others.push_back({w.pc, w.group, true});
  w.group = 0;
  reschedule(m, w);
  return false;
}

enum class shuffle_kind { butterfly, index, up, down };
template <shuffle_kind K>
void shuffle(machine& m, warp& w, const instruction& i) {
  u32 members = 0;
  each_lane(w.active, [&](int l) { members |= static_cast<u32>(w.value(i.of[3])[l]); });
  if (!gather(m, w, members)) return;
  const u64 *a = w.value(i.of[0]), *b = w.value(i.of[1]), *c = w.value(i.of[2]);
  u64 result[32];
  u32 valid = 0;
  each_lane(w.active, [&](int l) {
    const int lane_part = static_cast<int>(b[l] & 31), clamp = static_cast<int>(c[l] & 31);
    const int segment = static_cast<int>(c[l] >> 8 & 31);
    const int most = (l & segment) | (clamp & ~segment), least = l & segment;
    int from = 0;
    bool inside = false;
    if (K == shuffle_kind::up) from = l - lane_part, inside = from >= most;
    if (K == shuffle_kind::down) from = l + lane_part, inside = from <= most;
    if (K == shuffle_kind::butterfly) from = l ^ lane_part, inside = from <= most;
    if (K == shuffle_kind::index) from = least | (lane_part & ~segment), inside = from <= most;
    if (!inside) from = l;
    if ((w.active >> from & 1) == 0) m.tell("shuffles from a thread that is not there", l);
    result[l] = static_cast<u32>(a[from]);
    valid |= u32{inside} << l;
  });
  u64* d = w.result(i.to[0]);
  each_lane(w.active, [&](int l) { d[l] = result[l]; });
  if (i.predicates[0] >= 0) set_predicate(w, i.predicates[0], valid);
  ++w.pc;
}
inline void ballot(machine& m, warp& w, const instruction& i) {
  const u32 members = static_cast<u32>(w.value(i.of[0])[std::countr_zero(w.active)]);
  if (!gather(m, w, members)) return;
  const u32 votes = w.predicates[i.predicates[1]] & w.active;
  u64* d = w.result(i.to[0]);
  each_lane(w.active, [&](int l) { d[l] = votes; });
  ++w.pc;
}
/// Whether all threads vote for it, or any.
template <bool All>
void vote(machine& m, warp& w, const instruction& i) {
  const u32 members = static_cast<u32>(w.value(i.of[0])[std::countr_zero(w.active)]);
  if (!gather(m, w, members)) return;
  const u32 votes = w.predicates[i.predicates[1]] & w.active;
  set_predicate(w, i.predicates[0], (All ? votes == w.active : votes != 0) ? ~0u : 0);
  ++w.pc;
}
inline void warp_barrier(machine& m, warp& w, const instruction& i) {
  u32 members = 0;
  each_lane(w.active, [&](int l) { members |= static_cast<u32>(w.value(i.of[0])[l]); });
  if (!gather(m, w, members)) return;
  ++w.sync;
  ++w.pc;
}
inline void block_barrier(machine& m, warp& w, const instruction& i) {
  if (!gather(m, w, ~0u)) return;
  if (w.value(i.of[0])[0] != 0) m.fail("is a barrier of another number", 0);
  w.at_barrier = true;
  w.barrier_result = i.predicates[0];
  // All hold unless one of them does not.
  w.barrier_inverts = i.modifier != 0;
  const u32 holds = i.predicates[0] >= 0 ? w.predicates[i.predicates[1]] : 0;
  w.barrier_mask = i.predicates[0] < 0 ? 0 : (w.barrier_inverts ? ~holds : holds) & w.active;
  ++w.pc;
}

// ---- the way of a warp ----

inline void find_next_other(warp& w) {
  w.next_other = std::numeric_limits<int>::max();
  for (const lane_group& g : w.others)
    if (!g.waits) w.next_other = std::min(w.next_other, g.pc);
}
/// The threads that are furthest behind go on; with them all that are at the same instruction.
inline void reschedule(machine& m, warp& w) {
  if (w.group != 0) {
    w.others.push_back({w.pc, w.group, false});
    w.group = 0;
  }
  // Those who wait look again when others arrive.
  for (std::size_t a = 0; a < w.others.size(); ++a)
    for (std::size_t b = a + 1; b < w.others.size();) {
      if (w.others[a].pc == w.others[b].pc) {
        w.others[a].lanes |= w.others[b].lanes;
        w.others[a].waits = false;
        w.others.erase(w.others.begin() + static_cast<std::ptrdiff_t>(b));
      } else {
        ++b;
      }
    }
  const lane_group* next = nullptr;
  for (const lane_group& g : w.others)
    if (!g.waits && (next == nullptr || g.pc < next->pc)) next = &g;
  if (next == nullptr) {
    if (w.others.empty()) return;
    m.now = &m.running->code[static_cast<std::size_t>(w.others[0].pc)];
    m.fail("is not reached by all threads of a warp that it needs",
           std::countr_zero(w.others[0].lanes));
  }
  w.pc = next->pc;
  w.group = next->lanes;
  w.others.erase(w.others.begin() + (next - w.others.data()));
  find_next_other(w);
}
inline void branch(machine& m, warp& w, const instruction& i) {
  const u32 stay = w.group & ~w.active;
  if (stay == 0) {
    w.pc = i.target;
  } else {
    w.others.push_back({w.pc + 1, stay});
    w.group = w.active;
    w.pc = i.target;
    find_next_other(w);
  }
  if (w.pc >= w.next_other) reschedule(m, w);
}
inline void leave(machine& m, warp& w, const instruction&) {
  w.alive &= ~w.active;
  w.group &= ~w.active;
  ++w.pc;
  for (lane_group& g : w.others) g.waits = false;
  if (w.group == 0)
    reschedule(m, w);
  else
    find_next_other(w);
}
inline void nothing(machine&, warp&, const instruction&) {}

}  // namespace test::emulated::detail
