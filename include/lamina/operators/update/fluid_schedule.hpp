// SPDX-License-Identifier: Apache-2.0
// lamina/operators/update/fluid_schedule.hpp - writes learning-rate schedules as Fluid operators,
// which count the steps in a variable.
#pragma once

#include <lamina/core/config.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/operators/update/fluid.hpp>
#include <lamina/optimizer/learning_rate.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Appends the operators that compute the learning rate of a step. The variable
/// `@LR_DECAY_COUNTER@` counts the steps: its initial value is one less than the number of the
/// first step, and each step increments it first. Fluid: learning_rate_scheduler.py.
class fluid_schedule_writer {
 public:
  explicit fluid_schedule_writer(message_appender& to) : to_(to) {}

  /// Whether a learning rate changes from step to step.
  static bool changes(const optimizer::learning_rate& rate) {
    return rate.kind != optimizer::schedule_kind::constant || rate.warmup_steps > 0;
  }

  /// Writes the operators; returns the variable that holds the learning rate. Throws lamina::error
  /// for a schedule of v2, because Fluid has no operators for it.
  std::string write(const optimizer::learning_rate& rate) {
    variable_message whole;
    whole.type = dtype::int64;
    whole.dims = {1};
    counter_ = to_.kept("@LR_DECAY_COUNTER@", &whole, -1);
    to_.add(message_appender::operation("increment", {{"X", {counter_}}}, {{"Out", {counter_}}},
                                        {real("step", 1)}, op_role::learning_rate));
    step_ = converted(counter_, dtype::int64);
    std::string found = scheduled(rate);
    if (rate.warmup_steps > 0) {
      const std::string rising = condition("less_than", rate.warmup_steps);
      const double slope = (static_cast<double>(rate.warmup_end) - rate.warmup_start) /
                           static_cast<double>(rate.warmup_steps);
      found = two("elementwise_add",
                  two("elementwise_mul", rising, scaled(step_, slope, rate.warmup_start)),
                  two("elementwise_mul", scaled(rising, -1, 1), found));
    }
    to_.add(message_appender::operation("assign", {{"X", {found}}},
                                        {{"Out", {to_.made("learning_rate_0", nullptr)}}}, {},
                                        op_role::learning_rate));
    return "learning_rate_0";
  }

 private:
  using kind = optimizer::schedule_kind;

  std::string scheduled(const optimizer::learning_rate& r) {
    switch (r.kind) {
      case kind::constant:
        return number(r.base);
      case kind::noam: {
        const std::string s = scaled(step_, 1, 1);
        const double width = 1 / std::sqrt(static_cast<double>(r.m));
        const double slope = std::pow(static_cast<double>(r.n), -1.5);
        return scaled(
            two("elementwise_min", one("pow", s, {real("factor", -0.5)}), scaled(s, slope, 0)),
            r.base * width, 0);
      }
      case kind::exponential:
        return scaled(two("elementwise_pow", number(r.a), periods(r)), r.base, 0);
      case kind::natural_exp:
        return scaled(one("exp", scaled(periods(r), -r.a, 0)), r.base, 0);
      case kind::inverse_time:
        return two("elementwise_div", number(r.base), scaled(periods(r), r.a, 1));
      case kind::polynomial:
        return polynomial(r);
      case kind::piecewise:
        return piecewise(r.piecewise);
      case kind::cosine: {
        const double angle = 3.14159265358979323846 / static_cast<double>(r.n);
        const std::string epoch = one("floor", divided(step_, r.m));
        return scaled(one("cos", scaled(epoch, angle, 0)), 0.5 * r.base, 0.5 * r.base);
      }
      case kind::one_cycle:
        throw error(
            "lamina: Fluid has no operators for the learning-rate schedule one_cycle; expected one "
            "of Fluid's");
      default:
        throw error(
            "lamina: Fluid has no operators for the learning-rate schedules of v2; expected one of "
            "Fluid's");
    }
  }
  std::string periods(const optimizer::learning_rate& r) {
    const std::string p = divided(step_, r.m);
    return r.flag ? one("floor", p) : p;
  }
  std::string polynomial(const optimizer::learning_rate& r) {
    std::string steps = number(static_cast<double>(r.m));
    if (r.flag)
      steps = two("elementwise_mul", steps,
                  two("elementwise_max", one("ceil", divided(step_, r.m)), number(1)));
    const std::string gone = two("elementwise_div", two("elementwise_min", step_, steps), steps);
    const double end = r.a;
    return scaled(one("pow", scaled(gone, -1, 1), {real("factor", r.b)}), r.base - end, end);
  }
  // The learning rate is a sum over all pieces of the schedule: the value of a piece times 1 if the
  // step is in the piece, else times 0. The sum is exact, because only one term is not 0.
  std::string piecewise(const schedule::piecewise_decay& s) {
    std::vector<std::string> parts;
    std::string begun;  // whether the piece has begun; always true for the first piece
    for (int i = 0; i < s.pieces; ++i) {
      std::string inside = begun;
      if (i + 1 < s.pieces) {
        const std::string ended = condition("greater_equal", s.boundaries[i]);
        inside = begun.empty() ? scaled(ended, -1, 1) : two("elementwise_sub", begun, ended);
        begun = ended;
      }
      parts.push_back(inside.empty() ? number(s.values[i]) : scaled(inside, s.values[i], 0));
    }
    return add("sum", {{"X", parts}}, {});
  }

