// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/schedule/row_ranges.hpp - finds sequences of consecutive groups that a thread
// can run for its own range of mini-batch rows, without waiting for other threads.
//
// Where rows do not depend on each other, a thread can compute all layers for some rows of a
// mini-batch. Between two layers the thread needs no barrier, and the values that it has written
// are still in its own cache. But threads cannot share the planned memory of the mini-batch: an
// array may reuse the memory of an earlier array with rows of another width, so rows that one
// thread writes can overlap rows that another thread still reads. Therefore, arrays that only these
// groups use have separate memory per thread.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <lamina/engine/cpu/gemm/gemm.hpp>
#include <lamina/engine/cpu/schedule/row_tiles.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

namespace detail {

/// A group as part of a sequence that threads run on ranges of rows.
struct ranged_group {
  int end;       // end of the sequence that begins with this group, or 0 if none does
  bool before;   // has no rows, so one thread runs it before the sequence begins
  bool product;  // multiplies rows by a matrix
};

/// A schedule and its sequences of groups. It is plain data, so that the code that runs it is
/// compiled once for all programs.
struct ranged_schedule : schedule_of_rows {
  const ranged_group* groups;
  const group_desc* described;
  int width;  // the floats that all activations of one row take
};

/// The largest number of floats that all threads together allocate for activations: 64 MiB.
inline constexpr std::int64_t most_range_floats = std::int64_t{16} << 20;

/// A product may split each of its sums into several chains of additions. Returns the number of
/// chains in a product of `rows` rows whose register tiles have `vectors` vectors per row; 0 if the
/// number differs between tiles.
constexpr int chains_of_product(int rows, int depth, int vectors) {
  const even_parts blocks = parts_of_rows<float>(rows, parts_of_depth<float>(depth).longest());
  int found = -1;
  for (const int block : {blocks.size(0), blocks.size(blocks.count() - 1)}) {
    const even_parts tiles(block, tile_rows);
    for (const int tile : {tiles.size(0), tiles.size(tiles.count() - 1)}) {
      // Another function multiplies a single row, with an order of additions of its own.
      const int now = block == 1 ? 0 : chains(tile * vectors);
      if (found >= 0 && found != now) return 0;
      found = now;
    }
  }
  return found;
}

/// Whether a product of `part` rows adds the terms of each sum in the same order as a product of
/// `rows` rows.
constexpr bool adds_equally(int rows, int part, int depth, int columns) {
  const auto equal = [&](int vectors) {
    const int whole = chains_of_product(rows, depth, vectors);
    return whole != 0 && whole == chains_of_product(part, depth, vectors);
  };
  const bool has_wide = columns >= panel_width, has_narrow = padded(columns) % panel_width != 0;
  return (!has_wide || equal(tile_vectors)) && (!has_narrow || equal(narrow_width / lanes));
}

/// The division of the rows of a mini-batch into `count` ranges; each range is computed by one
/// thread. A count of 1 means that the rows are not divided.
struct ranges_of_rows {
  int rows, count;
  constexpr int first(int r) const {
    return static_cast<int>(static_cast<std::int64_t>(rows) * r / count);
  }
  constexpr int size(int r) const { return first(r + 1) - first(r); }
  constexpr int longest() const { return (rows + count - 1) / count; }
};
LAMINA_NOINLINE inline ranges_of_rows ranges_of(const ranged_schedule& s, int begin,
                                                unsigned long long given, int rows, int threads) {
  const int width = s.width > 0 ? s.width : 1;
  ranges_of_rows r{rows, 1};
  if (rows < threads) return r;
  // If activations are narrow, there are more ranges than threads, so that the activations of one
  // range fit into the second-level cache.
  r.count = threads;
  if (rows_of_tile(width) >= least_tiled_rows)
    r.count = (std::max)(threads, rows / rows_of_tile(width));
  if (std::int64_t{r.longest()} * threads * width > most_range_floats) return {rows, 1};
  std::int64_t elements = 0;
  for (int g = begin; g < s.groups[begin].end; ++g) {
    const schedule_entry& e = s.entries[g];
    if ((e.feeds & ~given) != 0) continue;
    const argument_info* const info = s.info + e.first_argument;
    std::int64_t most = 0;
    for (int a = 0; a < e.group.arguments; ++a)
      if (info[a].rows < 0)
        most = (std::max)(
            most, std::int64_t{rows} * lamina::parts_of_rows(info[a].rows) * info[a].columns);
    elements += most;
    if (!s.groups[g].product) continue;
    const group_desc& d = s.described[g];
    const int in_row = lamina::parts_of_rows(d.rows);
    for (const int part : {r.size(0), r.longest()})
      if (!adds_equally(rows * in_row, part * in_row, d.depth, d.columns)) return {rows, 1};
  }
  if (elements < 1 << 14) r.count = 1;
  return r;
}

/// The memory that one thread owns and uses while it runs sequences of groups on ranges of rows.
struct range_memory {
  aligned_buffer arena;
  int rows = 0;  // the length of the longest range that fits in `arena`
  filter_memory filters;
};

}  // namespace detail

