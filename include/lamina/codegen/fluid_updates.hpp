// SPDX-License-Identifier: Apache-2.0
// lamina/codegen/fluid_updates.hpp - reads the updates of a training program in Fluid's form.
//
// An update of Fluid reads the learning rate and the powers of beta from variables, and operators
// before the update clip the gradient and add weight decay. The reader converts all these operators
// to one update of lamina. To check the result, the reader writes this update in Fluid's form again
// and compares it with the operators in the file.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/codegen/fluid_schedules.hpp>
#include <lamina/codegen/operator_difference.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/io/loaded_program.hpp>
#include <lamina/operators/update/fluid.hpp>
#include <lamina/operators/update/fluid_schedule.hpp>
#include <lamina/optimizer/minimize.hpp>
#include <lamina/optimizer/optimizers.hpp>
#include <lamina/optimizer/prepare.hpp>
#include <lamina/tensor/scope.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// An update of one parameter in Fluid's form.
struct fluid_update {
  // Lamina's update, without a learning rate of the step and a scale of the gradient.
  operator_message own = {};
  update_numbers numbers = {};
  float factor = 1;  // the parameter's factor on the learning rate
};

/// Reads the updates of block 0 of a program. The value of a constant learning rate is not in the
/// program, but in `values`, which may be null.
class fluid_updates {
 public:
  /// Whether a program has updates in Fluid's form.
  static bool are_in(const program_message& program) {
    for (const block_message& b : program.blocks)
      for (const operator_message& op : b.operators)
        if (is_update(op)) return true;
    return false;
  }
  /// Whether an operator of block 0 belongs to the updates. Operators that store a value
  /// (layer::store) do not, although they have the same role.
  static bool belongs(const operator_message& op) {
    const op_role role = role_of(op);
    return role == op_role::learning_rate ||
           (role == op_role::optimize && op.type != "assign" && !is_column(op));
  }
  static bool is_column(const operator_message& op) {
    return op.type == "feed" || op.type == "fetch";
  }
  static op_role role_of(const operator_message& op) {
    const attribute_message* const role = op.attribute("op_role");
    return role == nullptr ? op_role::forward : static_cast<op_role>(role->integer);
  }

  /// Throws format_error for a learning rate without a value, for updates of several optimizers,
  /// and for operators that the exporter would not write for such updates.
  fluid_updates(const loaded_program& program, const scope* values)
      : source_(program.source()), block_(program.message().blocks[0]), values_(values) {
    for (const block_message& b : program.message().blocks)
      for (const operator_message& op : b.operators) {
        if (b.index != 0 && (is_update(op) || role_of(op) == op_role::learning_rate))
          fail(op, "expected updates in block 0, found one in block " + std::to_string(b.index));
        if (role_of(op) == op_role::learning_rate) schedule_.note(op);
        if (is_update(op)) updates_.push_back(&op);
        for (const slot_message& s : op.outputs)
          for (const std::string& name : s.arguments) writers_[name].push_back(&op);
      }
    try {
      if (!schedule_.is_empty()) rate_ = schedule_.read();
    } catch (const error& e) {
      fail(std::string("expected the numbers of a schedule before it, found others: ") + e.what());
    }
    for (const operator_message* u : updates_) read(*u, optimizer::library_optimizers{});
    require_same();
  }

  const std::vector<fluid_update>& all() const { return all_; }
  /// Returns the learning rate, a number or a schedule.
  const optimizer::learning_rate& rate() const { return rate_; }
  /// Whether the operators count steps and compute the learning rate of each step.
  bool counts_steps() const { return has_powers_ || !schedule_.is_empty(); }
  /// Returns the betas whose powers correct the learning rate, or 0.
  std::array<float, 2> powers() const { return powers_; }
  /// Returns, for each beta, the name of the variable with its power after the steps so far.
  const std::vector<std::pair<float, std::string>>& power_variables() const { return power_names_; }
  /// Throws a format_error about an operator.
  [[noreturn]] void fail(const operator_message& op, const std::string& what) const {
    throw format_error(source_, op.offset, what + " (operator '" + op.type + "')");
  }
  [[noreturn]] void fail(const std::string& what) const { fail(*updates_[0], what); }

 private:
  // Updates of lamina have the same output, but also attributes that prepare the gradient.
  static bool is_update(const operator_message& op) {
    return !op.output("ParamOut").empty() && op.attribute("gradient_scale") == nullptr;
  }

