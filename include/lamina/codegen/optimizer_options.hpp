// SPDX-License-Identifier: Apache-2.0
// lamina/codegen/optimizer_options.hpp - writes the options of optimizers as C++ text, from the
// attributes of their updates.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <lamina/codegen/cpp_text.hpp>
#include <lamina/optimizer/learning_rate.hpp>
#include <lamina/optimizer/optimizers.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// An option of an optimizer, and the attribute of its update operator that has the value of the
/// option.
template <class Opt, class T>
struct optimizer_option {
  const char *name, *attribute;
  T Opt::*member;
};

template <class Opt, class T>
constexpr optimizer_option<Opt, T> option_of(const char* name, T Opt::*member,
                                             const char* attribute = nullptr) {
  return {name, attribute == nullptr ? name : attribute, member};
}

/// The options of an optimizer in the order of its members, without the options that all optimizers
/// have. adagrad's initial_accumulator_value is not among them, because no update operator has such
/// an attribute.
template <class Opt>
inline constexpr std::tuple<> optimizer_options{};
template <>
inline constexpr auto optimizer_options<optimizer::adadelta> = [] {
  using opt = optimizer::adadelta;
  return std::tuple{option_of("epsilon", &opt::epsilon), option_of("rho", &opt::rho)};
}();
template <>
inline constexpr auto optimizer_options<optimizer::adagrad> =
    std::tuple{option_of("epsilon", &optimizer::adagrad::epsilon)};
template <>
inline constexpr auto optimizer_options<optimizer::adam> = [] {
  using opt = optimizer::adam;
  return std::tuple{option_of("beta1", &opt::beta1), option_of("beta2", &opt::beta2),
                    option_of("epsilon", &opt::epsilon)};
}();
template <>
inline constexpr auto optimizer_options<optimizer::adamax> = [] {
  using opt = optimizer::adamax;
  return std::tuple{option_of("beta1", &opt::beta1), option_of("beta2", &opt::beta2),
                    option_of("epsilon", &opt::epsilon)};
}();
template <>
inline constexpr auto optimizer_options<optimizer::decayed_adagrad> = [] {
  using opt = optimizer::decayed_adagrad;
  return std::tuple{option_of("decay", &opt::decay), option_of("epsilon", &opt::epsilon)};
}();
template <>
inline constexpr auto optimizer_options<optimizer::ftrl> = [] {
  using opt = optimizer::ftrl;
  return std::tuple{option_of("l1", &opt::l1), option_of("l2", &opt::l2),
                    option_of("lr_power", &opt::lr_power)};
}();
template <>
inline constexpr auto optimizer_options<optimizer::lamb> = [] {
  using opt = optimizer::lamb;
  return std::tuple{option_of("lamb_weight_decay", &opt::lamb_weight_decay, "weight_decay"),
                    option_of("beta1", &opt::beta1), option_of("beta2", &opt::beta2),
                    option_of("epsilon", &opt::epsilon)};
}();
template <>
inline constexpr auto optimizer_options<optimizer::lars_momentum> = [] {
  using opt = optimizer::lars_momentum;
  return std::tuple{option_of("momentum", &opt::momentum, "mu"),
                    option_of("lars_coeff", &opt::lars_coeff),
                    option_of("lars_weight_decay", &opt::lars_weight_decay)};
}();
template <>
inline constexpr auto optimizer_options<optimizer::momentum> = [] {
  using opt = optimizer::momentum;
  return std::tuple{option_of("momentum", &opt::momentum, "mu"),
                    option_of("use_nesterov", &opt::use_nesterov)};
}();
template <>
inline constexpr auto optimizer_options<optimizer::proximal_adagrad> = [] {
  using opt = optimizer::proximal_adagrad;
  return std::tuple{option_of("l1", &opt::l1), option_of("l2", &opt::l2)};
}();
template <>
inline constexpr auto optimizer_options<optimizer::proximal_gd> = [] {
  using opt = optimizer::proximal_gd;
  return std::tuple{option_of("l1", &opt::l1), option_of("l2", &opt::l2)};
}();
template <>
inline constexpr auto optimizer_options<optimizer::rmsprop> = [] {
  using opt = optimizer::rmsprop;
  return std::tuple{option_of("rho", &opt::rho, "decay"), option_of("epsilon", &opt::epsilon),
                    option_of("momentum", &opt::momentum), option_of("centered", &opt::centered)};
}();

inline std::string option_text(float value) { return number_text(static_cast<double>(value)); }
inline std::string option_text(bool value) { return value ? "true" : "false"; }

inline std::string decay_text(const regularizer& d) {
  return std::string("lamina::") + (d.kind == regularizer_kind::l1 ? "l1" : "l2") + "_decay(" +
         option_text(d.coefficient) + ")";
}
inline std::string clip_text(const gradient_clip& c) {
  if (c.kind == clip_kind::norm) return "lamina::clip_by_norm(" + option_text(c.high) + ")";
  if (c.kind == clip_kind::global_norm)
    return "lamina::clip_by_global_norm(" + option_text(c.high) + ")";
  return "lamina::clip_by_value(" + (c.low == -c.high ? "" : option_text(c.low) + ", ") +
         option_text(c.high) + ")";
}

/// The attributes of the operator decayed_learning_rate, except the betas that correct the rate.
struct schedule_attributes {
  optimizer::schedule_kind kind;
  bool flag;
  float base;
  double a, b;
  std::int64_t m, n, warmup_steps;
  float warmup_start, warmup_end;
  std::vector<std::int64_t> boundaries;
  std::vector<float> values;
};

/// A learning rate, and its C++ text.
struct learning_rate_text {
  optimizer::learning_rate rate = 0.f;
  std::string text = {};
};

