// SPDX-License-Identifier: Apache-2.0
// lamina/optimizer/option_check.hpp - finds options of optimizers that are outside of their range.
#pragma once

#include <lamina/core/config.hpp>

#include <type_traits>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/optimizer/learning_rate.hpp>
#include <lamina/program/param_attr.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace optimizer {

/// An option outside of its range: its name, the range as text, and the value. A null name means
/// that no option is.
struct option_fault {
  const char* name = nullptr;
  const char* range = nullptr;
  double found = 0;

  constexpr bool is_some() const { return name != nullptr; }
  /// Returns this fault, or `next` if this is not a fault.
  LAMINA_COLD constexpr option_fault or_else(const option_fault& next) const {
    return is_some() ? *this : next;
  }
};

inline constexpr double largest_option = 3.4028234663852886e38;

/// Checks the decay of a moving average. The decay must be in [0, 1): with 1 the average would
/// never change.
LAMINA_COLD constexpr option_fault decay_fault(const char* name, double value) {
  if (value >= 0 && value < 1) return {};
  return {name, "at least 0 and below 1", value};
}
LAMINA_COLD constexpr option_fault fraction_fault(const char* name, double value) {
  if (value >= 0 && value <= 1) return {};
  return {name, "from 0 to 1", value};
}
LAMINA_COLD constexpr option_fault size_fault(const char* name, double value) {
  if (value >= 0 && value <= largest_option) return {};
  return {name, "a finite number of at least 0", value};
}
LAMINA_COLD constexpr option_fault finite_fault(const char* name, double value) {
  if (value >= -largest_option && value <= largest_option) return {};
  return {name, "a finite number", value};
}

/// Returns the first argument of a schedule that is outside of its range: a rate, decay_rate or
/// power.
LAMINA_COLD constexpr option_fault fault_of_schedule(const learning_rate& rate) {
  option_fault fault =
      size_fault("learning_rate", static_cast<double>(rate.base))
          .or_else(size_fault("learning_rate.factor", static_cast<double>(rate.factor)));
  if (rate.kind == schedule_kind::piecewise)
    for (int i = 0; i < rate.piecewise.pieces; ++i)
      fault = fault.or_else(size_fault("values", static_cast<double>(rate.piecewise.values[i])));
  if (rate.kind == schedule_kind::exponential || rate.kind == schedule_kind::inverse_time)
    fault = fault.or_else(size_fault("decay_rate", rate.a));
  if (rate.kind == schedule_kind::natural_exp)
    fault = fault.or_else(finite_fault("decay_rate", rate.a));
  if (rate.kind == schedule_kind::polynomial)
    fault =
        fault.or_else(size_fault("end_learning_rate", rate.a)).or_else(size_fault("power", rate.b));
  return fault.or_else(size_fault("start_lr", static_cast<double>(rate.warmup_start)))
      .or_else(size_fault("end_lr", static_cast<double>(rate.warmup_end)));
}
/// Does the same at run time; it is compiled only once.
LAMINA_API_COLD option_fault fault_now(const learning_rate& rate);

/// Does the same at run time and in constant expressions.
constexpr option_fault fault_of(const learning_rate& rate) {
  if (!std::is_constant_evaluated()) return fault_now(rate);
  return fault_of_schedule(rate);
}
constexpr option_fault fault_of(const regularizer& decay) {
  return size_fault("regularization", static_cast<double>(decay.coefficient));
}
/// Returns the fault of a clip, if any. A lower limit of -infinity and an upper limit of infinity
/// are allowed; they have no effect.
LAMINA_COLD constexpr option_fault fault_of(const gradient_clip& clip) {
  const double low = static_cast<double>(clip.low), high = static_cast<double>(clip.high);
  if (clip.kind == clip_kind::value && !(low <= high))
    return {"clip", "a lower limit that is not above the upper one", low};
  if ((clip.kind == clip_kind::norm || clip.kind == clip_kind::global_norm) && !(high >= 0))
    return {"clip", "a norm of at least 0", high};
  return {};
}

/// Returns the first option of an optimizer that is outside of its range. Checks the common
/// options, and then calls `option_fault own_fault() const` of the optimizer, if it has one.
template <class Opt>
constexpr option_fault fault_of_options(const Opt& opt) {
  option_fault fault;
  if constexpr (requires { static_cast<learning_rate>(opt.learning_rate); })
    fault = fault_of(static_cast<learning_rate>(opt.learning_rate));
  if constexpr (requires { opt.regularization.kind; })
    fault = fault.or_else(fault_of(opt.regularization));
  if constexpr (requires { opt.clip.kind; }) fault = fault.or_else(fault_of(opt.clip));
  if constexpr (requires { opt.own_fault(); }) fault = fault.or_else(opt.own_fault());
  return fault;
}

/// Throws a lamina::error about this option of an optimizer with this `type`.
[[noreturn]] LAMINA_COLD inline void fail_option(const char* type, const option_fault& fault) {
  LAMINA_THROW error((text() << "lamina: " << type << ": " << fault.name << ": expected "
                             << fault.range << ", found ")
                         .print("%g", fault.found));
}
/// Throws lamina::error if an option of an optimizer is outside of its range.
template <class Opt>
LAMINA_COLD void require_options(const Opt& opt) {
  const option_fault fault = fault_of_options(opt);
  if (fault.is_some()) fail_option(Opt::type, fault);
}

#if LAMINA_DEFINES

option_fault fault_now(const learning_rate& rate) { return fault_of_schedule(rate); }

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::optimizer
