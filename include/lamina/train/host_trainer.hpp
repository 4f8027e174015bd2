// SPDX-License-Identifier: Apache-2.0
// lamina/train/host_trainer.hpp - trains a model on the CPU: accumulators, machines, one step.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <lamina/core/error.hpp>
#include <lamina/core/owned_array.hpp>
#include <lamina/core/text.hpp>
#include <lamina/model/divided/row_fetcher.hpp>
#include <lamina/model/metric_sums.hpp>
#include <lamina/model/model.hpp>
#include <lamina/model/refused/refused_operator.hpp>
#include <lamina/optimizer/training_program.hpp>
#include <lamina/plan/external_buffers.hpp>
#include <lamina/plan/gradient_order.hpp>
#include <lamina/plan/loop_gradient_check.hpp>
#include <lamina/train/compared_options.hpp>
#include <lamina/train/gradients/gradient_parts.hpp>
#include <lamina/train/number_check.hpp>
#include <lamina/train/served_updates.hpp>
#include <lamina/train/shared_arrays.hpp>
#include <lamina/train/trainer_errors.hpp>
#include <lamina/train/update_constants.hpp>
#include <lamina/train/world.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Trains on the CPU. With one thread and no clip by norm, forward, backward and update are one
/// program in which updates are fused into the products that compute their gradients. Otherwise
/// each thread computes the gradients of a part of the mini-batch, and the trainer adds them in a
/// fixed order. So the same seed and number of threads give the same bits.
template <program_type P, optimizer::optimizer_type Opt>
class host_trainer : served_updates<P, Opt> {
  using base = served_updates<P, Opt>;

 public:
  using base::collect_state, base::end_pass, base::joins_shares, base::join_pass, base::parameters,
      base::arrays, base::follow, base::optimizer, base::serve, base::states, base::steps,
      base::trained;
  using typename base::fused, typename base::parts_type, typename base::real, typename base::traits;
  static_assert(check<detail::accepts_program<engine::cpu::machine<fused>>,
                      typename detail::refused_operator<engine::cpu::machine<fused>>::type>,
                "lamina: a program in double: this computes in float alone");
  using metrics = metric_rules<P>;

  /// Continues the training in `kept`, the state that a model keeps, if it belongs to this
  /// optimizer type.
  LAMINA_COLD host_trainer(const Opt& opt, model<P>& m, int threads = 1, std::uint64_t seed = 0,
                           training_memory* kept = nullptr)
      : base(opt, m, threads, seed) {
    optimizer::require_options(opt);
    require_fitting_cost(threads);
    create_accumulators(kept);
    const bool limited = limits_norms();
    if (threads <= 1 && !limited && m.divided() == nullptr) {
      fused_.emplace(external());
      detail::initialise_state<P>(*fused_);
      return;
    }
    parts_.emplace(m, threads);
    if (limited) make_clips();
  }

  /// Throws lamina::error unless the gradients of `accumulate` mini-batches can be accumulated.
  static void require_accumulation(int accumulate) {
    detail::require_accumulation<P, fused>(accumulate);
  }

  /// Makes each step stop at the first NaN, before the model changes.
  LAMINA_COLD void stop_at_nan(const number_check& what) {
    check_ = what, fused_.reset();
    if (!parts_) parts_.emplace(model_, pool_.size());
    parts_->check_numbers(what.infinity);
  }

