// SPDX-License-Identifier: Apache-2.0
// lamina/train/host_updates.hpp - the updates of a training on the CPU: accumulators, clips by
// norm, sums over threads and processes.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include <lamina/core/checksum.hpp>
#include <lamina/core/error.hpp>
#include <lamina/core/owned_array.hpp>
#include <lamina/core/text.hpp>
#include <lamina/core/worker_pool.hpp>
#include <lamina/model/model.hpp>
#include <lamina/optimizer/clip.hpp>
#include <lamina/optimizer/training_program.hpp>
#include <lamina/train/gradients/gradient_parts.hpp>
#include <lamina/train/program_checksum.hpp>
#include <lamina/train/shared_arrays.hpp>
#include <lamina/train/trainer_errors.hpp>

namespace lamina::inline LAMINA_ABI {

/// The state of an optimizer for one model, and the updates that it computes from the gradients of
/// the parts of a mini-batch. `host_trainer` runs the mini-batches. `Machine` computes the parts.
template <program_type P, optimizer::optimizer_type Opt,
          class Machine = engine::cpu::machine<training_program<P, Opt>>>
class host_updates {
 public:
  using traits = optimizer::traits<Opt>;
  using real = real_of<P>;
  using fused = training_program<P, Opt>;
  using update_type = update_operator<Opt>;
  using rows_update = rows_update_operator<Opt>;
  static constexpr int states = traits::state_count;
  static constexpr int parameters = counts_of<P>.parameters;
  using parts_type = gradient_parts<P, fused, Machine>;
  static constexpr bool any_rows = parts_type::any_rows;

 protected:
  host_updates(const Opt& opt, model<P>& m, int threads, std::uint64_t seed)
      : opt_(opt), model_(m), seed_(seed), pool_(threads < 1 ? 1 : threads) {}

  static void require_fitting_cost(int parts) {
    if (parts > 1 && !parts_type::part_weight::fits) detail::fail_parts_of_cost(parts);
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
    for (int i = 0; i < parameters; ++i) floats += model_.divides(i) ? 0 : all.floats(i) * states;
    if constexpr (has_distributed_tables<P> && states > 0)
      if (model_.divided()) divide_accumulators(goes_on ? kept : nullptr);
    if (goes_on) {
      accumulators_ = std::move(kept->accumulators);
      steps_ = kept->steps;
      is_part_ = kept->is_part;
      kept->optimizer = nullptr;  // there is no state to go on from until leave()
    } else {
      accumulators_.resize_unwritten(floats);
    }
    float* at = accumulators_.data();
    for (int i = 0; i < parameters; ++i)
      for (int s = 0; s < states && !model_.divides(i); ++s) {
        accumulator_pointers_[i * states + s] = at;
        // Zeros are there, and take no memory until an update writes others.
        const real initial = static_cast<real>(traits::initial_state(*used_, s));
        if (!goes_on && (initial != 0 || std::signbit(initial)))
          std::fill_n(engine::numbers_at<real>(at), all.numbers(i), initial);
        at += all.floats(i);
      }
  }

