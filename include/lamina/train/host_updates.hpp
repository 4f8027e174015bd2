// SPDX-License-Identifier: Apache-2.0
// lamina/train/host_updates.hpp - the updates of a training on the CPU: accumulators, clips by
// norm, sums over threads and processes.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <lamina/core/error.hpp>
#include <lamina/core/owned_array.hpp>
#include <lamina/core/text.hpp>
#include <lamina/core/worker_pool.hpp>
#include <lamina/model/model.hpp>
#include <lamina/optimizer/training_program.hpp>
#include <lamina/train/compared_options.hpp>
#include <lamina/train/gradients/gradient_parts.hpp>
#include <lamina/train/parameter_updates.hpp>
#include <lamina/train/program_checksum.hpp>
#include <lamina/train/required_parts.hpp>
#include <lamina/train/shared_arrays.hpp>
#include <lamina/train/trainer_errors.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Updates parameters with an optimizer from the gradients of the parts of a mini-batch, which
/// threads and processes compute. `host_trainer` runs the mini-batches. `Machine` computes the
/// parts.
template <program_type P, optimizer::optimizer_type Opt,
          class Machine = engine::cpu::machine<training_program<P, Opt>>>
class host_updates : public parameter_updates<P, Opt, Machine> {
  using base = parameter_updates<P, Opt, Machine>;

 public:
  using base::any_rows, base::parameters, base::states;
  using typename base::fused, typename base::real, typename base::rows_update,
      typename base::traits;
  using parts_type = gradient_parts<P, fused, Machine>;

 protected:
  using base::accumulator_pointers_, base::clips_, base::has_rows, base::is_part_, base::model_,
      base::range_of, base::scalar_, base::scales_, base::seed_, base::steps_,
      base::partially_updated_, base::updates_whole, base::used_, base::whole_of;

  host_updates(const Opt& opt, model<P>& m, int threads, std::uint64_t seed)
      : base(opt, m, seed), pool_(threads < 1 ? 1 : threads) {}

  static void require_fitting_cost(int parts) { detail::require_parts<P, fused>(parts); }
  LAMINA_COLD const float* limit_norms() { return base::limit_norms(*parts_->machines()[0]); }
  void update_parameter(int i, std::size_t first, const engine::cpu::operand& param, real* gradient,
                        const float* scale) {
    base::update_parameter(i, first, param, gradient, parts_->rows(i), scale);
  }

  /// Updates all parameters with the gradients in the first machine.
  void update_parameters() {
    scalar_ = traits::scalars(*used_, steps_);
    const float* const scale = clips_ ? limit_norms() : nullptr;
    pool_.run([this, scale](int t) { finish_gradients(t, updates, scale); });
    ++steps_;
  }