  /// Joins a distributed training: this process computes its part of each mini-batch, and updates
  /// its shard of the parameters.
  LAMINA_COLD void join_world(world& w, bool reads_shard) {
    if constexpr (has_distributed_tables<P>) require_fitting(w);
    if (w.size() == 1) return;
    require_fitting_cost(w.size());
    fused_.reset();
    parts_.emplace(model_, pool_.size());
    const owned_array<float*> gradients(static_cast<std::size_t>(pool_.size() * capacity));
    int count = 0;
    for (const auto& part : parts_->machines())
      for (int i = 0; i < parameters; ++i) gradients[count++] = part->gradient(i);
    const owned_array<std::size_t> floats(capacity);
    const owned_array<bool> has_rows(capacity);
    const owned_array<int> row_floats(capacity);
    for (int i = 0; i < parameters; ++i) {
      floats[i] = model_.divides(i) ? 0 : parameters_in<P>().floats(i);
      const parameter_layout& lies = parameter_table<P>::table.of[i];
      if (parts_type::has_rows(i) && !model_.divides(i))
        row_floats[i] =
            lies.panel ? -1 : padded(lies.columns) * static_cast<int>(sizeof(real) / sizeof(float));
      has_rows[i] = parts_type::has_rows(i) && run_time_program<P>::desc.parameters[i].trainable;
    }
    // With a clip by norm each process updates all parameters.
    const bool divides = states > 0 && !clips_;
    shared_ = w.share({gradients.get(), model_.memory_of_all(), floats.get(), has_rows.get(),
                       parameters, update_operator<Opt>::traits::has_norms, __is_same(real, double),
                       gradient_order<fused>::table.of, pool_.size(), row_floats.get(),
                       model_.divided(), numbers_of_tables<P>(), divides});
    if (shared_->divides_states()) accumulators_.use_small_pages();
    reads_shard_ = reads_shard;
    // An asynchronous trainer computes whole mini-batches, even if it reads a share.
    parts_->join(shared_.get(), !check_.nan, reads_shard && !shared_->is_asynchronous());
    if (check_.nan) parts_->check_numbers(check_.infinity);
  }
  /// Lets batch_norm use the statistics of the whole mini-batch, over all threads and processes.
  /// Call it after join_world(), with the same world or null.
  LAMINA_COLD void join_statistics(world* w) {
    if constexpr (parts_type::has_statistics) {
      if (w != nullptr && w->trainers() < w->size())
        detail::fail_statistics_with_servers(w->size() - w->trainers());
      joins_statistics_ = true;
      // A single part computes the whole mini-batch.
      if (parts_) parts_->join_statistics(w);
    } else {
      static_cast<void>(w);
    }
  }
  /// In a distributed training, compares the checksums of a mini-batch. Throws lamina::error unless
  /// all processes read the same samples or, if each reads its own, different ones.
  LAMINA_COLD void require_samples(std::uint64_t checksum) {
    if (shared_) shared_->require_samples(checksum, reads_shard_);
  }

  /// Runs one mini-batch and returns the cost before the update.
  real step(const batch_view<P>& batch) {
    detail::require_known_norms(traits::clip(*used_), static_cast<bool>(clips_));
    ran_parts_ = !fused_;
    const real cost = fused_ ? fused_step(*fused_, batch) : split_step(batch);
    return check_.require(model_), cost;
  }

  /// Computes the gradients of a mini-batch and adds them to those since the last update(), as if
  /// all were one mini-batch. Returns the cost of this mini-batch. `whole` has the rows of all
  /// mini-batches of the update, if they are known.
  real backward(const batch_view<P>& batch, const batch_view<P>* whole = nullptr) {
    detail::require_known_norms(traits::clip(*used_), static_cast<bool>(clips_));
    if (!parts_) parts_.emplace(model_, 1);
    if (shared_) begin_apart(whole != nullptr);
    if (!parts_type::joins_one_by_one && parts_->pending() > 0 && whole == nullptr)
      detail::fail_second_backward();
    using weights = typename parts_type::part_weight;
    if constexpr (!weights::fits)
      if (parts_->pending() > 0 || whole != nullptr)
        detail::fail_several_minibatches(run_time_program<P>::view,
                                         detail::fault_of_cost<P, fused>);
    if constexpr (has_distributed_tables<P>) fetch_rows(batch);
    parts_->keep(pool_);
    const batch_view<P> mine = parts_->behind(batch);
    batch_view<P> all = batch;  // becomes the mini-batch of all processes
    const real cost = joins_shares() ? run_share(mine, all)
                                     : parts_->run(pool_, mine, whole == nullptr ? batch : *whole,
                                                   seed_, static_cast<std::uint64_t>(steps_));
    parts_->join(pool_, all);
    ran_parts_ = true;
    return cost;
  }
  /// Updates the parameters with the accumulated gradients. Throws lamina::error if there are none.
  void update() {
    if (pending() == 0) detail::fail_no_backward();
    parts_->bring(pool_);
    parts_->forget();
    if (shared_) {
      update_shared_joined();
    } else {
      if (parts_->machines().size() > 1)
        pool_.run([this](int t) { finish_gradients(t, adds, nullptr); });
      update_parameters();
    }
    check_.require(model_);
  }
  /// Updates the parameters with gradients that `join(parts)` writes to the first machine's memory.
  template <class Join>
  void update_with(Join&& join) {
    detail::require_known_norms(traits::clip(*used_), static_cast<bool>(clips_));
    if (shared_) detail::fail_machines_in_world();
    if (!parts_) parts_.emplace(model_, 1);
    require_joined();
    join(*parts_);
    update_parameters();
  }
  /// Discards gradients that wait for update().
  void drop_gradients() {
    if (parts_) parts_->forget();
  }
  /// Returns the number of mini-batches whose gradients wait for update().
  int pending() const { return parts_ ? parts_->pending() : 0; }

