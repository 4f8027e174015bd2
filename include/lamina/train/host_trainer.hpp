// SPDX-License-Identifier: Apache-2.0
// lamina/train/host_trainer.hpp - trains a model on the CPU: accumulators, machines, one step.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <lamina/core/error.hpp>
#include <lamina/core/owned_array.hpp>
#include <lamina/core/text.hpp>
#include <lamina/core/worker_pool.hpp>
#include <lamina/model/metric_sums.hpp>
#include <lamina/model/model.hpp>
#include <lamina/model/refused_operator.hpp>
#include <lamina/optimizer/clip.hpp>
#include <lamina/optimizer/training_program.hpp>
#include <lamina/plan/external_buffers.hpp>
#include <lamina/plan/loop_gradient_check.hpp>
#include <lamina/train/gradient_parts.hpp>
#include <lamina/train/number_check.hpp>
#include <lamina/train/trainer_errors.hpp>
#include <lamina/train/update_constants.hpp>

namespace lamina::inline LAMINA_ABI {

/// Trains on the CPU. With one thread and no clip by norm, forward, backward and update are one
/// program in which updates are fused into the products that compute their gradients. Otherwise
/// each thread computes the gradients of a part of the mini-batch, and the trainer adds them in a
/// fixed order. So the same seed and number of threads give the same bits.
template <program_type P, optimizer::optimizer_type Opt>
class host_trainer {
 public:
  using traits = optimizer::traits<Opt>;
  using real = real_of<P>;
  using fused = training_program<P, Opt>;
  using update_type = update_operator<Opt>;
  using rows_update = rows_update_operator<Opt>;
  static constexpr int states = traits::state_count;
  static_assert(
      check<!loop_gradient_check<fused>::found, typename loop_gradient_check<fused>::name>,
      "lamina: train: gradients do not flow through a handle whose rows a loop changes");
  static_assert(check<detail::accepts_program<engine::cpu::machine<fused>>,
                      typename detail::refused_operator<engine::cpu::machine<fused>>::type>,
                "lamina: a program in double: this computes in float alone");
  using metrics = metric_rules<P>;
  static constexpr int parameters = P::desc.count.parameters;
  using parts_type = gradient_parts<P, fused>;
  static constexpr bool any_rows = parts_type::any_rows;

  /// Continues the training in `kept`, the state that a model keeps, if it belongs to this
  /// optimizer type.
  LAMINA_COLD host_trainer(const Opt& opt, model<P>& m, int threads = 1, std::uint64_t seed = 0,
                           training_memory* kept = nullptr)
      : opt_(opt), model_(m), seed_(seed), pool_(threads < 1 ? 1 : threads) {
    optimizer::require_options(opt);
    if (threads > 1 && !parts_type::part_weight::fits)
      throw error(
          text() << "lamina: train: expected 1 thread for a cost that is neither a mean nor "
                    "a sum over rows, nor a quotient of two such sums whose denominator "
                    "depends on the data alone, found "
                 << threads);
    create_accumulators(kept);
    const bool limited = limits_norms();
    if (threads <= 1 && !limited) {
      fused_.emplace(external());
      detail::initialise_state<P>(*fused_);
      return;
    }
    parts_.emplace(m, threads);
    if (!limited) return;
    clips_ = owned_array<gradient_clip>(capacity);
    norms_ = owned_array<float>(capacity);
    scales_ = owned_array<float>(capacity);
  }

  /// Makes each step read the options of `opt` again, because an event handler may change them. A
  /// clip by norm must be present from the start.
  void follow(const Opt& opt) { used_ = &opt; }

  /// Makes each step stop at the first NaN, before the model changes.
  LAMINA_COLD void stop_at_nan(const number_check& what) {
    check_ = what, fused_.reset();
    if (!parts_) parts_.emplace(model_, pool_.size());
    parts_->check_numbers(what.infinity);
  }

  /// Runs one mini-batch and returns the cost before the update.
  real step(const batch_view<P>& batch) {
    detail::require_known_norms(traits::clip(*used_), static_cast<bool>(clips_));
    ran_parts_ = !fused_;
    const real cost = fused_ ? fused_step(batch) : split_step(batch);
    return check_.require(model_), cost;
  }

