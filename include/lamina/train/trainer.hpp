// SPDX-License-Identifier: Apache-2.0
// lamina/train/trainer.hpp - trains a model with an optimizer: accumulators, machines, one step.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <vector>

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
#include <lamina/train/cost_rows.hpp>
#include <lamina/train/gradient_part.hpp>
#include <lamina/train/joined_parts.hpp>
#include <lamina/train/update_constants.hpp>

namespace lamina::inline LAMINA_ABI {

/// Optimizer = {model, gradient machines} of PaddlePaddle's design. With one thread and no limit on
/// norms, forward, backward and update are one program in which updates are fused into the products
/// that compute their gradients. Otherwise each thread computes the gradients of a part of the
/// mini-batch, the trainer adds them up in a fixed order, and then updates each parameter: the same
/// seed and the same number of threads give the same bits.
template <program_type P, optimizer::optimizer_type Opt>
class trainer {
 public:
  using traits = optimizer::traits<Opt>;
  using real = real_of<P>;
  using fused = training_program<P, Opt>;
  using update = update_operator<Opt>;
  using rows_update = rows_update_operator<Opt>;
  static constexpr int states = traits::state_count;
  static_assert(
      check<!loop_gradient_check<fused>::found, typename loop_gradient_check<fused>::name>,
      "lamina: train: gradients do not flow through a handle whose rows a loop makes anew");
  static_assert(check<detail::accepts_program<engine::cpu::machine<fused>>,
                      typename detail::refused_operator<engine::cpu::machine<fused>>::type>,
                "lamina: a program in double: this computes in float alone");
  using metrics = metric_rules<P>;
  static constexpr int parameters = P::desc.count.parameters;
  /// Whether the gradient of any parameter is selected rows.
  static constexpr bool any_rows = plan<fused>::memory.selected_rows > 0;

  LAMINA_COLD trainer(const Opt& opt, model<P>& m, int threads = 1, std::uint64_t seed = 0)
      : opt_(opt), model_(m), seed_(seed), pool_(threads < 1 ? 1 : threads) {
    optimizer::require_options(opt);
    if (threads > 1 && !part_weight::fits)
      throw error(
          text() << "lamina: train: expected 1 thread for a cost that is neither a mean nor "
                    "a sum over rows, nor a quotient of two such sums whose denominator "
                    "depends on the data alone, found "
                 << threads);
    create_accumulators();
    const bool limited = limits_norms();
    if (threads <= 1 && !limited) {
      fused_.emplace(external());
      detail::initialise_state<P>(*fused_);
      return;
    }
    const owned_array<bool> updated(capacity);  // with a dense gradient
    for (int i = 0; i < parameters; ++i)
      updated[i] = detail::update_constants_of<fused>.first[i] >= 0 && !has_rows(i);
    for (int t = 0; t < std::max(1, threads); ++t)
      machines_.push_back(std::make_unique<gradient_part<P, fused>>(m.memory(), updated.get()));
    for (int i = 0; i < parameters; ++i) {
      gradients_[i] = machines_[0]->gradient(i);
      if constexpr (any_rows) rows_[i] = machines_[0]->machine().gradient_rows(i);
    }
    costs_.resize(machines_.size());
    weight_.resize(machines_.size());
    samples_.resize(machines_.size());
    if (!limited) return;
    clips_ = owned_array<gradient_clip>(capacity);
    norms_ = owned_array<float>(capacity);
    scales_ = owned_array<float>(capacity);
  }

  trainer(const trainer&) = delete;
  trainer& operator=(const trainer&) = delete;

  /// Reads the options of `opt` again in each step, because an event handler may change them. A
  /// limit on norms must be present from the start.
  void follow(const Opt& opt) { used_ = &opt; }

  /// Runs one mini-batch. Returns the cost before the update.
  real step(const batch_view<P>& batch) {
    detail::require_known_norms(traits::clip(*used_), static_cast<bool>(clips_));
    return fused_ ? fused_step(batch) : split_step(batch);
  }

