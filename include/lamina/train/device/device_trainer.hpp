// SPDX-License-Identifier: Apache-2.0
// lamina/train/device/device_trainer.hpp - trains a model on a device. Parameters and accumulators
// stay on the device between steps.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <lamina/core/messages/error.hpp>
#include <lamina/engine/cuda/schedule/machine.hpp>
#include <lamina/model/device/device_arrays.hpp>
#include <lamina/model/evaluation/run_result.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/model/model.hpp>
#include <lamina/operators/norm/batch_norm/definition.hpp>
#include <lamina/optimizer/training_program.hpp>
#include <lamina/plan/external_buffers.hpp>
#include <lamina/train/checkpoints/program_checksum.hpp>
#include <lamina/train/compared_options.hpp>
#include <lamina/train/device/deferred_updates.hpp>
#include <lamina/train/device/device_trainer_base.hpp>
#include <lamina/train/device/shared_device.hpp>
#include <lamina/train/update_constants.hpp>
#include <lamina/train/world.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Runs forward, backward and update as one program on a device. The model on the host does not
/// change before copy_to_host().
template <program_type P, optimizer::optimizer_type Opt, class Backend>
class device_trainer : public device_trainer_base<P, Opt> {
  using base = device_trainer_base<P, Opt>;
  using base::model_, base::seed_, base::state_, base::steps_;
  using metrics = metric_rules<P>;

 public:
  using base::parameters, base::states;
  using training = training_program<P, Opt>;

  LAMINA_COLD device_trainer(Backend& b, const Opt& opt, model<P>& m, std::uint64_t seed = 0,
                             training_memory* kept = nullptr)
      : base(opt, m, seed, kept),
        backend_(b),
        parameters_(b, parameters_in<P>(), 1),
        states_(b, parameters_in<P>(), states) {
    make_machine(state_.limits_norms());
    copy_to_device();
  }

  /// Joins a distributed training in which each process has one device: this device computes the
  /// gradients of its part of the mini-batch, the devices sum them, and each updates all
  /// parameters.
  LAMINA_COLD void join_world(world& w, bool reads_shard) {
    if (w.size() == 1) return;
    if (w.trainers() < w.size())
      throw error(
          "lamina: train: expected the CPU as place with parameter servers, found a device");
    for (int i = 0; i < parameters; ++i)
      if (updates::has_rows(i))
        throw error(
            "lamina: train: expected tables without is_sparse on the devices of several processes, "
            "found one with it");
    shared_ = std::make_unique<shared_type>(w, backend_, reads_shard);
    make_machine(true);
  }
  /// A device computes whole mini-batches, with their statistics. Throws lamina::error if several
  /// devices compute parts of a program with batch_norm.
  LAMINA_COLD void sync_batch_norm(const world* w) {
    constexpr bool found = has_batch_norm(P::desc.operators, counts_of<P>.operators);
    if (found && w != nullptr && w->size() > 1)
      throw error(
          "lamina: train: sync_batch_norm: expected the CPU as place with several processes, found "
          "a device");
  }
  /// In a distributed training, compares the checksums of a mini-batch. Throws lamina::error unless
  /// all processes read the same samples or, if each reads its own, different ones.
  LAMINA_COLD void require_samples(std::uint64_t checksum) {
    if (shared_ != nullptr) shared_->require_samples(checksum);
  }

  /// Sets the step count after values and accumulators were loaded. Before the next step, the
  /// processes of a distributed training compare their facts again and copy the arrays of rank 0.
  void set_steps(std::int64_t n) {
    base::set_steps(n);
    begun_ = false;
  }

  /// Runs one mini-batch and returns the cost before the update. If a step fails before any update,
  /// parameters and accumulators keep their values. If it fails later, every further call throws
  /// until other values are sent and set_steps() sets their step.
  float step(const batch_view<P>& batch) {
    this->require_whole();
    detail::require_known_norms(optimizer::traits<Opt>::clip(state_.optimizer()),
                                updates_ != nullptr);
    if (shared_ != nullptr) return shared_step(batch);
    batch.feed_to(*machine_);
    constexpr auto& where = detail::update_constants_of<training>;
    const auto scalars = state_.scalars(steps_);
    for (int i = 0; i < parameters && updates_ == nullptr; ++i)
      if (where.first[i] >= 0)
        state_.set_numbers(i, scalars, machine_->constants() + where.first[i]);
    const partially_updated_step guard{this};
    machine_->run(~0ull, seed_, static_cast<std::uint64_t>(steps_));
    if (updates_ != nullptr) update();
    ++steps_;
    return static_cast<float>(detail::number_in<P, P::desc.cost>(*machine_));
  }
  /// Begins a pass: metrics that cover a whole pass restart from zero.
  void begin_pass() { metrics::begin_pass(*machine_); }
  /// Returns the sums of a metric of the last step.
  metric_sum sum_of_metric(int i) {
    metric_sum sum;
    if (shared_ != nullptr)
      shared_->add(sum, *machine_, i);
    else
      metrics::add(sum, *machine_, i);
    return sum;
  }
  /// Returns a metric of the last step: mean over its samples.
  double metric(int i) { return metrics::value(sum_of_metric(i), i); }

