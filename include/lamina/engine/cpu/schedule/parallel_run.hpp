// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/schedule/parallel_run.hpp - executes one run of a schedule on several threads.
// Where rows do not depend on each other, each thread runs a whole sequence of groups on ranges of
// rows (row_ranges.hpp). All other groups run one after another: if a group is large enough, each
// thread computes some of its rows or elements; otherwise one thread runs it.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <lamina/core/arrays/owned_array.hpp>
#include <lamina/core/threads/worker_pool.hpp>
#include <lamina/engine/cpu/schedule/group_slicing.hpp>
#include <lamina/engine/cpu/schedule/machine.hpp>
#include <lamina/engine/cpu/schedule/row_ranges.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

namespace detail {

/// A barrier for the threads that execute a schedule together.
class meeting {
 public:
  explicit meeting(int threads) : threads_(threads) {}

  /// Waits until all threads have called wait(). Returns false if one of the threads has failed and
  /// will not call it.
  bool wait() {
    const unsigned phase = __atomic_load_n(&phase_, __ATOMIC_ACQUIRE);
    if (__atomic_add_fetch(&here_, 1, __ATOMIC_ACQ_REL) == threads_) {
      __atomic_store_n(&here_, 0, __ATOMIC_RELAXED);
      __atomic_store_n(&phase_, phase + 1, __ATOMIC_RELEASE);
      return true;
    }
    for (int i = 0; __atomic_load_n(&phase_, __ATOMIC_ACQUIRE) == phase; ++i) {
      if (__atomic_load_n(&failed_, __ATOMIC_ACQUIRE)) return false;
      threading::wait_step(i & 0xffff);
    }
    return true;
  }
  /// The sums of the parts of an array that all threads sum together.
  double sums[shared_sums::parts];

  /// Returns the index of the next range of rows that no thread has taken yet, for the n-th
  /// sequence of groups. All threads wait for each other between two sequences.
  int take_range(int n) { return __atomic_fetch_add(&taken_[n & 1], 1, __ATOMIC_RELAXED); }
  /// Prepares take_range() for the sequence after the n-th; only one thread may call it.
  void reset_ranges(int n) { __atomic_store_n(&taken_[(n + 1) & 1], 0, __ATOMIC_RELAXED); }

  void fail() { __atomic_store_n(&failed_, true, __ATOMIC_RELEASE); }

