// SPDX-License-Identifier: Apache-2.0
// lamina/train/cpu_trainer.hpp - trains a model on the CPU: one step, with the threads of one
// process or together with other processes.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <lamina/core/arrays/owned_array.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/model/evaluation/metric_sums.hpp>
#include <lamina/model/model.hpp>
#include <lamina/model/refused/refused_operator.hpp>
#include <lamina/model/sharded/row_fetcher.hpp>
#include <lamina/optimizer/training_program.hpp>
#include <lamina/plan/gradient_order.hpp>
#include <lamina/train/checkpoints/program_checksum.hpp>
#include <lamina/train/compared_options.hpp>
#include <lamina/train/gradients/cost_rows.hpp>
#include <lamina/train/gradients/gradient_parts.hpp>
#include <lamina/train/gradients/required_parts.hpp>
#include <lamina/train/in_process.hpp>
#include <lamina/train/number_check.hpp>
#include <lamina/train/parameter_sync.hpp>
#include <lamina/train/parameter_updates.hpp>
#include <lamina/train/trainer_errors.hpp>
#include <lamina/train/update_constants.hpp>
#include <lamina/train/world.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Trains on the CPU. With one thread and no clip by norm, forward, backward and update are one
/// program in which updates are fused into the products that compute their gradients. Otherwise
/// each thread computes the gradients of a part of the mini-batch, and the trainer adds them in a
/// fixed order. So the same seed and number of threads give the same bits.
///
/// It is composed of the optimizer's state (parameter_updates), the threads of this process
/// (in_process) and, in a distributed training, the object that synchronises parameters with other
/// processes (parameter_sync). On a parameter server, that object calls the trainer to update.
template <program_type P, optimizer::optimizer_type Opt>
class cpu_trainer {
 public:
  using updates_type = parameter_updates<P, Opt>;
  using traits = typename updates_type::traits;
  using real = real_of<P>;
  using fused = training_program<P, Opt>;
  using parts_type = typename in_process<P, Opt>::parts_type;
  using metrics = metric_rules<P>;
  static constexpr int states = updates_type::states;
  static constexpr int parameters = updates_type::parameters;
  static_assert(check<detail::accepts_program<engine::cpu::machine<fused>>,
                      typename detail::refused_operator<engine::cpu::machine<fused>>::type>,
                "lamina: a program in double: this computes in float alone");

  /// Continues the training in `kept`, the state that a model keeps, if it belongs to this
  /// optimizer type.
  LAMINA_COLD cpu_trainer(const Opt& opt, model<P>& m, int threads = 1, std::uint64_t seed = 0,
                          training_memory* kept = nullptr)
      : updates_(opt, m, seed), threads_(updates_, threads) {
    optimizer::require_options(opt);
    detail::require_parts<P, fused>(threads);
    updates_.create_accumulators(kept);
    const bool limited = updates_.limits_norms();
    if (threads <= 1 && !limited && m.embedding() == nullptr) {
      fused_.emplace(updates_.external());
      detail::initialise_state<P>(*fused_);
      return;
    }
    threads_.make_parts();
    if (limited) updates_.make_clips();
  }
  cpu_trainer(const cpu_trainer&) = delete;
  cpu_trainer& operator=(const cpu_trainer&) = delete;

  /// Returns the number of updates so far, on which schedules and dropout depend.
  std::int64_t steps() const { return updates_.steps(); }
  model<P>& trained() { return updates_.trained(); }
  const Opt& optimizer() const { return updates_.optimizer(); }
  /// Makes each step read the options of `opt` again, because an event handler may change them. A
  /// clip by norm must be present from the start.
  void follow(const Opt& opt) { updates_.follow(opt); }

  // Options, before the first step.