  /// Computes the gradients of a mini-batch and joins them with those since the last update(), as
  /// if all were one mini-batch. Returns the cost of this mini-batch. `whole` has the rows of all
  /// mini-batches of the update, if they are known.
  real backward(const batch_view<P>& batch, const batch_view<P>* whole = nullptr) {
    detail::require_known_norms(traits::clip(*used_), static_cast<bool>(clips_));
    if (!parts_) parts_.emplace(model_, 1);
    if (!parts_type::joins_one_by_one && parts_->pending() > 0 && whole == nullptr)
      detail::fail_second_backward();
    if (!parts_type::part_weight::fits && (parts_->pending() > 0 || whole != nullptr))
      detail::fail_several_minibatches();
    parts_->keep();
    const real cost = parts_->run(pool_, parts_->behind(batch), whole == nullptr ? batch : *whole,
                                  seed_, static_cast<std::uint64_t>(steps_));
    if (parts_->machines().size() > 1)
      pool_.run([this](int t) { finish_gradients(t, adds, nullptr); });
    parts_->join(batch);
    ran_parts_ = true;
    return cost;
  }
  /// Updates the parameters with the joined gradients. Throws lamina::error if there are none.
  void update() {
    if (pending() == 0) detail::fail_no_backward();
    parts_->bring();
    parts_->forget();
    update_parameters();
    check_.require(model_);
  }
  /// Updates the parameters with gradients that `join(parts)` writes to the first machine's memory.
  template <class Join>
  void update_with(Join&& join) {
    detail::require_known_norms(traits::clip(*used_), static_cast<bool>(clips_));
    if (!parts_) parts_.emplace(model_, 1);
    join(*parts_);
    update_parameters();
  }
  /// Forgets gradients that wait for update().
  void drop_gradients() {
    if (parts_) parts_->forget();
  }
  /// The number of mini-batches whose gradients wait for update().
  int pending() const { return parts_ ? parts_->pending() : 0; }

  /// Begins a pass: counts of metrics that cover a pass start from zero.
  void begin_pass() {
    if (fused_) metrics::begin_pass(*fused_);
    if (!parts_) return;
    for (auto& part : parts_->machines()) metrics::begin_pass(part->machine());
  }
  /// The sums of a metric of the last step.
  metric_sum sum_of_metric(int i) {
    metric_sum sum;
    if (fused_ && !ran_parts_) {
      metrics::add(sum, *fused_, i);
    } else if (metrics::all.of[i].counts.positive >= 0) {
      metrics::add_counts(sum, parts_->machines(), i);
    } else {
      for (std::size_t t = 0; t < parts_->machines().size(); ++t)
        if (parts_->samples(t) > 0) metrics::add(sum, parts_->machines()[t]->machine(), i);
    }
    return sum;
  }
  /// Variable V of the last mini-batch, valid until the next one. With several threads, the rows of
  /// each are copied one after the other, in the order of the samples.
  template <int V>
  auto activation() {
    if (fused_ && !ran_parts_) return activation_view<fused, V>(*fused_);
    return parts_->template activation<V>();
  }
  /// A metric of the last step: the mean over the rows that it is computed from.
  double metric(int i) { return metrics::value(sum_of_metric(i), i); }

  /// The number of steps so far, on which schedules and bias corrections of moments depend.
  std::int64_t steps() const { return steps_; }
  /// Sets the step count after values and accumulators were loaded.
  void set_steps(std::int64_t n) {
    drop_gradients();
    steps_ = n;
    torn_ = false;
  }

  /// The accumulators in the form for files, named "fc_0.w_0_moment1_0".
  stored_arrays arrays() const {
    return {parameters_in<P>(), accumulator_pointers_.get(), states, Opt::states.data(), "_", "_0",
            "an accumulator"};
  }

  /// Moves the state into a model's training memory. This trainer cannot run afterwards. If a step
  /// has failed in the middle of its updates, there is no state to continue from.
  LAMINA_COLD void leave(training_memory& to, int passes) {
    to.forget();
    if (torn_) return;
    to.optimizer = &detail::optimizer_identity<Opt>;
    to.accumulators = std::move(accumulators_);
    to.steps = steps_;
    to.passes = passes;
  }

  model<P>& trained() { return model_; }
  const Opt& optimizer() const { return *used_; }

