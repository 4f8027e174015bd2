// SPDX-License-Identifier: Apache-2.0
// lamina/optimizer/schedule.hpp - Fluid's learning-rate schedules, and PyTorch's one cycle, as
// plain values. Each schedule is an aggregate with Fluid's argument names (one_cycle: PyTorch's),
// and at(step) computes its rate. In the comments, s is the step; the first step is 0. A schedule
// may be a constant; at() is a constant expression unless it needs a power, exp or cos.
#pragma once

#include <lamina/core/config.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include <lamina/core/messages/check.hpp>
#include <lamina/core/messages/error.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace schedule {

/// Throws lamina::error, or ends a constant evaluation, if an argument of a schedule is invalid.
constexpr void require(bool ok, const char* message) {
  if (!ok) LAMINA_THROW error(message);
}

/// Returns step / steps or, with `staircase`, the integer part of this quotient.
constexpr double periods(std::int64_t step, std::int64_t steps, bool staircase) {
  return staircase ? static_cast<double>(step / steps)
                   : static_cast<double>(step) / static_cast<double>(steps);
}

/// Returns x^y. The call is a constant expression if y is 0 or 1.
constexpr double power_of(double x, double y) { return y == 0 ? 1 : y == 1 ? x : std::pow(x, y); }

/// The rate is learning_rate * d_model^-0.5 * min(s^-0.5, s * warmup_steps^-1.5), here with s =
/// step + 1. Source: Vaswani et al. 2017; Fluid: noam_decay.
struct noam_decay {
  std::int64_t d_model = 1, warmup_steps = 1;
  float learning_rate = 1;
  double at(std::int64_t step) const {
    const double s = static_cast<double>(step + 1);
    const double warm = s * std::pow(static_cast<double>(warmup_steps), -1.5);
    const double cold = 1 / std::sqrt(s);
    return learning_rate / std::sqrt(static_cast<double>(d_model)) * (warm < cold ? warm : cold);
  }
};

/// The rate is learning_rate * decay_rate^(s / decay_steps); with `staircase`, s / decay_steps is
/// rounded down. Fluid: exponential_decay.
struct exponential_decay {
  float learning_rate = 0;
  std::int64_t decay_steps = 1;
  float decay_rate = 1;
  bool staircase = false;
  double at(std::int64_t step) const {
    return learning_rate *
           std::pow(static_cast<double>(decay_rate), periods(step, decay_steps, staircase));
  }
};

/// The rate is learning_rate * e^(-decay_rate * s / decay_steps); with `staircase`, s / decay_steps
/// is rounded down. Fluid: natural_exp_decay.
struct natural_exp_decay {
  float learning_rate = 0;
  std::int64_t decay_steps = 1;
  float decay_rate = 0;
  bool staircase = false;
  double at(std::int64_t step) const {
    return learning_rate * std::exp(-decay_rate * periods(step, decay_steps, staircase));
  }
};

/// The rate is learning_rate / (1 + decay_rate * s / decay_steps); with `staircase`, s /
/// decay_steps is rounded down. Fluid: inverse_time_decay.
struct inverse_time_decay {
  float learning_rate = 0;
  std::int64_t decay_steps = 1;
  float decay_rate = 0;
  bool staircase = false;
  constexpr double at(std::int64_t step) const {
    return learning_rate / (1 + decay_rate * periods(step, decay_steps, staircase));
  }
};

/// The rate is (learning_rate - end) * (1 - min(s, length) / length)^power + end, where `end` is
/// end_learning_rate and `length` is decay_steps or, with `cycle`, decay_steps * max(1, ceil(s /
/// decay_steps)). Fluid: polynomial_decay.
struct polynomial_decay {
  float learning_rate = 0;
  std::int64_t decay_steps = 1;
  float end_learning_rate = 1e-4f;
  float power = 1;
  bool cycle = false;
  constexpr double at(std::int64_t step) const {
    const std::int64_t times = (step + decay_steps - 1) / decay_steps;
    const std::int64_t length = decay_steps * (cycle && times > 1 ? times : 1);
    const double left =
        1 - static_cast<double>(step < length ? step : length) / static_cast<double>(length);
    return (static_cast<double>(learning_rate) - end_learning_rate) * power_of(left, power) +
           end_learning_rate;
  }
};

/// Calls a function of the step: `custom{[](std::int64_t step) { return 0.1 / (1 + step); }}`. The
/// function must have no state, because a schedule stores only a function pointer. If your rule has
/// state, set the learning rate between steps instead.
struct custom {
  double (*rate)(std::int64_t step) = nullptr;

  /// Accepts a lambda without captures, or a function object without state.
  template <class F>
  requires(std::is_empty_v<F>&& std::is_default_constructible_v<F>&&
               std::is_invocable_r_v<double, const F&, std::int64_t>) constexpr custom(F)  // NOLINT
      : rate([](std::int64_t step) { return static_cast<double>(F{}(step)); }) {}
  /// Reports any other function.
  // clang-format off
  template <class F>
  explicit custom(F) = delete;  // expected a function of the step, a std::int64_t, without captures
  // clang-format on
  double at(std::int64_t step) const { return checked(rate(step)); }
  /// Returns the rate; throws lamina::error if it is negative, NaN or larger than the largest
  /// float.
  static constexpr double checked(double value) {
    require(value >= 0 && value <= 3.4028234663852886e38,
            "lamina: custom: expected the function to return a finite learning rate of at least 0");
    return value;
  }
};