  /// Throws lamina::error unless the gradients of `accumulate` mini-batches can be accumulated.
  static void require_accumulation(int accumulate) {
    detail::require_accumulation<P, fused>(accumulate);
  }
  /// Makes each step stop at the first NaN, before the model changes.
  LAMINA_COLD void stop_at_nan(const number_check& what) {
    check_ = what, fused_.reset();
    if (!threads_.has_parts()) threads_.make_parts();
    parts().check_numbers(what.infinity);
  }
  /// Joins a distributed training: this process computes its part of each mini-batch, and updates
  /// its shard of the parameters.
  LAMINA_COLD void join_world(world& w, bool reads_shard) {
    if constexpr (has_distributed_tables<P>) require_fitting(w);
    if (w.size() == 1) return;
    detail::require_parts<P, fused>(w.size());
    fused_.reset();
    threads_.make_parts();
    model<P>& m = trained();
    const owned_array<float*> gradients(static_cast<std::size_t>(threads_.threads() * capacity));
    int count = 0;
    for (const auto& part : parts().machines())
      for (int i = 0; i < parameters; ++i) gradients[count++] = part->gradient(i);
    const owned_array<std::size_t> floats(capacity);
    const owned_array<bool> has_rows(capacity);
    const owned_array<int> row_floats(capacity);
    for (int i = 0; i < parameters; ++i) {
      floats[i] = m.is_sharded(i) ? 0 : parameters_in<P>().floats(i);
      const parameter_layout& lies = parameter_table<P>::table.of[i];
      if (parts_type::has_rows(i) && !m.is_sharded(i))
        row_floats[i] =
            lies.panel ? -1 : padded(lies.columns) * static_cast<int>(sizeof(real) / sizeof(float));
      has_rows[i] = parts_type::has_rows(i) && run_time_program<P>::desc.parameters[i].trainable;
    }
    // With a clip by norm each process updates all parameters.
    const bool divides = states > 0 && !updates_.clips();
    sync_ =
        w.make_sync({gradients.get(), m.memory_of_all(), floats.get(), has_rows.get(), parameters,
                     update_operator<Opt>::traits::has_norms, __is_same(real, double),
                     gradient_order<fused>::table.of, threads_.threads(), row_floats.get(),
                     m.embedding(), numbers_of_tables<P>(), divides});
    if (sync_->divides_states()) updates_.use_small_pages();
    reads_shard_ = reads_shard;
    // An asynchronous trainer computes whole mini-batches, even if it reads a shard.
    parts().sync_by(sync_.get(), !check_.nan, reads_shard && !sync_->is_asynchronous());
    if (check_.nan) parts().check_numbers(check_.infinity);
  }
  /// Lets batch_norm use the statistics of the whole mini-batch, over all threads and processes.
  /// Call it after join_world(), with the same world or null.
  LAMINA_COLD void sync_batch_norm(world* w) {
    if constexpr (parts_type::has_statistics) {
      if (w != nullptr && w->trainers() < w->size())
        detail::fail_statistics_with_servers(w->size() - w->trainers());
      syncs_batch_norm_ = true;
      // A single part computes the whole mini-batch.
      if (threads_.has_parts()) parts().sync_batch_norm(w);
    } else {
      static_cast<void>(w);
    }
  }
  /// In a distributed training, compares the checksums of a mini-batch. Throws lamina::error unless
  /// all processes read the same samples or, if each reads its own, different ones.
  LAMINA_COLD void require_samples(std::uint64_t checksum) {
    if (sync_) sync_->require_samples(checksum, reads_shard_);
  }

  // Steps.

  /// Runs one mini-batch and returns the cost before the update.
  real step(const batch_view<P>& batch) {
    detail::require_known_norms(traits::clip(optimizer()), updates_.clips());
    ran_parts_ = !fused_;
    const real cost = fused_ ? updates_.fused_step(*fused_, batch) : split_step(batch);
    return check_.require(trained()), cost;
  }

  /// Computes the gradients of a mini-batch and adds them to those since the last update(), as if
  /// all were one mini-batch. Returns the cost of this mini-batch. `whole` has the rows of all
  /// mini-batches of the update, if they are known.
  real backward(const batch_view<P>& batch, const batch_view<P>* whole = nullptr) {
    detail::require_known_norms(traits::clip(optimizer()), updates_.clips());
    if (!threads_.has_parts()) threads_.make_parts();
    if (sync_) begin_apart(whole != nullptr);
    if (!parts_type::accumulates_one_by_one && parts().pending() > 0 && whole == nullptr)
      detail::fail_second_backward();
    using weights = typename parts_type::part_weight;
    if constexpr (!weights::fits)
      if (parts().pending() > 0 || whole != nullptr)
        detail::fail_several_minibatches(run_time_program<P>::view,
                                         detail::fault_of_cost<P, fused>);
    if constexpr (has_distributed_tables<P>) fetch_rows(batch);
    parts().keep(threads_.pool());
    const batch_view<P> mine = parts().behind(batch);
    batch_view<P> all = batch;  // becomes the mini-batch of all processes
    const real cost = synchronises_shards()
                          ? run_shard(mine, all)
                          : parts().run(threads_.pool(), mine, whole == nullptr ? batch : *whole,
                                        updates_.seed(), updates_.step());
    parts().accumulate(threads_.pool(), all);
    ran_parts_ = true;
    return cost;
  }
  /// Updates the parameters with the accumulated gradients. Throws lamina::error if there are none.
  void update() {
    if (pending() == 0) detail::fail_no_backward();
    parts().restore(threads_.pool());
    parts().forget();
    if (sync_) {
      update_accumulated();
    } else {
      if (parts().machines().size() > 1) threads_.sum();
      threads_.update();
    }
    check_.require(trained());
  }
  /// Updates the parameters with gradients that `combine(parts)` writes to the first machine's
  /// memory.
  template <class Combine>
  void update_with(Combine&& combine) {
    detail::require_known_norms(traits::clip(optimizer()), updates_.clips());
    if (sync_) detail::fail_machines_in_world();
    if (!threads_.has_parts()) threads_.make_parts();
    require_world();
    combine(parts());
    threads_.update();
  }
  /// Discards gradients that wait for update().
  void drop_gradients() {
    if (threads_.has_parts()) parts().forget();
  }
  /// Returns the number of mini-batches whose gradients wait for update().
  int pending() const { return threads_.has_parts() ? threads_.parts().pending() : 0; }

