// SPDX-License-Identifier: Apache-2.0
// lamina/codegen/own_training.hpp - converts a training program in Fluid's form to the form that
// lamina's minimize records.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/codegen/fluid_updates.hpp>
#include <lamina/codegen/foreign_training.hpp>
#include <lamina/optimizer/clip.hpp>
#include <lamina/optimizer/step_operators.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Replaces updates in Fluid's form by the operators of lamina: one operator that counts steps and
/// corrects the learning rate by the powers of beta, one operator for each clip by norm, and an
/// update of each parameter with clip, decay and learning rate as attributes. Removes the variables
/// that only Fluid's form needs.
class own_training {
 public:
  /// Throws format_error as fluid_updates does, and also if other operators read variables that
  /// only updates in Fluid's form have, because lamina's program does not have these variables.
  own_training(const loaded_program& program, const scope* values)
      : read_(exported(program), program.source()),
        updates_(read_, values),
        made_(read_.message()) {
    block_message& b = made_.blocks[0];
    std::vector<operator_message> kept, columns;
    find_uses();
    require_unread();
    for (operator_message& op : b.operators) {
      if (fluid_updates::belongs(op)) continue;
      if (updates_.counts_steps() && rate_.empty() &&
          fluid_updates::role_of(op) == op_role::loss_gradient)
        kept.push_back(counted_rate());
      (op.type == "fetch" ? columns : kept).push_back(std::move(op));
    }
    if (updates_.counts_steps() && rate_.empty())
      updates_.fail("expected gradients of a cost before it, found an operator of training alone");
    b.operators = std::move(kept);
    append_updates(b.operators);
    for (operator_message& op : columns) b.operators.push_back(std::move(op));
    drop_variables(b);
    for (variable_message& v : new_) {
      if (b.find(v.name) != nullptr)
        updates_.fail("expected no variable '" + v.name + "', which minimize makes, found one");
      b.variables.push_back(std::move(v));
    }
  }

  const program_message& program() const { return made_; }

  /// Copies the values of the persistable variables, converted from Fluid's form: the number of
  /// steps replaces the powers of beta, and the learning rate is omitted.
  void copy_values(const scope& from, scope& to) const {
    for (const std::string& name : from.names())
      if (dropped_.count(name) == 0) to.var(name) = from.get(name);
    if (!updates_.counts_steps()) return;
    const lod_tensor* const counter = from.find(counter_);  // the step counter of a schedule
    if (counter != nullptr)
      to.var(counter_) = *counter;
    else
      to.var(counter_) = tensor({1}, std::vector<std::int64_t>{steps_done(from) - 1});
  }

 private:
  static constexpr const char* counter_ = "@LR_DECAY_COUNTER@";
  using appender = message_appender;

