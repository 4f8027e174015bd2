// SPDX-License-Identifier: Apache-2.0
// lamina/io/fluid/fluid_gradients.hpp - converts gradient operators to Fluid's form.
//
// A gradient operator of lamina names only the variables that its kernel reads. Fluid's gradient
// operators name all inputs and outputs of the forward operator, and use the shapes of these
// variables. In Fluid, the gradient of a read from a tensor array is a write to its gradient array,
// and the gradient of a write is a read.
#pragma once

#include <lamina/core/config.hpp>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/io/fluid/fluid_attributes.hpp>
#include <lamina/io/fluid/fluid_block_gradients.hpp>
#include <lamina/io/fluid/program_message.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Converts the gradients of operators on tensor arrays to Fluid's form. In lamina's form, the
/// gradient of a read adds to a slot, and the gradient of a write empties the slot. Both forms are
/// equivalent if four conditions hold: every slot index is a constant; each slot is read once, or
/// one tensor_array_to_tensor reads all slots; each slot is written at most once; and no other
/// operator uses the gradient of the array. If a condition does not hold, the gradients keep
/// lamina's form.
class fluid_array_gradient_writer {
 public:
  explicit fluid_array_gradient_writer(program_message& program) {
    for (block_message& b : program.blocks)
      for (operator_message& op : b.operators) look_at(op, b.index);
  }

  void rewrite() {
    for (auto& [name, array] : arrays_) {
      if (array.other || !fits(array)) continue;
      if (array.cut != nullptr) as_gradient_of_concat(*array.cut, name);
      for (operator_message* op : array.reads) as_write(*op, name);
      for (operator_message* op : array.writes) as_read(*op, name);
    }
  }

 private:
  struct gradient_array {
    std::vector<operator_message*> reads{}, writes{};  // forward operators that read and write the
                                                       // array
    operator_message* cut =
        nullptr;  // the operator that splits the gradient of the concatenated array
    bool other = false;
  };

  void look_at(operator_message& op, int block) {
    const bool read = op.type == "read_from_array_grad", write = op.type == "write_to_array_grad";
    if (block == 0 && read) arrays_[op.output("X@GRAD").at(0)].reads.push_back(&op);
    if (block == 0 && write) arrays_[op.input("Out@GRAD").at(0)].writes.push_back(&op);
    const bool cut = block == 0 && op.type == "tensor_to_tensor_array" &&
                     op.output("Out").at(0).find("@GRAD") != std::string::npos;
    if (cut) {
      gradient_array& array = arrays_[op.output("Out").at(0)];
      array.other = array.other || array.cut != nullptr;
      array.cut = &op;
    }
    for (const auto* slot_list : {&op.inputs, &op.outputs})
      for (const slot_message& s : *slot_list) {
        const bool own =
            block == 0 && ((read && s.slot == "X@GRAD" && slot_list == &op.outputs) ||
                           (cut && slot_list == &op.outputs) || (write && s.slot == "Out@GRAD"));
        for (const std::string& name : s.arguments)
          if (!own) arrays_[name].other = true;
      }
    for (const slot_message& s : op.outputs)
      for (const std::string& name : s.arguments) writers_[name].push_back(&op);
  }
  // Returns the index of the slot that an operator accesses, provided that the only operator that
  // writes the index is a fill_constant.
  std::optional<float> slot_of(const operator_message& op) const {
    const auto found = writers_.find(op.input("I").at(0));
    if (found == writers_.end() || found->second.size() != 1) return {};
    const operator_message& fill = *found->second.front();
    const attribute_message* value = fill.attribute("value");
    if (fill.type != "fill_constant" || value == nullptr) return {};
    return value->real;
  }
  bool fits(const gradient_array& array) const {
    std::set<float> read, written;
    for (const operator_message* op : array.reads) {
      const std::optional<float> slot = slot_of(*op);
      if (!slot || !read.insert(*slot).second) return false;
    }
    for (const operator_message* op : array.writes) {
      const std::optional<float> slot = slot_of(*op);
      if (!slot || !written.insert(*slot).second) return false;
      if (array.cut == nullptr && read.count(*slot) == 0) return false;
    }
    return array.cut == nullptr || (array.reads.empty() && !array.writes.empty());
  }
  static void as_gradient_of_concat(operator_message& op, const std::string& array) {
    op.type = "tensor_array_to_tensor_grad";
    op.inputs = {{"X", {array.substr(0, array.rfind("@GRAD"))}}, {"Out@GRAD", op.input("X")}};
    op.outputs = {{"X@GRAD", {array}}};
    attribute_message& stacks = op.attributes.emplace_back();
    stacks.name = "use_stack";
    stacks.type = attribute_type::boolean;
    stacks.integer = 1;
  }
  static void as_write(operator_message& op, const std::string& array) {
    op.type = "write_to_array";
    op.inputs = {{"X", op.input("Out@GRAD")}, {"I", op.input("I")}};
    op.outputs = {{"Out", {array}}};
  }
  static void as_read(operator_message& op, const std::string& array) {
    op.type = "read_from_array";
    op.inputs = {{"X", {array}}, {"I", op.input("I")}};
    op.outputs = {{"Out", op.output("X@GRAD")}};
  }

  std::map<std::string, gradient_array> arrays_{};  // all array variables, by name
  std::map<std::string, std::vector<const operator_message*>> writers_{};
};

/// Converts all gradient operators of a program to Fluid's form.
class fluid_gradient_writer {
 public:
  explicit fluid_gradient_writer(program_message& program) : program_(program) {}

  void rewrite() {
    fluid_block_gradient_writer(program_).rewrite();
    fluid_array_gradient_writer(program_).rewrite();
    for (block_message& b : program_.blocks)
      for (operator_message& op : b.operators) {
        rewrite(op, b.index);
        add_fixed_attributes(op);
      }
  }

 private:
  // Returns the variable to which the name of a gradient belongs: "w" for "w@GRAD@RENAME@1",
  // "w@GRAD_0" for "w@GRAD_0@GRAD".
  static std::string_view base(std::string_view name) {
    return name.substr(0, name.rfind("@GRAD"));
  }
  static bool is_gradient(std::string_view slot) {
    return slot.size() > 5 && slot.substr(slot.size() - 5) == "@GRAD";
  }

  void rewrite(operator_message& op, int block) {
    const std::string type(forward_type(op.type));
    if (type == op.type) return;
    if (type == "scale" || type == "sign") return as_scale(op);
    // Fluid gives the gradient the slots of the forward operator.
    if (type == "reorder_lod_tensor_by_rank") {
      rename_slot(op.inputs, "Out@GRAD", "X");
      rename_slot(op.outputs, "X@GRAD", "Out");
      return;
    }
    const operator_message* forward = find(op, type, block);
    if (forward == nullptr) return;
    std::vector<slot_message> inputs;
    for (const auto* slot_list : {&forward->inputs, &forward->outputs})
      for (const slot_message& s : *slot_list) inputs.push_back(s);
    for (slot_message& s : op.inputs)
      if (is_gradient(s.slot)) inputs.push_back(std::move(s));
    op.inputs = std::move(inputs);
  }

  // Converts the gradients of scale and sign, for which Fluid has no operators, to scale; the
  // factor for sign is 0.
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

  // Returns the forward operator of gradient operator `op`. This is the last operator of type
  // `type` with the same variables.
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

}}}  // namespace lamina::detail