  /// Bits of the work of thread t on the gradients: on its share of all floats, or on whole
  /// parameters whose update cannot be divided.
  enum : unsigned { adds = 1, updates = 2 };
  static constexpr std::size_t together = 2048;  // elements that are summed, then updated
  LAMINA_NOINLINE void finish_gradients(int t, unsigned what, const float* scale) {
    const parameter_list_view all = parameters_in<P>();
    const std::size_t parts = parts_->machines().size(), part = static_cast<std::size_t>(t);
    for (int i = 0; i < parameters; ++i) {
      const std::size_t n = all.numbers(i);
      float* const gradient = parts_->gradient(i);
      if (gradient == nullptr && !has_rows(i)) continue;
      const bool updated = run_time_program<P>::desc.parameters[i].trainable;
      if (updates_whole(i)) {
        if (static_cast<std::size_t>(i) % parts != part) continue;
        if ((what & adds) != 0) parts_->add_whole(i, n);
        if ((what & updates) != 0 && updated)
          update_parameter(i, 0, whole_of(i), engine::numbers_at<real>(gradient), scale);
        continue;
      }
      // Sums and updates `together` elements at a time, which stay in the cache in between. A sum
      // that is used at once is not written to the gradient, so that other threads keep its cache
      // lines.
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
          update_parameter(i, a, range_of(count), sum, scale);
        }
        a = b;
      }
    }
  }

  /// Before the first step of a distributed training: checks that all processes have the same
  /// program, optimizer, seed, threads and steps, and copies the parameters of rank 0.
  LAMINA_COLD void begin_shared() {
    if (partially_updated_) detail::fail_partially_updated();
    if (begun_) return;
    shared_->describe({&options_of, this});
    shared_->begin({program_checksum<P>, seed_, steps_, pool_.size(), joins_statistics_ ? 1 : 0},
                   accumulator_pointers_.get(), states);
    begun_ = true;
    is_part_ = false;
    release_others();
  }
  /// Runs this process's share of a mini-batch. Its rows draw the same random numbers as in a
  /// mini-batch of all shares.
  LAMINA_COLD real run_share(batch_view<P> mine) {
    batch_view<P> whole;
    return run_share(mine, whole);
  }
  /// Does the same, and sets `whole` to the numbers of rows of all shares.
  LAMINA_COLD real run_share(batch_view<P> mine, batch_view<P>& whole) {
    whole = mine;
    detail::join_shares<P>(*shared_, mine, whole);
    return parts_->run(pool_, mine, whole, seed_, static_cast<std::uint64_t>(steps_));
  }

  /// Runs one step together with all processes. shared_ decides what they exchange during the
  /// computation.
  LAMINA_COLD real shared_step(const batch_view<P>& batch) {
    begin_shared();
    release_others();
    scalar_ = traits::scalars(*used_, steps_);
    shared_->use(checksum_of_update(*used_, scalar_));
    const bool asynchronous = shared_->is_asynchronous();
    real cost;
    try {
      parts_->update_by(clips_ ? nullptr : &update_shared, this);
      cost = reads_shard_ && !asynchronous
                 ? run_share(batch)
                 : parts_->run(pool_, batch, batch, own_seed(), static_cast<std::uint64_t>(steps_));
      add_up_shared();
    } catch (...) {
      partially_updated_ = shared_->drop_step();
      throw;
    }
    finish_shared();
    return cost;
  }
  /// Updates with the accumulated gradients of several mini-batches, together with all processes.
  LAMINA_COLD void update_shared_joined() {
    release_others();
    scalar_ = traits::scalars(*used_, steps_);
    try {
      add_up_shared();
    } catch (...) {
      partially_updated_ = shared_->drop_step();
      throw;
    }
    finish_shared();
  }
  /// Releases the memory of accumulators that other processes update, after the first begin and
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
  /// Updates the parameters with these sums, and sends them to all processes.
  LAMINA_COLD void finish_shared() {
    const bool asynchronous = shared_->is_asynchronous();
    collected_ = !asynchronous && (clips_ || states == 0);
    partially_updated_ = true;
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
    partially_updated_ = false;
  }
  /// Lists the options that must be equal in all processes.
  LAMINA_COLD static std::string options_of(const void* self) {
    const host_updates& t = *static_cast<const host_updates*>(self);
    return compared_options<P>(*t.used_, t.steps_);
  }
  /// Returns the seed of this process: asynchronous trainers draw different random numbers.
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
    t.update_parameter(i, first / wide,
                       updates_whole(i) ? whole_of(i) : range_of(static_cast<int>(count / wide)),
                       engine::numbers_at<real>(gradient), t.told_scales_);
  }

  bool begun_ = false;             // whether begin_shared() has run
  bool reads_shard_ = false;       // whether this process reads its share of each mini-batch
  bool joins_statistics_ = false;  // batch_norm has the statistics of the whole mini-batch
  bool collected_ = true;          // rank 0 has the accumulators of all shards
  std::optional<parts_type> parts_;
  std::unique_ptr<shared_arrays> shared_;
  const float* told_scales_ = nullptr;  // on a parameter server: clip scales of a trainer
  worker_pool pool_;
};

}}  // namespace lamina