  /// Begins a pass: metrics that count over mini-batches start from zero.
  void begin_pass() {
    if (fused_) return metrics::begin_pass(*fused_);
    for (auto& part : machines_) metrics::begin_pass(part->machine());
  }
  /// The sums of a metric of the last step.
  metric_sum sum_of_metric(int i) {
    metric_sum sum;
    if (fused_) {
      metrics::add(sum, *fused_, i);
    } else if (metrics::all.of[i].counts.positive >= 0) {
      metrics::add_counts(sum, machines_, i);
    } else {
      for (std::size_t t = 0; t < machines_.size(); ++t)
        if (samples_[t] > 0) metrics::add(sum, machines_[t]->machine(), i);
    }
    return sum;
  }
  /// A metric of the last step: the mean over the rows that it is computed from.
  double metric(int i) { return metrics::value(sum_of_metric(i), i); }

  /// The number of steps so far, which schedules and corrections of moments depend on.
  std::int64_t steps() const { return steps_; }
  /// Sets the step count after values and accumulators were loaded.
  void set_steps(std::int64_t n) {
    steps_ = n;
    torn_ = false;
  }

  /// The accumulators in the form for files, named "fc_0.w_0_moment1_0".
  stored_arrays arrays() const {
    return {parameters_in<P>(), accumulator_pointers_.get(), states, Opt::states.data(), "_", "_0",
            "an accumulator"};
  }

  model<P>& trained() { return model_; }
  const Opt& optimizer() const { return *used_; }

