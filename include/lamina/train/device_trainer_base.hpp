// SPDX-License-Identifier: Apache-2.0
// lamina/train/device_trainer_base.hpp - what a trainer at one place and one at several have in
// common: optimizer and model on the host, the count of updates, checkpoints.
#pragma once

#include <cstdint>

#include <lamina/core/config.hpp>
#include <lamina/core/error.hpp>
#include <lamina/model/metric_sums.hpp>
#include <lamina/model/model.hpp>
#include <lamina/train/checkpoint.hpp>
#include <lamina/train/optimizer_state.hpp>

namespace lamina {

/// The host's side of a trainer whose parameters and accumulators are somewhere else between steps.
/// The model and the accumulators are what they were before until the trainer's bring_back().
template <program_type P, optimizer::optimizer_type Opt>
class device_trainer_base {
 public:
  static constexpr int states = optimizer::traits<Opt>::state_count;
  static constexpr int parameters = P::desc.count.parameters;

  /// Updates so far.
  std::int64_t steps() const { return steps_; }
  /// After values and accumulators were loaded, that of them.
  void set_steps(std::int64_t n) {
    steps_ = n;
    torn_ = false;
  }
  model<P>& trained() { return model_; }
  const Opt& optimizer() const { return state_.optimizer(); }
  /// Takes the options of each step from `opt` as it is then. A limit on norms has to be there from
  /// the beginning.
  void follow(const Opt& opt) { state_.follow(opt); }
  /// The accumulators on the host, as files keep them.
  stored_arrays arrays() const { return state_.arrays(); }

 protected:
  LAMINA_COLD device_trainer_base(const Opt& opt, model<P>& m, std::uint64_t seed)
      : state_(opt), model_(m), seed_(seed) {}
  device_trainer_base(const device_trainer_base&) = delete;
  device_trainer_base& operator=(const device_trainer_base&) = delete;
  ~device_trainer_base() = default;

  /// Throws when a failed step has left the parameters on the device partly updated.
  LAMINA_COLD void require_whole() const {
    if (torn_)
      throw error(
          "lamina: train: an error in an earlier step came when parameters at the device had "
          "changed: expected that a checkpoint is loaded before anything else, found none");
  }

  optimizer_state<P, Opt> state_;
  model<P>& model_;
  std::uint64_t seed_;
  std::int64_t steps_ = 0;
  bool torn_ = false;  // parameters on the device have changed in a step that failed
};

/// What keeps a model's parameters somewhere else between steps.
template <class Trainer>
concept trains_on_device = requires(Trainer& t) {
  t.bring_back();
  t.send();
};

/// The same checkpoints as those of a trainer on the host; one goes on where the other stopped.
template <trains_on_device Trainer>
LAMINA_COLD void save_checkpoint(const file_path& directory, Trainer& t, training_position at,
                                 std::uint64_t seed, int keep,
                                 const checkpoint_files& files = checkpoint_functions()) {
  t.bring_back();
  const detail::checkpoint_facts facts{t.optimizer().type, t.steps(), at, seed};
  files.write(directory.string(), t.trained().arrays(), t.arrays(), facts, keep);
}
template <trains_on_device Trainer>
LAMINA_COLD bool load_checkpoint(const file_path& directory, Trainer& t, training_position& at,
                                 std::uint64_t seed,
                                 const checkpoint_files& files = checkpoint_functions()) {
  detail::checkpoint_facts facts{t.optimizer().type, 0, {}, seed};
  if (!files.read(directory.string(), t.trained().arrays(), t.arrays(), facts)) return false;
  t.send();
  t.set_steps(facts.steps);
  at = facts.at;
  return true;
}

}  // namespace lamina
