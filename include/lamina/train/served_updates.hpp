// SPDX-License-Identifier: Apache-2.0
// lamina/train/served_updates.hpp - updates on the CPU with parameter servers: on a server, and of
// asynchronous trainers.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <lamina/train/cost_rows.hpp>
#include <lamina/train/host_updates.hpp>
#include <lamina/train/shared_arrays.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Extends host_updates for a process that is a parameter server, or a trainer with parameter
/// servers.
template <program_type P, optimizer::optimizer_type Opt>
class served_updates : public host_updates<P, Opt> {
  using base = host_updates<P, Opt>;

 public:
  using typename base::parts_type, typename base::real, typename base::rows_update,
      typename base::traits;

  /// In an asynchronous training, synchronises the end of a pass with the other trainers: sets
  /// `stops` to whether any of them stops, and combines `means` over all. `self` is this trainer.
  /// `samples` is a checksum of the pass. Returns whether each trainer reads its own mini-batches.
  template <class Trainer, class Means>
  LAMINA_COLD bool join_pass(Trainer& self, Means& means, bool& stops, std::uint64_t samples) {
    if (!shared_ || !shared_->is_asynchronous()) return false;
    shared_->end_pass();
    double stopping = stops;
    shared_->add_up(&stopping, 1);
    stops = stopping > 0;
    if (!stops && !reads_shard_) shared_->require_samples(samples, false);
    means.join(self, *shared_, reads_shard_ ? 1 : shared_->part().count);
    return reads_shard_;
  }
  /// In a distributed training, gathers the accumulators of all shards on rank 0, which writes
  /// files. All processes must call it.
  LAMINA_COLD void collect_state() {
    if (shared_ && !collected_) {
      shared_->collect(base::accumulator_pointers_.get(), base::states);
      steps_ = shared_->updates(steps_);
    }
    collected_ = true;
  }
  /// Ends a pass. If parameter servers hold the state, collects it; otherwise collect_state()
  /// collects it when it is needed.
  LAMINA_COLD void end_pass() {
    if (shared_ && !shared_->divides_states()) collect_state();
  }
  /// Whether a mini-batch of the training consists of the mini-batches of all processes.
  bool joins_shares() const { return shared_ && reads_shard_ && !shared_->is_asynchronous(); }
  /// On a parameter server, serves the trainers until they have ended, once, and returns true.
  /// Returns false on a trainer.
  LAMINA_COLD bool serve() {
    if (!shared_) return false;
    if (shared_->is_server()) {
      if (!begun_) serve_shared();
      return true;
    }
    // From now on, servers send the rows of divided tables that an event handler reads.
    if constexpr (has_distributed_tables<P>) begin_shared();
    return false;
  }

 protected:
  using base::any_rows, base::begin_shared, base::begun_, base::collected_, base::parts_,
      base::pool_, base::scalar_, base::reads_shard_, base::set_numbers, base::shared_,
      base::shared_step, base::steps_, base::told_scales_, base::update_parameter,
      base::update_shared, base::used_, base::whole_of;
  using base::base;

  /// Returns the part of a mini-batch for this process: all of it, unless trainers are
  /// asynchronous.
  LAMINA_COLD batch_view<P> own_part(const batch_view<P>& batch) const {
    const shared_arrays::own_part& own = shared_->part();
    if (reads_shard_ || !shared_->is_asynchronous()) return batch;
    return batch.part(first_of_part(batch, own.number, own.count),
                      first_of_part(batch, own.number + 1, own.count));
  }

 private:
  /// On a parameter server: serves the trainers.
  LAMINA_COLD void serve_shared() {
    begin_shared();
    base* const self = this;
    shared_->serve({self, &update_shared, &update_served_rows, &begin_served}, pool_);
  }
  /// On a parameter server: updates rows of a table.
  LAMINA_COLD static bool update_served_rows([[maybe_unused]] void* self, [[maybe_unused]] int i,
                                             [[maybe_unused]] int first, [[maybe_unused]] int end,
                                             [[maybe_unused]] void* gradient) {
    if constexpr (any_rows) {
      served_updates& t = static_cast<served_updates&>(*static_cast<base*>(self));
      engine::cpu::operand rows = whole_of(i);
      if (end >= 0) rows.rows = end - first;
      auto& given = *static_cast<typename parts_type::rows_type*>(gradient);
      std::swap(*t.parts_->rows(i), given);
      const std::size_t begin =
          static_cast<std::size_t>(first) * static_cast<std::size_t>(rows.stride);
      t.update_parameter(i, begin, rows, nullptr, t.told_scales_);
      std::swap(*t.parts_->rows(i), given);
      real number[rows_update::attributes.size()] = {};
      t.set_numbers(i, 1, number);
      return number[rows_update::lazy_mode] != 0 && number[4] == 0 && number[5] == 0;
    }
    return true;
  }
  /// On a parameter server: begins an update.
  LAMINA_COLD static std::int64_t begin_served(void* self, const update_facts& told) {
    served_updates& t = static_cast<served_updates&>(*static_cast<base*>(self));
    t.told_scales_ = told.scales;
    if (told.scalars != nullptr) {
      std::copy_n(told.scalars, told.count, t.scalar_.data());
    } else {
      Opt now = *t.used_;
      if constexpr (requires { now.learning_rate.factor; })
        now.learning_rate.factor = told.rate_factor;
      t.scalar_ = traits::scalars(now, t.steps_);
    }
    return t.steps_++;
  }
};

}}  // namespace lamina
