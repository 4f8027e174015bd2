// SPDX-License-Identifier: Apache-2.0
// lamina/train/device/optimizer_state.hpp - the state of an optimizer on the host for a model that
// is trained on devices: the accumulators in the form for files, and the scalar arguments of the
// updates.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <lamina/core/files/checksum.hpp>
#include <lamina/model/model.hpp>
#include <lamina/optimizer/clip.hpp>
#include <lamina/optimizer/training_program.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// An optimizer and its accumulators for the parameters of P, each with its initial value.
template <program_type P, optimizer::optimizer_type Opt>
class optimizer_state {
 public:
  using traits = optimizer::traits<Opt>;
  using scalar_list = std::array<float, static_cast<std::size_t>(traits::scalar_count)>;
  static constexpr int states = traits::state_count;
  static constexpr int parameters = counts_of<P>.parameters;

  /// Continues the training in `kept`, the state that a model keeps, if it belongs to this
  /// optimizer type.
  LAMINA_COLD explicit optimizer_state(const Opt& opt, training_memory* kept = nullptr)
      : opt_(opt) {
    const parameter_list_view all = parameters_in<P>();
    std::size_t floats = 0;
    for (int i = 0; i < parameters; ++i) floats += all.floats(i) * states;
    const bool goes_on = detail::goes_on<Opt>(kept);
    if (goes_on)
      memory_ = std::move(kept->accumulators);
    else
      memory_.resize(floats);
    float* at = memory_.data();
    for (int i = 0; i < parameters; ++i)
      for (int s = 0; s < states; ++s) {
        pointers_.push_back(at);
        if (!goes_on) std::fill_n(at, all.floats(i), traits::initial_state(opt_, s));
        at += all.floats(i);
      }
  }
  optimizer_state(const optimizer_state&) = delete;
  optimizer_state& operator=(const optimizer_state&) = delete;

  /// Reads the options of `opt` again whenever they are needed.
  void follow(const Opt& opt) { used_ = &opt; }
  const Opt& optimizer() const { return *used_; }
  /// Moves the accumulators into a model's training memory.
  LAMINA_COLD void leave(training_memory& to) {
    to.forget();
    to.optimizer = &detail::optimizer_identity<Opt>;
    to.accumulators = std::move(memory_);
  }
  float* const* pointers() const { return pointers_.data(); }
  stored_arrays arrays() const {
    return {parameters_in<P>(), pointers_.data(), states, Opt::states.data(), "_", "_0",
            "an accumulator"};
  }

  gradient_clip clip_of(int i) const {
    const parameter_desc& d = run_time_program<P>::desc.parameters[i];
    return optimizer::clip_in_force({d.clip, d.clip_low, d.clip_high}, traits::clip(*used_));
  }
  bool limits_norms() const {
    for (int i = 0; i < parameters; ++i)
      if (optimizer::needs_norm(clip_of(i))) return true;
    return false;
  }
  scalar_list scalars(std::int64_t step) const { return traits::scalars(*used_, step); }
  /// Writes the scalar arguments of the update of parameter i, one per attribute of its operator. A
  /// sparse gradient (selected rows) has a separate update operator. The scale of the gradient is
  /// 1.
  void set_numbers(int i, const scalar_list& scalars, float* to) const {
    const parameter_desc& d = run_time_program<P>::desc.parameters[i];
    const optimizer::gradient_preparation prepare = optimizer::preparation_of(
        clip_of(i), optimizer::decay_in_force({d.regularizer, d.regularizer_coefficient},
                                              traits::regularization(*used_)));
    to[0] = scalars[0] * d.learning_rate;
    to[1] = 1;
    to[2] = prepare.low;
    to[3] = prepare.high;
    to[4] = prepare.l1;
    to[5] = prepare.l2;
    for (std::size_t k = 1; k < scalars.size(); ++k) to[5 + k] = scalars[k];
    if constexpr (Opt::decay_scalar > 0)
      if (d.regularizer == regularizer_kind::l2) {
        to[5] = 0;
        to[5 + Opt::decay_scalar] = d.regularizer_coefficient;
      }
    if (rows_gradient_table<training_program<P, Opt>>::table.of[i] >= 0)
      to[rows_update_operator<Opt>::lazy_mode] = traits::lazy_mode(*used_) ? 1.0f : 0.0f;
  }

 private:
  Opt opt_;
  const Opt* used_ = &opt_;
  engine::aligned_buffer memory_;
  std::vector<float*> pointers_;
};

}}  // namespace lamina
