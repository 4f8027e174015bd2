// SPDX-License-Identifier: Apache-2.0
// lamina/operators/update/fluid.hpp - converts lamina's optimizer updates to update operators in
// Fluid's form, for exported programs.
//
// An update operator of lamina clips the gradient, adds weight decay, and has the learning rate as
// an attribute. Fluid has variables for the learning rate and the powers of beta1 and beta2, and
// separate operators that clip gradients and add weight decay.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/io/fluid/fluid_attributes.hpp>
#include <lamina/io/fluid/program_message.hpp>
#include <lamina/operators/update/definition_fluid.hpp>
#include <lamina/program/param_attr.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// The numbers of an update: the learning rate, the numbers for clipping and weight decay, and the
/// attributes of the optimizer's equation.
struct update_numbers {
  float learning_rate = 0;
  gradient_clip clip{};
  regularizer decay{};
  std::vector<float> scalars{};  // per attribute of the equation
  std::vector<float> initial{};  // per accumulator: its value before the first step
};

/// Appends operators and variables to a program in Fluid's form, and initial values to its startup
/// program.
class message_appender {
 public:
  message_appender(block_message& main, block_message& startup) : main_(main), startup_(startup) {}

  static attribute_message number(const char* name, attribute_type type, double value) {
    attribute_message a;
    a.name = name;
    a.type = type;
    if (type == attribute_type::real)
      a.real = static_cast<float>(value);
    else
      a.integer = static_cast<std::int64_t>(value);
    return a;
  }
  static attribute_message extents(const char* name, std::vector<std::int64_t> values) {
    attribute_message a;
    a.name = name;
    a.type = attribute_type::integers;
    a.integers = std::move(values);
    return a;
  }
  static operator_message operation(const char* type, std::vector<slot_message> inputs,
                                    std::vector<slot_message> outputs,
                                    std::vector<attribute_message> attributes,
                                    op_role role = op_role::optimize) {
    operator_message op;
    op.type = type;
    op.inputs = std::move(inputs);
    op.outputs = std::move(outputs);
    op.attributes = std::move(attributes);
    op.attributes.push_back(
        number("op_role", attribute_type::integer, static_cast<double>(static_cast<int>(role))));
    return op;
  }

  void add(operator_message op) { main_.operators.push_back(std::move(op)); }
  /// Creates a variable with the shape of `like`, or with one element if `like` is null. Returns
  /// its name.
  std::string made(const std::string& name, const variable_message* like) {
    if (main_.find(name) != nullptr) return name;
    variable_message v;
    v.name = name;
    v.dims = like != nullptr ? like->dims : std::vector<std::int64_t>{1};
    v.type = like != nullptr ? like->type : dtype::float32;
    v.stop_gradient = true;
    main_.variables.push_back(std::move(v));
    return name;
  }
  /// Creates a persistent variable, which the startup program fills with `first`. Returns its name.
  std::string kept(const std::string& name, const variable_message* like, float first) {
    made(name, like);
    for (variable_message& v : main_.variables) {
      if (v.name != name) continue;
      v.persistable = true;
      if (startup_.find(name) != nullptr) break;
      startup_.variables.push_back(v);
      startup_.operators.push_back(
          operation("fill_constant", {}, {{"Out", {name}}},
                    {extents("shape", v.dims),
                     number("dtype", attribute_type::integer, static_cast<int>(v.type)),
                     number("value", attribute_type::real, first),
                     number("force_cpu", attribute_type::boolean, 0)}));
      break;
    }
    return name;
  }
  const variable_message* find(std::string_view name) const { return main_.find(name); }

 private:
  block_message& main_;
  block_message& startup_;
};

/// Converts optimizer updates to Fluid's form and appends them to a block.
class fluid_update_writer {
 public:
  explicit fluid_update_writer(message_appender& to) : to_(to) {}

  /// Sets the variable that holds the learning rate and that the program computes; the learning
  /// rates of parameters become multiples of it.
  void use_rate(std::string variable) {
    base_name_ = std::move(variable);
    base_ = 1;
  }

  /// Returns the schema of Fluid's update operator of type `type`; null if Fluid has no such
  /// operator.
  static const operator_schema* schema_of_update(std::string_view type) {
    static const operator_schema* const known[] = {&schema_of<fluid::sgd>(),
                                                   &schema_of<fluid::momentum>(),
                                                   &schema_of<fluid::lars_momentum>(),
                                                   &schema_of<fluid::adagrad>(),
                                                   &schema_of<fluid::decayed_adagrad>(),
                                                   &schema_of<fluid::adam>(),
                                                   &schema_of<fluid::lamb>(),
                                                   &schema_of<fluid::adamax>(),
                                                   &schema_of<fluid::adadelta>(),
                                                   &schema_of<fluid::rmsprop>(),
                                                   &schema_of<fluid::ftrl>(),
                                                   &schema_of<fluid::proximal_gd>(),
                                                   &schema_of<fluid::proximal_adagrad>()};
    for (const operator_schema* s : known)
      if (type == s->type) return s;
    return nullptr;
  }