  /// Begins a pass: metrics that cover a whole pass restart from zero.
  void begin_pass() {
    if (fused_) metrics::begin_pass(*fused_);
    if (!parts_) return;
    for (auto& part : parts_->machines()) metrics::begin_pass(part->machine());
  }
  /// Returns the sums of a metric of the last step.
  metric_sum sum_of_metric(int i) {
    metric_sum sum;
    if (fused_ && !ran_parts_) {
      metrics::add(sum, *fused_, i);
    } else if (metrics::all.of[i].counts.positive >= 0) {
      metrics::add_counts(sum, parts_->machines(), i, [this](double* counts, std::size_t n) {
        if (shared_) shared_->add_up(counts, n);
      });
    } else {
      for (std::size_t t = 0; t < parts_->machines().size(); ++t)
        if (parts_->samples(t) > 0) metrics::add(sum, parts_->machines()[t]->machine(), i);
      if (shared_) shared_->add_up(sum, metrics::all.of[i].parts.is_sum);
    }
    return sum;
  }
  /// Returns variable V of the last mini-batch, valid until the next one. With several threads,
  /// their rows are copied one after the other, in the order of the samples.
  template <int V>
  auto activation() {
    if (fused_ && !ran_parts_) return activation_view<fused, V>(*fused_);
    return parts_->template activation<V>();
  }
  /// Returns a metric of the last step: the mean over the rows that it is computed from.
  double metric(int i) { return metrics::value(sum_of_metric(i), i); }

  /// Sets the step count after values and accumulators were loaded.
  void set_steps(std::int64_t n) {
    drop_gradients();
    steps_ = n;
    partially_updated_ = begun_ = is_part_ = false;
    collected_ = true;
  }

  /// Returns the parameters (false) or accumulators (true) in the form for files, null for tables
  /// that are divided over processes; and a list of both, parameters first.
  LAMINA_COLD stored_arrays arrays_but_tables(bool accumulators) {
    const auto& tables = model_.tables();
    stored_arrays all = accumulators ? arrays() : parameters_for_files<P>(model_.memory_of_all());
    owned_array<float*>& kept = but_tables_[accumulators ? 1 : 0];
    kept = tables.without_tables(all.array, all.of_each);
    all.array = kept.get();
    return all;
  }
  LAMINA_COLD std::vector<divided_array> divided_arrays() const
      requires(has_distributed_tables<P>) {
    std::vector<divided_array> all;
    const stored_arrays values = parameters_for_files<P>(model_.memory_of_all());
    model_.tables().append_to(all, values, values.array);
    model_.tables().append_to(all, arrays(), arrays().array);
    return all;
  }

  /// Moves the state into a model's training memory. This trainer cannot run afterwards. If a step
  /// has failed in the middle of its updates, no state is kept.
  LAMINA_COLD void leave(training_memory& to, int passes) {
    to.forget();
    if (partially_updated_ || !collected_) return;
    base::leave_state(to, passes);
  }