  // Values of the last step.

  /// Returns the sums of a metric of the last step.
  metric_sum sum_of_metric(int i) {
    metric_sum sum;
    if (fused_ && !ran_parts_) {
      metrics::add(sum, *fused_, i);
    } else if (metrics::all.of[i].counts.positive >= 0) {
      metrics::add_counts(sum, parts().machines(), i, [this](double* counts, std::size_t n) {
        if (sync_) sync_->all_reduce_sum(counts, n);
      });
    } else {
      for (std::size_t t = 0; t < parts().machines().size(); ++t)
        if (parts().samples(t) > 0) metrics::add(sum, parts().machines()[t]->machine(), i);
      if (sync_) sync_->all_reduce_sum(sum, metrics::all.of[i].parts.is_sum);
    }
    return sum;
  }
  /// Returns variable V of the last mini-batch, valid until the next one. With several threads,
  /// their rows are copied one after the other, in the order of the samples.
  template <int V>
  auto activation() {
    if (fused_ && !ran_parts_) return activation_view<fused, V>(*fused_);
    return parts().template activation<V>();
  }
  /// Returns a metric of the last step: the mean over the rows that it is computed from.
  double metric(int i) { return metrics::value(sum_of_metric(i), i); }

  // Passes.

  /// Begins a pass: metrics that cover a whole pass restart from zero.
  void begin_pass() {
    if (fused_) metrics::begin_pass(*fused_);
    if (!threads_.has_parts()) return;
    for (auto& part : parts().machines()) metrics::begin_pass(part->machine());
  }
  /// In an asynchronous training, synchronises the end of a pass with the other trainers: sets
  /// `stops` to whether any of them stops, and combines `means` over all. `samples` is a checksum
  /// of the pass. Returns whether each trainer reads its own mini-batches.
  template <class Means>
  LAMINA_COLD bool sync_pass(Means& means, bool& stops, std::uint64_t samples) {
    if (!sync_ || !sync_->is_asynchronous()) return false;
    sync_->end_pass();
    double stopping = stops;
    sync_->all_reduce_sum(&stopping, 1);
    stops = stopping > 0;
    if (!stops && !reads_shard_) sync_->require_samples(samples, false);
    means.all_reduce(*this, *sync_, reads_shard_ ? 1 : sync_->part().count);
    return reads_shard_;
  }
  /// Ends a pass. If parameter servers hold the state, gathers it; otherwise gather_state()
  /// gathers it when it is needed.
  LAMINA_COLD void end_pass() {
    if (sync_ && !sync_->divides_states()) gather_state();
  }
  /// Whether a mini-batch of the training consists of the mini-batches of all processes.
  bool synchronises_shards() const { return sync_ && reads_shard_ && !sync_->is_asynchronous(); }
  /// Returns false on a trainer. On a parameter server, the first call serves the trainers until
  /// they have ended, and later calls do nothing; returns true.
  LAMINA_COLD bool serve() {
    if (!sync_) return false;
    if (sync_->is_server()) {
      if (!begun_) {
        begin_sync();
        sync_->serve({this, &update_range, &update_served_rows, &begin_served}, threads_.pool());
      }
      return true;
    }
    // From now on, servers send the rows of sharded tables that an event handler reads.
    if constexpr (has_distributed_tables<P>) begin_sync();
    return false;
  }

