// SPDX-License-Identifier: Apache-2.0
// lamina/optimizer/exponential_moving_average.hpp - averages parameters over steps with
// exponentially decaying weights.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/optimizer/parameter_access.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace optimizer {

/// Averages parameters: average = decay * average + (1 - decay) * param after each update of the
/// parameters. `apply` divides the average by 1 minus the product of all decays so far, so that the
/// weights add up to 1 from the first step on. The sums are stored in double, so the average of
/// values that do not change equals these values. Fluid: ExponentialMovingAverage, which computes
/// the product of the decays as the last decay to the power of the number of steps; this is the
/// same if the decay is constant.
class exponential_moving_average {
 public:
  /// Throws lamina::error unless 0 <= decay < 1.
  explicit exponential_moving_average(float decay = 0.999f) : decay_(decay) {
    if (!(decay >= 0 && decay < 1))
      throw error(text("lamina: exponential_moving_average: expected a decay from 0 to below 1, "
                       "found ")
                      .print("%g", decay));
  }

  /// Adds the parameters to the averages; call it after each step. Throws lamina::error if the
  /// number or sizes of the parameters have changed.
  template <parameter_access Parameters>
  void update(Parameters& parameters) {
    accumulate(parameters, decay_);
  }
  /// Does the same with decay min(decay, (1 + thres_steps) / (10 + thres_steps)), so that the
  /// average forgets the first values sooner. thres_steps is Fluid's argument, usually the number
  /// of the step.
  template <parameter_access Parameters>
  void update(Parameters& parameters, std::int64_t thres_steps) {
    const double ramp =
        (1 + static_cast<double>(thres_steps)) / (10 + static_cast<double>(thres_steps));
    accumulate(parameters, (std::min)(decay_, static_cast<float>(ramp)));
  }

  /// Replaces the parameters by the averages until the returned object is destroyed. Throws
  /// lamina::error if update() was not called before.
  template <parameter_access Parameters>
  replaced_parameters<Parameters> apply(Parameters& parameters) const {
    if (updates_ == 0)
      throw error(
          "lamina: exponential_moving_average: expected an update before apply, found none");
    sums_.check_arrays(parameters, "exponential_moving_average");
    const double weight = 1 - decays_;
    return {parameters, [&](int i, std::span<float> to) {
              for (std::size_t k = 0; k < to.size(); ++k)
                to[k] = static_cast<float>(sums_[i][k] / weight);
            }};
  }

  /// Returns the number of updates, and the product of their decays.
  std::int64_t updates() const { return updates_; }
  double decays() const { return decays_; }
  /// Returns the averages before the division, for checkpoints.
  const parameter_sums& sums() const { return sums_; }
  parameter_sums& sums() { return sums_; }
  /// Sets the number of updates and the product of their decays, after sums() was filled from a
  /// checkpoint.
  void resume(std::int64_t updates, double decays) {
    updates_ = updates;
    decays_ = decays;
  }

 private:
  template <class Parameters>
  void accumulate(Parameters& parameters, float decay) {
    sums_.match(parameters, "exponential_moving_average");
    const double keep = static_cast<double>(decay);
    for (int i = 0; i < sums_.size(); ++i) {
      const std::span<const float> value = parameters.span(i);
      const std::span<double> average = sums_[i];
      for (std::size_t k = 0; k < value.size(); ++k)
        average[k] = keep * average[k] + (1 - keep) * static_cast<double>(value[k]);
    }
    decays_ *= keep;
    ++updates_;
  }

  float decay_;
  std::int64_t updates_ = 0;
  double decays_ = 1;
  parameter_sums sums_;
};

}}}  // namespace lamina::optimizer