  static program_message exported(const loaded_program& program) {
    if (!foreign_training::is_foreign(program.message())) return program.message();
    return foreign_training::as_exported(program);
  }
  static void insert(const std::vector<slot_message>& given, std::set<std::string>& names) {
    for (const slot_message& s : given) names.insert(s.arguments.begin(), s.arguments.end());
  }
  void find_uses() {
    for (const block_message& b : made_.blocks)
      for (const operator_message& op : b.operators) {
        const bool belongs = b.index == 0 && fluid_updates::belongs(op);
        insert(op.inputs, belongs ? of_updates_ : used_);
        insert(op.outputs, belongs ? of_updates_ : used_);
        if (belongs) insert(op.outputs, made_by_updates_);
      }
    for (const fluid_update& f : updates_.all()) {
      insert(f.own.inputs, used_);
      insert(f.own.outputs, changed_);
    }
  }
  /// Makes a variable with one element, as minimize does.
  std::string number(const std::string& name, dtype type, bool persistable = false) {
    variable_message& v = new_.emplace_back();
    v.name = name;
    v.type = type;
    v.dims = {1};
    v.persistable = persistable;
    v.stop_gradient = true;
    return name;
  }
  operator_message counted_rate() {
    const std::string step = number(counter_, dtype::int64, true);
    rate_ = number("learning_rate_0", dtype::float32);
    const optimizer::learning_rate& r = updates_.rate();
    const std::array<float, 2> powers = updates_.powers();
    const double values[] = {powers[0],
                             powers[1],
                             static_cast<double>(r.kind),
                             r.flag ? 1. : 0.,
                             r.base,
                             r.a,
                             r.b,
                             static_cast<double>(r.m),
                             static_cast<double>(r.n),
                             static_cast<double>(r.warmup_steps),
                             r.warmup_start,
                             r.warmup_end};
    std::vector<attribute_message> attributes;
    for (std::size_t i = 0; i < operators::decayed_learning_rate::attributes.size(); ++i) {
      const attribute_desc& d = operators::decayed_learning_rate::attributes[i];
      if (i < std::size(values)) {
        attributes.push_back(appender::number(d.name, d.type, values[i]));
        continue;
      }
      attribute_message& list = attributes.emplace_back();
      list.name = d.name;
      list.type = d.type;
      const int n = r.piecewise.pieces;
      if (d.type == attribute_type::reals)
        list.reals.assign(r.piecewise.values, r.piecewise.values + n);
      else
        list.integers.assign(r.piecewise.boundaries, r.piecewise.boundaries + n - 1);
    }
    return appender::operation(operators::decayed_learning_rate::type, {{"Step", {step}}},
                               {{"Out", {rate_}}, {"StepOut", {step}}}, std::move(attributes));
  }
  operator_message scale(const std::vector<std::string>& gradients, float limit, bool global,
                         const std::string& made) const {
    return appender::operation(
        operators::gradient_scale::type, {{"X", gradients}}, {{"Out", {made}}},
        {appender::number("max_norm", attribute_type::real, static_cast<double>(limit)),
         appender::number("global", attribute_type::boolean, global ? 1 : 0)});
  }
  void append_updates(std::vector<operator_message>& to) {
    std::vector<operator_message> own;
    std::vector<std::string> group;
    std::string shared;
    float limit = 0;
    int scales = 0;
    const auto next = [&] {
      return number("gradient_scale_" + std::to_string(scales++), dtype::float32);
    };
    for (const fluid_update& f : updates_.all()) {
      operator_message& op = own.emplace_back(f.own);
      if (!rate_.empty()) op.inputs.push_back({"StepLearningRate", {rate_}});
      const gradient_clip& clip = f.numbers.clip;
      if (!optimizer::needs_norm(clip)) continue;
      const std::string& gradient = op.input("Grad")[0];
      if (clip.kind == clip_kind::norm) {
        const std::string made = next();
        to.push_back(scale({gradient}, clip.high, false, made));
        op.inputs.push_back({"GradientScale", {made}});
        continue;
      }
      if (shared.empty()) shared = next();
      limit = clip.high;
      group.push_back(gradient);
      op.inputs.push_back({"GradientScale", {shared}});
    }
    if (!group.empty()) to.push_back(scale(group, limit, true, shared));
    for (operator_message& op : own) to.push_back(std::move(op));
  }

  /// Throws if an operator outside of the updates reads a variable that only updates in Fluid's
  /// form write. Parameters and accumulators may be read, because lamina's updates write them too.
  void require_unread() const {
    for (const block_message& b : made_.blocks)
      for (const operator_message& op : b.operators)
        for (const slot_message& s : op.inputs)
          for (const std::string& name : s.arguments)
            if (!(b.index == 0 && fluid_updates::belongs(op)) &&
                made_by_updates_.count(name) != 0 && changed_.count(name) == 0)
              updates_.fail(op, "expected no use of '" + name +
                                    "', which only updates in Fluid's form have, found one");
  }
  void drop_variables(block_message& block) {
    std::erase_if(block.variables, [&](const variable_message& v) {
      const bool drops = of_updates_.count(v.name) != 0 && used_.count(v.name) == 0;
      if (drops) dropped_.insert(v.name);
      return drops;
    });
  }

  /// Returns the number of steps so far, computed from a power of beta: the power is the float
  /// beta^(steps + 1). If all powers have become 0, returns a large number: after so many steps the
  /// correction has no effect.
  std::int64_t steps_done(const scope& values) const {
    for (const auto& [beta, name] : updates_.power_variables()) {
      const lod_tensor& power = values.get(name);
      const double p = power.size() == 1 ? power.cast<double>().flat(0) : 0;
      if (beta > 0 && beta < 1 && p > 1e-30 && p < 1)
        return std::llround(std::log(p) / std::log(static_cast<double>(beta))) - 1;
    }
    return 1000000;
  }

  loaded_program read_;  // in the form of lamina's exporter
  fluid_updates updates_;
  program_message made_;
  std::string rate_ = "";  // the variable with the learning rate of a step
  // Names of variables, by use: operators of the updates use them; operators of the updates write
  // them; parameters and accumulators; other operators use them; the converted program does not
  // have them.
  std::set<std::string> of_updates_ = {}, made_by_updates_ = {}, changed_ = {}, used_ = {},
                        dropped_ = {};
  std::vector<variable_message> new_ = {};
};

}}}  // namespace lamina::detail