  // The state, for files and for the next training.

  /// In a distributed training, gathers the accumulators of all shards on rank 0, which writes
  /// files. All processes must call it.
  LAMINA_COLD void gather_state() {
    if (sync_ && !has_gathered_)
      updates_.set_steps(sync_->gather_states(updates_.accumulators(), states, steps()));
    has_gathered_ = true;
  }
  /// Sets the step count after values and accumulators were loaded.
  void set_steps(std::int64_t n) {
    drop_gradients();
    updates_.reset(n);
    begun_ = false;
    has_gathered_ = true;
  }
  /// Returns the accumulators in the form for files, named "fc_0.w_0_moment1_0".
  stored_arrays arrays() const { return updates_.arrays(); }
  /// Returns the parameters (false) or accumulators (true) in the form for files, null for tables
  /// that are divided over processes; and a list of both, parameters first.
  LAMINA_COLD stored_arrays arrays_but_tables(bool accumulators) {
    const auto& tables = trained().tables();
    stored_arrays all =
        accumulators ? arrays() : parameters_for_files<P>(trained().memory_of_all());
    owned_array<float*>& kept = but_tables_[accumulators ? 1 : 0];
    kept = tables.without_tables(all.array, all.of_each);
    all.array = kept.get();
    return all;
  }
  LAMINA_COLD std::vector<embedding_array> embedding_arrays() const
      requires(has_distributed_tables<P>) {
    std::vector<embedding_array> all;
    model<P>& m = updates_.trained();
    const stored_arrays values = parameters_for_files<P>(m.memory_of_all());
    m.tables().append_to(all, values, values.array);
    m.tables().append_to(all, arrays(), arrays().array);
    return all;
  }
  /// Moves the state into a model's training memory. This trainer cannot run afterwards. If a step
  /// has failed in the middle of its updates, no state is kept.
  LAMINA_COLD void leave(training_memory& to, int passes) {
    if (has_gathered_)
      updates_.leave(to, passes);
    else
      to.forget();
  }

 private:
  static constexpr int capacity = at_least_one(parameters);
  parts_type& parts() { return threads_.parts(); }

  // A step with several threads, or with a clip by norm.

  LAMINA_NOINLINE real split_step(const batch_view<P>& batch) {
    if (sync_) {
      begin_sync();
      const batch_view<P> own = own_part(batch);
      if constexpr (has_distributed_tables<P>) fetch_rows(own);
      return shared_step(own);
    }
    require_world();
    const real cost = parts().run(threads_.pool(), batch, batch, updates_.seed(), updates_.step());
    threads_.sum_and_update();
    return cost;
  }

  // A step of several processes.

