// SPDX-License-Identifier: Apache-2.0
// lamina/train/serial_trainer.hpp - trains a model with one thread, an update per mini-batch.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <optional>
#include <span>

#include <lamina/model/evaluation/metric_sums.hpp>
#include <lamina/model/model.hpp>
#include <lamina/model/refused/refused_operator.hpp>
#include <lamina/optimizer/option_check.hpp>
#include <lamina/optimizer/training_program.hpp>
#include <lamina/train/gradients/part_facts.hpp>
#include <lamina/train/parameter_updates.hpp>
#include <lamina/train/trainer_errors.hpp>
#include <lamina/train/update_constants.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Makes the same steps as cpu_trainer with one thread in one process, bit for bit, but contains
/// none of the code for more threads or processes: `train` uses it if the options request neither
/// threads nor accumulation nor processes.
template <program_type P, optimizer::optimizer_type Opt>
class serial_trainer {
  using updates_type = parameter_updates<P, Opt>;
  using machine_type = engine::cpu::machine<training_program<P, Opt>>;

 public:
  using fused = typename updates_type::fused;
  using real = typename updates_type::real;
  using traits = typename updates_type::traits;
  static constexpr int parameters = updates_type::parameters;
  using metrics = metric_rules<P>;
  static_assert(check<detail::accepts_program<machine_type>,
                      typename detail::refused_operator<machine_type>::type>,
                "lamina: a program in double: this computes in float alone");

  /// Continues the training in `kept`, the state that a model keeps, if it belongs to this
  /// optimizer type.
  LAMINA_COLD serial_trainer(const Opt& opt, model<P>& m, std::uint64_t seed = 0,
                             training_memory* kept = nullptr)
      : updates_(opt, m, seed) {
    optimizer::require_options(opt);
    updates_.create_accumulators(kept);
    if (!updates_.limits_norms()) {
      fused_.emplace(updates_.external());
      detail::initialise_state<P>(*fused_);
      return;
    }
    bool updated[bound(parameters)];  // whether each parameter has a dense gradient
    for (int i = 0; i < parameters; ++i)
      updated[i] = detail::update_constants_of<fused>.first[i] >= 0 && !updates_type::has_rows(i);
    clipped_.emplace(m.memory(), updated);
    updates_.make_clips();
  }

  std::int64_t steps() const { return updates_.steps(); }
  stored_arrays arrays() const { return updates_.arrays(); }
  model<P>& trained() { return updates_.trained(); }
  const Opt& optimizer() const { return updates_.optimizer(); }
  void follow(const Opt& opt) { updates_.follow(opt); }

  /// Runs one mini-batch and returns the cost before the update.
  real step(const batch_view<P>& batch) {
    detail::require_known_norms(traits::clip(optimizer()), !fused_);
    return fused_ ? updates_.fused_step(*fused_, batch) : clipped_step(batch);
  }

  /// Begins a pass: metrics that cover a whole pass restart from zero.
  void begin_pass() { metrics::begin_pass(machine()); }
  /// Returns the sums of a metric of the last step.
  metric_sum sum_of_metric(int i) {
    metric_sum sum;
    metrics::add(sum, machine(), i);
    return sum;
  }

  /// Sets the step count after values and accumulators were loaded.
  void set_steps(std::int64_t n) { updates_.reset(n); }
  /// Moves the state into a model's training memory. This trainer cannot run afterwards. If a step
  /// has failed in the middle of its updates, no state is kept.
  LAMINA_COLD void leave(training_memory& to, int passes) { updates_.leave(to, passes); }

 private:
  machine_type& machine() { return fused_ ? *fused_ : clipped_->machine(); }

  /// Runs a step whose clip by norm needs all gradients before the first update.
  LAMINA_COLD real clipped_step(const batch_view<P>& batch) {
    using weights = cost_rows<P, fused>;
    part_facts<P> all{.weight = static_cast<real>(weights::fed(batch)), .samples = batch.size()};
    all.cost = clipped_->run(batch, batch, updates_.seed(), updates_.step());
    if (weights::is_made) all.weight = static_cast<real>(machine().rows(weights::domain));
    if constexpr (weights::is_quotient) detail::note_quotient<P, fused>(all, machine());
    quotient_sums sums;
    double divisor;
    const std::span<part_facts<P>> one(&all, 1);
    const real cost = detail::weigh_parts<P, fused>(one, sums, divisor, [&] {
      detail::average_statistics<P>(
          one, [this](std::size_t, int i) { return clipped_->statistics().copy(i); }, trained());
    });
    updates_.begin_update();
    const float* const scale = updates_.limit_norms(*clipped_);
    for (int i = 0; i < parameters; ++i) {
      float* const gradient = clipped_->gradient(i);
      if ((gradient == nullptr && !updates_type::has_rows(i)) ||
          !run_time_program<P>::desc.parameters[i].trainable)
        continue;
      const engine::cpu::operand param =
          updates_type::updates_whole(i)
              ? updates_type::whole_of(i)
              : updates_type::range_of(static_cast<int>(parameters_in<P>().numbers(i)));
      updates_.update_parameter(i, 0, param, engine::numbers_at<real>(gradient),
                                machine().gradient_rows(i), scale);
    }
    updates_.end_update();
    return cost;
  }

  updates_type updates_;
  std::optional<machine_type> fused_;                        // its products include the updates
  std::optional<typename updates_type::part_type> clipped_;  // used instead with a clip by norm
};

}}  // namespace lamina
