// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/schedule/row_tiles.hpp - runs sequences of consecutive groups on a large
// mini-batch one tile of rows at a time.
//
// If a perceptron with narrow layers processes a hundred thousand rows layer by layer, each layer
// writes its activations to memory, and the next layer reads them from memory. But rows do not
// depend on each other. So all layers and their gradients can process one tile of rows, whose
// activations fit in the second-level cache, and then the next tile. Arrays that only these groups
// use have memory for one tile; sums over the rows, such as gradients of weights, continue from
// tile to tile.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <lamina/engine/common/aligned_buffer.hpp>
#include <lamina/engine/cpu/gemm/gemm_block.hpp>
#include <lamina/engine/cpu/schedule/group_slicing.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// The role of a group in a run. In this file, a run is a sequence of consecutive groups that
/// process the mini-batch tile by tile.
enum class tiling : std::uint8_t {
  none,   // cannot be part of a run
  rows,   // computes each row independently of all others
  sums,   // sums over the rows
  before  // has no rows: executed once, with the first tile
};

namespace detail {

/// The number of floats of activations, and also of partial sums, that stay in the second-level
/// cache: 256 KiB each.
inline constexpr int tile_floats = 64 * 1024;
/// The least number of tiles; a mini-batch that would fill fewer tiles is not tiled.
inline constexpr int least_tiles = 4;
/// The least number of rows of a tile; with fewer rows, matrix products would be slower.
inline constexpr int least_tiled_rows = 4 * tile_rows;

constexpr int rows_of_tile(int width) {
  return std::clamp(tile_floats / (width > 0 ? width : 1), 1, 1024);
}
/// Sums over rows add this many rows at a time. Tiles begin at multiples of this number, so that
/// results are equal, bit for bit, to results without tiles.
inline constexpr int summed_together = 8;

/// Cuts a mini-batch into nearly equal tiles of at most `rows_of_tile` + `summed_together` rows.
struct tiles_of_rows {
  int rows, count;
  constexpr tiles_of_rows(int batch_rows, int most)
      : rows(batch_rows), count((batch_rows + most - 1) / most) {}
  constexpr int first(int t) const {
    if (t == count) return rows;
    return static_cast<int>(static_cast<std::int64_t>(rows) * t / count) / summed_together *
           summed_together;
  }
  constexpr int size(int t) const { return first(t + 1) - first(t); }
};

/// Whether a product of `rows` rows computes each sum as one chain of additions. Then the sum may
/// be interrupted anywhere and continued with the same result. (Register tiles of few rows use
/// several chains.)
constexpr bool sums_in_order(int rows, int columns) {
  const int least = rows / even_parts(rows, tile_rows).count();
  const int vectors = padded(columns) % panel_width == 0 ? tile_vectors : narrow_width / lanes;
  return chains(least * vectors) == 1;
}

struct tiled_group {
  tiling how;
  int sums;  // offset of its partial sums in tile_memory::sums
  int end;   // end of the run that begins with this group, or 0 if no run begins here
};

/// A schedule in which some groups run on a part of the rows at a time. It is plain data, so that
/// the code that runs it is compiled once for all programs.
struct schedule_of_rows {
  const program_view* program;
  const schedule_entry* entries;
  const argument_info* info;
  const memory_slot* slot_of;
  const bool* is_local;  // for each argument, whether only groups of its run use the array
};

/// A schedule with runs over tiles of rows.
struct tiled_schedule : schedule_of_rows {
  const tiled_group* tiled;
  int groups;
  int width;  // floats per row of all activations
};

/// The memory for one tile: local arrays, and the sums that continue from tile to tile.
struct tile_memory {
  aligned_buffer arena, sums;
  int rows = 0;
};

/// A copy of a run context with its own numbers of rows, for kernels that compute only some rows of
/// a mini-batch.
struct rows_of_run {
  run_context context;
  int* rows;
  std::int64_t* first_rows;
  rows_of_run(const run_context& whole, int domains, int* by_domain, std::int64_t* first_by_domain)
      : context(whole), rows(by_domain), first_rows(first_by_domain) {
    std::copy_n(whole.rows, domains, rows);
    std::copy_n(whole.first_row, domains, first_rows);
    context.rows = rows;
    context.first_row = first_rows;
  }
};

/// Runs group g of a schedule on rows of the mini-batch: `first` is the first row, and `part` holds
/// the number of rows. Local arguments are in an arena of `arena_rows` rows, all others in the
/// arrays of the whole mini-batch. The function writes the addresses of the arguments to `own`.
LAMINA_INLINE void run_on_rows(const schedule_of_rows& s, int g, int first, float* arena,
                               int arena_rows, float* const* arguments, float** own,
                               const run_context& part) {
  const schedule_entry& e = s.entries[g];
  for (int a = 0; a < e.group.arguments; ++a) {
    const int argument = e.first_argument + a;
    const argument_info& info = s.info[argument];
    own[a] = arguments[argument];
    if (own[a] == nullptr || info.rows >= 0) continue;
    if (s.is_local[argument]) {
      own[a] = arena + static_cast<std::ptrdiff_t>(s.slot_of[argument].offset) * arena_rows;
      continue;
    }
    const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(lamina::parts_of_rows(info.rows)) *
                               info.stride * size_of(info.type);
    own[a] = reinterpret_cast<float*>(reinterpret_cast<char*>(own[a]) + first * row);
  }
  e.run(*s.program, own, s.info + e.first_argument, e.group, part);
}

/// Runs a schedule, tile by tile where the groups allow it. `own` has memory for the arguments of
/// one group; `part` is a copy of the run's context.
#if LAMINA_DEFINES
LAMINA_NOINLINE LAMINA_API void run_tiles(const tiled_schedule& s, tile_memory& memory,
                                          unsigned long long given, float* const* arguments,
                                          const run_context& c, float** own, rows_of_run part) {
  const tiles_of_rows tiles(c.rows[batch::domain], rows_of_tile(s.width));
  const auto run_whole = [&](int g) {
    const schedule_entry& e = s.entries[g];
    e.run(*s.program, arguments + e.first_argument, s.info + e.first_argument, e.group, c);
  };
  const auto runs = [&](int g) { return (s.entries[g].feeds & ~given) == 0; };
  for (int g = 0; g < s.groups;) {
    const int begin = g, end = s.tiled[g].end;
    if (end == 0) {
      if (runs(g)) run_whole(g);
      ++g;
      continue;
    }
    for (int t = 0; t < tiles.count; ++t) {
      const int first = tiles.first(t);
      part.rows[batch::domain] = tiles.size(t);
      part.first_rows[batch::domain] = c.first_row[batch::domain] + first;
      for (g = begin; g < end; ++g) {
        if (!runs(g)) continue;
        const tiled_group& how = s.tiled[g];
        if (how.how == tiling::before) {
          if (t == 0) run_whole(g);
          continue;
        }
        part.context.sums_of_rows = {};
        if (how.how == tiling::sums)
          part.context.sums_of_rows = {memory.sums.data() + how.sums, t > 0, t + 1 == tiles.count};
        run_on_rows(s, g, first, memory.arena.data(), memory.rows, arguments, own, part.context);
      }
    }
  }
}
#else
LAMINA_NOINLINE void run_tiles(const tiled_schedule& s, tile_memory& memory,
                               unsigned long long given, float* const* arguments,
                               const run_context& c, float** own, rows_of_run part);
#endif  // LAMINA_DEFINES

}  // namespace detail