  /// Writes the operators of all updates of a step. They clip the gradients, then add weight decay,
  /// then change the parameters.
  void write(std::vector<std::pair<operator_message, update_numbers>> updates) {
    clip_by_global_norm(updates);
    for (auto& [op, numbers] : updates) {
      std::string& gradient = argument(op.inputs, "Grad");
      gradient = decayed(op, clipped(gradient, numbers.clip), numbers.decay);
    }
    for (const auto& [op, numbers] : updates) update(op, numbers);
  }

 private:
  using slot_list = std::vector<slot_message>;
  static constexpr attribute_type real = attribute_type::real;

  static std::string& argument(slot_list& all, std::string_view slot) {
    for (slot_message& s : all)
      if (s.slot == slot) return s.arguments.front();
    throw error(text() << "lamina: an update has no slot " << slot);
  }
  std::string like(const std::string& name, const char* suffix) {
    return to_.made(name + suffix, to_.find(name));
  }
  // Appends an operator with the given inputs and the output Out; returns the name of Out.
  std::string computed(const char* type, slot_list inputs, const std::string& out,
                       std::vector<attribute_message> attributes = {}) {
    to_.add(message_appender::operation(type, std::move(inputs), {{"Out", {out}}},
                                        std::move(attributes)));
    return out;
  }
  static attribute_message axis() {
    return message_appender::number("axis", attribute_type::integer, -1);
  }
  std::string scaled(const std::string& x, const std::string& out, float factor) {
    return computed(
        "scale", {{"X", {x}}}, out,
        {message_appender::number("scale", real, factor), message_appender::number("bias", real, 0),
         message_appender::number("bias_after_scale", attribute_type::boolean, 1)});
  }

  // Appends operators that compute scale = limit / max(limit, sqrt(sum of the squares of all
  // gradients)) and multiply all gradients by it.
  void clip_by_global_norm(std::vector<std::pair<operator_message, update_numbers>>& updates) {
    std::vector<std::string> sums;
    variable_message one;  // one element with the type of the gradients
    one.dims = {1};
    float limit = 0;
    for (auto& [op, numbers] : updates) {
      if (numbers.clip.kind != clip_kind::global_norm) continue;
      if (!sums.empty() && numbers.clip.high != limit)
        throw error((text() << "lamina: clip_by_global_norm: expected one limit for all "
                               "parameters, found ")
                        .print("%f", limit)
                        .print(" and %f", numbers.clip.high));
      limit = numbers.clip.high;
      const std::string gradient = argument(op.inputs, "Grad");
      one.type = to_.find(gradient)->type;
      const std::string squares =
          computed("square", {{"X", {gradient}}}, like(gradient, "@SQUARE"));
      sums.push_back(
          computed("reduce_sum", {{"X", {squares}}}, to_.made(gradient + "@SQUARE_SUM", &one),
                   {message_appender::extents("dim", {0}),
                    message_appender::number("keep_dim", attribute_type::boolean, 0),
                    message_appender::number("reduce_all", attribute_type::boolean, 1)}));
    }
    if (sums.empty()) return;
    const std::string total = computed("sum", {{"X", sums}}, to_.made("global_norm@SUM", &one));
    const std::string norm = computed("sqrt", {{"X", {total}}}, to_.made("global_norm", &one));
    const std::string most = to_.made("global_norm@LIMIT", &one);
    to_.add(message_appender::operation(
        "fill_constant", {}, {{"Out", {most}}},
        {message_appender::extents("shape", {1}),
         message_appender::number("dtype", attribute_type::integer, static_cast<int>(one.type)),
         message_appender::number("value", real, limit),
         message_appender::number("force_cpu", attribute_type::boolean, 0)}));
    const std::string larger = computed("elementwise_max", {{"X", {most}}, {"Y", {norm}}},
                                        to_.made("global_norm@MAX", &one), {axis()});
    const std::string scale = computed("elementwise_div", {{"X", {most}}, {"Y", {larger}}},
                                       to_.made("global_norm@SCALE", &one), {axis()});
    for (auto& [op, numbers] : updates) {
      if (numbers.clip.kind != clip_kind::global_norm) continue;
      std::string& gradient = argument(op.inputs, "Grad");
      gradient = computed("elementwise_mul", {{"X", {gradient}}, {"Y", {scale}}},
                          like(gradient, "@CLIP"), {axis()});
    }
  }
  std::string clipped(const std::string& gradient, gradient_clip clip) {
    if (clip.kind == clip_kind::value)
      return computed("clip", {{"X", {gradient}}}, like(gradient, "@CLIP"),
                      {message_appender::number("min", real, clip.low),
                       message_appender::number("max", real, clip.high)});
    if (clip.kind == clip_kind::norm)
      return computed("clip_by_norm", {{"X", {gradient}}}, like(gradient, "@CLIP"),
                      {message_appender::number("max_norm", real, clip.high)});
    return gradient;
  }
  std::string decayed(operator_message& op, const std::string& gradient, regularizer decay) {
    if (decay.kind == regularizer_kind::none) return gradient;
    const std::string param = argument(op.inputs, "Param");
    std::string from = param;
    if (decay.kind == regularizer_kind::l1)
      from = computed("sign", {{"X", {param}}}, like(param, "@SIGN"));
    const std::string penalty = scaled(from, like(param, "@DECAY"), decay.coefficient);
    return computed("sum", {{"X", {gradient, penalty}}}, like(gradient, "@REGULARIZED"));
  }