 private:
  using base::accumulator_pointers_, base::accumulators_, base::adds, base::begin_shared,
      base::begun_, base::capacity, base::clips_, base::collected_, base::create_accumulators,
      base::divided_, base::finish_gradients, base::is_part_, base::joins_statistics_,
      base::external, base::fused_step, base::limits_norms, base::make_clips, base::model_,
      base::own_part, base::parts_, base::pool_, base::reads_shard_, base::require_fitting_cost,
      base::run_share, base::scalar_, base::seed_, base::shared_, base::shared_step, base::steps_,
      base::partially_updated_, base::update_parameters, base::update_shared_joined, base::updates,
      base::used_;

  /// Throws lamina::error if the tables of the model are divided over processes that do not train
  /// together.
  void require_joined() const {
    if constexpr (has_distributed_tables<P>)
      if (model_.divided() && !shared_)
        throw error(
            "lamina: train: expected .world in the options of a model whose tables processes "
            "divide, found none");
  }
  /// Throws lamina::error unless the tables of the model are divided over the processes of `w`, and
  /// the optimizer can update them.
  LAMINA_COLD void require_fitting(const world& w) const {
    const divided_tables* const tables = model_.divided();
    const int made = tables == nullptr ? 1 : tables->ranks();
    if (made != w.size())
      throw error(text() << "lamina: train: expected a model with is_distributed that is made for "
                         << w.size()
                         << " processes, lamina::model m{program, world}, found one for " << made);
    if (tables == nullptr) return;
    if (update_operator<Opt>::traits::has_norms)
      throw error(text() << "lamina: train: " << Opt::type
                         << " needs the norm of a whole table: expected another optimizer, or a "
                            "table without is_distributed");
    if (check_.nan)
      throw error(
          "lamina: check_nan: expected tables without is_distributed, found some that processes "
          "divide");
  }
  /// Fetches the rows that this process's part of a mini-batch reads.
  LAMINA_COLD void fetch_rows(const batch_view<P>& batch) {
    require_joined();
    if (!model_.divided()) return;
    const int threads = pool_.size(), all = threads * shared_->ranks();
    const int first = threads * shared_->rank();
    fetcher_.feed(reads_shard_ ? batch
                               : batch.part(first_of_part(batch, first, all),
                                            first_of_part(batch, first + threads, all)));
    fetcher_.fetch(divided_tables::purpose::training);
  }

  /// Begins one of several mini-batches per update, in a distributed training. `ahead`: this
  /// process knows the rows of all of them.
  LAMINA_COLD void begin_apart(bool ahead) {
    if (shared_->is_asynchronous()) detail::fail_apart_in_world();
    if (ahead && reads_shard_) detail::fail_shares_ahead();
    begin_shared();
    shared_->use(checksum_of_update(*used_, traits::scalars(*used_, steps_)));
  }

  LAMINA_NOINLINE real split_step(const batch_view<P>& batch) {
    if (shared_) {
      begin_shared();
      const batch_view<P> own = own_part(batch);
      if constexpr (has_distributed_tables<P>) fetch_rows(own);
      return shared_step(own);
    }
    require_joined();
    const real cost = parts_->run(pool_, batch, batch, seed_, static_cast<std::uint64_t>(steps_));
    if (clips_) {
      if (parts_->machines().size() > 1)
        pool_.run([this](int t) { finish_gradients(t, adds, nullptr); });
      update_parameters();
    } else {
      scalar_ = traits::scalars(*used_, steps_);
      pool_.run([this](int t) { finish_gradients(t, adds | updates, nullptr); });
      ++steps_;
    }
    return cost;
  }

  [[no_unique_address]] detail::row_fetcher<P> fetcher_{model_};
  owned_array<float*> but_tables_[has_distributed_tables<P> ? 2 : 1];  // of arrays_but_tables()
  number_check check_;
  bool ran_parts_ = false;  // whether the last mini-batch ran in parts
  std::optional<engine::cpu::machine<fused>> fused_;
};

}}  // namespace lamina