  /// Before the first step of a distributed training: checks that all processes have the same
  /// program, optimizer, seed, threads and steps, and copies the parameters of rank 0.
  LAMINA_COLD void begin_sync() {
    updates_.require_whole();
    if (begun_) return;
    sync_->describe({&options_of, this});
    sync_->begin({program_checksum<P>, updates_.seed(), steps(), threads_.threads(),
                  syncs_batch_norm_ ? 1 : 0},
                 updates_.accumulators(), states);
    begun_ = true;
    updates_.set_part(false);
    release_others();
  }
  /// Runs one step together with all processes. sync_ decides what they exchange during the
  /// computation.
  LAMINA_COLD real shared_step(const batch_view<P>& batch) {
    begin_sync();
    release_others();
    updates_.begin_update();
    sync_->use(checksum_of_update(optimizer(), updates_.scalars()));
    const bool asynchronous = sync_->is_asynchronous();
    real cost;
    LAMINA_TRY {
      parts().update_by(updates_.clips() ? nullptr : &update_range, this);
      cost = reads_shard_ && !asynchronous
                 ? run_shard(batch)
                 : parts().run(threads_.pool(), batch, batch, own_seed(), updates_.step());
      reduce_gradients();
    }
    LAMINA_CATCH_ALL {
      updates_.set_partially_updated(sync_->drop_step());
      LAMINA_RETHROW;
    }
    finish_update();
    return cost;
  }
  /// Begins one of several mini-batches per update, in a distributed training. `ahead`: this
  /// process knows the rows of all of them.
  LAMINA_COLD void begin_apart(bool ahead) {
    if (sync_->is_asynchronous()) detail::fail_apart_in_world();
    if (ahead && reads_shard_) detail::fail_shards_ahead();
    begin_sync();
    sync_->use(checksum_of_update(optimizer(), traits::scalars(optimizer(), steps())));
  }
  /// Updates with the accumulated gradients of several mini-batches, together with all processes.
  LAMINA_COLD void update_accumulated() {
    release_others();
    updates_.begin_update();
    LAMINA_TRY { reduce_gradients(); }
    LAMINA_CATCH_ALL {
      updates_.set_partially_updated(sync_->drop_step());
      LAMINA_RETHROW;
    }
    finish_update();
  }
  /// Returns the part of a mini-batch for this process: all of it, unless trainers are
  /// asynchronous.
  LAMINA_COLD batch_view<P> own_part(const batch_view<P>& batch) const {
    const parameter_sync::own_part& own = sync_->part();
    if (reads_shard_ || !sync_->is_asynchronous()) return batch;
    return batch.part(first_of_part(batch, own.number, own.count),
                      first_of_part(batch, own.number + 1, own.count));
  }
  /// Returns the seed of this process: asynchronous trainers draw different random numbers.
  std::uint64_t own_seed() const {
    return reads_shard_ ? updates_.seed() + sync_->part().seed : updates_.seed();
  }
  /// Runs this process's shard of a mini-batch. Its rows draw the same random numbers as in a
  /// mini-batch of all shards.
  LAMINA_COLD real run_shard(batch_view<P> mine) {
    batch_view<P> whole;
    return run_shard(mine, whole);
  }
  /// Does the same, and sets `whole` to the numbers of rows of all shards.
  LAMINA_COLD real run_shard(batch_view<P> mine, batch_view<P>& whole) {
    whole = mine;
    detail::gather_rows<P>(*sync_, mine, whole);
    return parts().run(threads_.pool(), mine, whole, updates_.seed(), updates_.step());
  }
  /// Sums the gradients over threads and processes.
  void reduce_gradients() {
    if (!sync_->sums_threads()) threads_.sum();
    parts().reduce(threads_.pool());
  }
  /// Updates the parameters with these sums, and sends them to all processes.
  LAMINA_COLD void finish_update() {
    const bool asynchronous = sync_->is_asynchronous();
    has_gathered_ = !asynchronous && (updates_.clips() || states == 0);
    updates_.set_partially_updated(true);
    if (updates_.clips() && !asynchronous) {
      sync_->gather_sums();
      threads_.update();
      if constexpr (has_distributed_tables<P>)
        sync_->update_tables(
            {updates_.scalars().data(), traits::scalar_count, 1, updates_.scales()});
    } else {
      const update_facts facts{updates_.scalars().data(), traits::scalar_count,
                               rate_factor(optimizer()),
                               updates_.clips() ? threads_.limit_norms() : nullptr};
      sync_->update(facts, &update_range, this, threads_.pool());
      updates_.end_update();
    }
    updates_.set_partially_updated(false);
  }
  /// Releases the memory of accumulators that other processes update, after the first begin and
  /// after each gather.
  void release_others() {
    if (!has_gathered_ || !sync_->divides_states()) return;
    has_gathered_ = false;
    updates_.set_part(sync_->rank() > 0);
    sync_->release_others(updates_.accumulators(), states);
  }
  /// Lists the options that must be equal in all processes.
  LAMINA_COLD static std::string options_of(const void* self) {
    const cpu_trainer& t = *static_cast<const cpu_trainer*>(self);
    return compared_options<P>(t.optimizer(), t.steps());
  }
  static float rate_factor([[maybe_unused]] const Opt& opt) {
    if constexpr (requires { opt.learning_rate.factor; }) return opt.learning_rate.factor;
    return 1;
  }
  /// Updates a range of a parameter, in floats, with the sum over all processes.
  LAMINA_COLD static void update_range(void* self, int i, std::size_t first, std::size_t count,
                                       float* gradient) {
    cpu_trainer& t = *static_cast<cpu_trainer*>(self);
    if (!run_time_program<P>::desc.parameters[i].trainable) return;
    constexpr std::size_t wide = sizeof(real) / sizeof(float);
    t.threads_.update_parameter(i, first / wide,
                                updates_type::updates_whole(i)
                                    ? updates_type::whole_of(i)
                                    : updates_type::range_of(static_cast<int>(count / wide)),
                                engine::numbers_at<real>(gradient), t.told_scales_);
  }

  // A parameter server.

