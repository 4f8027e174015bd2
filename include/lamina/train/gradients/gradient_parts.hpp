// SPDX-License-Identifier: Apache-2.0
// lamina/train/gradients/gradient_parts.hpp - the gradients of a mini-batch as a weighted sum over
// parts, each computed by the machine of one thread.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <lamina/core/arrays/owned_array.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/core/threads/worker_pool.hpp>
#include <lamina/model/evaluation/activation_view.hpp>
#include <lamina/model/evaluation/metric_sums.hpp>
#include <lamina/model/model.hpp>
#include <lamina/operators/norm/batch_norm/cpu_batch_sums.hpp>
#include <lamina/plan/gradient_order.hpp>
#include <lamina/train/gradients/accumulated_gradients.hpp>
#include <lamina/train/gradients/cost_rows.hpp>
#include <lamina/train/gradients/gradient_part.hpp>
#include <lamina/train/gradients/part_facts.hpp>
#include <lamina/train/gradients/parts_reduction.hpp>
#include <lamina/train/gradients/tree_sum.hpp>
#include <lamina/train/parameter_sync.hpp>
#include <lamina/train/trainer_errors.hpp>
#include <lamina/train/update_constants.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// One machine per thread. Each computes the gradients of its part of a mini-batch; the sum over
/// the parts, in a fixed order, is the gradient of the mini-batch. The machines run a program whose
/// updates are left out. P is the recorded program.
///
/// In a distributed training each process has the same number of machines, and the parts of a
/// mini-batch are those of all processes: part number rank * threads + thread.
template <program_type P, class Training, class Machine = engine::cpu::machine<Training>>
class gradient_parts {
 public:
  using real = real_of<P>;
  using rows_type = engine::cpu::basic_selected_rows<real>;
  using part_type = gradient_part<P, Training, Machine>;
  using part_weight = cost_rows<P, Training>;
  static constexpr int parameters = counts_of<P>.parameters;
  /// Whether the gradient of any parameter is sparse (selected rows).
  static constexpr bool any_rows = plan<Training>::memory.selected_rows > 0;
  /// Whether the program computes statistics of the mini-batch (batch_norm).
  static constexpr bool has_statistics = has_batch_norm(P::desc.operators, counts_of<P>.operators);

  LAMINA_COLD gradient_parts(model<P>& m, int threads) : model_(m) {
    const owned_array<bool> updated(capacity);  // whether each parameter has a dense gradient
    for (int i = 0; i < parameters; ++i)
      updated[i] = detail::update_constants_of<Training>.first[i] >= 0 && !has_rows(i);
    for (int t = 0; t < (std::max)(1, threads); ++t)
      machines_.push_back(std::make_unique<part_type>(m.memory_of_all(), updated.get()));
    for (int i = 0; i < parameters; ++i) {
      gradients_[i] = machines_[0]->gradient(i);
      if constexpr (any_rows) rows_[i] = machines_[0]->machine().gradient_rows(i);
    }
    facts_.resize(machines_.size());
  }
  /// Extends the sum to the parts of all processes of a distributed training. With `follows`, the
  /// processes sum complete gradients while the machines compute others. With `shards`, run() gets
  /// this process's shard of each mini-batch.
  LAMINA_COLD void sync_by(parameter_sync* sync, bool follows, bool shards) {
    sync_ = sync;
    shards_ = shards;
    first_part_ = machines_.size() * static_cast<std::size_t>(sync->rank());
    facts_.resize(machines_.size() * static_cast<std::size_t>(sync->ranks()));
    // The weights of other processes' shards are not known before they have run.
    if (!follows || shards || !knows_weights) return;
    known_.resize(facts_.size());
    for (std::size_t t = 0; t < machines_.size(); ++t)
      machines_[t]->follow(
          sync,
          [](void* to, int thread, int group) {
            static_cast<parameter_sync*>(to)->advance(thread, group);
          },
          static_cast<int>(t), gradient_order<Training>::table.groups);
  }
  /// Lets batch_norm use the statistics of the whole mini-batch, over all machines and all
  /// processes of `all`, or of this process if `all` is null. Throws lamina::error if the program
  /// does not allow this. Call it after sync_by().
  LAMINA_COLD void sync_batch_norm(world* all) {
    if constexpr (has_statistics) {
      if (machines_.size() == 1 && (all == nullptr || all->size() == 1)) return;
      using schedule = typename engine::cpu::machine<Training>::schedule;
      std::vector<std::size_t> counts;
      for (int g = 0; g < schedule::groups; ++g) {
        const auto& e = schedule::table.entries[g];
        const std::size_t n = engine::cpu::batch_sum_count_of(
            schedule::program, e.group, schedule::table.info + e.first_argument);
        if (n == 0) continue;
        if (g >= gradient_order<Training>::table.groups) detail::fail_statistics_of_block();
        counts.push_back(n);
      }
      if (counts.empty()) return;
      if (!knows_weights) detail::fail_statistics_of_cost();
      all_parts_ = std::make_unique<parts_reduction>(static_cast<int>(machines_.size()), all,
                                                     std::move(counts));
      for (std::size_t t = 0; t < machines_.size(); ++t)
        machines_[t]->machine().memory().reduce_by(all_parts_->part(static_cast<int>(t)));
    } else {
      static_cast<void>(all);
    }
  }
  /// Sets how the next mini-batch updates parameters while its gradients are computed; null: it
  /// only sums them.
  void update_by(parameter_sync::update_function how, void* trainer) {
    update_ = how;
    trainer_ = trainer;
  }
  gradient_parts(const gradient_parts&) = delete;
  gradient_parts& operator=(const gradient_parts&) = delete;

