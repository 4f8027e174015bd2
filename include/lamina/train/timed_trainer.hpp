// SPDX-License-Identifier: Apache-2.0
// lamina/train/timed_trainer.hpp - trains a model on the CPU and records when each group ran.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/engine/cpu/schedule/timed_machine.hpp>
#include <lamina/model/evaluation/run_result.hpp>
#include <lamina/model/feeding/feeder.hpp>
#include <lamina/model/parameters/initialise_state.hpp>
#include <lamina/optimizer/option_check.hpp>
#include <lamina/plan/external_buffers.hpp>
#include <lamina/train/gradients/required_parts.hpp>
#include <lamina/train/in_process.hpp>
#include <lamina/train/parameter_updates.hpp>
#include <lamina/train/passes/minibatch_check.hpp>
#include <lamina/train/update_constants.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Options of timed_trainer.
struct timed_trainer_options {
  int threads = 1;         // each computes a part of every mini-batch
  std::uint64_t seed = 0;  // seed of dropout and other random operators
};

/// Makes the steps of `trainer`, bit for bit, and records the begin and the end of each group of
/// each thread. Programs that do not name this class have none of its code. Each group computes the
/// whole part of a mini-batch, without tiles of rows. The model must outlive the trainer; the
/// optimizer is copied.
///   lamina::timed_trainer t{model, adam, {.threads = 2}};
///   for (const auto& batch : batches) t.step(batch);
///   std::cout << lamina::profile(t).text();   // <lamina/inspect/profile_steps.hpp>
template <program_type P, optimizer::optimizer_type Opt>
class timed_trainer {
 public:
  using program = training_program<P, Opt>;
  using machine_type = engine::cpu::timed_machine<program>;
  using real = real_of<P>;

  /// The number of groups of the program.
  static constexpr int groups = engine::cpu::machine<program>::schedule::groups;
  /// The work of a thread outside the groups of its machine. Their numbers follow those of the
  /// groups.
  enum class work { sum, norms, update, sum_and_update };

  timed_trainer(model<P>& m, const Opt& opt, const timed_trainer_options& options = {})
      : updates_(opt, m, options.seed),
        threads_(updates_, threads_in(options)),
        clocks_(bound_of(options.threads)) {
    static_assert(detail::is_trainable<P, Opt>());
    optimizer::require_options(opt);
    static_cast<void>(m.memory());  // throws if other processes have rows of its tables
    detail::require_parts<P, program>(options.threads);
    updates_.create_accumulators(nullptr);
    const bool limited = updates_.limits_norms();
    if (options.threads == 1 && !limited) {
      fused_.emplace(updates_.external());
      detail::initialise_state<P>(*fused_);
      return;
    }
    threads_.make_parts();
    if (limited) updates_.make_clips();
  }

  /// Trains on one mini-batch, a range of samples. Returns its cost before the update.
  template <class Batch>
  real step(const Batch& samples) {
    if constexpr (detail::are_samples<P, const Batch>()) feeder_.fill(samples);
    return step(feeder_.view());
  }
  /// Does the same for a mini-batch as arrays.
  real step(const batch_view<P>& batch) {
    if (batch.size() == 0)
      throw error("lamina: timed_trainer: expected a mini-batch with samples, found none");
    const std::int64_t begin = clocks_[0].since_start();
    const real cost = fused_ ? fused_step(batch) : split_step(batch);
    runs_.push_back({static_cast<int>(runs_.size()), begin, clocks_[0].since_start()});
    return cost;
  }

  /// Returns the number of steps so far, and of threads.
  std::int64_t steps() const { return updates_.steps(); }
  int threads() const { return threads_.threads(); }