  /// Begins an update.
  LAMINA_COLD static std::int64_t begin_served(void* self, const update_facts& told) {
    cpu_trainer& t = *static_cast<cpu_trainer*>(self);
    t.told_scales_ = told.scales;
    if (told.scalars != nullptr) {
      t.updates_.begin_update(told.scalars, told.count);
    } else {
      Opt now = t.optimizer();
      if constexpr (requires { now.learning_rate.factor; })
        now.learning_rate.factor = told.rate_factor;
      t.updates_.begin_update(now);
    }
    const std::int64_t earlier = t.steps();
    t.updates_.end_update();
    return earlier;
  }
  /// Updates rows of a table.
  LAMINA_COLD static bool update_served_rows([[maybe_unused]] void* self, [[maybe_unused]] int i,
                                             [[maybe_unused]] int first, [[maybe_unused]] int end,
                                             [[maybe_unused]] void* gradient) {
    if constexpr (updates_type::any_rows) {
      using rows_update = typename updates_type::rows_update;
      cpu_trainer& t = *static_cast<cpu_trainer*>(self);
      engine::cpu::operand rows = updates_type::whole_of(i);
      if (end >= 0) rows.rows = end - first;
      auto& given = *static_cast<typename parts_type::rows_type*>(gradient);
      std::swap(*t.parts().rows(i), given);
      const std::size_t begin =
          static_cast<std::size_t>(first) * static_cast<std::size_t>(rows.stride);
      t.threads_.update_parameter(i, begin, rows, nullptr, t.told_scales_);
      std::swap(*t.parts().rows(i), given);
      real number[rows_update::attributes.size()] = {};
      t.updates_.set_numbers(i, 1, number);
      return number[rows_update::lazy_mode] != 0 && number[4] == 0 && number[5] == 0;
    }
    return true;
  }

  // Tables that are divided over processes.

  /// Throws lamina::error if the tables of the model are divided over processes that do not train
  /// together.
  void require_world() const {
    if constexpr (has_distributed_tables<P>)
      if (updates_.trained().embedding() && !sync_)
        LAMINA_THROW error(
            "lamina: train: expected .world in the options of a model whose tables processes "
            "divide, found none");
  }
  /// Throws lamina::error unless the tables of the model are divided over the processes of `w`, and
  /// the optimizer can update them.
  LAMINA_COLD void require_fitting(const world& w) const {
    const sharded_embedding* const tables = updates_.trained().embedding();
    const int made = tables == nullptr ? 1 : tables->ranks();
    if (made != w.size())
      LAMINA_THROW error(
          text() << "lamina: train: expected a model with is_distributed that is made for "
                 << w.size() << " processes, lamina::model m{program, world}, found one for "
                 << made);
    if (tables == nullptr) return;
    if (update_operator<Opt>::traits::has_norms)
      LAMINA_THROW error(
          text() << "lamina: train: " << Opt::type
                 << " needs the norm of a whole table: expected another optimizer, or a "
                    "table without is_distributed");
    if (check_.nan)
      LAMINA_THROW error(
          "lamina: check_nan: expected tables without is_distributed, found some that processes "
          "divide");
  }
  /// Fetches the rows that this process's part of a mini-batch reads.
  LAMINA_COLD void fetch_rows(const batch_view<P>& batch) {
    require_world();
    if (!trained().embedding()) return;
    const int threads = threads_.threads(), all = threads * sync_->ranks();
    const int first = threads * sync_->rank();
    fetcher_.feed(reads_shard_ ? batch
                               : batch.part(first_of_part(batch, first, all),
                                            first_of_part(batch, first + threads, all)));
    fetcher_.fetch(sharded_embedding::purpose::training);
  }

  updates_type updates_;
  in_process<P, Opt> threads_;
  std::unique_ptr<parameter_sync> sync_;  // null: this process trains alone
  std::optional<engine::cpu::machine<fused>> fused_;
  number_check check_;
  bool ran_parts_ = false;              // whether the last mini-batch ran in parts
  bool begun_ = false;                  // whether begin_sync() has run
  bool reads_shard_ = false;            // whether this process reads its shard of each mini-batch
  bool syncs_batch_norm_ = false;       // batch_norm has the statistics of the whole mini-batch
  bool has_gathered_ = true;            // rank 0 has the accumulators of all shards
  const float* told_scales_ = nullptr;  // on a parameter server: clip scales of a trainer
  [[no_unique_address]] detail::row_fetcher<P> fetcher_{updates_.trained()};
  owned_array<float*> but_tables_[has_distributed_tables<P> ? 2 : 1];  // of arrays_but_tables()
};

}}  // namespace lamina