/// Finds the runs of program P that are tiled. P has neither loops nor branches.
template <class P>
struct tiled_groups {
  using schedule = schedule_table<P>;
  using plan_type = plan<P>;
  static constexpr int groups = plan_type::groups;
  static constexpr int width = plan_type::memory.arena_width[batch::domain];
  /// Whether the activations of a row are so narrow that a tile holds enough rows; with few rows
  /// per tile, matrix products would be slow.
  static constexpr bool is_narrow = counts_of<P>.blocks == 1 && counts_of<P>.domains <= 2 &&
                                    detail::rows_of_tile(width) >= detail::least_tiled_rows;

  struct table_type {
    detail::tiled_group tiled[bound(groups)];
    bool is_local[bound(schedule::arguments)];
    int tiled_groups, sums, most_arguments;
  };
  /// The least number of groups with rows in a run: fewer groups pass too little data to each other
  /// to be worth tiling.
  static constexpr int least_groups = 3;

  /// The role that group g may have in a run.
  static constexpr tiling tiling_of(int g) {
    const group_desc& d = plan_type::grouped.groups[g];
    const schedule_entry& e = schedule::table.entries[g];
    const argument_info* const info = schedule::table.info + e.first_argument;
    bool has_rows = false;
    for (int a = 0; a < e.group.arguments; ++a) {
      if (info[a].rows < 0 && domain_of_rows(info[a].rows) != batch::domain) return tiling::none;
      has_rows = has_rows || info[a].rows < 0;
    }
    if (!has_rows) return tiling::before;
    const bool multiplies = d.head == fusion_anchor::gemm_dw;
    if (multiplies || d.head == fusion_anchor::reduce_rows)
      return d.depth < 0 && parts_of_rows(d.depth) == 1 &&
                     (!multiplies || detail::sums_in_order(d.rows, d.columns))
                 ? tiling::sums
                 : tiling::none;
    if (d.head == fusion_anchor::conv || d.head == fusion_anchor::conv_dx) return tiling::none;
    const slicing how = slicing_of(d, e, info);
    return how == slicing::rows || how == slicing::product_rows ? tiling::rows : tiling::none;
  }
  /// The size in floats of a group's partial sums. Column sums are doubles, each of the size of two
  /// floats.
  static constexpr int sums_of(int g) {
    const group_desc& d = plan_type::grouped.groups[g];
    return d.head == fusion_anchor::gemm_dw ? d.rows * padded(d.columns) : 2 * padded(d.columns);
  }
  /// The parameter that changes if a group writes sums to this slot, or -1.
  static constexpr int changed_parameter(const memory_slot& s) {
    return s.space == memory_space::updated || s.space == memory_space::gradient ? s.offset : -1;
  }