 private:
  external_buffers external() {
    return {model_.memory(), no_gradients_.get(), accumulator_pointers_.get()};
  }
  static gradient_clip clip_of(const parameter_desc& d, const Opt& opt) {
    return optimizer::clip_in_force({d.clip, d.clip_low, d.clip_high}, traits::clip(opt));
  }
  bool limits_norms() const {
    for (int i = 0; i < parameters; ++i)
      if (optimizer::needs_norm(clip_of(run_time_program<P>::desc.parameters[i], *used_)))
        return true;
    return false;
  }
  LAMINA_COLD void create_accumulators(training_memory* kept) {
    const parameter_list_view all = parameters_in<P>();
    const bool goes_on = detail::goes_on<Opt>(kept);
    std::size_t floats = 0;
    for (int i = 0; i < parameters; ++i) floats += all.floats(i) * states;
    if (goes_on) {
      accumulators_ = std::move(kept->accumulators);
      steps_ = kept->steps;
    } else {
      accumulators_.resize(floats);
    }
    float* at = accumulators_.data();
    for (int i = 0; i < parameters; ++i)
      for (int s = 0; s < states; ++s) {
        accumulator_pointers_[i * states + s] = at;
        if (!goes_on)
          std::fill_n(engine::numbers_at<real>(at), all.numbers(i),
                      static_cast<real>(traits::initial_state(*used_, s)));
        at += all.floats(i);
      }
  }

  /// The scalar arguments of one parameter's update in this step, one per attribute.
  void set_numbers(int i, float scale, real* to) const {
    const parameter_desc& d = run_time_program<P>::desc.parameters[i];
    const optimizer::gradient_preparation prepare = optimizer::preparation_of(
        clip_of(d, *used_), optimizer::decay_in_force({d.regularizer, d.regularizer_coefficient},
                                                      traits::regularization(*used_)));
    to[0] = scalar_[0] * d.learning_rate;
    to[1] = scale;
    to[2] = prepare.low;
    to[3] = prepare.high;
    to[4] = prepare.l1;
    to[5] = prepare.l2;
    for (std::size_t k = 1; k < scalar_.size(); ++k) to[5 + k] = scalar_[k];
    if (has_rows(i)) to[rows_update::lazy_mode] = traits::lazy_mode(*used_) ? 1.0f : 0.0f;
  }
  static bool has_rows(int i) { return parts_type::has_rows(i); }

  /// Updates parameter i, or the part of it that begins at float `first`, with `gradient`.
  LAMINA_NOINLINE void update_parameter(int i, std::size_t first, const engine::cpu::operand& param,
                                        real* gradient, const float* scale) {
    real number[rows_update::attributes.size()] = {};
    set_numbers(i, scale == nullptr ? 1.0f : scale[i], number);
    real* array[bound(2 + states)] = {engine::numbers_at<real>(model_.memory()[i]) + first,
                                      nullptr};
    for (int s = 0; s < states; ++s)
      array[2 + s] = engine::numbers_at<real>(accumulator_pointers_[i * states + s]) + first;
    if constexpr (any_rows)
      if (parts_->rows(i) != nullptr)
        return engine::cpu::call_kernel<rows_update>::run(param, array, *parts_->rows(i), number);
    array[1] = gradient;
    engine::cpu::call_kernel<update_type>::run(param, array, number);
  }

  LAMINA_NOINLINE real fused_step(const batch_view<P>& batch) {
    engine::cpu::machine<fused>& m = *fused_;
    if (torn_)
      throw error(
          "lamina: train: an error in the middle of an earlier step left some parameters updated "
          "and others not: expected that a checkpoint is loaded before the next step, found none");
    batch.feed_to(m);
    constexpr auto& where = detail::update_constants_of<fused>;
    scalar_ = traits::scalars(*used_, steps_);
    for (int i = 0; i < parameters; ++i)
      if (where.first[i] >= 0) set_numbers(i, 1.0f, m.constants() + where.first[i]);
    if constexpr (engine::cpu::machine<fused>::has_blocks) {
      const torn_step guard{this};
      m.run(~0ull, seed_, static_cast<std::uint64_t>(steps_));
      ++steps_;
    } else {
      m.run(~0ull, seed_, static_cast<std::uint64_t>(steps_));
      ++steps_;
    }
    return detail::number_in<P, P::desc.cost>(m);
  }

  /// Guards a step: a program with loops may run out of memory after it has updated a parameter.
  struct torn_step {
    host_trainer* of;
    std::int64_t before = of->steps_;
    ~torn_step() {
      if (of->steps_ == before) of->torn_ = of->fused_->may_have_updated();
    }
  };