  template <class... Opt>
  void read(const operator_message& u, operator_list<Opt...>) {
    if (u.type != updates_[0]->type)
      fail(u, "expected updates of one optimizer, found a second one");
    const bool known = ((u.type == Opt::type && (add<Opt>(u), true)) || ...);
    if (!known) fail(u, "expected the update of a known optimizer, found another");
  }
  template <class Opt>
  void add(const operator_message& u) {
    fluid_update f;
    const std::string gradient = find_preparation(u, f.numbers);
    find_rate(u, f);
    find_powers<Opt>(u);
    const operator_schema& schema = schema_of<update_operator<Opt>>();
    f.own.type = Opt::type;
    f.own.offset = u.offset;
    f.own.inputs = {{"Param", {one(u, "Param")}}, {"Grad", {gradient}}};
    f.own.outputs = {{"ParamOut", {one(u, "Param")}}};
    for (int s = 2; s < schema.input_count; ++s) {
      const std::string state = one(u, schema.inputs[s].name);
      f.own.inputs.push_back({schema.inputs[s].name, {state}});
      f.own.outputs.push_back({schema.outputs[s - 1].name, {state}});
    }
    const optimizer::gradient_preparation prepare =
        optimizer::preparation_of(f.numbers.clip, f.numbers.decay);
    const float first[] = {counts_steps() ? f.factor : f.numbers.learning_rate,
                           1,
                           prepare.low,
                           prepare.high,
                           prepare.l1,
                           prepare.l2};
    for (int i = 0; i < schema.attribute_count; ++i) {
      const char* const name = schema.attributes[i].name;
      const double value = i < 6 ? static_cast<double>(first[i]) : number_of_attribute(u, name);
      f.own.attributes.push_back(message_appender::number(name, attribute_type::real, value));
    }
    const variable_message* const grad = block_.find(gradient);
    if (grad != nullptr && grad->kind == variable_class::selected_rows)
      f.own.attributes.push_back(message_appender::number("lazy_mode", attribute_type::boolean,
                                                          number_of_attribute(u, "lazy_mode")));
    f.own.attributes.push_back(
        message_appender::number("op_role", attribute_type::integer,
                                 static_cast<double>(static_cast<int>(op_role::optimize))));
    all_.push_back(std::move(f));
  }

  /// Returns the variable in a slot.
  const std::string& one(const operator_message& op, std::string_view slot) const {
    const std::vector<std::string>& names = op.input(slot);
    if (names.size() != 1)
      fail(op, "expected one variable in slot '" + std::string(slot) + "', found " +
                   std::to_string(names.size()));
    return names[0];
  }
  static float real(const operator_message& op, std::string_view name) {
    return static_cast<float>(number_of_attribute(op, name));
  }
  /// Returns the operator of the updates that computes a variable, if it has this type; otherwise
  /// null.
  const operator_message* maker(const std::string& name, std::string_view type) const {
    const auto found = writers_.find(name);
    if (found == writers_.end() || found->second.size() != 1) return nullptr;
    const operator_message& op = *found->second[0];
    return op.type == type && belongs(op) ? &op : nullptr;
  }

  /// Finds the weight decay and the clip of an update. Returns the name of the gradient before both
  /// are applied.
  std::string find_preparation(const operator_message& u, update_numbers& numbers) const {
    std::string gradient = one(u, "Grad");
    if (const operator_message* const sum = maker(gradient, "sum");
        sum != nullptr && sum->input("X").size() == 2)
      if (const operator_message* const penalty = maker(sum->input("X")[1], "scale")) {
        const bool is_l1 = maker(one(*penalty, "X"), "sign") != nullptr;
        const float coefficient = real(*penalty, "scale");
        numbers.decay = is_l1 ? l1_decay(coefficient) : l2_decay(coefficient);
        gradient = sum->input("X")[0];
      }
    if (const operator_message* const clip = maker(gradient, "clip")) {
      numbers.clip = clip_by_value(real(*clip, "min"), real(*clip, "max"));
      return one(*clip, "X");
    }
    if (const operator_message* const clip = maker(gradient, "clip_by_norm")) {
      numbers.clip = lamina::clip_by_norm(real(*clip, "max_norm"));
      return one(*clip, "X");
    }
    if (const operator_message* const clip = maker(gradient, "elementwise_mul")) {
      const operator_message* const scale = maker(one(*clip, "Y"), "elementwise_div");
      const operator_message* const limit =
          scale == nullptr ? nullptr : maker(one(*scale, "X"), "fill_constant");
      if (limit == nullptr) fail(*clip, "expected a clip by the norm of all gradients, found none");
      numbers.clip = lamina::clip_by_global_norm(real(*limit, "value"));
      return one(*clip, "X");
    }
    return gradient;
  }