  /// Whether the groups that compute gradients also run their updates.
  bool fuses_updates() const { return static_cast<bool>(fused_); }
  /// Returns the machine of a thread.
  machine_type& machine(int thread) {
    return fused_ ? *fused_
                  : threads_.parts().machines()[static_cast<std::size_t>(thread)]->machine();
  }
  /// Returns when each step since forget_times() began and ended, in nanoseconds since the
  /// construction of the trainer. The member `group` holds the number of the step, from 0.
  const std::vector<engine::cpu::group_time>& runs() const { return runs_; }
  /// Returns when each group ran in a thread, in the order of time, on the same clock. Numbers from
  /// `groups` on are values of `work`.
  std::vector<engine::cpu::group_time> times(int thread) {
    const engine::cpu::group_clock& of_machine = machine(thread).clock();
    std::vector<engine::cpu::group_time> all;
    const auto append = [&](const engine::cpu::group_clock& from) {
      const std::int64_t later = from.start() - clocks_[0].start();
      for (const engine::cpu::group_time& t : from.times())
        all.push_back({t.group, t.begin + later, t.end + later, thread});
    };
    append(of_machine);
    append(clocks_[static_cast<std::size_t>(thread)]);
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.begin < b.begin; });
    return all;
  }
  /// Discards all recorded times, for example after a first step, which allocates memory.
  void forget_times() {
    for (int t = 0; t < threads(); ++t) {
      machine(t).clock().clear();
      clocks_[static_cast<std::size_t>(t)].clear();
    }
    runs_.clear();
  }

 private:
  static int threads_in(const timed_trainer_options& options) {
    if (options.threads < 1 || options.threads > 256)
      throw error(text() << "lamina: timed_trainer: expected 1 to 256 threads, found "
                         << options.threads);
    return options.threads;
  }
  static std::size_t bound_of(int threads) { return static_cast<std::size_t>(threads); }

  /// Does the same as parameter_updates::fused_step.
  real fused_step(const batch_view<P>& batch) {
    updates_.require_whole();
    machine_type& m = *fused_;
    batch.feed_to(m);
    constexpr auto& where = detail::update_constants_of<program>;
    updates_.begin_update();
    for (int i = 0; i < updates_type::parameters; ++i)
      if (where.first[i] >= 0) updates_.set_numbers(i, 1.0f, m.constants() + where.first[i]);
    try {
      m.run(~0ull, updates_.seed(), updates_.step());
    } catch (...) {
      // A program with loops may have updated something.
      updates_.set_partially_updated(machine_type::has_blocks);
      throw;
    }
    updates_.end_update();
    return detail::number_in<P, P::desc.cost>(m);
  }
  /// Does the same as cpu_trainer::split_step.
  real split_step(const batch_view<P>& batch) {
    const real cost =
        threads_.parts().run(threads_.pool(), batch, batch, updates_.seed(), updates_.step());
    updates_.begin_update();
    if (!updates_.clips()) {
      finish(work::sum_and_update, threads_.sums | threads_.updates, nullptr);
    } else {
      if (threads() > 1) finish(work::sum, threads_.sums, nullptr);
      const float* scale = nullptr;
      timed(0, work::norms, [&] { scale = threads_.limit_norms(); });
      finish(work::update, threads_.updates, scale);
    }
    updates_.end_update();
    return cost;
  }
  void finish(work kind, unsigned what, const float* scale) {
    threads_.pool().run(
        [&](int t) { timed(t, kind, [&] { threads_.finish_gradients(t, what, scale); }); });
  }
  template <class Task>
  void timed(int thread, work kind, Task&& task) {
    clocks_[static_cast<std::size_t>(thread)].time(groups + static_cast<int>(kind), task);
  }

  using updates_type = parameter_updates<P, Opt, machine_type>;

  updates_type updates_;
  in_process<P, Opt, machine_type> threads_;
  feeder<P> feeder_;
  std::vector<engine::cpu::group_clock> clocks_;  // by thread: work outside its machine
  std::vector<engine::cpu::group_time> runs_;
  std::optional<machine_type> fused_;
};

template <program_type P, optimizer::optimizer_type Opt>
timed_trainer(model<P>&, const Opt&, const timed_trainer_options&) -> timed_trainer<P, Opt>;
template <program_type P, optimizer::optimizer_type Opt>
timed_trainer(model<P>&, const Opt&) -> timed_trainer<P, Opt>;

}}  // namespace lamina