 private:
  external_buffers external() {
    return {model_.memory(), gradients_.get(), accumulator_pointers_.get()};
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
  LAMINA_COLD void create_accumulators() {
    const parameter_list_view all = parameters_in<P>();
    std::size_t floats = 0;
    for (int i = 0; i < parameters; ++i) floats += all.floats(i) * states;
    accumulators_.resize(floats);
    float* at = accumulators_.data();
    for (int i = 0; i < parameters; ++i)
      for (int s = 0; s < states; ++s) {
        accumulator_pointers_[i * states + s] = at;
        std::fill_n(engine::cpu::numbers_at<real>(at), all.numbers(i),
                    static_cast<real>(traits::initial_state(*used_, s)));
        at += all.floats(i);
      }
  }

  /// The numbers of one parameter's update in this step, one per attribute of the operator.
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
  /// Whether the gradient of a parameter is selected rows.
  static bool has_rows(int i) { return rows_gradient_table<fused>::table.of[i] >= 0; }

  /// Updates parameter i with `gradient`: whole arrays, or a part that begins at float `first`.
  LAMINA_NOINLINE void update_parameter(int i, std::size_t first, const engine::cpu::operand& param,
                                        real* gradient, const float* scale) {
    real number[rows_update::attributes.size()] = {};
    set_numbers(i, scale == nullptr ? 1.0f : scale[i], number);
    real* array[2 + states] = {engine::cpu::numbers_at<real>(model_.memory()[i]) + first, nullptr};
    for (int s = 0; s < states; ++s)
      array[2 + s] = engine::cpu::numbers_at<real>(accumulator_pointers_[i * states + s]) + first;
    if constexpr (any_rows)
      if (rows_[i] != nullptr)
        return engine::cpu::call_kernel<rows_update>::run(param, array, *rows_[i], number);
    array[1] = gradient;
    engine::cpu::call_kernel<update>::run(param, array, number);
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

  /// A step of a program with loops may run out of memory after it has updated a parameter.
  struct torn_step {
    trainer* of;
    std::int64_t before = of->steps_;
    ~torn_step() {
      if (of->steps_ == before) of->torn_ = of->fused_->may_have_updated();
    }
  };

  using part_weight = cost_rows<P, fused>;

  LAMINA_NOINLINE real split_step(const batch_view<P>& batch) {
    const int parts = static_cast<int>(machines_.size());
    pool_.run([&](int t) {
      const std::size_t k = static_cast<std::size_t>(t);
      const batch_view<P> part =
          batch.part(first_of_part(batch, t, parts), first_of_part(batch, t + 1, parts));
      samples_[k] = part.size();
      weight_[k] = static_cast<real>(part_weight::fed(part));
      if (part.size() == 0) return;
      costs_[k] = machines_[k]->run(part, batch, seed_, static_cast<std::uint64_t>(steps_));
      if (part_weight::is_made)
        weight_[k] = static_cast<real>(machines_[k]->machine().rows(part_weight::domain));
    });
    real weighed = 0;
    for (const real w : weight_) weighed += w;
    for (real& w : weight_) w /= std::max(real(1), weighed);
    detail::average_statistics<P>(machines_, weight_, model_);
    [[maybe_unused]] quotient_sums sums;
    if constexpr (part_weight::is_quotient)
      sums = detail::weigh_quotients<P>(machines_, samples_, weight_);
    else if constexpr (part_weight::is_sum)
      for (real& w : weight_) w = w > 0 ? real(1) : real(0);
    if constexpr (any_rows) reserve_rows();
    scalar_ = traits::scalars(*used_, steps_);
    if (!clips_) {
      pool_.run([this](int t) { finish_gradients(t, adds | updates, nullptr); });
    } else {
      if (parts > 1) pool_.run([this](int t) { finish_gradients(t, adds, nullptr); });
      const float* const scale = limit_norms();
      pool_.run([this, scale](int t) { finish_gradients(t, updates, scale); });
    }
    ++steps_;
    if constexpr (part_weight::is_quotient)
      if (const double below = sums.denominator(part_weight::quotient); below == 0)
        return static_cast<real>(part_weight::quotient.factor * sums.numerator / below);
    real cost = 0;
    for (std::size_t t = 0; t < weight_.size(); ++t)
      if (weight_[t] != 0) cost += weight_[t] * costs_[t];
    return cost;
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

  /// The work of thread t on the gradients: its share of all floats, or all of a parameter that
  /// cannot be divided.
  enum : unsigned { adds = 1, updates = 2 };
  static constexpr std::size_t together = 2048;
  LAMINA_NOINLINE void finish_gradients(int t, unsigned what, const float* scale) {
    const parameter_list_view all = parameters_in<P>();
    const std::size_t parts = machines_.size(), part = static_cast<std::size_t>(t);
    for (int i = 0; i < parameters; ++i) {
      const std::size_t n = all.numbers(i);
      if (gradients_[i] == nullptr && !has_rows(i)) continue;
      const bool updated = run_time_program<P>::desc.parameters[i].trainable;
      const parameter_layout& lies = parameter_table<P>::table.of[i];
      if (has_rows(i) || update_operator<Opt>::traits::has_norms) {
        if (static_cast<std::size_t>(i) % parts != part) continue;
        if ((what & adds) != 0) add_whole(i, n);
        if ((what & updates) != 0 && updated)
          update_parameter(i, 0,
                           {nullptr, lies.rows, lies.columns, padded(lies.columns), dtype_of<real>,
                            lies.panel, nullptr, 0},
                           engine::cpu::numbers_at<real>(gradients_[i]), scale);
        continue;
      }
      // Sums of 16-float lines, some of which stay in the cache between the sum and the update. A
      // sum that is used at once is stored nowhere else, so that the cache lines of other threads
      // stay theirs.
      alignas(64) real sums[together];
      const bool at_once = what == (adds | updates) && updated;
      const std::size_t lines = n / alignment_floats;
      const std::size_t end = lines * (part + 1) / parts * alignment_floats;
      for (std::size_t a = lines * part / parts * alignment_floats; a < end;) {
        const std::size_t b = std::min<std::size_t>(end, a + together);
        real* const sum = at_once ? sums : engine::cpu::numbers_at<real>(gradients_[i]) + a;
        if ((what & adds) != 0) add_gradients(i, a, b, sum);
        if ((what & updates) != 0 && updated) {
          const int count = static_cast<int>(b - a);
          update_parameter(i, a, {nullptr, 1, count, count, dtype_of<real>, false, nullptr, 0}, sum,
                           scale);
        }
        a = b;
      }
    }
  }

  /// Weighted sum over all parts, in order, of some floats of the gradient of parameter i.
  LAMINA_NOINLINE void add_gradients(int i, std::size_t first, std::size_t end, real* to) {
    using vector = engine::cpu::vector_in<real>;
    constexpr int lanes = engine::cpu::lanes_in<real>;
    const std::size_t n = end - first;  // whole vectors
    const real* const mine = engine::cpu::numbers_at<real>(gradients_[i]) + first;
    const vector own(weight_[0]);
    for (std::size_t k = 0; k < n; k += lanes)
      vector(weight_[0] != 0 ? vector::load_aligned(mine + k) * own : vector(real(0)))
          .store_aligned(to + k);
    for (std::size_t t = 1; t < machines_.size(); ++t) {
      if (weight_[t] == 0) continue;
      const real* const from = engine::cpu::numbers_at<real>(machines_[t]->gradient(i)) + first;
      const vector w(weight_[t]);
      for (std::size_t k = 0; k < n; k += lanes)
        engine::cpu::fused_multiply_add(w, vector::load_aligned(from + k),
                                        vector::load_aligned(to + k))
            .store_aligned(to + k);
    }
  }
  LAMINA_NOINLINE void add_whole(int i, std::size_t count) {
    if constexpr (any_rows)
      if (engine::cpu::basic_selected_rows<real>* const rows = rows_[i]) {
        rows->scale(weight_[0]);
        for (std::size_t t = 1; t < machines_.size(); ++t)
          if (weight_[t] != 0) rows->add(*machines_[t]->machine().gradient_rows(i), weight_[t]);
        return;
      }
    add_gradients(i, 0, count, engine::cpu::numbers_at<real>(gradients_[i]));
  }

  LAMINA_COLD const float* limit_norms() {
    for (int i = 0; i < parameters; ++i) {
      clips_[i] = clip_of(run_time_program<P>::desc.parameters[i], *used_);
      const parameter_layout& lies = parameter_table<P>::table.of[i];
      norms_[i] = gradients_[i] == nullptr ? 0.0f
                                           : static_cast<float>(engine::cpu::norm_of(
                                                 lies.rows, lies.columns, lies.panel,
                                                 engine::cpu::numbers_at<real>(gradients_[i])));
      if constexpr (any_rows)
        if (rows_[i] != nullptr) norms_[i] = static_cast<float>(engine::cpu::norm_of(*rows_[i]));
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
  std::int64_t steps_ = 0;
  bool torn_ = false;  // some parameters are already updated
  std::array<float, static_cast<std::size_t>(traits::scalar_count)> scalar_{};
  engine::cpu::aligned_buffer accumulators_;
  owned_array<float*> accumulator_pointers_{capacity * at_least_one(states)}, gradients_{capacity};
  // By parameter, if its gradient is selected rows.
  engine::cpu::basic_selected_rows<real>* rows_[any_rows ? capacity : 1] = {};
  std::optional<engine::cpu::machine<fused>> fused_;
  std::vector<std::unique_ptr<gradient_part<P, fused>>> machines_;
  std::vector<real> costs_;
  std::vector<real> weight_;          // by machine: its weight in the last mini-batch
  std::vector<int> samples_;          // by machine: its samples of the last mini-batch
  owned_array<gradient_clip> clips_;  // by parameter, where norms are limited
  owned_array<float> norms_, scales_;
  worker_pool pool_;
};

}  // namespace lamina::inline LAMINA_ABI