  /// Takes over the accumulators of divided tables, or makes them.
  LAMINA_COLD void divide_accumulators(training_memory* kept) {
    float initial[bound(states)] = {};
    for (int s = 0; s < states; ++s)
      initial[s] = static_cast<float>(traits::initial_state(*used_, s));
    divided_ =
        kept != nullptr ? std::move(kept->divided) : model_.divided()->make_states(states, initial);
    for (int i = 0; i < parameters; ++i)
      for (int s = 0; s < states && model_.divides(i); ++s)
        accumulator_pointers_[i * states + s] = divided_->at(model_.table_of(i), s);
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
    real* array[bound(2 + states)] = {engine::numbers_at<real>(model_.memory_of_all()[i]) + first,
                                      nullptr};
    for (int s = 0; s < states; ++s)
      array[2 + s] = engine::numbers_at<real>(accumulator_pointers_[i * states + s]) + first;
    if constexpr (any_rows && has_distributed_tables<P>)
      if (model_.divides(i)) {
        const int t = model_.table_of(i);
        return engine::cpu::call_kernel<rows_update>::run(param, array, *parts_->rows(i), number,
                                                          model_.divided()->first(t),
                                                          model_.divided()->end(t));
      }
    if constexpr (any_rows)
      if (parts_->rows(i) != nullptr)
        return engine::cpu::call_kernel<rows_update>::run(param, array, *parts_->rows(i), number);
    array[1] = gradient;
    engine::cpu::call_kernel<update_type>::run(param, array, number);
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
  static constexpr std::size_t together = 2048;  // numbers that are summed, then updated
  LAMINA_NOINLINE void finish_gradients(int t, unsigned what, const float* scale) {
    const parameter_list_view all = parameters_in<P>();
    const std::size_t parts = parts_->machines().size(), part = static_cast<std::size_t>(t);
    for (int i = 0; i < parameters; ++i) {
      const std::size_t n = all.numbers(i);
      float* const gradient = parts_->gradient(i);
      if (gradient == nullptr && !has_rows(i)) continue;
      const bool updated = run_time_program<P>::desc.parameters[i].trainable;
      if (has_rows(i) || update_operator<Opt>::traits::has_norms) {
        if (static_cast<std::size_t>(i) % parts != part) continue;
        if ((what & adds) != 0) parts_->add_whole(i, n);
        if ((what & updates) != 0 && updated)
          update_parameter(i, 0, whole_of(i), engine::numbers_at<real>(gradient), scale);
        continue;
      }
      // Sums and updates `together` numbers at a time, which stay in the cache in between. A sum
      // that is used at once is not written to the gradient, so that other threads keep their cache
      // lines of it.
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
      if constexpr (any_rows && has_distributed_tables<P>)
        if (model_.divides(i) && parts_->rows(i) != nullptr)
          norms_[i] = static_cast<float>(static_cast<real>(std::sqrt(model_.divided()->add_up(
              model_.table_of(i), engine::cpu::squares_of(*parts_->rows(i))))));
    }
    constexpr auto all = static_cast<std::size_t>(parameters);
    optimizer::clip_scales({clips_.get(), all}, {norms_.get(), all}, {scales_.get(), all});
    return scales_.get();
  }

  /// Before the first step of a distributed training: checks that all processes have the same
  /// program, optimizer, seed, threads and steps, and takes over the parameters of rank 0.
  LAMINA_COLD void begin_shared() {
    if (torn_) detail::fail_torn();
    if (begun_) return;
    const auto numbers = traits::scalars(*used_, 0);
    checksum options;
    options.add(numbers.data(), sizeof numbers);
    shared_->begin({program_checksum<P>, options.value(), seed_, steps_, pool_.size(),
                    joins_statistics_ ? 1 : 0},
                   accumulator_pointers_.get(), states);
    begun_ = true;
    is_part_ = false;
    release_others();
  }
  /// Runs this process's share of a mini-batch: its rows draw the random numbers that they would
  /// draw in a mini-batch of all shares.
  LAMINA_COLD real run_share(batch_view<P> mine) {
    batch_view<P> whole;
    return run_share(mine, whole);
  }
  /// The same; `whole` gets the numbers of rows of all shares.
  LAMINA_COLD real run_share(batch_view<P> mine, batch_view<P>& whole) {
    whole = mine;
    detail::join_shares<P>(*shared_, mine, whole);
    return parts_->run(pool_, mine, whole, seed_, static_cast<std::uint64_t>(steps_));
  }

  /// One step of all processes. What they exchange while this one computes, shared_ decides.
  LAMINA_COLD real shared_step(const batch_view<P>& batch) {
    begin_shared();
    release_others();
    scalar_ = traits::scalars(*used_, steps_);
    const bool asynchronous = shared_->is_asynchronous();
    real cost;
    try {
      parts_->update_by(clips_ ? nullptr : &update_shared, this);
      cost = reads_shard_ && !asynchronous
                 ? run_share(batch)
                 : parts_->run(pool_, batch, batch, own_seed(), static_cast<std::uint64_t>(steps_));
      add_up_shared();
    } catch (...) {
      torn_ = shared_->drop_step();
      throw;
    }
    finish_shared();
    return cost;
  }
  /// Updates with the joined gradients of several mini-batches, all processes together.
  LAMINA_COLD void update_shared_joined() {
    release_others();
    scalar_ = traits::scalars(*used_, steps_);
    try {
      add_up_shared();
    } catch (...) {
      torn_ = shared_->drop_step();
      throw;
    }
    finish_shared();
  }
  /// Gives back the memory of accumulators that other processes update, after the first begin and
  /// after each collect.
  void release_others() {
    if (!collected_ || !shared_->divides_states()) return;
    collected_ = false;
    is_part_ = shared_->rank() > 0;
    shared_->release_others(accumulator_pointers_.get(), states);
  }
  /// Sums the gradients over threads and processes.
  void add_up_shared() {
    if (!shared_->adds_threads()) pool_.run([this](int t) { finish_gradients(t, adds, nullptr); });
    parts_->reduce(pool_);
  }
  /// Updates the parameters with these sums, and tells all processes.
  LAMINA_COLD void finish_shared() {
    const bool asynchronous = shared_->is_asynchronous();
    collected_ = !asynchronous && (clips_ || states == 0);
    torn_ = true;
    if (clips_ && !asynchronous) {
      shared_->bring_totals();
      update_parameters();
      if constexpr (has_distributed_tables<P>) {
        shared_->note({scalar_.data(), traits::scalar_count, 1, scales_.get()});
        shared_->update_tables();
      }
    } else {
      shared_->note({scalar_.data(), traits::scalar_count, rate_factor(*used_),
                     clips_ ? limit_norms() : nullptr});
      shared_->update(&update_shared, this, pool_);
      ++steps_;
    }
    torn_ = false;
  }
  /// The seed of this process: where trainers make their own steps, each draws other numbers.
  std::uint64_t own_seed() const { return reads_shard_ ? seed_ + shared_->part().seed : seed_; }
  static float rate_factor([[maybe_unused]] const Opt& opt) {
    if constexpr (requires { opt.learning_rate.factor; }) return opt.learning_rate.factor;
    return 1;
  }
  /// Updates a range of a parameter, in floats, with the sum over all processes.
  LAMINA_COLD static void update_shared(void* self, int i, std::size_t first, std::size_t count,
                                        float* gradient) {
    host_updates& t = *static_cast<host_updates*>(self);
    if (!run_time_program<P>::desc.parameters[i].trainable) return;
    constexpr std::size_t wide = sizeof(real) / sizeof(float);
    const int n = static_cast<int>(count / wide);
    const bool whole = has_rows(i) || update_operator<Opt>::traits::has_norms;
    t.update_parameter(
        i, first / wide,
        whole ? whole_of(i)
              : engine::cpu::operand{nullptr, 1, n, n, dtype_of<real>, false, nullptr, 0},
        engine::numbers_at<real>(gradient), t.told_scales_);
  }
  static engine::cpu::operand whole_of(int i) {
    const parameter_layout& lies = parameter_table<P>::table.of[i];
    return {nullptr,        lies.rows,  lies.columns, padded(lies.columns),
            dtype_of<real>, lies.panel, nullptr,      0};
  }

  static constexpr int capacity = at_least_one(parameters);

  Opt opt_;
  const Opt* used_ = &opt_;
  model<P>& model_;
  std::uint64_t seed_;
  std::int64_t steps_ = 0;
  bool torn_ = false;         // an error has interrupted an update: only some parameters are new
  bool begun_ = false;        // begin_shared() has run
  bool reads_shard_ = false;  // a mini-batch is this process's share
  bool joins_statistics_ = false;  // batch_norm has the statistics of the whole mini-batch
  bool collected_ = true;          // rank 0 has the accumulators of all shards
  bool is_part_ = false;           // this process has those of its own shard alone
  std::array<float, static_cast<std::size_t>(traits::scalar_count)> scalar_{};
  engine::aligned_buffer accumulators_;
  std::shared_ptr<divided_states> divided_;  // accumulators of tables that processes divide
  owned_array<float*> accumulator_pointers_{capacity * at_least_one(states)};
  std::optional<parts_type> parts_;
  std::unique_ptr<shared_arrays> shared_;
  owned_array<gradient_clip> clips_;  // by parameter, if gradients are clipped by norm
  owned_array<float> norms_, scales_;
  const float* told_scales_ = nullptr;  // on a parameter server: the scales of a trainer's clip
  worker_pool pool_;
};

}  // namespace lamina::inline LAMINA_ABI
