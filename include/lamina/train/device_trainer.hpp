// SPDX-License-Identifier: Apache-2.0
// lamina/train/device_trainer.hpp - an optimizer at work on a model at a place: parameters and
// accumulators stay there between steps.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include <lamina/core/config.hpp>
#include <lamina/core/error.hpp>
#include <lamina/engine/cuda/machine.hpp>
#include <lamina/model/device_arrays.hpp>
#include <lamina/model/model.hpp>
#include <lamina/optimizer/clip.hpp>
#include <lamina/optimizer/training_program.hpp>
#include <lamina/train/checkpoint.hpp>
#include <lamina/train/norm_limits.hpp>

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

  LAMINA_COLD device_trainer(Backend& b, const Opt& opt, model<P>& m, std::uint64_t seed = 0)
      : opt_(opt),
        model_(m),
        seed_(seed),
        parameters_(b, parameters_in<P>(), 1),
        states_(b, parameters_in<P>(), states),
        host_states_(create_states()),
        limits_(limits_norms() ? std::make_unique<limits>(b) : nullptr),
        machine_(b, {parameters_.pointers(), limits_ == nullptr ? nullptr : limits_->gradients(),
                     states_.pointers(), limits_ != nullptr}) {
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
    const auto scalars = traits::scalars(opt_, steps_);
    for (int i = 0; i < parameters && limits_ == nullptr; ++i)
      if (where.first[i] >= 0) set_numbers(i, scalars, machine_.constants() + where.first[i]);
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
    constexpr auto& where = detail::update_constants_of<training>;
    if (limits_ != nullptr) {
      const auto scalars = traits::scalars(opt_, steps_);
      limits_->finish([&](int i) { return where.first[i] >= 0; }, [&](int i) { return clip_of(i); },
                      [&](int i, float* to) { set_numbers(i, scalars, to); },
                      [&](int i) { return machine_.gradient_rows(i); }, parameters_.pointers(),
                      states_.pointers());
    }
    ++steps_;
    return *machine_.template address<P::desc.cost>();
  }
  /// A metric of the last step: mean over its samples.
  double metric(int i) { return *machine_.address(program_metrics<P>::all.variable[i]); }

  std::int64_t steps() const { return steps_; }
  void set_steps(std::int64_t n) { steps_ = n; }
  model<P>& trained() { return model_; }
  /// The accumulators on the host, as files keep them.
  stored_arrays arrays() const {
    return {parameters_in<P>(), state_pointers_.data(), states, Opt::states.data(), "_", "_0",
            "an accumulator"};
  }

  /// Copies parameters and accumulators to the model, and from it.
  LAMINA_COLD void bring_back() {
    parameters_.download(model_.memory());
    states_.download(state_pointers_.data());
  }
  LAMINA_COLD void send() {
    parameters_.upload(model_.memory());
    states_.upload(state_pointers_.data());
  }

 private:
  using scalar_list = std::array<float, static_cast<std::size_t>(traits::scalar_count)>;

  using limits = norm_limits<P, Opt, Backend>;

  bool limits_norms() const {
    for (int i = 0; i < parameters; ++i)
      if (optimizer::needs_norm(clip_of(i))) return true;
    return false;
  }
  gradient_clip clip_of(int i) const {
    const parameter_desc& d = run_time_program<P>::desc.parameters[i];
    return optimizer::clip_in_force({d.clip, d.clip_low, d.clip_high}, traits::clip(opt_));
  }
  void set_numbers(int i, const scalar_list& scalars, float* to) const {
    const parameter_desc& d = run_time_program<P>::desc.parameters[i];
    const optimizer::gradient_preparation prepare = optimizer::preparation_of(
        clip_of(i), optimizer::decay_in_force({d.regularizer, d.regularizer_coefficient},
                                              traits::regularization(opt_)));
    to[0] = scalars[0] * d.learning_rate;
    to[1] = 1;
    to[2] = prepare.low;
    to[3] = prepare.high;
    to[4] = prepare.l1;
    to[5] = prepare.l2;
    for (std::size_t k = 1; k < scalars.size(); ++k) to[5 + k] = scalars[k];
    if (rows_gradient_table<training>::table.of[i] >= 0)
      to[rows_update_operator<Opt>::lazy_mode] = traits::lazy_mode(opt_) ? 1.0f : 0.0f;
  }
  LAMINA_COLD std::vector<float> create_states() {
    const parameter_list_view all = parameters_in<P>();
    std::size_t floats = 0;
    for (int i = 0; i < parameters; ++i) floats += all.floats(i) * states;
    std::vector<float> made(floats);
    float* at = made.data();
    for (int i = 0; i < parameters; ++i)
      for (int s = 0; s < states; ++s) {
        state_pointers_.push_back(at);
        for (std::size_t k = all.floats(i); k > 0; --k) *at++ = traits::initial_state(opt_, s);
      }
    return made;
  }

  Opt opt_;
  model<P>& model_;
  std::uint64_t seed_;
  std::int64_t steps_ = 0;
  device_arrays<Backend> parameters_, states_;
  std::vector<float*> state_pointers_;
  std::vector<float> host_states_;
  std::unique_ptr<limits> limits_;  // null where no norm is limited
  engine::cuda::machine<training, Backend> machine_;
};

/// The same checkpoints as those of a trainer on the host; one goes on where the other stopped.
template <class P, class Opt, class Backend>
LAMINA_COLD void save_checkpoint(const file_path& directory, device_trainer<P, Opt, Backend>& t,
                                 training_position at, std::uint64_t seed, int keep,
                                 const checkpoint_files& files = checkpoint_functions()) {
  t.bring_back();
  files.write(directory.string(), t.trained().arrays(), t.arrays(),
              {Opt::type, t.steps(), at, seed}, keep);
}
template <class P, class Opt, class Backend>
LAMINA_COLD bool load_checkpoint(const file_path& directory, device_trainer<P, Opt, Backend>& t,
                                 training_position& at, std::uint64_t seed,
                                 const checkpoint_files& files = checkpoint_functions()) {
  detail::checkpoint_facts facts{Opt::type, 0, {}, seed};
  if (!files.read(directory.string(), t.trained().arrays(), t.arrays(), facts)) return false;
  t.send();
  t.set_steps(facts.steps);
  at = facts.at;
  return true;
}

}  // namespace lamina
