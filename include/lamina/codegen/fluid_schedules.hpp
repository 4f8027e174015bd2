// SPDX-License-Identifier: Apache-2.0
// lamina/codegen/fluid_schedules.hpp - converts the operators by which Fluid computes a learning
// rate to a schedule.
//
// The reader extracts the numbers that distinguish schedules and does not check the operators. Its
// caller writes the schedule in Fluid's form again and compares the result with the file.
#pragma once

#include <lamina/core/config.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <lamina/io/fluid/program_message.hpp>
#include <lamina/optimizer/learning_rate.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Returns the number, the float below it or the float above it, whichever first satisfies `holds`;
/// the number if none does. It undoes an operation that has rounded its result.
template <class F>
float nearest(float number, const F& holds) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const float n :
       {number, std::nextafter(number, -infinity), std::nextafter(number, infinity)})
    if (holds(n)) return n;
  return number;
}

/// Returns the number in an attribute, or in a list of one number; 0 if the attribute is missing.
inline double number_of_attribute(const operator_message& op, std::string_view name) {
  const attribute_message* const a = op.attribute(name);
  if (a == nullptr) return 0;
  if (a->type == attribute_type::reals)
    return a->reals.empty() ? 0 : static_cast<double>(a->reals[0]);
  return a->type == attribute_type::real ? static_cast<double>(a->real)
                                         : static_cast<double>(a->integer);
}

/// Reads one schedule: note() receives its operators in order, and read() returns the schedule.
class fluid_schedule_reader {
 public:
  /// Receives the next operator with the role of a learning rate.
  void note(const operator_message& op) {
    if (op.type == "assign") last_ = &op;
    for (const slot_message& s : op.outputs)
      for (const std::string& name : s.arguments) makers_[name] = &op;
  }
  bool is_empty() const { return makers_.empty(); }
  /// Returns the name of the variable with the learning rate of a step; empty if there is none.
  std::string variable() const {
    return last_ == nullptr || last_->output("Out").size() != 1 ? "" : last_->output("Out")[0];
  }

  /// Returns the schedule that the operators compute; 0 if they compute none. Throws lamina::error
  /// for numbers that no schedule has.
  optimizer::learning_rate read() const {
    const operator_message* const found = in(last_, "X");
    // With a warm-up, the rate is rising * (slope * step + start) + (1 - rising) * scheduled;
    // `rising` is 1 during the warm-up and 0 after it.
    const operator_message* const line = is(in(in(found, "X"), "Y"), "scale");
    const operator_message* const rest = in(found, "Y");
    if (!is(found, "elementwise_add") || line == nullptr || rest == nullptr)
      return scheduled(found);
    optimizer::learning_rate r = scheduled(in(rest, "Y"));
    const operator_message* const limit = in(in(in(in(found, "X"), "X"), "X"), "Y");
    r.warmup_steps = whole(number(limit, "value"));
    r.warmup_start = real(line, "bias");
    const double steps = static_cast<double>(r.warmup_steps);
    const float slope = real(line, "scale");
    r.warmup_end =
        nearest(static_cast<float>(r.warmup_start + number(line, "scale") * steps), [&](float end) {
          return static_cast<float>((static_cast<double>(end) - r.warmup_start) / steps) == slope;
        });
    return r;
  }

 private:
  static const operator_message* is(const operator_message* op, std::string_view type) {
    return op != nullptr && op->type == type ? op : nullptr;
  }
  static double number(const operator_message* op, std::string_view name) {
    return op == nullptr ? 0 : number_of_attribute(*op, name);
  }
  static float real(const operator_message* op, std::string_view name) {
    return static_cast<float>(number(op, name));
  }
  static std::int64_t whole(double number) {
    return std::abs(number) < 9e15 ? std::llround(number) : 0;
  }
  /// Returns the operator that computes an input.
  const operator_message* in(const operator_message* op, std::string_view slot,
                             std::size_t i = 0) const {
    if (op == nullptr || op->input(slot).size() <= i) return nullptr;
    const auto found = makers_.find(op->input(slot)[i]);
    return found == makers_.end() ? nullptr : found->second;
  }