 private:
  const int threads_;
  int here_ = 0;
  unsigned phase_ = 0;
  bool failed_ = false;
  int taken_[2] = {};
};

/// A schedule as plain data, for code that is compiled once for all programs.
struct schedule_view {
  const program_view* program;
  const schedule_entry* entries;
  const argument_info* info;
  const slicing* slices;
  const ranged_schedule* ranges;
  int groups;
};

/// The number of parts into which a group is divided for a mini-batch of `batch_rows` rows. It is 1
/// if the group is so small that the two barriers would cost more than the division saves.
inline int parts_of(slicing how, const group_info& g, const argument_info* info, int batch_rows,
                    int threads) {
  std::int64_t elements = 0;
  for (int a = 0; a < g.arguments; ++a) {
    const std::int64_t rows =
        info[a].rows >= 0 ? 1 : batch_rows * lamina::parts_of_rows(info[a].rows);
    elements = (std::max)(elements, rows * info[a].columns);
  }
  if (how == slicing::none || elements < 1 << 14) return 1;
  if (how == slicing::elements || how == slicing::sums) return threads;
  const int in_row = lamina::parts_of_rows(g.rows);
  const int least = how == slicing::rows ? 1 : (4 * tile_rows + in_row - 1) / in_row;
  return std::clamp(batch_rows / least, 1, threads);
}

/// Runs the sequence of groups that starts with group `begin` on one range of rows after the other,
/// until no range is left.
LAMINA_NOINLINE inline void walk_ranges(const ranged_schedule& s, int begin, int sequence,
                                        const ranges_of_rows& ranges, meeting& meet,
                                        unsigned long long given, float* const* arguments,
                                        const run_context& whole, run_context part, int* rows,
                                        std::int64_t* first_rows, float** own,
                                        range_memory& memory) {
  if (ranges.longest() > memory.rows) {
    memory.rows = 0;
    memory.arena.resize(static_cast<std::size_t>(ranges.longest()) *
                        static_cast<std::size_t>(s.width));
    memory.rows = ranges.longest();
  }
  if (whole.filters != nullptr) part.filters = &memory.filters;
  for (int r; (r = meet.take_range(sequence)) < ranges.count;) {
    const int first = ranges.first(r);
    rows[batch::domain] = ranges.size(r);
    first_rows[batch::domain] = whole.first_row[batch::domain] + first;
    for (int g = begin; g < s.groups[begin].end; ++g)
      if ((s.entries[g].feeds & ~given) == 0 && !s.groups[g].before)
        run_on_rows(s, g, first, memory.arena.data(), memory.rows, arguments, own, part);
  }
}

/// Executes the schedule on thread t: the thread computes its part of each group that is divided.
LAMINA_NOINLINE inline void walk_in_step(const schedule_view& s, int t, int threads, meeting& meet,
                                         unsigned long long given, float* const* arguments,
                                         run_context c, int domains, float** own, int* rows,
                                         std::int64_t* first_rows, range_memory& memory) {
  const int batch_rows = c.rows[batch::domain];
  run_context part = c;
  std::copy_n(c.rows, domains, rows);
  std::copy_n(c.first_row, domains, first_rows);
  part.rows = rows;
  part.first_row = first_rows;
  part.filters = nullptr;  // only one thread at a time may use it
  // `was_sliced`: other threads may still compute values that the next group reads, or read values
  // that the next group overwrites, so a barrier is needed before it.
  bool was_sliced = false, has_run = false;
  int sequence = 0;
  for (int n = 0; n < s.groups; ++n) {
    if (s.ranges->groups[n].end > 0) {
      const ranges_of_rows ranges = ranges_of(*s.ranges, n, given, batch_rows, threads);
      if (ranges.count > 1) {
        const int end = s.ranges->groups[n].end;
        bool prepares = false;
        for (int g = n; g < end; ++g) {
          const schedule_entry& e = s.entries[g];
          if (!s.ranges->groups[g].before || (e.feeds & ~given) != 0) continue;
          if (was_sliced && !meet.wait()) return;
          was_sliced = false;
          prepares = true;
          if (t == 0)
            e.run(*s.program, arguments + e.first_argument, s.info + e.first_argument, e.group, c);
        }
        if ((has_run || prepares) && !meet.wait()) return;
        if (t == 0) meet.reset_ranges(sequence);
        walk_ranges(*s.ranges, n, sequence++, ranges, meet, given, arguments, c, part, rows,
                    first_rows, own, memory);
        std::copy_n(c.rows, domains, rows);
        std::copy_n(c.first_row, domains, first_rows);
        was_sliced = has_run = true;
        n = end - 1;
        continue;
      }
    }
    const schedule_entry& e = s.entries[n];
    if ((e.feeds & ~given) != 0) continue;
    const argument_info* const info = s.info + e.first_argument;
    float* const* const all = arguments + e.first_argument;
    const int parts = parts_of(s.slices[n], e.group, info, batch_rows, threads);
    const bool sliced = parts > 1;
    if ((sliced || was_sliced) && !meet.wait()) return;
    was_sliced = sliced;
    has_run = true;
    if (!sliced) {
      if (t == 0) e.run(*s.program, all, info, e.group, c);
      continue;
    }
    if (s.slices[n] == slicing::sums) {
      const auto sum = [&](int from, int to) {
        run_context of_sum = c;
        of_sum.sums = {meet.sums, from, to};
        e.run(*s.program, all, info, e.group, of_sum);
      };
      const int from = shared_sums::parts * t / threads;
      const int to = shared_sums::parts * (t + 1) / threads;
      if (from < to) sum(from, to);
      if (!meet.wait()) return;
      if (t == 0) sum(0, 0);
      continue;
    }
    if (t >= parts) continue;
    group_info g = e.group;
    const auto begin_of = [&](std::int64_t all_of, int of) {
      return static_cast<int>(all_of * of / parts);
    };
    if (s.slices[n] == slicing::elements) {
      const int lines = padded(g.columns) / alignment_floats;
      const int begin = begin_of(lines, t) * alignment_floats;
      for (int a = 0; a < g.arguments; ++a)
        own[a] = all[a] == nullptr || info[a].columns != g.columns
                     ? all[a]
                     : all[a] + begin * (size_of(info[a].type) / 4);
      g.columns = (std::min)(g.columns, begin_of(lines, t + 1) * alignment_floats) - begin;
      e.run(*s.program, own, info, g, part);
      continue;
    }
    const int first = begin_of(batch_rows, t);
    rows[batch::domain] = begin_of(batch_rows, t + 1) - first;
    first_rows[batch::domain] = c.first_row[batch::domain] + first;
    for (int a = 0; a < g.arguments; ++a) {
      own[a] = all[a];
      if (all[a] == nullptr || domain_of_rows(info[a].rows) != batch::domain) continue;
      const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(lamina::parts_of_rows(info[a].rows)) *
                                 info[a].stride * size_of(info[a].type);
      own[a] = reinterpret_cast<float*>(reinterpret_cast<char*>(all[a]) + first * row);
    }
    e.run(*s.program, own, info, g, part);
  }
}

}  // namespace detail

