// SPDX-License-Identifier: Apache-2.0
// lamina/train/parameter_updates.hpp - the state of an optimizer for a model on the CPU, and the
// update of one parameter.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <lamina/core/arrays/owned_array.hpp>
#include <lamina/model/model.hpp>
#include <lamina/model/refused/refused_operator.hpp>
#include <lamina/optimizer/clip.hpp>
#include <lamina/optimizer/training_program.hpp>
#include <lamina/plan/loop_gradient_check.hpp>
#include <lamina/train/gradients/gradient_part.hpp>
#include <lamina/train/trainer_errors.hpp>
#include <lamina/train/update_constants.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The accumulators of an optimizer for one model, its clips by norm, and the update of one
/// parameter with its gradient. Each trainer on the CPU holds one. `Machine` computes the gradients
/// and, if updates are fused into the products, also the updates.
template <program_type P, optimizer::optimizer_type Opt,
          class Machine = engine::cpu::machine<training_program<P, Opt>>>
class parameter_updates {
 public:
  using traits = optimizer::traits<Opt>;
  using real = real_of<P>;
  using fused = training_program<P, Opt>;
  using update_type = update_operator<Opt>;
  using rows_update = rows_update_operator<Opt>;
  using rows_type = engine::cpu::basic_selected_rows<real>;
  using part_type = gradient_part<P, fused, Machine>;
  static constexpr int states = traits::state_count;
  static constexpr int parameters = counts_of<P>.parameters;
  /// Whether the gradient of any parameter is sparse (selected rows).
  static constexpr bool any_rows = plan<fused>::memory.selected_rows > 0;
  static_assert(
      check<!loop_gradient_check<fused>::found, typename loop_gradient_check<fused>::name>,
      "lamina: train: gradients do not flow through a handle whose rows a loop changes");

  parameter_updates(const Opt& opt, model<P>& m, std::uint64_t seed)
      : opt_(opt), model_(m), seed_(seed) {}
  parameter_updates(const parameter_updates&) = delete;
  parameter_updates& operator=(const parameter_updates&) = delete;

  /// Returns the number of steps so far, on which schedules and bias corrections of moments depend.
  std::int64_t steps() const { return steps_; }
  /// Returns the seed and the number of the step, from which random operators draw their numbers.
  std::uint64_t seed() const { return seed_; }
  std::uint64_t step() const { return static_cast<std::uint64_t>(steps_); }
  /// Returns the accumulators in the form for files, named "fc_0.w_0_moment1_0".
  stored_arrays arrays() const {
    return {parameters_in<P>(), accumulator_pointers_.get(), states, Opt::states.data(), "_", "_0",
            "an accumulator"};
  }
  model<P>& trained() const { return model_; }
  const Opt& optimizer() const { return *used_; }
  /// Makes each step read the options of `opt` again, because an event handler may change them. A
  /// clip by norm must be present from the start.
  void follow(const Opt& opt) { used_ = &opt; }
  /// Returns the accumulators: number s of parameter i is at [i * states + s].
  float* const* accumulators() const { return accumulator_pointers_.get(); }
  /// Lets the system release single pages of the accumulators.
  LAMINA_COLD void use_small_pages() { accumulators_.use_small_pages(); }
  /// Sets the step count; reset() does so after values and accumulators were loaded, which makes
  /// the state whole again.
  void set_steps(std::int64_t n) { steps_ = n; }
  void reset(std::int64_t n) {
    steps_ = n;
    partially_updated_ = is_part_ = false;
  }
  /// Sets whether this process has only the accumulators of its own shard.
  void set_part(bool is_part) { is_part_ = is_part; }
  /// Sets whether an error has interrupted an update, so that only some parameters are new.
  /// require_whole() throws lamina::error if so.
  void set_partially_updated(bool is_partial) { partially_updated_ = is_partial; }
  void require_whole() const {
    if (partially_updated_) detail::fail_partially_updated();
  }