  /// Whether the gradient of a parameter is sparse (selected rows).
  static bool has_rows(int i) { return rows_gradient_table<Training>::table.of[i] >= 0; }

  /// Returns the weight of a machine's gradients in the last mini-batch.
  real weight_of(std::size_t machine) const { return facts_[first_part_ + machine].weight; }
  /// Returns the machines, and for each machine the number of its samples in the last mini-batch.
  std::vector<std::unique_ptr<part_type>>& machines() { return machines_; }
  int samples(std::size_t machine) const { return facts_[first_part_ + machine].samples; }
  /// Returns the memory for the gradient of parameter i; null if the parameter is not updated, or
  /// updated with a sparse gradient.
  float* gradient(int i) const { return gradients_[i]; }
  /// Returns the gradient of parameter i if it is sparse (selected rows), else null.
  rows_type* rows(int i) const {
    if constexpr (any_rows)
      return rows_[i];
    else
      return nullptr;
  }

  /// Makes the machines stop at the first NaN, with `infinity` also at the first infinity.
  LAMINA_COLD void check_numbers(bool infinity) {
    for (auto& part : machines_) part->machine().check_numbers(run_time_program<P>::view, infinity);
  }

  /// Runs forward and backward of a mini-batch and averages the moving statistics. The gradients
  /// remain in the parts. Returns the cost. `whole` is the mini-batch that `batch` is a part of.
  LAMINA_NOINLINE real run(worker_pool& pool, const batch_view<P>& batch,
                           const batch_view<P>& whole, std::uint64_t seed, std::uint64_t step) {
    const int parts = static_cast<int>(shards_ ? machines_.size() : facts_.size());
    if (!known_.empty() && !is_apart_) begin_step(batch);
    const auto run_part = [&](int t) {
      const std::size_t k = static_cast<std::size_t>(t);
      const int number = static_cast<int>(shards_ ? 0 : first_part_) + t;
      const batch_view<P> part =
          batch.part(first_of_part(batch, number, parts), first_of_part(batch, number + 1, parts));
      part_facts<P>& f = facts_[first_part_ + k];
      f = {};
      f.samples = part.size();
      f.weight = static_cast<real>(part_weight::fed(part));
      if (f.samples == 0) return;
      if constexpr (has_statistics)
        if (all_parts_ != nullptr)
          all_parts_->weigh(
              t, part_weight::is_sum && f.weight > 0 ? 1 : static_cast<double>(f.weight));
      auto& machine = machines_[k]->machine();
      f.cost = machines_[k]->run(part, whole, seed, step);
      if (part_weight::is_made) f.weight = static_cast<real>(machine.rows(part_weight::domain));
      if constexpr (part_weight::is_quotient) detail::note_quotient<P, Training>(f, machine);
    };
    if constexpr (has_statistics)
      if (all_parts_ != nullptr) all_parts_->begin();
    pool.run([&](int t) {
      if constexpr (has_statistics)
        if (all_parts_ != nullptr) return all_parts_->run(t, [&] { run_part(t); });
      run_part(t);
    });
    if (sync_ != nullptr)
      sync_->gather_facts(facts_.data(), sizeof(part_facts<P>), static_cast<int>(machines_.size()),
                          shards_ ? 0 : batch.size());
    return detail::weigh_parts<P, Training>(facts_, sums_, divisor_, [this] {
      average_statistics();
      if constexpr (any_rows) reserve_rows();
    });
  }

