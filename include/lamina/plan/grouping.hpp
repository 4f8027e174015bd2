// SPDX-License-Identifier: Apache-2.0
// lamina/plan/grouping.hpp - groups the instructions that run together in one loop nest.
//
// Groups are numbered in the order of their heads, which are the instructions that begin them. Let
// g be the latest group among the groups that compute the operands of a pointwise instruction. The
// instruction is fused with g if g has the same loop sizes and is not a call of a kernel. The
// instruction's other operands come from earlier groups, so running the groups in the order of
// their numbers respects all dependences. Another such group of pointwise instructions is merged
// into g if no group before g reads its values. The rule is greedy: it needs no search and takes
// linear time.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/plan/instruction.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The largest number of instructions in a group. A longer chain is divided into several groups,
/// because registers and the length of kernel names are limited. The limit is lower for a group
/// that begins with a matrix product, because the accumulators of the product take registers.
inline constexpr int group_limit = 24, product_group_limit = 12;

/// A group: instructions that become one kernel. The members describe the loop nest in which the
/// statements run (head, sizes, layout), the group's instructions, and the feeds on which they
/// depend.
struct group_desc {
  fusion_anchor head;
  int rows, columns, depth;
  bool panel;
  int first;  // index in `order` of its first instruction
  int count;
  int block;
  unsigned long long feeds;
};

/// The groups, and the instructions in the order of the groups; also which values must be stored in
/// memory, and up to which group.
template <int Groups, int Instructions, int Variables>
struct grouping {
  group_desc groups[bound(Groups)];
  int order[bound(Instructions)];
  int producer[bound(Variables)];  // by variable: the first group that writes it, or -1
  int last[bound(Variables)];      // last group that reads it; Groups: until the end
  bool stored[bound(Variables)];
  static constexpr int count = Groups;
};

/// The group of each instruction.
template <int Instructions>
struct assignment {
  int group[bound(Instructions)];
  int groups;
};

/// Renumbers the groups so that the groups of one block are consecutive, in their previous order.
/// Empty groups are dropped.
template <int Blocks, int Instructions, std::size_t Room>
constexpr void sort_by_block(assignment<Instructions>& r, const group_desc (&groups)[Room]) {
  int at[bound(Blocks + 1)], number[Room];
  for (int b = 0; b <= Blocks; ++b) at[b] = 0;
  const int count = r.groups;
  for (int g = 0; g < count; ++g)
    if (groups[g].count > 0) ++at[groups[g].block + 1];
  for (int b = 0; b < Blocks; ++b) at[b + 1] += at[b];
  r.groups = at[Blocks];
  for (int g = 0; g < count; ++g)
    if (groups[g].count > 0) number[g] = at[groups[g].block]++;
  for (int k = 0; k < Instructions; ++k) r.group[k] = number[r.group[k]];
}

/// The state of assign_groups, which assigns the instructions to groups.
template <bool Separate, auto const& L>
struct group_former {
  static constexpr int instructions = at_least_one(L.count.instructions);
  static constexpr int variables = at_least_one(L.count.variables);
  group_desc (&groups)[bound(instructions)];  // `first` is the group's latest instruction
  int (&producer)[bound(variables)];          // by variable: the latest group that writes it, or -1
  int (&reader)[bound(variables)];            // by variable: the latest group that reads it, or -1
  int (&reader_before)[bound(variables)];     // by variable: its latest reader before `reader`, or
                                              // -1
  int (&before)[bound(instructions)];         // by instruction: its predecessor in the group, or -1
  int (&group)[bound(instructions)];          // by instruction: its group

