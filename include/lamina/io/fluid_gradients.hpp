// SPDX-License-Identifier: Apache-2.0
// lamina/io/fluid_gradients.hpp - gradient operators as Fluid spells them.
//
// A gradient operator of lamina names only what its kernel reads. Fluid's name all inputs and
// outputs of the operator whose gradient they are, and look at their shapes.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/io/fluid_attributes.hpp>
#include <lamina/io/program_message.hpp>

namespace lamina::detail {

/// Completes the gradient operators of a program.
class gradient_speller {
 public:
  explicit gradient_speller(program_message& program) : program_(program) {}

  void spell() {
    for (block_message& b : program_.blocks)
      for (operator_message& op : b.operators) {
        spell(op, b.index);
        add_fixed_attributes(op);
      }
  }

 private:
  // "w" of "w@GRAD@RENAME@1".
  static std::string_view base(std::string_view name) { return name.substr(0, name.find("@GRAD")); }
  static bool is_gradient(std::string_view slot) {
    return slot.size() > 5 && slot.substr(slot.size() - 5) == "@GRAD";
  }

  void spell(operator_message& op, int block) {
    const std::string type(forward_type(op.type));
    if (type == op.type) return;
    if (type == "scale" || type == "sign") return as_scale(op);
    const operator_message* forward = find(op, type, block);
    if (forward == nullptr) return;
    std::vector<slot_message> inputs;
    for (const auto* slots : {&forward->inputs, &forward->outputs})
      for (const slot_message& s : *slots) inputs.push_back(s);
    for (slot_message& s : op.inputs)
      if (is_gradient(s.slot)) inputs.push_back(std::move(s));
    op.inputs = std::move(inputs);
  }

  // Fluid has no such gradient operators: it scales, by 0 behind a sign.
  static void as_scale(operator_message& op) {
    const bool sign = op.type == "sign_grad";
    op.type = "scale";
    std::vector<slot_message> inputs;
    for (slot_message& s : op.inputs)
      if (is_gradient(s.slot)) inputs.push_back({"X", std::move(s.arguments)});
    op.inputs = std::move(inputs);
    for (slot_message& s : op.outputs) s.slot = "Out";
    for (attribute_message& a : op.attributes)
      if (a.name == "bias") a.real = 0;
    if (!sign) return;
    attribute_message& factor = op.attributes.emplace_back();
    factor.name = "scale";
    factor.type = attribute_type::real;
  }

  // The last operator of the type that has the variables whose gradients the operator names.
  const operator_message* find(const operator_message& op, const std::string& type,
                               int block) const {
    for (; block >= 0; block = program_.blocks[static_cast<std::size_t>(block)].forward_block) {
      const operator_message* found = nullptr;
      for (const operator_message& candidate :
           program_.blocks[static_cast<std::size_t>(block)].operators)
        if (candidate.type == type && fits(op, candidate)) found = &candidate;
      if (found != nullptr) return found;
    }
    return nullptr;
  }
  static bool fits(const operator_message& op, const operator_message& forward) {
    bool any = false;
    const auto same = [&](const slot_message& s, const std::vector<std::string>& names) {
      for (std::size_t i = 0; i < s.arguments.size(); ++i) {
        if (s.arguments[i] == "@EMPTY@") continue;
        if (i >= names.size() || base(s.arguments[i]) != names[i]) return false;
        any = true;
      }
      return true;
    };
    for (const slot_message& s : op.outputs)
      if (is_gradient(s.slot) && !same(s, forward.input(s.slot.substr(0, s.slot.size() - 5))))
        return false;
    for (const slot_message& s : op.inputs)
      if (is_gradient(s.slot)) {
        if (!same(s, forward.output(s.slot.substr(0, s.slot.size() - 5)))) return false;
      } else {
        const std::vector<std::string>& given =
            forward.input(s.slot).empty() ? forward.output(s.slot) : forward.input(s.slot);
        if (given != s.arguments) return false;
      }
    return any;
  }

  program_message& program_;
};

}  // namespace lamina::detail
