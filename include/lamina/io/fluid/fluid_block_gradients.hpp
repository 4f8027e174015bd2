// SPDX-License-Identifier: Apache-2.0
// lamina/io/fluid/fluid_block_gradients.hpp - converts the gradients of loops and branches to
// operators that PaddlePaddle runs.
//
// In lamina, the operators in a block of gradients add to gradient variables outside of the block.
// PaddlePaddle's while_grad and conditional_block_grad sum or copy gradients that are among their
// arguments, which would add these gradients twice. So this header writes them without gradients as
// arguments; they then only run the block.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/io/fluid/program_message.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Converts the gradients of loops and branches of a program.
class fluid_block_gradient_writer {
 public:
  explicit fluid_block_gradient_writer(program_message& program) : program_(program) {}

  void rewrite() {
    for (block_message& b : program_.blocks) {
      for (std::size_t k = 0; k < b.operators.size(); ++k)
        if (b.operators[k].type == "while_grad") k += rewrite_arrays(b, k);
      std::erase_if(b.operators, [](const operator_message& op) { return op.type.empty(); });
      fill_merges(b);
    }
    for (block_message& b : program_.blocks)
      for (operator_message& op : b.operators)
        if (op.type == "while_grad")
          as_gradient_in_place(op, "while", "X");
        else if (op.type == "conditional_block_grad")
          as_gradient_in_place(op, "conditional_block", "Input");
  }

 private:
  using names = std::vector<std::string>;

  static void add(names& to, const std::string& name) {
    for (const std::string& known : to)
      if (known == name) return;
    to.push_back(name);
  }
  static bool is_one(const names& list, std::string_view name) {
    return list.size() == 1 && list[0] == name;
  }
  block_message* block_run_by(const operator_message& op) const {
    const attribute_message* const inner = op.attribute("sub_block");
    if (inner == nullptr || inner->integer < 0 ||
        static_cast<std::size_t>(inner->integer) >= program_.blocks.size())
      return nullptr;
    return &program_.blocks[static_cast<std::size_t>(inner->integer)];
  }
  /// Returns the operator of type `type` that runs the forward block of a block of gradients; null
  /// if there is none.
  const operator_message* forward_of(const block_message& gradients,
                                     const std::string& type) const {
    for (const block_message& b : program_.blocks)
      for (const operator_message& op : b.operators)
        if (const attribute_message* const runs = op.attribute("sub_block");
            op.type == type && runs != nullptr && runs->integer == gradients.forward_block)
          return &op;
    return nullptr;
  }
  /// Adds the names of variables outside of block b that operators of b, or of blocks within b,
  /// have as inputs or as outputs; `slot_list` selects which.
  void add_outside(const block_message& b, std::vector<slot_message> operator_message::*slot_list,
                   names& to) const {
    names all;
    for (const operator_message& op : b.operators) {
      for (const slot_message& s : op.*slot_list)
        for (const std::string& name : s.arguments) add(all, name);
      if (const block_message* const inner = block_run_by(op)) add_outside(*inner, slot_list, all);
    }
    const block_message* const body =
        b.forward_block < 0 ? &b : &program_.blocks[static_cast<std::size_t>(b.forward_block)];
    for (const std::string& name : all)
      if (name != "@EMPTY@" && b.find(name) == nullptr && body->find(name) == nullptr)
        add(to, name);
  }

  // Sets the arguments of the gradient of a loop or branch to the arguments of the forward
  // operator, because PaddlePaddle finds the forward operator by them. Replaces gradients that
  // PaddlePaddle would sum by "@EMPTY@", and names them in the slots InPlace and InPlace@GRAD.
  // PaddlePaddle does not know these slots, but does not move operators past one that has the same
  // variable as an argument.
  void as_gradient_in_place(operator_message& op, const std::string& type, const char* slot) const {
    const block_message* const gradients = block_run_by(op);
    const operator_message* const forward =
        gradients == nullptr ? nullptr : forward_of(*gradients, type);
    if (forward == nullptr) return;
    const std::string whole = std::string(slot) + "@GRAD";
    names written = op.output(whole);
    add_outside(*gradients, &operator_message::outputs, written);
    names used = written;
    add_outside(*gradients, &operator_message::inputs, used);
    const std::size_t read = forward->input(slot).size();
    std::vector<slot_message> inputs = forward->inputs;
    for (const slot_message& s : forward->outputs) inputs.push_back(s);
    inputs.push_back({"Out@GRAD", {}});
    inputs.push_back({"InPlace", std::move(used)});
    op.inputs = std::move(inputs);
    op.outputs.clear();
    op.outputs.push_back({whole, names(read, "@EMPTY@")});
    op.outputs.push_back({"InPlace@GRAD", std::move(written)});
    if (type != "while") return;
    attribute_message& test = op.attributes.emplace_back();
    test.name = "is_test";
    test.type = attribute_type::boolean;
    for (const char* name : {"original_output_grad", "skip_eager_deletion_vars"}) {
      attribute_message& list = op.attributes.emplace_back();
      list.name = name;
      list.type = attribute_type::strings;
    }
  }