  LAMINA_NOINLINE real split_step(const batch_view<P>& batch) {
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
  /// Updates all parameters with the gradients in the first machine.
  void update_parameters() {
    scalar_ = traits::scalars(*used_, steps_);
    const float* const scale = clips_ ? limit_norms() : nullptr;
    pool_.run([this, scale](int t) { finish_gradients(t, updates, scale); });
    ++steps_;
  }

  /// The work of thread t on the gradients: its share of all floats, or whole parameters whose
  /// update cannot be divided.
  enum : unsigned { adds = 1, updates = 2 };
  static constexpr std::size_t together = 2048;
  LAMINA_NOINLINE void finish_gradients(int t, unsigned what, const float* scale) {
    const parameter_list_view all = parameters_in<P>();
    const std::size_t parts = parts_->machines().size(), part = static_cast<std::size_t>(t);
    for (int i = 0; i < parameters; ++i) {
      const std::size_t n = all.numbers(i);
      float* const gradient = parts_->gradient(i);
      if (gradient == nullptr && !has_rows(i)) continue;
      const bool updated = run_time_program<P>::desc.parameters[i].trainable;
      const parameter_layout& lies = parameter_table<P>::table.of[i];
      if (has_rows(i) || update_operator<Opt>::traits::has_norms) {
        if (static_cast<std::size_t>(i) % parts != part) continue;
        if ((what & adds) != 0) parts_->add_whole(i, n);
        if ((what & updates) != 0 && updated)
          update_parameter(i, 0,
                           {nullptr, lies.rows, lies.columns, padded(lies.columns), dtype_of<real>,
                            lies.panel, nullptr, 0},
                           engine::numbers_at<real>(gradient), scale);
        continue;
      }
      // Adds up blocks of 16 floats, of which some stay in the cache between the sum and the
      // update. A sum that is used immediately is stored nowhere else, so that other threads keep
      // their cache lines.
      alignas(64) real sums[together];
      const bool at_once = what == (adds | updates) && updated;
      const std::size_t lines = n / alignment_floats;
      const std::size_t end = lines * (part + 1) / parts * alignment_floats;
      for (std::size_t a = lines * part / parts * alignment_floats; a < end;) {
        const std::size_t b = std::min<std::size_t>(end, a + together);
        real* const sum = at_once ? sums : engine::numbers_at<real>(gradient) + a;
        if ((what & adds) != 0) parts_->add(i, a, b, sum);
        if ((what & updates) != 0 && updated) {
          const int count = static_cast<int>(b - a);
          update_parameter(i, a, {nullptr, 1, count, count, dtype_of<real>, false, nullptr, 0}, sum,
                           scale);
        }
        a = b;
      }
    }
  }

  LAMINA_COLD const float* limit_norms() {
    for (int i = 0; i < parameters; ++i) {
      clips_[i] = clip_of(run_time_program<P>::desc.parameters[i], *used_);
      const parameter_layout& lies = parameter_table<P>::table.of[i];
      norms_[i] = parts_->gradient(i) == nullptr
                      ? 0.0f
                      : static_cast<float>(
                            engine::cpu::norm_of(lies.rows, lies.columns, lies.panel,
                                                 engine::numbers_at<real>(parts_->gradient(i))));
      if constexpr (any_rows)
        if (parts_->rows(i) != nullptr)
          norms_[i] = static_cast<float>(engine::cpu::norm_of(*parts_->rows(i)));
    }
    constexpr auto all = static_cast<std::size_t>(parameters);
    optimizer::clip_scales({clips_.get(), all}, {norms_.get(), all}, {scales_.get(), all});
    return scales_.get();
  }

  static constexpr int capacity = at_least_one(parameters);

  Opt opt_;
  const Opt* used_ = &opt_;
  model<P>& model_;
  std::uint64_t seed_;
  number_check check_;
  std::int64_t steps_ = 0;
  bool torn_ = false;       // some parameters are already updated
  bool ran_parts_ = false;  // the last mini-batch ran in parts
  std::array<float, static_cast<std::size_t>(traits::scalar_count)> scalar_{};
  engine::aligned_buffer accumulators_;
  owned_array<float*> accumulator_pointers_{capacity * at_least_one(states)},
      no_gradients_{capacity};
  std::optional<engine::cpu::machine<fused>> fused_;
  std::optional<parts_type> parts_;
  owned_array<gradient_clip> clips_;  // by parameter, if gradients are clipped by norm
  owned_array<float> norms_, scales_;
  worker_pool pool_;
};

}  // namespace lamina::inline LAMINA_ABI
