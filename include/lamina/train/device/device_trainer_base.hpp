// SPDX-License-Identifier: Apache-2.0
// lamina/train/device/device_trainer_base.hpp - the common part of trainers on one device and on
// several: optimizer and model on the host, the count of updates, checkpoints.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

#include <lamina/core/messages/error.hpp>
#include <lamina/model/evaluation/metric_sums.hpp>
#include <lamina/model/model.hpp>
#include <lamina/train/checkpoints/trainer_checkpoint.hpp>
#include <lamina/train/device/optimizer_state.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The host side of a trainer whose parameters and accumulators are on devices between steps. The
/// model and the accumulators on the host do not change before the trainer's copy_to_host().
template <program_type P, optimizer::optimizer_type Opt>
class device_trainer_base {
 public:
  static constexpr int states = optimizer::traits<Opt>::state_count;
  static constexpr int parameters = counts_of<P>.parameters;

  /// Returns the number of updates so far.
  std::int64_t steps() const { return steps_; }
  /// Sets the step count after values and accumulators were loaded.
  void set_steps(std::int64_t n) {
    steps_ = steps_at_host_ = n;
    partially_updated_ = false;
  }
  /// Moves the state of the last copy_to_host() into a model's training memory. This trainer cannot
  /// run afterwards.
  LAMINA_COLD void leave(training_memory& to, int passes) {
    state_.leave(to);
    to.steps = steps_at_host_;
    to.passes = passes;
  }
  model<P>& trained() { return model_; }
  const Opt& optimizer() const { return state_.optimizer(); }
  /// Makes each step read the options of `opt` again. A clip by norm must be present from the
  /// start.
  void follow(const Opt& opt) { state_.follow(opt); }
  /// Returns the accumulators on the host, in the form for files.
  stored_arrays arrays() const { return state_.arrays(); }

 protected:
  LAMINA_COLD device_trainer_base(const Opt& opt, model<P>& m, std::uint64_t seed,
                                  training_memory* kept)
      : state_(opt, kept), model_(m), seed_(seed) {
    if (!detail::goes_on<Opt>(kept)) return;
    steps_ = steps_at_host_ = kept->steps;
    kept->optimizer = nullptr;  // the state is not usable until leave()
  }
  device_trainer_base(const device_trainer_base&) = delete;
  device_trainer_base& operator=(const device_trainer_base&) = delete;
  ~device_trainer_base() = default;

  /// Throws lamina::error if a failed step has left the parameters on the device partly updated.
  LAMINA_COLD void require_whole() const {
    if (partially_updated_)
      throw error(
          "lamina: train: an error in an earlier step came when parameters at the device had "
          "changed: expected that a checkpoint is loaded before anything else, found none");
  }

  optimizer_state<P, Opt> state_;
  model<P>& model_;
  std::uint64_t seed_;
  std::int64_t steps_ = 0;
  std::int64_t steps_at_host_ = 0;  // the step of the values on the host
  bool partially_updated_ = false;  // a failed step has changed parameters on the device
};

/// A trainer that keeps a model's parameters on devices between steps.
template <class Trainer>
concept trains_on_device = requires(Trainer& t) {
  t.copy_to_host();
  t.copy_to_device();
};

/// Writes and reads the same checkpoints as a trainer on the host.
template <trains_on_device Trainer>
LAMINA_COLD void save_checkpoint(const file_path& directory, Trainer& t,
                                 const training_position& at, std::uint64_t seed, int keep,
                                 const checkpoint_files& files = checkpoint_functions()) {
  t.copy_to_host();
  save_state(directory, state_of(t), at, seed, keep, files);
}
template <trains_on_device Trainer>
LAMINA_COLD bool load_checkpoint(const file_path& directory, Trainer& t, training_position& at,
                                 std::uint64_t seed,
                                 const checkpoint_files& files = checkpoint_functions(),
                                 world* all = nullptr) {
  std::int64_t steps = 0;
  if (!load_state(directory, state_of(t), steps, at, seed, files, all)) return false;
  t.copy_to_device();
  t.set_steps(steps);
  return true;
}

}}  // namespace lamina