  /// Sums a range of floats of the gradient of parameter i over all machines, with their weights
  /// (tree_sum).
  void add(int i, std::size_t first, std::size_t end, real* to) {
    if (machines_.size() == 1 && sync_ != nullptr) return;  // the ranks' sum applies the weight
    const real* of[max_parts];
    real weight[max_parts];
    for (std::size_t t = 0; t < machines_.size(); ++t) {
      of[t] = engine::numbers_at<real>(machines_[t]->gradient(i));
      weight[t] = weight_of(t);
    }
    tree_sum<real>({of, weight, static_cast<int>(machines_.size())}).add(first, end - first, to);
  }
  /// Sums the whole gradient of parameter i in the same way, also if it is sparse.
  LAMINA_NOINLINE void add_whole(int i, std::size_t count) {
    if constexpr (any_rows)
      if (rows_type* const rows = rows_[i]) {
        if (sync_ != nullptr) return;  // reduce() sums the rows of all processes
        rows->scale(weight_of(0));
        for (std::size_t t = 1; t < machines_.size(); ++t)
          if (weight_of(t) != 0) rows->add(*machines_[t]->machine().gradient_rows(i), weight_of(t));
        return;
      }
    add(i, 0, count, engine::numbers_at<real>(gradients_[i]));
  }

  /// Sums the gradients over the machines and the processes of a distributed training.
  LAMINA_COLD void reduce(worker_pool& pool) {
    sync_->reduce(weights(), pool);
    if constexpr (any_rows)
      for (int i = 0; i < parameters; ++i) {
        if (rows_[i] == nullptr) continue;
        const owned_array<rows_type*> mine(machines_.size());
        for (std::size_t t = 0; t < machines_.size(); ++t)
          mine[t] = machines_[t]->machine().gradient_rows(i);
        if constexpr (has_distributed_tables<P>)
          if (model_.is_sharded(i)) {
            model_.embedding()->reduce_rows(model_.table_of(i), mine.get(), weights());
            continue;
          }
        sync_->reduce_rows(mine.get(), parameter_table<P>::table.of[i].columns, weights());
      }
  }

  /// Variable V of the last mini-batch, valid until the next one. Throws lamina::error if several
  /// machines have different values of a variable without rows.
  template <int V>
  LAMINA_COLD auto activation() {
    auto view = activation_view<Training, V>(machines_[0]->machine());
    if (machines_.size() == 1) return view;
    if constexpr (Training::desc.variables[V].rows == 0) {
      LAMINA_THROW error(text() << "lamina: activation "
                                << variable_name(run_time_program<P>::view, V)
                                << ": expected rows, or one thread: each of " << machines_.size()
                                << " threads has a value of its own");
    } else {
      using value = typename decltype(view)::value_type;
      gathered_.resize(static_cast<std::size_t>(counts_of<Training>.variables));
      std::vector<std::byte>& to = gathered_[V];
      to.clear();
      auto shape = view.shape();
      std::size_t rows = 0, width = 1;
      for (std::size_t d = 1; d < shape.size(); ++d) width *= shape[d];
      for (std::size_t t = 0; t < machines_.size(); ++t) {
        if (samples(t) == 0) continue;
        const auto part = activation_view<Training, V>(machines_[t]->machine());
        for (std::size_t r = 0; r < part.shape(0); ++r) {
          const auto* const row =
              reinterpret_cast<const std::byte*>(part.data() + r * part.stride());
          to.insert(to.end(), row, row + width * sizeof(value));
        }
        rows += part.shape(0);
      }
      shape[0] = rows;
      return decltype(view)(reinterpret_cast<const value*>(to.data()), shape, width);
    }
  }