/// Returns the schedule that would record these attributes, and its text. The text is empty if no
/// schedule records them. Throws lamina::error if an argument of the schedule is invalid.
inline learning_rate_text learning_rate_of(const schedule_attributes& s) {
  using optimizer::schedule_kind;
  const float a = static_cast<float>(s.a), b = static_cast<float>(s.b);
  const auto real = [](const char* name, double value) {
    return std::string(".") + name + " = " + number_text(value);
  };
  const auto whole = [](const char* name, std::int64_t value) {
    return std::string(", .") + name + " = " + std::to_string(value);
  };
  const std::string rate = real("learning_rate", static_cast<double>(s.base)),
                    flag = s.flag ? "true" : "false";
  const auto decaying = [&](const char* name) {
    return std::string("lamina::schedule::") + name + "{" + rate + whole("decay_steps", s.m) +
           ", " + real("decay_rate", s.a) + (s.flag ? ", .staircase = true" : "") + "}";
  };
  const auto in_samples = [&](const char* name) {
    return std::string("lamina::schedule::v2::") + name + "{" + rate + ", " + real("a", s.a) +
           ", " + real("b", s.b) + whole("batch_size", s.m) + "}";
  };
  learning_rate_text made;
  switch (s.kind) {
    case schedule_kind::constant:
      made = {s.base, number_text(static_cast<double>(s.base))};
      break;
    case schedule_kind::noam:
      made = {schedule::noam_decay{s.m, s.n, s.base},
              "lamina::schedule::noam_decay{.d_model = " + std::to_string(s.m) +
                  whole("warmup_steps", s.n) + ", " + rate + "}"};
      break;
    case schedule_kind::exponential:
      made = {schedule::exponential_decay{s.base, s.m, a, s.flag}, decaying("exponential_decay")};
      break;
    case schedule_kind::natural_exp:
      made = {schedule::natural_exp_decay{s.base, s.m, a, s.flag}, decaying("natural_exp_decay")};
      break;
    case schedule_kind::inverse_time:
      made = {schedule::inverse_time_decay{s.base, s.m, a, s.flag}, decaying("inverse_time_decay")};
      break;
    case schedule_kind::polynomial:
      made = {schedule::polynomial_decay{s.base, s.m, a, b, s.flag},
              "lamina::schedule::polynomial_decay{" + rate + whole("decay_steps", s.m) + ", " +
                  real("end_learning_rate", s.a) + (s.b == 1 ? "" : ", " + real("power", s.b)) +
                  (s.flag ? ", .cycle = true" : "") + "}"};
      break;
    case schedule_kind::piecewise: {
      if (s.boundaries.empty()) return {};
      made.rate = schedule::piecewise_decay(std::span(s.boundaries), std::span(s.values));
      made.text = "lamina::schedule::piecewise_decay({";
      for (std::size_t i = 0; i < s.boundaries.size(); ++i)
        made.text += (i > 0 ? ", " : "") + std::to_string(s.boundaries[i]);
      made.text += "}, {";
      for (std::size_t i = 0; i < s.values.size(); ++i)
        made.text += (i > 0 ? ", " : "") + option_text(s.values[i]);
      made.text += "})";
      break;
    }
    case schedule_kind::cosine:
      made = {schedule::cosine_decay{s.base, s.m, s.n}, "lamina::schedule::cosine_decay{" + rate +
                                                            whole("step_each_epoch", s.m) +
                                                            whole("epochs", s.n) + "}"};
      break;
    case schedule_kind::one_cycle: {
      if (s.values.empty()) return {};
      const bool linear = s.n == static_cast<std::int64_t>(schedule::anneal::linear);
      made = {schedule::one_cycle{s.base, s.m, a,
                                  linear ? schedule::anneal::linear : schedule::anneal::cos, b,
                                  s.values[0], s.flag},
              "lamina::schedule::one_cycle{" + real("max_lr", static_cast<double>(s.base)) +
                  whole("total_steps", s.m) + ", " + real("pct_start", s.a) +
                  (linear ? ", .anneal_strategy = lamina::schedule::anneal::linear" : "") + ", " +
                  real("div_factor", s.b) + ", " +
                  real("final_div_factor", static_cast<double>(s.values[0])) +
                  (s.flag ? ", .three_phase = true" : "") + "}"};
      break;
    }
    case schedule_kind::v2_poly:
      made = {schedule::v2::poly{s.base, s.a, s.b, s.m}, in_samples("poly")};
      break;
    case schedule_kind::v2_caffe_poly:
      made = {schedule::v2::caffe_poly{s.base, s.a, s.b, s.m}, in_samples("caffe_poly")};
      break;
    case schedule_kind::v2_exp:
      made = {schedule::v2::exp{s.base, s.a, s.b, s.m}, in_samples("exp")};
      break;
    case schedule_kind::v2_discexp:
      made = {schedule::v2::discexp{s.base, s.a, s.b, s.m}, in_samples("discexp")};
      break;
    case schedule_kind::v2_linear:
      made = {schedule::v2::linear{s.base, s.a, s.b, s.m}, in_samples("linear")};
      break;
    default:
      return {};
  }
  if (s.warmup_steps == 0) return made;
  made.text = "lamina::schedule::linear_lr_warmup{.learning_rate = " + made.text +
              whole("warmup_steps", s.warmup_steps) + ", " +
              real("start_lr", static_cast<double>(s.warmup_start)) + ", " +
              real("end_lr", static_cast<double>(s.warmup_end)) + "}";
  made.rate = schedule::linear_lr_warmup{made.rate, s.warmup_steps, s.warmup_start, s.warmup_end};
  return made;
}

}}}  // namespace lamina::detail