/// Makes a machine of program P run on several threads; P must have neither loops nor branches. The
/// results equal the results of one thread, bit for bit.
template <class P>
class parallel_run {
 public:
  using schedule = schedule_table<P>;
  using plan_type = plan<P>;

  /// From now on, machine `m` runs on the threads of `pool`. The machine object may be moved later;
  /// this object may not, because the machine stores its address.
  LAMINA_COLD parallel_run(machine<P>& m, worker_pool& pool) : pool_(pool) {
    if (pool.size() == 1) return;
    scratch_ = owned_array<aligned_buffer>(static_cast<std::size_t>(pool.size()));
    memory_ = owned_array<detail::range_memory>(static_cast<std::size_t>(pool.size()));
    m.run_by({this, &run});
  }
  parallel_run(const parallel_run&) = delete;
  parallel_run& operator=(const parallel_run&) = delete;

 private:
  struct slice_table {
    slicing of[bound(plan_type::groups)];
    int most_arguments;
  };
  static constexpr slice_table make() {
    slice_table t{};
    for (int g = 0; g < plan_type::groups; ++g) {
      const schedule_entry& e = schedule::table.entries[g];
      t.of[g] =
          slicing_of(plan_type::grouped.groups[g], e, schedule::table.info + e.first_argument);
      t.most_arguments = (std::max)(t.most_arguments, e.group.arguments);
    }
    return t;
  }
  static constexpr slice_table slices = make();

  static void run(void* self, machine<P>& of, unsigned long long given, std::uint64_t seed,
                  std::uint64_t step) {
    static_cast<parallel_run*>(self)->run(of, given, seed, step);
  }
  LAMINA_NOINLINE void run(machine<P>& of, unsigned long long given, std::uint64_t seed,
                           std::uint64_t step) {
    auto& memory = of.memory();
    const int threads = pool_.size();
    for (int t = 1; t < threads; ++t)
      if (scratch_[static_cast<std::size_t>(t)].size() < memory.scratch_floats())
        scratch_[static_cast<std::size_t>(t)].resize(memory.scratch_floats());
    const detail::schedule_view s{&schedule::program, schedule::table.entries, schedule::table.info,
                                  slices.of,          &ranged_groups<P>::view, schedule::groups};
    detail::meeting meet(threads);
    pool_.run([&](int t) {
      run_context c = memory.context(seed, step, nullptr);
      if (t > 0) c.scratch = scratch_[static_cast<std::size_t>(t)].data();
      float* own[bound(slices.most_arguments)];
      int rows[machine<P>::domains];
      std::int64_t first_rows[machine<P>::domains];
      LAMINA_TRY {
        detail::walk_in_step(s, t, threads, meet, given, memory.arguments(), c, machine<P>::domains,
                             own, rows, first_rows, memory_[static_cast<std::size_t>(t)]);
      }
      LAMINA_CATCH_ALL {
        meet.fail();
        LAMINA_RETHROW;
      }
    });
  }

  worker_pool& pool_;
  owned_array<aligned_buffer> scratch_;  // for all threads but the first
  owned_array<detail::range_memory> memory_;
};

}}}  // namespace lamina::engine::cpu