  /// Variable V of the last step, copied from the device.
  template <int V>
  auto activation() {
    return activation_view<training, V>(*machine_);
  }

  /// Copies parameters and accumulators to the model, and back from it.
  LAMINA_COLD void copy_to_host() {
    this->require_whole();
    parameters_.download(model_.memory());
    states_.download(state_.pointers());
    this->steps_at_host_ = steps_;
  }
  LAMINA_COLD void copy_to_device() {
    parameters_.upload(model_.memory());
    states_.upload(state_.pointers());
  }

 private:
  using updates = deferred_updates<P, Opt, Backend>;
  using shared_type = shared_device<P, training, Backend>;

  /// Guards a step in progress: the step is counted only when it completes.
  struct partially_updated_step {
    device_trainer* of;
    std::int64_t before = of->steps_;
    ~partially_updated_step() {
      if (of->steps_ == before)
        of->partially_updated_ = of->updates_ != nullptr ? of->updates_->may_have_updated()
                                                         : of->machine_->may_have_updated();
    }
  };

  /// Makes the machine that computes gradients. `deferred`: updates follow after all gradients.
  LAMINA_COLD void make_machine(bool deferred) {
    machine_.reset();
    if (deferred && updates_ == nullptr) updates_ = std::make_unique<updates>(backend_, state_);
    machine_.emplace(backend_, external_buffers{parameters_.pointers(),
                                                deferred ? updates_->gradients() : nullptr,
                                                states_.pointers(), deferred});
    detail::initialise_state<P>(*machine_);
  }
  void update() {
    updates_->run(
        steps_, [this](int i) { return machine_->gradient_rows(i); }, parameters_.pointers(),
        states_.pointers());
  }
  /// Lists the options that must be equal in all processes.
  LAMINA_COLD static std::string options_of(const void* self) {
    const device_trainer& t = *static_cast<const device_trainer*>(self);
    return compared_options<P>(t.state_.optimizer(), t.steps_);
  }
  /// Runs one step together with all processes.
  LAMINA_COLD float shared_step(const batch_view<P>& batch) {
    if (!begun_) {
      shared_->describe({&options_of, this});
      shared_->begin({program_checksum<P>, seed_, steps_, 1}, parameters_.pointers(),
                     states_.pointers(), states);
      begun_ = true;
    }
    shared_->use(checksum_of_update(state_.optimizer(), state_.scalars(steps_)));
    const partially_updated_step guard{this};
    const float cost = shared_->run(*machine_, batch, seed_, static_cast<std::uint64_t>(steps_));
    shared_->average_statistics(parameters_);
    shared_->all_reduce_sum(updates_->gradients(), &updates::is_updated);
    update();
    ++steps_;
    return cost;
  }

  // Reports here the programs that the machine does not support, before std::optional asks for its
  // properties.
  static_assert(sizeof(engine::cuda::machine<training, Backend>) > 0);

  Backend& backend_;
  device_arrays<Backend> parameters_, states_;
  std::unique_ptr<updates> updates_;     // null if updates are fused with the gradients
  std::unique_ptr<shared_type> shared_;  // null in a training of one process
  bool begun_ = false;                   // whether the processes have compared their facts
  std::optional<engine::cuda::machine<training, Backend>> machine_;
};

namespace detail {
/// Owns the backend of a device as a base class, so that it exists before the members that use it.
template <class Backend>
struct owned_backend {
  Backend backend;
};
}  // namespace detail

/// The machine of a `trainer` on a device: it owns the connection to the device.
template <program_type P, optimizer::optimizer_type Opt, class Backend>
class placed_trainer : detail::owned_backend<Backend>, public device_trainer<P, Opt, Backend> {
 public:
  template <class Place>
  LAMINA_COLD placed_trainer(const Place& at, const Opt& opt, model<P>& m, std::uint64_t seed,
                             training_memory* kept)
      : detail::owned_backend<Backend>{Backend(at.number)},
        device_trainer<P, Opt, Backend>(this->backend, opt, m, seed, kept) {}
};

}}  // namespace lamina