  /// Finds the learning rate of an update, and the factor by which the parameter multiplies it.
  void find_rate(const operator_message& u, fluid_update& f) {
    f.numbers.learning_rate = 1;
    if (u.input("LearningRate").empty()) return;  // adadelta, as an old version of Fluid records it
    std::string name = one(u, "LearningRate");
    float factor = 1;
    if (const operator_message* const scale = maker(name, "scale")) {
      factor = real(*scale, "scale");
      name = one(*scale, "X");
    }
    if (rate_name_.empty()) {
      rate_name_ = name;
      if (schedule_.is_empty()) rate_ = value_of(u, name);
    }
    if (counts_steps() && name != rate_name_)
      fail(u, "expected one learning rate of all updates, found a second one");
    if (!schedule_.is_empty() && name != schedule_.variable())
      fail(u, "expected the learning rate of the schedule, found '" + name + "'");
    const float base = schedule_.is_empty() ? value_of(u, name) : 1;
    f.numbers.learning_rate =
        nearest(base * factor, [&](float r) { return base == 0 || r / base == factor; });
    f.factor = nearest(factor, [&](float d) { return base * d == f.numbers.learning_rate; });
  }
  float value_of(const operator_message& u, const std::string& name) const {
    if (writers_.count(name) != 0)
      fail(u, "expected a learning rate that is the same in each step, found '" + name +
                  "', which an operator computes");
    const lod_tensor* const value = values_ == nullptr ? nullptr : values_->find(name);
    if (value == nullptr || !value->has_value() || value->type() != dtype::float32 ||
        value->size() != 1)
      fail(u, "expected the value of the learning rate '" + name +
                  "', one float, among those of the parameters, found none");
    return value->as<float>().flat(0);
  }
  template <class Opt>
  void find_powers(const operator_message& u) {
    for (const char* const slot : {"Beta1Pow", "Beta2Pow"}) {
      if (u.input(slot).empty()) continue;
      const std::string& name = one(u, slot);
      const variable_message* const v = block_.find(name);
      if (v == nullptr || !v->persistable)
        fail(u, "expected a power of beta that outlives a run, found '" + name + "'");
      if (all_.empty())
        power_names_.emplace_back(real(u, slot == std::string_view("Beta1Pow") ? "beta1" : "beta2"),
                                  name);
    }
    if constexpr (lamina::detail::has_powers<Opt>) {
      Opt opt;
      opt.beta1 = real(u, "beta1"), opt.beta2 = real(u, "beta2");
      powers_ = opt.powers();
      has_powers_ = true;
    }
  }

  /// Writes the updates in Fluid's form again, and compares them with the file.
  void require_same() const {
    block_message again, startup;
    again.variables = block_.variables;
    std::erase_if(again.variables, [&](const variable_message& v) {  // new names for the schedule
      const auto found = writers_.find(v.name);
      return found != writers_.end() && role_of(*found->second[0]) == op_role::learning_rate;
    });
    message_appender to(again, startup);
    std::vector<std::pair<operator_message, update_numbers>> updates;
    for (const fluid_update& f : all_) {
      const std::string& gradient = f.own.input("Grad")[0];
      if (again.find(gradient) == nullptr)
        fail("expected the gradient of a cost, found '" + gradient + "'");
      updates.emplace_back(f.own, f.numbers);
    }
    try {
      fluid_update_writer writer(to);
      if (!schedule_.is_empty()) writer.use_rate(fluid_schedule_writer(to).write(rate_));
      writer.write(std::move(updates));
    } catch (const error& e) {
      fail(std::string("expected updates that lamina records, found others: ") + e.what());
    }
    if (schedule_.is_empty()) rename(again, "learning_rate_0", rate_name_);
    std::size_t n = 0;
    for (const operator_message& op : block_.operators) {
      if (!belongs(op)) {
        if (n > 0 && !is_column(op))
          fail(op, "expected no operator after the first update, found one");
        continue;
      }
      if (n == again.operators.size())
        fail(op, "expected no operator, because minimize records none, found one");
      if (const std::string what = operator_difference(again.operators[n++], op); !what.empty())
        fail(op, what);
    }
    if (n < again.operators.size())
      fail("expected '" + again.operators[n].type +
           "', which minimize records, at the end of the updates, found no operator");
  }

  static void rename(block_message& b, const std::string& from, const std::string& to) {
    for (operator_message& op : b.operators)
      for (slot_message& s : op.inputs)
        std::replace(s.arguments.begin(), s.arguments.end(), from, to);
  }

  std::string source_;
  const block_message& block_;
  const scope* values_;
  std::vector<const operator_message*> updates_ = {};
  // for each variable, the operators that write it
  std::map<std::string, std::vector<const operator_message*>> writers_ = {};
  std::vector<fluid_update> all_ = {};
  fluid_schedule_reader schedule_{};
  optimizer::learning_rate rate_ = 1.f;
  std::string rate_name_ = "";
  bool has_powers_ = false;
  std::array<float, 2> powers_ = {0, 0};
  std::vector<std::pair<float, std::string>> power_names_ = {};
};

}}}  // namespace lamina::detail