  static constexpr table_type make() {
    table_type t{};
    // The parameters (`changed`) and plan variables (`summed`) that sums of the run write. No group
    // of the run may read them, because the sums are complete only after the last tile.
    bool* const changed = new bool[static_cast<unsigned>(counts_of<P>.parameters) + 1]{};
    bool* const summed = new bool[static_cast<unsigned>(plan_type::lowered.count.variables) + 1]{};
    for (int start = 0, g = 0; start < groups; start = g == start ? g + 1 : g) {
      for (int i = 0; i < counts_of<P>.parameters; ++i) changed[i] = false;
      for (int v = 0; v < plan_type::lowered.count.variables; ++v) summed[v] = false;
      int sums = 0, worth = 0;
      bool has_sums = false;
      for (g = start; g < groups; ++g) {
        const tiling how = tiling_of(g);
        if (how == tiling::none || (how == tiling::before && has_sums)) break;
        if (how == tiling::sums && sums + sums_of(g) > detail::tile_floats) break;
        const group_code code = plan_type::code.groups[g];
        bool reads_sums = false;
        for (int a = code.arguments; a < code.arguments + code.argument_count; ++a) {
          const memory_slot& s = schedule::table.slot_of[a];
          const int v = plan_type::code.arguments[a];
          // The slots of weights in bfloat16 follow the slots of the model's parameters; these
          // weights never change.
          if (s.space == memory_space::parameter && s.offset < counts_of<P>.parameters &&
              changed[s.offset])
            reads_sums = true;
          if (v >= 0 && summed[v]) reads_sums = true;
        }
        if (reads_sums) break;
        if (how == tiling::sums) {
          has_sums = true;
          sums += sums_of(g);
          for (int a = code.arguments; a < code.arguments + code.argument_count; ++a) {
            const memory_slot& s = schedule::table.slot_of[a];
            const int v = plan_type::code.arguments[a];
            if (const int i = changed_parameter(s); i >= 0) changed[i] = true;
            if (v >= 0 && schedule::table.info[a].rows >= 0) summed[v] = true;
          }
        }
        worth += how != tiling::before ? 1 : 0;
      }
      if (worth >= least_groups && (start == 0 || !moves_over_others(start, g))) take(t, start, g);
    }
    delete[] changed;
    delete[] summed;
    return t;
  }

