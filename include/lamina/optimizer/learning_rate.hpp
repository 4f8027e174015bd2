// SPDX-License-Identifier: Apache-2.0
// lamina/optimizer/learning_rate.hpp - a constant learning rate or a schedule, as one small value.
// The type is a struct with a kind instead of a std::variant, because an optimizer must be usable
// as a constant and as a template argument.
#pragma once

#include <lamina/core/config.hpp>

#include <cmath>
#include <cstdint>
#include <type_traits>

#include <lamina/optimizer/sample_schedule.hpp>
#include <lamina/optimizer/schedule.hpp>
#include <lamina/program/block.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace schedule {
struct linear_lr_warmup;

/// Whether T is one of the types Schedule, or derived from one of them.
template <class T, class... Schedule>
inline constexpr bool is_any = (__is_base_of(Schedule, T) || ...);
/// Whether T is a schedule that a learning rate can have.
template <class T>
inline constexpr bool is_schedule =
    is_any<T, noam_decay, exponential_decay, natural_exp_decay, inverse_time_decay,
           polynomial_decay, piecewise_decay, cosine_decay, one_cycle, custom, linear_lr_warmup,
           v2::poly, v2::caffe_poly, v2::exp, v2::discexp, v2::linear>;
}}}  // namespace lamina::schedule

namespace lamina { inline namespace LAMINA_ABI { namespace optimizer {

/// The formula of a learning_rate.
enum class schedule_kind : std::uint8_t {
  constant,
  noam,
  exponential,
  natural_exp,
  inverse_time,
  polynomial,
  piecewise,
  cosine,
  v2_poly,
  v2_caffe_poly,
  v2_exp,
  v2_discexp,
  v2_linear,
  custom,
  variable,  // the value of a variable of the recorded program
  one_cycle
};

/// The learning rate of every step. A number and every schedule convert to it; for minimize inside
/// of a program, a variable of the program with one float element does too. If an argument of a
/// schedule would cause a division by zero, the conversion throws lamina::error, or does not
/// compile if it is a constant expression.
struct learning_rate {
  schedule_kind kind = schedule_kind::constant;
  bool flag = false;                      // option of the schedule: staircase or cycle
  float base = 0;                         // the schedule's own learning_rate
  double a = 0, b = 0;                    // the schedule's real arguments
  std::int64_t m = 0, n = 0;              // the schedule's integer arguments
  schedule::piecewise_decay piecewise{};  // its values[0] is the final_div_factor of a one_cycle
  double (*function)(std::int64_t) = nullptr;  // the function of a custom schedule
  // Multiplies the rate of every step: `adam.learning_rate.factor *= 0.1f` keeps the schedule.
  float factor = 1;
  std::int64_t warmup_steps = 0;  // 0: no warm-up
  float warmup_start = 0, warmup_end = 0;
  const program_builder* builder = nullptr;  // the program of the variable
  int variable = -1;