  optimizer::learning_rate scheduled(const operator_message* op) const {
    if (is(op, "fill_constant")) return real(op, "value");
    if (is(op, "sum")) return piecewise(*op);
    if (is(op, "elementwise_div")) {
      const operator_message* const below = in(op, "Y");
      const counted c = periods(in(below, "X"));
      return schedule::inverse_time_decay{real(in(op, "X"), "value"), c.steps, real(below, "scale"),
                                          c.staircase};
    }
    const operator_message* const inner = in(op, "X");
    if (!is(op, "scale") || inner == nullptr) return 0.f;
    const float factor = real(op, "scale");
    if (is(inner, "elementwise_min")) {  // base / sqrt(d_model) is one number here
      const double slope = number(in(inner, "Y"), "scale");
      return schedule::noam_decay{1, slope > 0 ? whole(std::pow(slope, -2. / 3)) : 0, factor};
    }
    if (is(inner, "elementwise_pow")) {
      const counted c = periods(in(inner, "Y"));
      return schedule::exponential_decay{factor, c.steps, real(in(inner, "X"), "value"),
                                         c.staircase};
    }
    if (is(inner, "exp")) {
      const operator_message* const exponent = in(inner, "X");
      const counted c = periods(in(exponent, "X"));
      return schedule::natural_exp_decay{factor, c.steps, -real(exponent, "scale"), c.staircase};
    }
    if (is(inner, "cos")) {
      const operator_message* const angle = in(inner, "X");
      const double step = number(angle, "scale");
      return schedule::cosine_decay{2 * factor, periods(in(angle, "X")).steps,
                                    step > 0 ? whole(3.14159265358979323846 / step) : 0};
    }
    if (is(inner, "pow")) return polynomial(*op, *inner);
    return 0.f;
  }

  /// The length of a period in steps, and whether only whole periods count.
  struct counted {
    std::int64_t steps;
    bool staircase;
  };
  counted periods(const operator_message* op) const {
    const bool staircase = is(op, "floor") != nullptr;
    if (staircase) op = in(op, "X");
    return {whole(number(in(op, "Y"), "value")), staircase};
  }
  optimizer::learning_rate polynomial(const operator_message& op,
                                      const operator_message& pow) const {
    const operator_message* const gone = in(in(&pow, "X"), "X");
    const operator_message* length = in(gone, "Y");
    const bool cycle = is(length, "elementwise_mul") != nullptr;
    if (cycle) length = in(length, "X");
    const float end = real(&op, "bias"), range = real(&op, "scale");
    const float rate = nearest(range + end, [&](float base) {
      return static_cast<float>(static_cast<double>(base) - static_cast<double>(end)) == range;
    });
    return schedule::polynomial_decay{rate, whole(number(length, "value")), end,
                                      real(&pow, "factor"), cycle};
  }
  /// Fluid computes the rate as a sum of terms. Each term is the value of one interval times 1
  /// within the interval, otherwise times 0. The comparison that makes this factor 0 contains the
  /// boundary.
  optimizer::learning_rate piecewise(const operator_message& sum) const {
    std::vector<std::int64_t> boundaries;
    std::vector<float> values;
    const std::size_t n = sum.input("X").size();
    for (std::size_t i = 0; i < n; ++i) {
      const operator_message* const part = in(&sum, "X", i);
      values.push_back(real(part, "scale"));
      if (i + 1 == n) break;
      const operator_message* const inside = in(part, "X");  // 1 - ended, or begun - ended
      const operator_message* const ended = in(inside, i == 0 ? "X" : "Y");
      boundaries.push_back(whole(number(in(in(ended, "X"), "Y"), "value")));
    }
    return schedule::piecewise_decay(std::span<const std::int64_t>(boundaries),
                                     std::span<const float>(values));
  }

  const operator_message* last_ = nullptr;
  std::map<std::string, const operator_message*> makers_ = {};  // the writer of each variable
};

}}}  // namespace lamina::detail