  static constexpr void take(table_type& t, int first, int end) {
    t.tiled[first].end = end;
    t.tiled_groups += end - first;
    int sums = 0;
    for (int g = first; g < end; ++g) {
      t.tiled[g].how = tiling_of(g);
      t.tiled[g].sums = sums;
      if (t.tiled[g].how == tiling::sums) sums += sums_of(g);
      const group_code code = plan_type::code.groups[g];
      t.most_arguments = (std::max)(t.most_arguments, code.argument_count);
      for (int a = code.arguments; a < code.arguments + code.argument_count; ++a)
        t.is_local[a] = is_of_batch(a) && is_local(plan_type::code.arguments[a], first, end);
    }
    t.sums = (std::max)(t.sums, sums);
  }
  static constexpr bool is_of_batch(int argument) {
    const memory_slot& s = schedule::table.slot_of[argument];
    return s.space == memory_space::arena && s.domain == batch::domain;
  }
  static constexpr int owner(int v) {
    return plan_type::same.shares(v) ? plan_type::same.of[v] : v;
  }
  static constexpr bool is_made_in(int v, int first, int end) {
    const int g = plan_type::grouped.producer[owner(v)];
    return g >= first && g < end;
  }
  static constexpr bool is_local(int v, int first, int end) {
    return is_made_in(v, first, end) && plan_type::same.last[owner(v)] < end;
  }
  /// Whether an output of the run shares memory with an input of the run whose rows begin at other
  /// addresses. A tile could then overwrite rows of the input that a later tile reads.
  static constexpr bool moves_over_others(int first, int end) {
    // More comparisons would slow down compilation by seconds, so larger programs are not tiled.
    constexpr int most = 1 << 17;
    int compared = 0;
    for (int v = 0; v < plan_type::lowered.count.variables; ++v) {
      const memory_slot& left = plan_type::memory.slot_of[v];
      if (left.space != memory_space::arena || !is_made_in(v, first, end) ||
          is_local(v, first, end))
        continue;
      compared += plan_type::lowered.count.variables;
      if (compared > most) return true;
      for (int u = 0; u < plan_type::lowered.count.variables; ++u) {
        const memory_slot& read = plan_type::memory.slot_of[u];
        if (read.space != memory_space::arena || plan_type::grouped.producer[owner(u)] >= first ||
            plan_type::same.last[owner(u)] < first)
          continue;
        const int width_left = row_width(plan_type::lowered.variables[v]);
        const int width_read = row_width(plan_type::lowered.variables[u]);
        const bool apart =
            left.offset >= read.offset + width_read || read.offset >= left.offset + width_left;
        if (!apart && (left.offset != read.offset || width_left != width_read)) return true;
      }
    }
    return false;
  }

  static constexpr table_type table = make();
  static constexpr detail::tiled_schedule view = {
      {&schedule::program, schedule::table.entries, schedule::table.info, schedule::table.slot_of,
       table.is_local},
      table.tiled,
      groups,
      width};
};

/// Runs the schedule of program P on tiles of rows if the mini-batch is large enough.
template <class P, bool Narrow = tiled_groups<P>::is_narrow>
class row_tiles {
 public:
  static constexpr bool found = tiled_groups<P>::table.tiled_groups > 0;

  /// Prepares for a mini-batch of `rows` rows.
  void bind(int rows) {
    if constexpr (found) {
      constexpr int most = detail::rows_of_tile(tiled::width) + detail::summed_together;
      // A mini-batch with more rows is not tiled: its sums would be one long chain of additions
      // over all tiles, which loses digits.
      const bool applies = rows <= detail::longest_chain &&
                           static_cast<std::int64_t>(rows) * tiled::width >=
                               std::int64_t{detail::least_tiles} * detail::tile_floats;
      applies_ = false;  // stays false if an allocation below throws
      if (applies && memory_.rows != most) {
        memory_.arena.resize(static_cast<std::size_t>(most) * tiled::width);
        memory_.sums.resize(tiled::table.sums);
        memory_.rows = most;
      }
      applies_ = applies;
    }
  }
  bool applies() const { return applies_; }
  void run(unsigned long long given, float* const* arguments, const run_context& c) {
    if constexpr (found) {
      float* own[bound(tiled::table.most_arguments)];
      int rows[bound(domains)];
      std::int64_t first_rows[bound(domains)];
      detail::run_tiles(tiled::view, memory_, given, arguments, c, own,
                        {c, domains, rows, first_rows});
    }
  }

 private:
  // This is a constant because a reference to P::desc in run() would put all of P::desc into the
  // binary.
  static constexpr int domains = counts_of<P>.domains;
  using tiled = tiled_groups<P>;
  detail::tile_memory memory_;
  bool applies_ = false;
};
template <class P>
class row_tiles<P, false> {
 public:
  static constexpr bool found = false;
};

}}}  // namespace lamina::engine::cpu