  // Returns the variable with the learning rate of a parameter. All parameters share one variable,
  // except that a parameter with another rate uses a multiple of it.
  std::string learning_rate(const std::string& param, float rate) {
    if (base_name_.empty()) {
      base_ = rate;
      base_name_ = to_.kept("learning_rate_0", nullptr, rate);
    }
    if (rate == base_) return base_name_;
    if (base_ == 0) return to_.kept(param + "@LEARNING_RATE", nullptr, rate);
    return scaled(base_name_, to_.made(param + "@LEARNING_RATE", nullptr), rate / base_);
  }

  void update(operator_message op, const update_numbers& numbers) {
    const operator_schema* const fluid = schema_of_update(op.type);
    if (fluid == nullptr)
      throw error(text() << "lamina: Fluid has no update operator of type " << op.type);
    const std::string param = argument(op.inputs, "Param");
    operator_message made = message_appender::operation(fluid->type, {}, {}, {});
    std::size_t state = 0;
    for (slot_message& s : op.inputs)
      if (s.slot != "Param" && s.slot != "Grad") {
        const float first = state < numbers.initial.size() ? numbers.initial[state] : 0;
        to_.kept(s.arguments.front(), to_.find(param), first);
        ++state;
      }
    std::vector<attribute_message> attributes;
    for (int i = 0; i < fluid->attribute_count; ++i) {
      const attribute_desc& d = fluid->attributes[i];
      double value = d.number;
      if (const attribute_message* a = op.attribute(d.name))
        value = a->type == real ? static_cast<double>(a->real) : static_cast<double>(a->integer);
      attributes.push_back(message_appender::number(d.name, d.type, value));
      if (is_listed_in_paddle2(fluid->type, d.name)) as_list(attributes.back());
    }
    made.attributes.insert(made.attributes.begin(), attributes.begin(), attributes.end());
    for (int i = 0; i < fluid->input_count; ++i) {
      const std::string slot = fluid->inputs[i].name;
      if (slot == "LearningRate")
        made.inputs.push_back({slot, {learning_rate(param, numbers.learning_rate)}});
      else if (slot == "Beta1Pow" || slot == "Beta2Pow")
        made.inputs.push_back({slot, {beta_power(made, param, slot)}});
      else
        made.inputs.push_back({slot, {argument(op.inputs, slot)}});
    }
    for (int i = 0; i < fluid->output_count; ++i)
      made.outputs.push_back({fluid->outputs[i].name, {changed_by(made, fluid->outputs[i].name)}});
    const bool multiplies = !made.output("Beta1PowOut").empty();
    const std::string power = made.input("Beta1Pow").empty() ? "" : made.input("Beta1Pow").front();
    const float beta = power.empty() ? 0 : made.attribute("beta1")->real;
    to_.add(std::move(made));
    // Not needed if the update operator multiplies the power itself.
    if (!power.empty() && !multiplies) scaled(power, power, beta);
  }
  std::string beta_power(const operator_message& op, const std::string& param,
                         const std::string& slot) {
    const bool first = slot == "Beta1Pow";
    const attribute_message* const beta = op.attribute(first ? "beta1" : "beta2");
    return to_.kept(param + (first ? "_beta1_pow_acc_0" : "_beta2_pow_acc_0"), nullptr, beta->real);
  }
  // Returns the input slot that an output updates: Moment for "MomentOut", SquaredAccumulator for
  // "SquaredAccumOut".
  static std::string changed_by(const operator_message& op, std::string_view output) {
    const std::string_view base = output.substr(0, output.size() - 3);
    for (const bool exact : {true, false})
      for (const slot_message& s : op.inputs)
        if (exact ? s.slot == base : s.slot.compare(0, base.size(), base) == 0)
          return s.arguments.front();
    throw error(text() << "lamina: no input of " << op.type << " belongs to " << output);
  }

  message_appender& to_;
  float base_ = 0;
  std::string base_name_{};
};

}}}  // namespace lamina::detail