  constexpr learning_rate(float value) : base(value) {}  // NOLINT: implicit
  constexpr learning_rate(const schedule::noam_decay& s)
      : kind(schedule_kind::noam), base(s.learning_rate), m(s.d_model), n(s.warmup_steps) {
    schedule::require(m > 0, "lamina: noam_decay: expected a d_model above 0");
    schedule::require(n > 0, "lamina: noam_decay: expected warmup_steps above 0");
  }
  constexpr learning_rate(const schedule::exponential_decay& s)
      : learning_rate(schedule_kind::exponential, s.learning_rate, s.decay_steps, s.decay_rate, 0,
                      s.staircase) {}
  constexpr learning_rate(const schedule::natural_exp_decay& s)
      : learning_rate(schedule_kind::natural_exp, s.learning_rate, s.decay_steps, s.decay_rate, 0,
                      s.staircase) {}
  constexpr learning_rate(const schedule::inverse_time_decay& s)
      : learning_rate(schedule_kind::inverse_time, s.learning_rate, s.decay_steps, s.decay_rate, 0,
                      s.staircase) {}
  constexpr learning_rate(const schedule::polynomial_decay& s)
      : learning_rate(schedule_kind::polynomial, s.learning_rate, s.decay_steps,
                      s.end_learning_rate, s.power, s.cycle) {}
  constexpr learning_rate(const schedule::piecewise_decay& s)
      : kind(schedule_kind::piecewise), base(s.values[0]), piecewise(s) {}
  constexpr learning_rate(const schedule::cosine_decay& s)
      : kind(schedule_kind::cosine), base(s.learning_rate), m(s.step_each_epoch), n(s.epochs) {
    schedule::require(m > 0, "lamina: cosine_decay: expected step_each_epoch above 0");
    schedule::require(n > 0, "lamina: cosine_decay: expected epochs above 0");
  }
  constexpr learning_rate(const schedule::one_cycle& s)
      : learning_rate(schedule_kind::one_cycle, s.max_lr, s.total_steps, s.pct_start, s.div_factor,
                      s.three_phase) {
    n = static_cast<int>(s.anneal_strategy);
    piecewise.values[0] = s.final_div_factor;
    schedule::require(a >= 0 && a <= 1, "lamina: one_cycle: expected a pct_start from 0 to 1");
    schedule::require(b > 0, "lamina: one_cycle: expected a div_factor above 0");
    schedule::require(s.final_div_factor > 0,
                      "lamina: one_cycle: expected a final_div_factor above 0");
  }
  constexpr learning_rate(const schedule::v2::poly& s)
      : learning_rate(schedule_kind::v2_poly, s.learning_rate, s.batch_size, s.a, s.b, false) {}
  constexpr learning_rate(const schedule::v2::caffe_poly& s)
      : learning_rate(schedule_kind::v2_caffe_poly, s.learning_rate, s.batch_size, s.a, s.b,
                      false) {
    schedule::require(a > 0, "lamina: caffe_poly: expected a above 0");
  }
  constexpr learning_rate(const schedule::v2::exp& s)
      : learning_rate(schedule_kind::v2_exp, s.learning_rate, s.batch_size, s.a, s.b, false) {
    schedule::require(b > 0, "lamina: exp: expected b above 0");
  }
  constexpr learning_rate(const schedule::v2::discexp& s)
      : learning_rate(schedule_kind::v2_discexp, s.learning_rate, s.batch_size, s.a, s.b, false) {
    schedule::require(b > 0, "lamina: discexp: expected b above 0");
  }
  constexpr learning_rate(const schedule::v2::linear& s)
      : learning_rate(schedule_kind::v2_linear, s.learning_rate, s.batch_size, s.a, s.b, false) {}
  constexpr learning_rate(const schedule::custom& s)
      : kind(schedule_kind::custom), function(s.rate) {}
  constexpr learning_rate(const schedule::linear_lr_warmup& s);
  constexpr learning_rate(const lamina::variable<float, once, 1>& rate)
      : kind(schedule_kind::variable), builder(rate.builder), variable(rate.id) {}
  /// Rejects every other type, so that clang does not list all constructors above.
  // The declaration is on one line, because compilers show the line of the name.
  // clang-format off
  template <class Other>
  requires(!std::is_convertible_v<const Other&, float> && !schedule::is_schedule<Other>)
  learning_rate(const Other&) = delete;  // expected a number or a schedule
  // clang-format on

  /// Returns the learning rate of a step; the first step is 0.
  constexpr float at(std::int64_t step) const {
    if (step < warmup_steps)
      return factor *
             static_cast<float>(warmup_start + (static_cast<double>(warmup_end) - warmup_start) *
                                                   static_cast<double>(step) /
                                                   static_cast<double>(warmup_steps));
    return factor *
           static_cast<float>(std::is_constant_evaluated() ? scheduled(step) : scheduled_now(step));
  }

 private:
  constexpr learning_rate(schedule_kind which, float rate, std::int64_t steps, double first,
                          double second, bool flagged)
      : kind(which), flag(flagged), base(rate), a(first), b(second), m(steps) {
    schedule::require(m > 0,
                      "lamina: schedule: expected decay_steps, total_steps or batch_size above 0");
  }

