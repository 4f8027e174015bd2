// SPDX-License-Identifier: Apache-2.0
// lamina/io/fluid/prune_message.hpp - reduces the message of a program to the program for
// inference.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/io/fluid/program_message.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {

/// Returns the block that an operator runs, or -1.
inline int sub_block_of(const program_message& p, const operator_message& op) {
  const attribute_message* a = op.attribute("sub_block");
  return a == nullptr || a->type != attribute_type::block || a->integer <= 0 ||
                 a->integer >= static_cast<std::int64_t>(p.blocks.size())
             ? -1
             : static_cast<int>(a->integer);
}

/// Whether an operator stores a value in a variable (layer::store), which only training does.
inline bool is_store(const operator_message& op) {
  const attribute_message* role = op.attribute("op_role");
  return op.type == "assign" && role != nullptr &&
         role->integer == static_cast<std::int64_t>(op_role::optimize);
}

/// Adds the names of the variables that an operator reads; if it runs a block, also those that
/// operators of this block read, and the number of the block.
inline void add_inputs(const program_message& p, const operator_message& op,
                       std::set<std::string>& names, std::set<int>& blocks) {
  for (const slot_message& s : op.inputs) names.insert(s.arguments.begin(), s.arguments.end());
  std::vector<int> pending{sub_block_of(p, op)};
  while (!pending.empty()) {
    const int block = pending.back();
    pending.pop_back();
    if (block < 0 || !blocks.insert(block).second) continue;
    for (const operator_message& inner : p.blocks[static_cast<std::size_t>(block)].operators) {
      for (const slot_message& s : inner.inputs)
        names.insert(s.arguments.begin(), s.arguments.end());
      pending.push_back(sub_block_of(p, inner));
    }
  }
}

inline operator_message column_operator(const char* type, const std::string& input,
                                        const std::string& output, std::size_t column) {
  operator_message op;
  op.type = type;
  op.inputs.push_back({"X", {input}});
  op.outputs.push_back({"Out", {output}});
  op.attributes.emplace_back().name = "col";
  op.attributes.back().integer = static_cast<std::int64_t>(column);
  return op;
}

inline variable_message column_variable(const char* name, variable_class kind) {
  variable_message v;
  v.name = name;
  v.kind = kind;
  v.persistable = true;
  return v;
}

}  // namespace detail

/// Returns a program with the operators of block 0 that compute `targets`, the blocks that these
/// operators run, and the variables of both. The blocks get new numbers. Operators whose outputs
/// are overwritten later are kept; operators that store a value for later runs are not. Throws
/// lamina::error for a target that is not in the program. Fluid: Program.prune.
inline program_message pruned_message(const program_message& p,
                                      const std::vector<std::string>& targets) {
  std::set<std::string> needed(targets.begin(), targets.end());
  for (const std::string& name : targets)
    if (p.blocks.at(0).find(name) == nullptr)
      throw error("lamina: prune: expected targets that are variables of block 0, found '" + name +
                  "'");
  program_message made = p;
  std::vector<operator_message>& operators = made.blocks[0].operators;
  std::vector<operator_message> kept;
  std::set<int> blocks{0};
  for (std::size_t k = operators.size(); k-- > 0;) {
    bool keep = false;
    for (const slot_message& s : operators[k].outputs)
      for (const std::string& name : s.arguments) keep = keep || needed.count(name) != 0;
    if (!keep || detail::is_store(operators[k])) continue;
    detail::add_inputs(p, operators[k], needed, blocks);
    for (const slot_message& s : operators[k].outputs)
      needed.insert(s.arguments.begin(), s.arguments.end());
    kept.push_back(std::move(operators[k]));
  }
  operators.assign(std::make_move_iterator(kept.rbegin()), std::make_move_iterator(kept.rend()));
  std::vector<variable_message>& variables = made.blocks[0].variables;
  std::erase_if(variables, [&](const variable_message& v) { return needed.count(v.name) == 0; });

  std::vector<std::int32_t> number(p.blocks.size(), -1);
  std::vector<block_message> remaining;
  for (const int b : blocks) {
    number[static_cast<std::size_t>(b)] = static_cast<std::int32_t>(remaining.size());
    remaining.push_back(std::move(made.blocks[static_cast<std::size_t>(b)]));
  }
  for (block_message& b : remaining) {
    b.index = number[static_cast<std::size_t>(b.index)];
    if (b.parent >= 0) b.parent = number[static_cast<std::size_t>(b.parent)];
    if (b.forward_block >= 0) b.forward_block = number[static_cast<std::size_t>(b.forward_block)];
    for (operator_message& op : b.operators)
      for (attribute_message& a : op.attributes)
        if (a.type == attribute_type::block && a.name == "sub_block" && a.integer > 0)
          a.integer = number[static_cast<std::size_t>(a.integer)];
  }
  made.blocks = std::move(remaining);
  return made;
}

/// In all blocks, sets the attribute is_test of all operators that have it, and removes operators
/// that store values for later runs (layer::store). Fluid: clone(for_test=True).
inline void set_test_mode(program_message& p) {
  for (block_message& b : p.blocks) std::erase_if(b.operators, detail::is_store);
  for (block_message& b : p.blocks)
    for (operator_message& op : b.operators)
      for (attribute_message& a : op.attributes)
        if (a.name == "is_test" && a.type == attribute_type::boolean) a.integer = 1;
}

/// Inserts a feed operator for each variable of `feeds` before all other operators, and appends a
/// fetch operator for each target. Fluid: prepend_feed_ops, append_fetch_ops.
inline void add_feed_and_fetch(program_message& p, const std::vector<std::string>& feeds,
                               const std::vector<std::string>& targets) {
  block_message& b = p.blocks.at(0);
  b.variables.push_back(detail::column_variable("feed", variable_class::feed_minibatch));
  b.variables.push_back(detail::column_variable("fetch", variable_class::fetch_list));
  for (std::size_t i = 0; i < feeds.size(); ++i)  // each is inserted before the previous one
    b.operators.insert(b.operators.begin(), detail::column_operator("feed", "feed", feeds[i], i));
  for (std::size_t i = 0; i < targets.size(); ++i)
    b.operators.push_back(detail::column_operator("fetch", targets[i], "fetch", i));
}

/// Returns the program that computes `targets` from `feeds`: p pruned and in test mode, with a feed
/// operator for each variable of `feeds` that the pruned program uses, in the order of `feeds`, and
/// a fetch operator for each target. Fluid: the program that save_inference_model writes.
inline program_message inference_message(const program_message& p,
                                         const std::vector<std::string>& feeds,
                                         const std::vector<std::string>& targets) {
  program_message made = pruned_message(p, targets);
  set_test_mode(made);
  std::vector<std::string> fed;
  for (const std::string& name : feeds)
    if (made.blocks[0].find(name) != nullptr) fed.push_back(name);
  add_feed_and_fetch(made, fed, targets);
  return made;
}

}}  // namespace lamina
