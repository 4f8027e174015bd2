// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/schedule/timed_machine.hpp - a machine that measures the time of each group.
#pragma once

#include <lamina/core/config.hpp>

#include <chrono>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <lamina/engine/cpu/schedule/machine.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// The start and end of a group's kernel, in nanoseconds since the construction of the clock.
struct group_time {
  int group;
  std::int64_t begin, end;
  int thread = 0;  // in training: the thread that ran it
};

/// Records the start and end of each group in many runs, in the order in which the groups ended.
class group_clock {
 public:
  static std::int64_t now() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
  std::int64_t since_start() const { return now() - start_; }
  /// The time of the clock's construction.
  std::int64_t start() const { return start_; }
  /// Calls a kernel and records its time.
  template <class Kernel>
  void time(int group, Kernel&& kernel) {
    const std::int64_t begin = since_start();
    kernel();
    times_.push_back({group, begin, since_start()});
  }
  const std::vector<group_time>& times() const { return times_; }
  void clear() { times_.clear(); }

 private:
  std::int64_t start_ = now();
  std::vector<group_time> times_;
};

/// The machine of a program that records the time of each group in a clock. It computes each group
/// for the whole mini-batch before the next group, without tiles of rows.
template <class P>
class timed_machine : public machine<P> {
  using base = machine<P>;
  using memory_type = typename base::memory_type;
  using schedule = typename base::schedule;

  /// The clock of the running machine. It is a static variable because blocks run kernels by a
  /// static function.
  inline static thread_local group_clock* running = nullptr;
  struct engine : block_engine<P> {
    static void run_group(memory_type& m, int group, const run_context& c) {
      running->time(group, [&] { block_engine<P>::run_group(m, group, c); });
    }
  };

 public:
  using base::base;

  void run(unsigned long long given, std::uint64_t seed, std::uint64_t step) {
    memory_type& memory = this->memory();
    memory.begin_run();
    group_clock* const outer = running;
    running = &clock_;
    try {
      if constexpr (base::has_blocks) {
        blocks_.run(memory, given, seed, step);
      } else {
        const run_context c = memory.context(seed, step, nullptr);
        for (int g = 0; g < schedule::groups; ++g)
          if ((schedule::table.entries[g].feeds & ~given) == 0) engine::run_group(memory, g, c);
      }
    } catch (...) {
      running = outer;
      throw;
    }
    running = outer;
  }
  group_clock& clock() { return clock_; }

 private:
  group_clock clock_;
  [[no_unique_address]] std::conditional_t<
      base::has_blocks, lamina::engine::block_runner<P, engine>, detail::no_blocks>
      blocks_;
};

}}}  // namespace lamina::engine::cpu