  /// Calls scheduled() at run time.
  LAMINA_API LAMINA_COLD double scheduled_now(std::int64_t step) const;
  constexpr double scheduled(std::int64_t step) const {
    const float fa = static_cast<float>(a), fb = static_cast<float>(b);
    switch (kind) {
      case schedule_kind::noam:
        return schedule::noam_decay{m, n, base}.at(step);
      case schedule_kind::exponential:
        return schedule::exponential_decay{base, m, fa, flag}.at(step);
      case schedule_kind::natural_exp:
        return schedule::natural_exp_decay{base, m, fa, flag}.at(step);
      case schedule_kind::inverse_time:
        return schedule::inverse_time_decay{base, m, fa, flag}.at(step);
      case schedule_kind::polynomial:
        return schedule::polynomial_decay{base, m, fa, fb, flag}.at(step);
      case schedule_kind::piecewise:
        return piecewise.at(step);
      case schedule_kind::cosine:
        return schedule::cosine_decay{base, m, n}.at(step);
      case schedule_kind::one_cycle:
        return schedule::one_cycle{
            base, m, fa, static_cast<schedule::anneal>(n), fb, piecewise.values[0], flag}
            .at(step);
      case schedule_kind::v2_poly:
        return schedule::v2::poly{base, a, b, m}.at(step);
      case schedule_kind::v2_caffe_poly:
        return schedule::v2::caffe_poly{base, a, b, m}.at(step);
      case schedule_kind::v2_exp:
        return schedule::v2::exp{base, a, b, m}.at(step);
      case schedule_kind::v2_discexp:
        return schedule::v2::discexp{base, a, b, m}.at(step);
      case schedule_kind::v2_linear:
        return schedule::v2::linear{base, a, b, m}.at(step);
      case schedule_kind::custom:
        return schedule::custom::checked(function(step));
      default:
        return base;
    }
  }
};

}}}  // namespace lamina::optimizer

namespace lamina { inline namespace LAMINA_ABI { namespace optimizer {

/// Returns rate * sqrt(1 - beta2^t) / (1 - beta1^t) with t = step + 1, which corrects the bias of
/// moments that begin with 0. A beta of 0 means no correction. Fluid keeps the powers in the
/// variables Beta1Pow and Beta2Pow and multiplies them in each step; powers computed from the step
/// do not accumulate rounding errors.
constexpr float corrected_rate(float rate, std::int64_t step, float beta1, float beta2) {
  // std::pow is not constexpr, so a constant expression must return here.
  if (rate == 0 || (beta1 == 0 && beta2 == 0)) return rate;
  const double t = static_cast<double>(step + 1);
  return static_cast<float>(rate * std::sqrt(1 - std::pow(static_cast<double>(beta2), t)) /
                            (1 - std::pow(static_cast<double>(beta1), t)));
}

}}}  // namespace lamina::optimizer

namespace lamina { inline namespace LAMINA_ABI { namespace schedule {

/// In step s below warmup_steps, the rate start_lr + (end_lr - start_lr) * s / warmup_steps; then
/// the rate of `learning_rate` in step s, whose steps also count from the start of the training.
/// Fluid: linear_lr_warmup.
struct linear_lr_warmup {
  optimizer::learning_rate learning_rate;
  std::int64_t warmup_steps = 0;
  float start_lr = 0, end_lr = 0;
};

}}}  // namespace lamina::schedule

namespace lamina { inline namespace LAMINA_ABI { namespace optimizer {

constexpr learning_rate::learning_rate(const schedule::linear_lr_warmup& s)
    : learning_rate(s.learning_rate) {
  schedule::require(warmup_steps == 0,
                    "lamina: linear_lr_warmup: expected a learning rate without a warm-up of its "
                    "own, found one that has it");
  schedule::require(s.warmup_steps > 0, "lamina: linear_lr_warmup: expected warmup_steps above 0");
  warmup_steps = s.warmup_steps;
  warmup_start = s.start_lr;
  warmup_end = s.end_lr;
}

#if LAMINA_DEFINES

double learning_rate::scheduled_now(std::int64_t step) const { return scheduled(step); }

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::optimizer