  static bool has_rows(int i) { return rows_gradient_table<fused>::table.of[i] >= 0; }
  static gradient_clip clip_of(const parameter_desc& d, const Opt& opt) {
    return optimizer::clip_in_force({d.clip, d.clip_low, d.clip_high}, traits::clip(opt));
  }
  /// Whether a clip needs all gradients before the first update.
  LAMINA_COLD bool limits_norms() const {
    for (int i = 0; i < parameters; ++i)
      if (optimizer::needs_norm(clip_of(run_time_program<P>::desc.parameters[i], *used_)))
        return true;
    return false;
  }
  /// Whether gradients are clipped by norm. make_clips() allocates the memory for limit_norms().
  bool clips() const { return static_cast<bool>(clips_); }
  LAMINA_COLD void make_clips() {
    clips_ = owned_array<gradient_clip>(capacity);
    norms_ = owned_array<float>(capacity);
    scales_ = owned_array<float>(capacity);
  }
  LAMINA_COLD void create_accumulators(training_memory* kept) {
    const parameter_list_view all = parameters_in<P>();
    const bool goes_on = detail::goes_on<Opt>(kept);
    std::size_t floats = 0;
    for (int i = 0; i < parameters; ++i)
      floats += model_.is_sharded(i) ? 0 : all.floats(i) * states;
    if constexpr (has_distributed_tables<P> && states > 0)
      if (model_.embedding()) divide_accumulators(goes_on ? kept : nullptr);
    if (goes_on) {
      accumulators_ = std::move(kept->accumulators);
      steps_ = kept->steps;
      is_part_ = kept->is_part;
      kept->optimizer = nullptr;  // the state is not usable until leave()
    } else {
      accumulators_.resize_unwritten(floats);
    }
    float* at = accumulators_.data();
    for (int i = 0; i < parameters; ++i)
      for (int s = 0; s < states && !model_.is_sharded(i); ++s) {
        accumulator_pointers_[i * states + s] = at;
        // The memory is already zero, and zero pages use no physical memory until an update writes
        // to them.
        const real initial = static_cast<real>(traits::initial_state(*used_, s));
        if (!goes_on && (initial != 0 || std::signbit(initial)))
          std::fill_n(engine::numbers_at<real>(at), all.numbers(i), initial);
        at += all.floats(i);
      }
  }
  /// Moves the state into a model's training memory. Nothing can be updated afterwards. If a step
  /// has failed in the middle of its updates, no state is kept.
  LAMINA_COLD void leave(training_memory& to, int passes) {
    to.forget();
    if (partially_updated_) return;
    to.optimizer = &detail::optimizer_identity<Opt>;
    to.accumulators = std::move(accumulators_);
    to.embedding = std::move(embedding_);
    to.steps = steps_;
    to.passes = passes;
    to.is_part = is_part_;
  }

  /// Begins an update: computes the scalar arguments that all parameters have in common, from the
  /// options of an optimizer, or copies those of another process.
  void begin_update() { begin_update(*used_); }
  void begin_update(const Opt& opt) { scalar_ = traits::scalars(opt, steps_); }
  void begin_update(const float* scalars, int count) {
    std::copy_n(scalars, count, scalar_.data());
  }
  const std::array<float, static_cast<std::size_t>(traits::scalar_count)>& scalars() const {
    return scalar_;
  }
  /// Ends an update, and with it the step.
  void end_update() { ++steps_; }