  // The gradient of split_lod_tensor is merge_lod_tensor, for which PaddlePaddle requires both
  // inputs. If one side of the split has no gradient, adds an operator that makes zeros with the
  // rows of this side.
  void fill_merges(block_message& b) const {
    for (std::size_t k = 0; k < b.operators.size(); ++k) {
      if (b.operators[k].type != "merge_lod_tensor") continue;
      for (const std::string side : {"True", "False"}) {
        operator_message& merge = b.operators[k];
        const names& given = merge.input(side == "True" ? "InFalse" : "InTrue");
        if (!merge.input("In" + side).empty() || given.size() != 1) continue;
        const operator_message* split = nullptr;
        const block_message* const body = forward_block_of(b);
        for (const block_message* in : {body, static_cast<const block_message*>(&b)})
          for (std::size_t i = 0; in != nullptr && i < (in == &b ? k : in->operators.size()); ++i)
            if (const operator_message& o = in->operators[i];
                o.type == "split_lod_tensor" && o.input("X") == merge.input("X") &&
                o.input("Mask") == merge.input("Mask") && o.output("Out" + side).size() == 1)
              split = &o;
        if (split == nullptr) continue;
        const std::string rows = split->output("Out" + side)[0], name = given[0] + "@OTHER";
        if (!declare_like(b, rows, name)) continue;
        for (slot_message& s : merge.inputs)
          if (s.slot == "In" + side) s.arguments = {name};
        insert(b, k++, zeros_like(rows, name, merge));
      }
    }
  }

  const block_message* forward_block_of(const block_message& b) const {
    return b.forward_block < 0 ? nullptr
                               : &program_.blocks[static_cast<std::size_t>(b.forward_block)];
  }
  /// Returns the variable to which a name in block b refers. Searches b, the block whose gradients
  /// b computes, and the blocks around b.
  const variable_message* find_variable(const block_message& b, const std::string& name) const {
    if (const variable_message* const own = b.find(name)) return own;
    if (const block_message* const body = forward_block_of(b))
      if (const variable_message* const kept = body->find(name)) return kept;
    return b.index == 0 || b.parent < 0
               ? nullptr
               : find_variable(program_.blocks[static_cast<std::size_t>(b.parent)], name);
  }
  bool declare_like(block_message& b, const std::string& like, const std::string& name) const {
    const variable_message* const found = find_variable(b, like);
    if (found == nullptr) return false;
    variable_message made = *found;
    made.name = name;
    made.kind = variable_class::lod_tensor;
    b.variables.push_back(std::move(made));
    return true;
  }
  static void insert(block_message& b, std::size_t at, operator_message op) {
    b.operators.insert(b.operators.begin() + static_cast<std::ptrdiff_t>(at), std::move(op));
  }
  static operator_message like_role_of(const operator_message& other, const char* type) {
    operator_message made;
    made.type = type;
    for (const attribute_message& a : other.attributes)
      if (a.name == "op_role") made.attributes.push_back(a);
    return made;
  }
  static operator_message zeros_like(const std::string& x, const std::string& out,
                                     const operator_message& role) {
    operator_message made = like_role_of(role, "fill_zeros_like");
    made.inputs.push_back({"X", {x}});
    made.outputs.push_back({"Out", {out}});
    return made;
  }
  static operator_message array_operator(const char* type, const std::string& x,
                                         const std::string& i, const std::string& out,
                                         const operator_message& role) {
    operator_message made = like_role_of(role, type);
    made.inputs.push_back({"X", {x}});
    made.inputs.push_back({"I", {i}});
    made.outputs.push_back({"Out", {out}});
    return made;
  }

  /// A variable that counts the iterations of a loop, because the body increments it by 1.
  struct counter {
    std::string now, at_start, next;
  };
  static bool find_counter(const block_message& body, const std::string& at_start, counter& c) {
    c.at_start = at_start;
    for (const operator_message& op : body.operators)
      if (op.type == "assign" && is_one(op.output("Out"), at_start) && op.input("X").size() == 1)
        c.now = op.input("X")[0];
    for (const operator_message& op : body.operators)
      if (const attribute_message* const step = op.attribute("step");
          op.type == "increment" && step != nullptr && step->real == 1 &&
          is_one(op.input("X"), c.now) && op.output("Out").size() == 1)
        c.next = op.output("Out")[0];
    if (c.now.empty() || c.next.empty()) return false;
    for (const operator_message& op : body.operators)
      if (op.type == "assign" && is_one(op.output("Out"), c.now))
        return is_one(op.input("X"), c.next);
    return false;
  }