  /// Whether the instructions of group h may become the first instructions of the later group g.
  /// This is so if no group between h and g reads the values that h computes or writes the
  /// variables that h reads.
  constexpr bool may_fuse(int h, int g) const {
    const group_desc from = groups[h], to = groups[g];
    if (from.head != fusion_anchor::pointwise || to.head != fusion_anchor::pointwise ||
        from.rows != to.rows || from.columns != to.columns || from.panel != to.panel ||
        from.block != to.block || from.count + to.count >= group_limit ||
        (Separate && from.feeds != to.feeds))
      return false;
    for (int k = from.first; k >= 0; k = before[k]) {
      const instruction i = L.instructions[k];
      if (i.schema->kind == operator_kind::update) return false;
      for (int a = i.inputs; a < i.inputs + i.input_count; ++a)
        if (L.operands[a].id >= 0 && producer[L.variables[L.operands[a].id].root] > h) return false;
      for (int o = i.outputs; o < i.outputs + i.output_count; ++o) {
        const int v = L.variables[L.results[o]].root;
        if ((reader[v] > h && (reader[v] != g || reader_before[v] > h)) || producer[v] != h ||
            L.variables[v].block != from.block)
          return false;
      }
    }
    return true;
  }
  /// Records that group g reads variable v.
  constexpr void read(int v, int g) {
    if (reader[v] < g)
      reader_before[v] = reader[v], reader[v] = g;
    else if (reader_before[v] < g && g < reader[v])
      reader_before[v] = g;
  }
  constexpr void fuse(int h, int g) {
    int last = groups[h].first;
    for (int k = last; k >= 0; last = k, k = before[k]) {
      const instruction i = L.instructions[k];
      group[k] = g;
      for (int a = i.inputs; a < i.inputs + i.input_count; ++a)
        if (const int id = L.operands[a].id; id >= 0) {
          const int v = L.variables[id].root;
          if (reader[v] == h)
            reader[v] = g;
          else
            read(v, g);
        }
      for (int o = i.outputs; o < i.outputs + i.output_count; ++o)
        producer[L.variables[L.results[o]].root] = g;
    }
    before[last] = groups[g].first;
    groups[g].first = groups[h].first;
    groups[g].count += groups[h].count;
    groups[h].count = 0;
  }
};

/// Assigns instructions to groups. With `Separate`, instructions that need different feeds are in
/// different groups, so that a test program can run with only some of its feeds. All instructions
/// of a group are in one block. The instruction that runs a block counts as the reader and writer
/// of all outer variables that the block reads and writes.
template <bool Separate, int Blocks, auto const& L>
constexpr auto assign_groups() {
  constexpr int instructions = L.count.instructions;
  constexpr int variables = L.count.variables;
  assignment<instructions> r;
  group_desc groups[bound(instructions)];
  int producer[bound(variables)], reader[bound(variables)], reader_before[bound(variables)];
  int before[bound(instructions)];
  for (int v = 0; v < variables; ++v) producer[v] = reader[v] = reader_before[v] = -1;
  group_former<Separate, L> former{groups, producer, reader, reader_before, before, r.group};
  bool holes = false;
  int n = 0;
  for (int k = 0; k < instructions; ++k) {
    const instruction i = L.instructions[k];
    int g = -1;
    if (i.head == fusion_anchor::pointwise) {
      for (int a = i.inputs; a < i.inputs + i.input_count; ++a) {
        const int v = L.operands[a].id;
        const int from = v < 0 ? -1 : producer[L.variables[v].root];
        if (from > g && (Blocks == 1 || groups[from].block == i.block)) g = from;
      }
      if (g >= 0) {
        const group_desc to = groups[g];
        bool fuses =
            to.head != fusion_anchor::call && to.rows == i.rows && to.columns == i.columns &&
            to.panel == i.panel &&
            to.count < (to.head == fusion_anchor::pointwise ? group_limit : product_group_limit) &&
            (!Separate || to.feeds == i.feeds);
        for (int o = i.outputs; fuses && o < i.outputs + i.output_count; ++o) {
          const int v = L.variables[L.results[o]].root;
          const int written = producer[v];
          fuses = reader[v] <= g && (written < 0 || written == g);
          // A variable that was written before, such as a variable that a loop carries, has an old
          // value. No statement of group g may read it if g writes it: statements after a product
          // may read only values that are written once.
          if (Blocks > 1 && written >= 0)
            fuses = reader[v] < g && (written == g || groups[written].block != i.block);
        }
        if (!fuses) g = -1;
      }
      if (g >= 0 && i.input_count > 1 && groups[g].head == fusion_anchor::pointwise)
        for (int a = i.inputs; a < i.inputs + i.input_count; ++a) {
          const int v = L.operands[a].id;
          const int from = v < 0 ? -1 : producer[L.variables[v].root];
          if (from >= 0 && from != g && former.may_fuse(from, g))
            former.fuse(from, g), holes = true;
        }
    }
    if (g < 0) {
      g = n++;
      groups[g] = {i.head, i.rows, i.columns, i.depth, i.panel, -1, 0, i.block, i.feeds};
    }
    r.group[k] = g;
    before[k] = groups[g].first;
    groups[g].first = k;
    ++groups[g].count;
    for (int a = i.inputs, end = a + i.input_count; a < end; ++a) {
      const int id = L.operands[a].id;
      if (id < 0) continue;
      const int v = L.variables[id].root, latest = reader[v];
      if (latest < g)
        reader_before[v] = latest, reader[v] = g;
      else if (g < latest && reader_before[v] < g)
        reader_before[v] = g;
    }
    for (int o = i.outputs, end = o + i.output_count; o < end; ++o)
      if (const int to = L.results[o]; to >= 0) producer[L.variables[to].root] = g;
  }
  r.groups = n;
  if (instructions == 0)
    r.group[0] = 0;  // a program of data layers alone: constant evaluation requires that each
                     // element has a value
  if (Blocks > 1 || holes) sort_by_block<Blocks>(r, groups);
  return r;
}