/// The sequences of groups of program P that threads run on ranges of rows. P has neither loops nor
/// branches.
template <class P>
struct ranged_groups {
  using schedule = schedule_table<P>;
  using plan_type = plan<P>;
  using tiles = tiled_groups<P>;
  static constexpr int groups = plan_type::groups;
  /// The least number of groups with rows in a sequence. A sequence of a single group would save no
  /// barrier.
  static constexpr int least_groups = 2;

  struct table_type {
    detail::ranged_group groups[bound(ranged_groups::groups)];
    bool is_local[bound(schedule::arguments)];
    bool any;
  };

  static constexpr table_type make() {
    table_type t{};
    if (!computes_in_float<P>) return t;
    for (int start = 0, g = 0; start < groups; start = g == start ? g + 1 : g) {
      int worth = 0;
      for (g = start; g < groups; ++g) {
        const schedule_entry& e = schedule::table.entries[g];
        const argument_info* const info = schedule::table.info + e.first_argument;
        bool has_rows = false, others = false, rounded = false;
        for (int a = 0; a < e.group.arguments; ++a) {
          has_rows = has_rows || info[a].rows < 0;
          others = others || (info[a].rows < 0 && domain_of_rows(info[a].rows) != batch::domain);
          // The slots of weights in bfloat16 follow the slots of the model's parameters.
          const memory_slot& slot = schedule::table.slot_of[e.first_argument + a];
          rounded = rounded || (slot.space == memory_space::parameter &&
                                slot.offset >= counts_of<P>.parameters);
        }
        const slicing how = slicing_of(plan_type::grouped.groups[g], e, info);
        const bool product = how == slicing::product_rows;
        // Products of other kinds, and products in bfloat16, choose their algorithm by the number
        // of rows, so dividing the rows could change the results.
        const bool other_product =
            product && (rounded || plan_type::grouped.groups[g].head != fusion_anchor::gemm);
        if (others || other_product || (has_rows && !product && how != slicing::rows)) break;
        t.groups[g].before = !has_rows;
        t.groups[g].product = product;
        worth += has_rows ? 1 : 0;
      }
      if (worth < least_groups || (start > 0 && tiles::moves_over_others(start, g))) continue;
      t.groups[start].end = g;
      t.any = true;
      for (int i = start; i < g; ++i) {
        const group_code code = plan_type::code.groups[i];
        for (int a = code.arguments; a < code.arguments + code.argument_count; ++a)
          t.is_local[a] =
              tiles::is_of_batch(a) && tiles::is_local(plan_type::code.arguments[a], start, g);
      }
    }
    return t;
  }
  static constexpr table_type table = make();
  static constexpr detail::ranged_schedule view = {
      {&schedule::program, schedule::table.entries, schedule::table.info, schedule::table.slot_of,
       table.is_local},
      table.groups,
      plan_type::grouped.groups,
      plan_type::memory.arena_width[batch::domain]};
};

}}}  // namespace lamina::engine::cpu
