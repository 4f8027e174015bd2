// SPDX-License-Identifier: Apache-2.0
// lamina/train/device_trainer.hpp - an optimizer at work on a model at a place: parameters and
// accumulators stay there between steps.
#pragma once

#include <cstdint>
#include <memory>

#include <lamina/core/config.hpp>
#include <lamina/engine/cuda/machine.hpp>
#include <lamina/model/device_arrays.hpp>
#include <lamina/model/model.hpp>
#include <lamina/optimizer/training_program.hpp>
#include <lamina/train/checkpoint.hpp>
#include <lamina/train/optimizer_state.hpp>
#include <lamina/train/update_constants.hpp>
#include <lamina/train/whole_updates.hpp>

namespace lamina {

/// Forward, backward and update as one program at a place. The model on the host is what it was
/// before until bring_back().
template <program_type P, optimizer::optimizer_type Opt, class Backend>
class device_trainer {
 public:
  using traits = optimizer::traits<Opt>;
  using training = training_program<P, Opt>;
  static constexpr int states = traits::state_count;
  static constexpr int parameters = P::desc.count.parameters;
  static constexpr bool scaled = engine::cuda::scales_cost<Backend>;

  LAMINA_COLD device_trainer(Backend& b, const Opt& opt, model<P>& m, std::uint64_t seed = 0)
      : state_(opt),
        model_(m),
        seed_(seed),
        parameters_(b, parameters_in<P>(), 1),
        states_(b, parameters_in<P>(), states),
        updates_(state_.limits_norms() || scaled ? std::make_unique<updates>(b, state_) : nullptr),
        machine_(b, {parameters_.pointers(), updates_ == nullptr ? nullptr : updates_->gradients(),
                     states_.pointers(), updates_ != nullptr,
                     updates_ == nullptr ? nullptr : updates_->cost_gradient()}) {
    send();
  }

  /// One mini-batch. Returns the cost before the update.
  float step(const batch_view<P>& batch) {
    start(batch);
    return finish();
  }
  /// The first half of a step, which does not wait for the place.
  void start(const batch_view<P>& batch) {
    batch.feed_to(machine_);
    constexpr auto& where = detail::update_constants_of<training>;
    const auto scalars = state_.scalars(steps_);
    for (int i = 0; i < parameters && updates_ == nullptr; ++i)
      if (where.first[i] >= 0)
        state_.set_numbers(i, scalars, machine_.constants() + where.first[i]);
    machine_.start(~0ull, seed_, static_cast<std::uint64_t>(steps_));
  }
  /// Copies the mini-batch of the step after this one to the place; between the halves of a step,
  /// once. What goes wrong with it is that step's to say.
  void prefetch(const batch_view<P>& next) noexcept {
    const void* data[at_least_one(batch_view<P>::layers)];
    for (int i = 0; i < batch_view<P>::layers; ++i) data[i] = next.data[i];
    try {
      machine_.prefetch(next.rows, data);
    } catch (...) {
      // The next step copies it itself.
    }
  }
  /// The other half. Returns the cost before the update.
  float finish() {
    machine_.finish();
    bool updated = true;
    if (updates_ != nullptr)
      updated = updates_->run(
          steps_, [&](int i) { return machine_.gradient_rows(i); }, parameters_.pointers(),
          states_.pointers());
    steps_ += updated ? 1 : 0;
    return *machine_.template address<P::desc.cost>();
  }
  /// A metric of the last step: mean over its samples.
  double metric(int i) { return *machine_.address(program_metrics<P>::all.variable[i]); }

  /// Updates so far; a step that was skipped for a gradient too large is none.
  std::int64_t steps() const { return steps_; }
  void set_steps(std::int64_t n) { steps_ = n; }
  model<P>& trained() { return model_; }
  const Opt& optimizer() const { return state_.optimizer(); }
  /// The accumulators on the host, as files keep them.
  stored_arrays arrays() const { return state_.arrays(); }

  /// Of a place with narrow operands: the factor of the gradients, and what it depends on.
  engine::cuda::loss_scale_state loss_scale() const requires scaled {
    return updates_->loss_scale().seen();
  }
  void set_loss_scale(const engine::cuda::loss_scale_state& s) requires scaled {
    updates_->loss_scale().set(s);
  }

  /// Copies parameters and accumulators to the model, and from it.
  LAMINA_COLD void bring_back() {
    parameters_.download(model_.memory());
    states_.download(state_.pointers());
  }
  LAMINA_COLD void send() {
    parameters_.upload(model_.memory());
    states_.upload(state_.pointers());
  }

 private:
  using updates = whole_updates<P, Opt, Backend>;

  optimizer_state<P, Opt> state_;
  model<P>& model_;
  std::uint64_t seed_;
  std::int64_t steps_ = 0;
  device_arrays<Backend> parameters_, states_;
  std::unique_ptr<updates> updates_;  // null where they ride on the gradients
  engine::cuda::machine<training, Backend> machine_;
};

/// What keeps a model's parameters somewhere else between steps.
template <class Trainer>
concept trains_at_place = requires(Trainer& t) {
  t.bring_back();
  t.send();
};

/// The same checkpoints as those of a trainer on the host; one goes on where the other stopped.
template <trains_at_place Trainer>
LAMINA_COLD void save_checkpoint(const file_path& directory, Trainer& t, training_position at,
                                 std::uint64_t seed, int keep,
                                 const checkpoint_files& files = checkpoint_functions()) {
  t.bring_back();
  detail::checkpoint_facts facts{t.optimizer().type, t.steps(), at, seed};
  if constexpr (requires { t.loss_scale(); }) {
    facts.loss_scale = t.loss_scale().scale;
    facts.good_steps = t.loss_scale().good;
  }
  files.write(directory.string(), t.trained().arrays(), t.arrays(), facts, keep);
}
template <trains_at_place Trainer>
LAMINA_COLD bool load_checkpoint(const file_path& directory, Trainer& t, training_position& at,
                                 std::uint64_t seed,
                                 const checkpoint_files& files = checkpoint_functions()) {
  detail::checkpoint_facts facts{t.optimizer().type, 0, {}, seed};
  if (!files.read(directory.string(), t.trained().arrays(), t.arrays(), facts)) return false;
  t.send();
  t.set_steps(facts.steps);
  // A run at another place has none; then the scale begins anew.
  if constexpr (requires { t.loss_scale(); })
    if (facts.loss_scale >= 1) t.set_loss_scale({facts.loss_scale, 1, facts.good_steps, 0});
  at = facts.at;
  return true;
}

}  // namespace lamina