/// Orders the instructions by group. Also finds which values are stored in memory, and the last
/// group in a value's own block that reads it. The variables in `Pinned` are read after the run, so
/// they are stored until the end.
template <int Blocks, auto const& L, auto const& A, auto const& Pinned>
constexpr auto form_groups() {
  constexpr int instructions = L.count.instructions;
  constexpr int variables = L.count.variables;
  constexpr int count = A.groups;
  grouping<count, instructions, variables> r;
  int at[bound(count + 1)];  // position of each group's next instruction in `order`
  for (int g = 0; g <= count; ++g) at[g] = 0;
  for (int k = 0; k < instructions; ++k) ++at[A.group[k]];
  for (int g = 0, sum = 0; g < count; ++g) {
    const int c = at[g];
    at[g] = sum;
    sum += c;
  }
  if (count == 0) r.groups[0] = group_desc{};
  if (instructions == 0) r.order[0] = 0;
  for (int v = 0; v < at_least_one(variables); ++v)
    r.producer[v] = -1, r.last[v] = -1, r.stored[v] = false;
  for (int k = 0; k < instructions; ++k) {
    const int g = A.group[k];
    const instruction i = L.instructions[k];
    r.order[at[g]++] = k;
    for (int a = i.inputs, end = a + i.input_count; a < end; ++a) {
      const int id = L.operands[a].id;
      if (id < 0) continue;
      const int v = L.variables[id].root;
      if (r.producer[v] != g) r.stored[v] = true;
      if (Blocks > 1 && L.variables[v].block != i.block) continue;
      if (r.last[v] < g) r.last[v] = g;
    }
    for (int o = i.outputs, end = o + i.output_count; o < end; ++o) {
      const int to = L.results[o];
      if (to < 0) continue;
      const int v = L.variables[to].root;
      if (i.head == fusion_anchor::call) r.stored[v] = true;
      if (Blocks == 1) {
        r.producer[v] = g;
      } else if (L.variables[v].block != i.block) {
        r.stored[v] = true;
      } else if (r.producer[v] < 0) {
        r.producer[v] = g;
      } else if (r.producer[v] != g) {
        r.stored[v] = true;
        // No group has read this new value yet. If none does, the value is kept until the end.
        if (r.last[v] <= g) r.last[v] = -1;
      }
    }
  }
  for (int g = 0, first = 0; g < count; ++g) {
    const instruction i = L.instructions[r.order[first]];
    const int end = at[g];
    r.groups[g] = {i.head, i.rows,      i.columns, i.depth, i.panel,
                   first,  end - first, i.block,   i.feeds};
    first = end;
  }
  // A value without a reader is stored too; otherwise the compiler would delete its computation.
  for (int v = 0; v < variables; ++v)
    if (r.last[v] < 0 && r.producer[v] >= 0) r.stored[v] = true;
  for (int i = 0; i < Pinned.count; ++i) {
    const int v = L.variables[Pinned.ids[i]].root;
    r.stored[v] = true;
    r.last[v] = count;
  }
  return r;
}

}}  // namespace lamina