  /// The operators that use the gradient of a tensor array, in a block of gradients of a loop and
  /// in the block around the loop.
  struct array_uses {
    operator_message *read = nullptr, *write = nullptr, *first = nullptr;
    int reads = 0, writes = 0, firsts = 0, cuts = 0, concats = 0, others = 0;
  };
  array_uses uses_of(const std::string& array, block_message& around, block_message& gradients) {
    array_uses u;
    for (block_message& b : program_.blocks)
      for (operator_message& op : b.operators) {
        bool uses = false;
        for (const auto* slot_list : {&op.inputs, &op.outputs})
          for (const slot_message& s : *slot_list)
            for (const std::string& name : s.arguments) uses = uses || name == array;
        if (!uses || op.type == "while_grad") continue;
        const bool inside = &b == &gradients, outside = &b == &around;
        if (inside && op.type == "read_from_array_grad" && is_one(op.output("X@GRAD"), array))
          u.read = &op, ++u.reads;
        else if (inside && op.type == "write_to_array_grad")
          u.write = &op, ++u.writes;
        else if (outside && op.type == "write_to_array_grad")
          u.first = &op, ++u.firsts;
        else if (outside && op.type == "lod_tensor_to_array" && is_one(op.output("Out"), array))
          ++u.cuts;
        else if (outside && op.type == "array_to_lod_tensor" && is_one(op.input("X"), array))
          ++u.concats;
        else
          ++u.others;
      }
    return u;
  }

  // In lamina, the gradient of a read from an array adds to a slot of the gradient array, and the
  // gradient of a write empties the slot. If each slot is read once and written once, a write and a
  // read do the same; dynamic_rnn uses its arrays in this way. Replaces the gradients of such
  // arrays by writes and reads, which PaddlePaddle has. Returns the number of inserted operators.
  std::size_t rewrite_arrays(block_message& b, std::size_t at) {
    block_message* const gradients = block_run_by(b.operators[at]);
    if (gradients == nullptr || gradients->forward_block < 0) return 0;
    const block_message& body = program_.blocks[static_cast<std::size_t>(gradients->forward_block)];
    names arrays;
    for (const operator_message& op : gradients->operators) {
      if (op.type == "read_from_array_grad") add(arrays, op.output("X@GRAD").at(0));
      if (op.type == "write_to_array_grad") add(arrays, op.input("Out@GRAD").at(0));
    }
    std::size_t inserted = 0;
    for (const std::string& array : arrays) {
      if (gradients->find(array) != nullptr) continue;
      const array_uses u = uses_of(array, b, *gradients);
      const bool is_input = u.reads == 1 && u.writes == 0 && u.concats == 1 && u.firsts == 0;
      const bool is_output = u.reads == 0 && u.writes == 1 && u.cuts == 1 && u.firsts == 0;
      const bool is_memory = u.reads == 1 && u.writes == 1 && u.firsts == 1;
      if (u.others > 0 || u.cuts + u.concats > 1 || (is_memory && u.cuts + u.concats > 0) ||
          !(is_input || is_output || is_memory))
        continue;
      counter c;
      const std::string start =
          u.read != nullptr ? u.read->input("I").at(0) : u.write->input("I").at(0);
      if (!find_counter(body, start, c)) continue;
      if (is_memory && !is_one(u.write->input("I"), c.next)) continue;
      if (is_memory) {
        const std::size_t made = begin_with_zeros(b, at + inserted, array, c);
        if (made == 0) continue;
        inserted += made;
      }
      // The operators of the block have new addresses, because operators were inserted.
      const array_uses now = uses_of(array, b, *gradients);
      if (now.read != nullptr) as_write(*now.read, array);
      if (now.write != nullptr) as_read(*now.write, array);
      if (now.first != nullptr) as_read(*now.first, array);
    }
    return inserted;
  }
  // No iteration reads the value that the last iteration writes to a memory. So the gradient of
  // this slot starts as zeros.
  std::size_t begin_with_zeros(block_message& b, std::size_t at, const std::string& array,
                               const counter& c) const {
    const std::string values = array.substr(0, array.rfind("@GRAD"));
    const std::string last = values + "@LAST", zeros = array + "@LAST";
    if (!declare_like(b, values, last) || !declare_like(b, values, zeros)) return 0;
    const operator_message role = b.operators[at];
    insert(b, at, array_operator("write_to_array", zeros, c.now, array, role));
    insert(b, at, zeros_like(last, zeros, role));
    insert(b, at, array_operator("read_from_array", values, c.now, last, role));
    return 3;
  }
  static void as_write(operator_message& op, const std::string& array) {
    op = array_operator("write_to_array", op.input("Out@GRAD").at(0), op.input("I").at(0), array,
                        operator_message(op));
  }
  // Replaces the gradient of a write by a read. If the written value has no gradient, for example
  // because it is a constant, removes the operator.
  static void as_read(operator_message& op, const std::string& array) {
    const names& made = op.output("X@GRAD");
    if (made.empty() || made[0] == "@EMPTY@") {
      op = operator_message{};
      return;
    }
    op = array_operator("read_from_array", array, op.input("I").at(0), op.output("X@GRAD").at(0),
                        operator_message(op));
  }

  program_message& program_;
};

}}}  // namespace lamina::detail