/// The rate is values[i] for the first i with s < boundaries[i]; if there is none, the last value:
/// `piecewise_decay({1000, 2000}, {0.1f, 0.01f, 0.001f})`. There may be at most 16 values. Fluid:
/// piecewise_decay.
struct piecewise_decay {
  static constexpr int most = 16;
  int pieces = 1;
  std::int64_t boundaries[most - 1] = {};
  float values[most] = {};

  constexpr piecewise_decay() = default;  // a constant rate of 0
  template <std::size_t B, std::size_t V>
  constexpr piecewise_decay(const std::int64_t (&ends)[B], const float (&rates)[V])
      : piecewise_decay(std::span<const std::int64_t>(ends), std::span<const float>(rates)) {
    constexpr bool fits = V == B + 1, few = V <= most;
    static_assert(check<fits, expects<static_cast<int>(B) + 1>, gets<static_cast<int>(V)>>,
                  "lamina: piecewise_decay needs one value more than boundaries");
    static_assert(check<few, expects<most>, gets<static_cast<int>(V)>>,
                  "lamina: piecewise_decay takes at most 16 values");
  }
  /// Makes a piecewise_decay from lists whose lengths are known at run time. Throws lamina::error
  /// unless there is one value more than boundaries, at most 16 values, and the boundaries
  /// increase.
  constexpr piecewise_decay(std::span<const std::int64_t> ends, std::span<const float> rates) {
    require(rates.size() == ends.size() + 1,
            "lamina: piecewise_decay: expected one value more than boundaries");
    require(rates.size() <= most, "lamina: piecewise_decay: expected at most 16 values");
    pieces = static_cast<int>(rates.size());
    for (std::size_t i = 0; i < ends.size(); ++i) {
      require(i == 0 || ends[i - 1] < ends[i],
              "lamina: piecewise_decay: expected boundaries that rise, found one that does not");
      boundaries[i] = ends[i];
    }
    for (std::size_t i = 0; i < rates.size(); ++i) values[i] = rates[i];
  }
  constexpr double at(std::int64_t step) const {
    int piece = 0;
    while (piece < pieces - 1 && step >= boundaries[piece]) ++piece;
    return values[piece];
  }
};

/// The rate is learning_rate / 2 * (cos(floor(s / step_each_epoch) * pi / epochs) + 1). Fluid:
/// cosine_decay.
struct cosine_decay {
  float learning_rate = 0;
  std::int64_t step_each_epoch = 1, epochs = 1;
  double at(std::int64_t step) const {
    const double epoch = static_cast<double>(step / step_each_epoch);
    return learning_rate * 0.5 *
           (std::cos(epoch * 3.14159265358979323846 / static_cast<double>(epochs)) + 1);
  }
};

/// The curve between two learning rates of a one_cycle.
enum class anneal : std::uint8_t { cos, linear };

/// In the first phase, the rate rises from max_lr / div_factor to max_lr, which it has in step
/// pct_start * total_steps - 1; then it falls to max_lr / div_factor / final_div_factor in step
/// total_steps - 1, and stays there. With three_phase, the second phase is as long as the first one
/// and ends with max_lr / div_factor, and the rest is the third phase. Between rates r1 and r2 at
/// fraction p of a phase, `cos` is r2 + (r1 - r2) / 2 * (1 + cos(pi p)), and `linear` is r1 + (r2 -
/// r1) p. Momentum does not change. Source: Smith and Topin 2017; PyTorch: OneCycleLR with
/// cycle_momentum=False.
struct one_cycle {
  float max_lr = 0;
  std::int64_t total_steps = 1;
  float pct_start = 0.3f;
  anneal anneal_strategy = anneal::cos;
  float div_factor = 25, final_div_factor = 1e4f;
  bool three_phase = false;
  LAMINA_COLD double at(std::int64_t step) const {
    const double most = static_cast<double>(max_lr);
    const double first = most / static_cast<double>(div_factor);
    const double total = static_cast<double>(total_steps), s = static_cast<double>(step);
    const double rising = static_cast<double>(pct_start) * total;
    const double ends[] = {rising - 1, three_phase ? 2 * rising - 2 : total - 1, total - 1};
    const double last = first / static_cast<double>(final_div_factor);
    const double rates[] = {first, most, three_phase ? first : last, last};
    int phase = 0;
    while (phase < (three_phase ? 2 : 1) && s > ends[phase]) ++phase;
    const double begin = phase == 0 ? 0 : ends[phase - 1];
    if (s >= ends[phase]) return rates[phase + 1];
    const double p = (s - begin) / (ends[phase] - begin), r1 = rates[phase], r2 = rates[phase + 1];
    if (anneal_strategy == anneal::linear) return r1 + (r2 - r1) * p;
    return r2 + (r1 - r2) / 2 * (1 + std::cos(3.14159265358979323846 * p));
  }
};

}}}  // namespace lamina::schedule