  /// Writes the scalar arguments of one parameter's update in this step, one per attribute.
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
    if constexpr (Opt::decay_scalar > 0)
      if (d.regularizer == regularizer_kind::l2) {
        to[5] = 0;
        to[5 + Opt::decay_scalar] = d.regularizer_coefficient;
      }
    if (has_rows(i)) to[rows_update::lazy_mode] = traits::lazy_mode(*used_) ? 1.0f : 0.0f;
  }

  /// Updates parameter i, or the part of it that begins at element `first`, with `gradient` or, if
  /// they are not null, with selected rows.
  LAMINA_NOINLINE void update_parameter(int i, std::size_t first, const engine::cpu::operand& param,
                                        real* gradient, [[maybe_unused]] rows_type* rows,
                                        const float* scale) {
    real number[rows_update::attributes.size()] = {};
    set_numbers(i, scale == nullptr ? 1.0f : scale[i], number);
    real* array[bound(2 + states)] = {engine::numbers_at<real>(model_.memory_of_all()[i]) + first,
                                      nullptr};
    for (int s = 0; s < states; ++s)
      array[2 + s] = engine::numbers_at<real>(accumulator_pointers_[i * states + s]) + first;
    if constexpr (any_rows && has_distributed_tables<P>)
      if (model_.is_sharded(i)) {
        const int t = model_.table_of(i);
        return engine::cpu::call_kernel<rows_update>::run(
            param, array, *rows, number, model_.embedding()->first(t), model_.embedding()->end(t));
      }
    if constexpr (any_rows)
      if (rows != nullptr)
        return engine::cpu::call_kernel<rows_update>::run(param, array, *rows, number);
    array[1] = gradient;
    engine::cpu::call_kernel<update_type>::run(param, array, number);
  }

  /// Returns the factors that limit_norms() has computed, by parameter.
  const float* scales() const { return scales_.get(); }
  /// Computes the factor of each gradient that keeps norms within their limits. `sums` has the
  /// gradients.
  LAMINA_COLD const float* limit_norms(part_type& sums) {
    for (int i = 0; i < parameters; ++i) {
      clips_[i] = clip_of(run_time_program<P>::desc.parameters[i], *used_);
      const parameter_layout& lies = parameter_table<P>::table.of[i];
      float* const gradient = sums.gradient(i);
      norms_[i] =
          gradient == nullptr
              ? 0.0f
              : static_cast<float>(engine::cpu::norm_of(lies.rows, lies.columns, lies.panel,
                                                        engine::numbers_at<real>(gradient)));
      if constexpr (any_rows)
        if (const rows_type* const rows = sums.machine().gradient_rows(i)) {
          norms_[i] = static_cast<float>(engine::cpu::norm_of(*rows));
          if constexpr (has_distributed_tables<P>)
            if (model_.is_sharded(i))
              norms_[i] =
                  static_cast<float>(static_cast<real>(std::sqrt(model_.embedding()->all_reduce_sum(
                      model_.table_of(i), engine::cpu::squares_of(*rows)))));
        }
    }
    constexpr auto all = static_cast<std::size_t>(parameters);
    optimizer::clip_scales({clips_.get(), all}, {norms_.get(), all}, {scales_.get(), all});
    return scales_.get();
  }
  static engine::cpu::operand whole_of(int i) {
    const parameter_layout& lies = parameter_table<P>::table.of[i];
    return {nullptr,        lies.rows,  lies.columns, padded(lies.columns),
            dtype_of<real>, lies.panel, nullptr,      0};
  }
  /// Returns a range of `count` elements of a parameter, for an elementwise update.
  static engine::cpu::operand range_of(int count) {
    return {nullptr, 1, count, count, dtype_of<real>, false, nullptr, 0};
  }
  /// Whether an update needs the whole parameter.
  static bool updates_whole(int i) {
    return has_rows(i) || update_operator<Opt>::traits::has_norms;
  }

  /// Runs a step in which `m` computes the updates together with the gradients, and returns the
  /// cost before them. A program with loops may run out of memory after it has updated a parameter.
  LAMINA_NOINLINE real fused_step(Machine& m, const batch_view<P>& batch) {
    require_whole();
    batch.feed_to(m);
    constexpr auto& where = detail::update_constants_of<fused>;
    scalar_ = traits::scalars(*used_, steps_);
    for (int i = 0; i < parameters; ++i)
      if (where.first[i] >= 0) set_numbers(i, 1.0f, m.constants() + where.first[i]);
    if constexpr (Machine::has_blocks) {
      const partially_updated_step guard{this, &m};
      m.run(~0ull, seed_, static_cast<std::uint64_t>(steps_));
      ++steps_;
    } else {
      m.run(~0ull, seed_, static_cast<std::uint64_t>(steps_));
      ++steps_;
    }
    return detail::number_in<P, P::desc.cost>(m);
  }
  external_buffers external() {
    return {model_.memory(), no_gradients_.get(), accumulator_pointers_.get()};
  }

 private:
  static constexpr int capacity = at_least_one(parameters);

  /// Reuses the kept accumulators of sharded tables, or makes new ones.
  LAMINA_COLD void divide_accumulators(training_memory* kept) {
    float initial[bound(states)] = {};
    for (int s = 0; s < states; ++s)
      initial[s] = static_cast<float>(traits::initial_state(*used_, s));
    embedding_ = kept != nullptr ? std::move(kept->embedding)
                                 : model_.embedding()->make_states(states, initial);
    for (int i = 0; i < parameters; ++i)
      for (int s = 0; s < states && model_.is_sharded(i); ++s)
        accumulator_pointers_[i * states + s] = embedding_->at(model_.table_of(i), s);
  }
  /// Records after a failed step whether it may have updated a parameter.
  struct partially_updated_step {
    parameter_updates* of;
    Machine* machine;
    std::int64_t before = of->steps_;
    ~partially_updated_step() {
      if (of->steps_ == before) of->partially_updated_ = machine->may_have_updated();
    }
  };

  Opt opt_;
  const Opt* used_ = &opt_;
  model<P>& model_;
  std::uint64_t seed_;
  std::int64_t steps_ = 0;
  bool partially_updated_ =
      false;              // an error has interrupted an update: only some parameters are new
  bool is_part_ = false;  // this process has only the accumulators of its own shard
  std::array<float, static_cast<std::size_t>(traits::scalar_count)> scalar_{};
  engine::aligned_buffer accumulators_;
  std::shared_ptr<embedding_states> embedding_;  // accumulators of sharded embeddings
  owned_array<float*> accumulator_pointers_{capacity * at_least_one(states)};
  owned_array<float*> no_gradients_{capacity};
  owned_array<gradient_clip> clips_;  // by parameter, if gradients are clipped by norm
  owned_array<float> norms_, scales_;
};

}}  // namespace lamina
