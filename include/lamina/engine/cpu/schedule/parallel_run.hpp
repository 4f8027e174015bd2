// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/schedule/parallel_run.hpp - one run of a schedule by several threads that
// execute it in step: each computes a part of the rows, or of the elements, of every group that is
// large enough.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <lamina/core/owned_array.hpp>
#include <lamina/core/worker_pool.hpp>
#include <lamina/engine/cpu/schedule/group_slicing.hpp>
#include <lamina/engine/cpu/schedule/machine.hpp>

namespace lamina::inline LAMINA_ABI::engine::cpu {

namespace detail {

/// A barrier for the threads that walk a schedule.
class meeting {
 public:
  explicit meeting(int threads) : threads_(threads) {}

  /// Waits until all threads have arrived. Returns false if one of them failed and will not arrive.
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
  /// The parts of a sum that all threads compute.
  double sums[shared_sums::parts];

  void fail() { __atomic_store_n(&failed_, true, __ATOMIC_RELEASE); }

 private:
  const int threads_;
  int here_ = 0;
  unsigned phase_ = 0;
  bool failed_ = false;
};

/// A schedule, for code that is compiled once for all programs.
struct schedule_view {
  const program_view* program;
  const schedule_entry* entries;
  const argument_info* info;
  const slicing* slices;
  int groups;
};

/// The number of parts of a group for a batch of `batch_rows` rows: one if the group is too small
/// to be worth two barriers.
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

/// Runs the groups of thread t, each only for this thread's part.
LAMINA_NOINLINE inline void walk_in_step(const schedule_view& s, int t, int threads, meeting& meet,
                                         unsigned long long given, float* const* arguments,
                                         run_context c, int domains, float** own, int* rows,
                                         std::int64_t* first_rows) {
  const int batch_rows = c.rows[batch::domain];
  run_context part = c;
  std::copy_n(c.rows, domains, rows);
  std::copy_n(c.first_row, domains, first_rows);
  part.rows = rows;
  part.first_row = first_rows;
  part.filters = nullptr;  // of one thread at a time
  bool was_sliced = false;
  for (int n = 0; n < s.groups; ++n) {
    const schedule_entry& e = s.entries[n];
    if ((e.feeds & ~given) != 0) continue;
    const argument_info* const info = s.info + e.first_argument;
    float* const* const all = arguments + e.first_argument;
    const int parts = parts_of(s.slices[n], e.group, info, batch_rows, threads);
    const bool sliced = parts > 1;
    if ((sliced || was_sliced) && !meet.wait()) return;
    was_sliced = sliced;
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
    const auto share = [&](std::int64_t all_of, int of) {
      return static_cast<int>(all_of * of / parts);
    };
    if (s.slices[n] == slicing::elements) {
      const int lines = padded(g.columns) / alignment_floats;
      const int begin = share(lines, t) * alignment_floats;
      for (int a = 0; a < g.arguments; ++a)
        own[a] = all[a] == nullptr || info[a].columns != g.columns
                     ? all[a]
                     : all[a] + begin * (size_of(info[a].type) / 4);
      g.columns = (std::min)(g.columns, share(lines, t + 1) * alignment_floats) - begin;
      e.run(*s.program, own, info, g, part);
      continue;
    }
    const int first = share(batch_rows, t);
    rows[batch::domain] = share(batch_rows, t + 1) - first;
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

/// The threads of a machine of program P, which has neither loops nor branches. Results are equal,
/// bit for bit, to those of one thread.
template <class P>
class parallel_run {
 public:
  using schedule = schedule_table<P>;
  using plan_type = plan<P>;

  LAMINA_COLD parallel_run(machine<P>& m, worker_pool& pool) : machine_(m), pool_(pool) {
    if (pool.size() == 1) return;
    scratch_ = owned_array<aligned_buffer>(static_cast<std::size_t>(pool.size()));
    machine_.run_by({this, &run});
  }
  parallel_run(const parallel_run&) = delete;
  parallel_run& operator=(const parallel_run&) = delete;
  ~parallel_run() { machine_.run_by({nullptr, nullptr}); }

 private:
  struct slice_table {
    slicing of[at_least_one(plan_type::groups)];
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

  static void run(void* self, unsigned long long given, std::uint64_t seed, std::uint64_t step) {
    static_cast<parallel_run*>(self)->run(given, seed, step);
  }
  LAMINA_NOINLINE void run(unsigned long long given, std::uint64_t seed, std::uint64_t step) {
    auto& memory = machine_.memory();
    const int threads = pool_.size();
    for (int t = 1; t < threads; ++t)
      if (scratch_[static_cast<std::size_t>(t)].size() < memory.scratch_floats())
        scratch_[static_cast<std::size_t>(t)].resize(memory.scratch_floats());
    const detail::schedule_view s{&schedule::program, schedule::table.entries, schedule::table.info,
                                  slices.of, schedule::groups};
    detail::meeting meet(threads);
    pool_.run([&](int t) {
      run_context c = memory.context(seed, step, nullptr);
      if (t > 0) c.scratch = scratch_[static_cast<std::size_t>(t)].data();
      float* own[at_least_one(slices.most_arguments)];
      int rows[machine<P>::domains];
      std::int64_t first_rows[machine<P>::domains];
      try {
        detail::walk_in_step(s, t, threads, meet, given, memory.arguments(), c, machine<P>::domains,
                             own, rows, first_rows);
      } catch (...) {
        meet.fail();
        throw;
      }
    });
  }

  machine<P>& machine_;
  worker_pool& pool_;
  owned_array<aligned_buffer> scratch_;  // of all threads but the first
};

}  // namespace lamina::inline LAMINA_ABI::engine::cpu