  /// Whether the gradients of mini-batches can be accumulated one by one. A cost that adds means
  /// over rows of several domains divides each by the rows of all mini-batches, whose number must
  /// be known in advance.
  static constexpr bool accumulates_one_by_one =
      !part_weight::rule.mixes || part_weight::is_sum || part_weight::is_quotient;
  /// Returns the number of mini-batches whose gradients are accumulated and wait for an update.
  int pending() const { return accumulated_.pending(); }
  /// Forwards to the functions of accumulated_gradients. Call keep() before each mini-batch whose
  /// gradients are accumulated. Until forget(), processes do not exchange gradients while they
  /// compute others.
  batch_view<P> behind(const batch_view<P>& batch) const { return accumulated_.behind(batch); }
  void keep(worker_pool& pool) {
    is_apart_ = true;
    accumulated_.keep(pool, own_parts());
  }
  void accumulate(worker_pool& pool, const batch_view<P>& batch) {
    accumulated_.add(pool, own_parts(), batch, divisor_, sums_);
  }
  LAMINA_COLD void restore(worker_pool& pool) {
    accumulated_.restore(pool, own_parts());
    if constexpr (any_rows) reserve_rows();
  }
  void forget() {
    is_apart_ = false;
    accumulated_.forget();
  }

 private:
  /// Whether the weights of parts are known before a mini-batch runs.
  static constexpr bool knows_weights = !part_weight::is_made && !part_weight::is_quotient;
  using accumulated_type = accumulated_gradients<P, Training, Machine>;
  typename accumulated_type::parts_of_process own_parts() {
    return {machines_, facts_, first_part_};
  }
  /// Begins the sums of a step, with the weights that run() will compute.
  LAMINA_COLD void begin_step(const batch_view<P>& batch) {
    detail::weigh_in_advance<P, Training>(known_, batch);
    sync_->begin_step({known_.data(), sizeof(real), static_cast<int>(known_.size()),
                       static_cast<int>(machines_.size())},
                      batch.size(), update_, trainer_);
  }
  part_weights weights() const {
    return {&facts_[0].weight, sizeof(part_facts<P>), static_cast<int>(facts_.size()),
            static_cast<int>(machines_.size())};
  }
  /// Sets the moving statistics of the model to the mean over all parts.
  void average_statistics() {
    using statistics = moving_statistics<P>;
    if constexpr (statistics::count > 0) {
      if (sync_ != nullptr) return average_over_processes();
      detail::average_statistics<P>(
          facts_, [this](std::size_t t, int i) { return machines_[t]->statistics().copy(i); },
          model_);
    }
  }
  LAMINA_COLD void average_over_processes() {
    using statistics = moving_statistics<P>;
    constexpr std::size_t count = static_cast<std::size_t>(statistics::count);
    float* to[count];
    std::size_t floats[count];
    const owned_array<const float*> copies(machines_.size() * count);
    for (std::size_t i = 0; i < count; ++i) {
      const int parameter = statistics::parameter(static_cast<int>(i));
      to[i] = model_.memory_of_all()[parameter];
      floats[i] = parameters_in<P>().floats(parameter);
      for (std::size_t t = 0; t < machines_.size(); ++t)
        copies[t * count + i] = machines_[t]->statistics().copy(static_cast<int>(i));
    }
    sync_->average(copies.get(), to, floats, statistics::count, weights());
  }

  /// Reserves memory for the rows of all parts together before the first parameter is updated.
  LAMINA_COLD void reserve_rows() {
    for (int i = 0; i < parameters; ++i) {
      if (rows_[i] == nullptr) continue;
      std::size_t all = 0;
      for (auto& m : machines_)
        all += static_cast<std::size_t>(m->machine().gradient_rows(i)->size());
      rows_[i]->reserve(all, parameter_table<P>::table.of[i].columns);
    }
  }

  static constexpr int capacity = at_least_one(parameters);
  static constexpr std::size_t max_parts = 256;

  model<P>& model_;
  owned_array<float*> gradients_{capacity};  // gradients in the first machine
  // By parameter: its sparse gradient in the first machine, or null.
  rows_type* rows_[bound(any_rows ? capacity : 1)] = {};
  std::vector<std::unique_ptr<part_type>> machines_;
  parameter_sync* sync_ = nullptr;
  bool shards_ = false;  // run() gets a shard of each mini-batch
  parameter_sync::update_function update_ = nullptr;
  void* trainer_ = nullptr;
  std::vector<real> known_;                       // weights by part, if sums begin early
  std::size_t first_part_ = 0;                    // the first part of this process
  std::vector<part_facts<P>> facts_;              // by part: facts of the last mini-batch
  std::vector<std::vector<std::byte>> gathered_;  // by variable: its rows from all parts
  // The divisor of the sum over the rows of the last mini-batch.
  double divisor_ = 0;
  quotient_sums sums_;
  accumulated_type accumulated_;
  std::unique_ptr<parts_reduction> all_parts_;
  bool is_apart_ = false;  // the next mini-batch is one of several, or updates later
};

}}  // namespace lamina