  // Appends operators that compare the step with an integer; returns the variable with the result,
  // 1 or 0.
  std::string condition(const char* type, std::int64_t with) {
    const std::string limit = filled(static_cast<double>(with), dtype::int64);
    variable_message truth;
    truth.type = dtype::boolean;
    truth.dims = {1};
    const std::string out = to_.made(next(), &truth);
    to_.add(message_appender::operation(
        type, {{"X", {counter_}}, {"Y", {limit}}}, {{"Out", {out}}},
        {message_appender::number("axis", attribute_type::integer, -1)}, op_role::learning_rate));
    return converted(out, dtype::boolean);
  }
  std::string divided(const std::string& x, std::int64_t by) {
    return two("elementwise_div", x, number(static_cast<double>(by)));
  }
  std::string number(double value) { return filled(value, dtype::float32); }
  std::string filled(double value, dtype type) {
    variable_message like;
    like.type = type;
    like.dims = {1};
    const std::string out = to_.made(next(), &like);
    to_.add(message_appender::operation(
        "fill_constant", {}, {{"Out", {out}}},
        {message_appender::extents("shape", {1}),
         message_appender::number("dtype", attribute_type::integer, static_cast<int>(type)),
         real("value", value), message_appender::number("force_cpu", attribute_type::boolean, 0)},
        op_role::learning_rate));
    return out;
  }
  std::string converted(const std::string& x, dtype from) {
    return one(
        "cast", x,
        {message_appender::number("in_dtype", attribute_type::integer, static_cast<int>(from)),
         message_appender::number("out_dtype", attribute_type::integer,
                                  static_cast<int>(dtype::float32))});
  }
  std::string scaled(const std::string& x, double factor, double bias) {
    return one("scale", x,
               {real("scale", factor), real("bias", bias),
                message_appender::number("bias_after_scale", attribute_type::boolean, 1)});
  }
  std::string one(const char* type, const std::string& x,
                  std::vector<attribute_message> attributes = {}) {
    return add(type, {{"X", {x}}}, std::move(attributes));
  }
  std::string two(const char* type, const std::string& x, const std::string& y) {
    return add(type, {{"X", {x}}, {"Y", {y}}},
               {message_appender::number("axis", attribute_type::integer, -1)});
  }
  std::string add(const char* type, std::vector<slot_message> inputs,
                  std::vector<attribute_message> attributes) {
    const std::string out = to_.made(next(), nullptr);
    to_.add(message_appender::operation(type, std::move(inputs), {{"Out", {out}}},
                                        std::move(attributes), op_role::learning_rate));
    return out;
  }
  static attribute_message real(const char* name, double value) {
    return message_appender::number(name, attribute_type::real, value);
  }
  std::string next() {
    std::string name;
    do name = "learning_rate@" + std::to_string(count_++);
    while (to_.find(name) != nullptr);
    return name;
  }

  message_appender& to_;
  std::string counter_, step_;
  int count_ = 0;
};

}}}  // namespace lamina::detail
