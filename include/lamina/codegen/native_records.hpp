// SPDX-License-Identifier: Apache-2.0
// lamina/codegen/native_records.hpp - access to the operators, slots, attributes, dimensions and
// names of a program that is written as C++.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/codegen/cpp_text.hpp>
#include <lamina/codegen/minimize_groups.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/io/loaded_program.hpp>
#include <lamina/program/variable_name.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// The parts of a program, and the block that is being written.
class native_records {
 protected:
  explicit native_records(const loaded_program& program) : program_(program), p_(program.view()) {
    find_operators();
    find_scattered_names();
    count_reads();
  }

  /// The operators of a block, their positions in the file, and their numbers in the block.
  struct block_operators {
    std::vector<const operator_desc*> operators = {};
    std::vector<std::uint64_t> offsets = {};
    std::vector<std::size_t> numbers = {};
  };

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  [[noreturn]] void fail(std::size_t k, const std::string& what) const {
    if (k >= operators_.size()) throw format_error(program_.source(), 0, what);
    const block_operators& b = blocks_[at(block_)];
    std::string made;
    each(*operators_[k], false, [&](int v) {
      if (made.empty()) made = ", which computes '" + name_of(v) + "'";
    });
    throw format_error(program_.source(), b.offsets[k],
                       what + " (operator " + std::to_string(b.numbers[k]) + " of block " +
                           std::to_string(block_) + ", '" + operators_[k]->schema->type + "'" +
                           made + ")");
  }
  // Collects the operators of each block, and their positions in the file.
  void find_operators() {
    blocks_.resize(at(p_.count.blocks));
    for (int i = 0; i < p_.count.operators; ++i) {
      block_operators& b = blocks_[at(p_.operators[i].block)];
      b.numbers.push_back(b.operators.size());
      b.operators.push_back(&p_.operators[i]);
    }
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      for (const operator_message& m : program_.message().blocks[b].operators)
        if (m.type != "feed" && m.type != "fetch") blocks_[b].offsets.push_back(m.offset);
      blocks_[b].offsets.resize(blocks_[b].operators.size());
    }
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      open(static_cast<int>(b));
      for (std::size_t k = 0; k < operators_.size(); ++k) require_known_update(k);
    }
    groups_ = minimize_groups(p_, [this](const operator_desc& op, const std::string& what) {
      open(op.block);
      std::size_t k = 0;
      while (operators_[k] != &op) ++k;
      fail(k, what);
    });
    leave_out_groups();
    for (int i = 0; i < p_.count.operators; ++i)
      if (!groups_.contains(p_.operators[i])) all_.push_back(&p_.operators[i]);
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      open(static_cast<int>(b));
      for (std::size_t k = 0; k < operators_.size(); ++k)
        if (!groups_.contains(*operators_[k])) require_written(k);
    }
    open(0);
  }
  // Removes the operators of calls of minimize from the lists, except one: the operator that begins
  // the gradients of the cost stays and represents the call.
  void leave_out_groups() {
    std::set<const operator_desc*> seeds;
    for (const minimize_group& g : groups_.all()) seeds.insert(g.seed);
    for (block_operators& b : blocks_) {
      block_operators kept;
      for (std::size_t k = 0; k < b.operators.size(); ++k) {
        if (groups_.contains(*b.operators[k]) && seeds.count(b.operators[k]) == 0) continue;
        kept.operators.push_back(b.operators[k]);
        kept.offsets.push_back(b.offsets[k]);
        kept.numbers.push_back(b.numbers[k]);
      }
      b = std::move(kept);
    }
  }
  void open(int block) {
    block_ = block;
    operators_ = blocks_[at(block)].operators;
  }
  // Throws for an update in Fluid's form: own_training.hpp must have converted it before.
  void require_known_update(std::size_t k) {
    const operator_desc& op = *operators_[k];
    if (op.schema->kind == operator_kind::update) return;
    for (int i = 0; i < op.schema->output_count; ++i)
      if (op.schema->outputs[i].name == std::string_view("ParamOut"))
        fail(k,
             "expected updates as minimize records them, found an operator of training in "
             "Fluid's form");
  }
  void require_written(std::size_t k) {
    const operator_desc& op = *operators_[k];
    const std::string_view type = op.schema->type;
    if (type.ends_with("_grad"))
      fail(k, "expected gradients only in calls of minimize, found an operator of training");
    if (const int inner = sub_block_of(p_, op); inner >= 0) {
      if (type != "while" && type != "conditional_block")
        fail(k, "expected a loop or a branch, found another operator with a block");
      if (!run_blocks_.insert(inner).second)
        fail(k, "expected one operator that runs block " + std::to_string(inner) +
                    ", found a second one");
    }
    const auto require_plain = [&](int v) {
      if (p_.variables[v].kind == variable_kind::selected_rows)
        fail(k, "expected tensors, found the sparse rows '" + name_of(v) + "'");
    };
    each(op, true, require_plain);
    each(op, false, require_plain);
  }
  template <class F>
  void each(const operator_desc& op, bool input, F f) const {
    const slot_desc* slot = input ? op.schema->inputs : op.schema->outputs;
    const int n = input ? op.schema->input_count : op.schema->output_count;
    for (int s = 0, i = input ? op.inputs : op.outputs; s < n; ++s)
      for (int c = slot[s].duplicable ? p_.arguments[i++] : 1; c > 0; --c, ++i)
        if (p_.arguments[i] >= 0) f(p_.arguments[i]);
  }
  /// Returns the variables in a slot; empty if the slot is empty or does not exist.
  std::vector<int> in_slot(const operator_desc& op, std::string_view name, bool input) const {
    const slot_desc* slot = input ? op.schema->inputs : op.schema->outputs;
    const int n = input ? op.schema->input_count : op.schema->output_count;
    for (int s = 0, i = input ? op.inputs : op.outputs; s < n; ++s) {
      std::vector<int> found;
      for (int c = slot[s].duplicable ? p_.arguments[i++] : 1; c > 0; --c, ++i)
        if (p_.arguments[i] >= 0) found.push_back(p_.arguments[i]);
      if (slot[s].name == name) return found;
    }
    return {};
  }
  int input(const operator_desc& op, std::string_view name) const {
    const std::vector<int> found = in_slot(op, name, true);
    return found.empty() ? -1 : found[0];
  }
  int output(const operator_desc& op, std::string_view name) const {
    const std::vector<int> found = in_slot(op, name, false);
    return found.empty() ? -1 : found[0];
  }
  // Finds generated names of layers whose operators are not consecutive. Such operators become
  // several layers, and two layers cannot have the same generated name.
  void find_scattered_names() {
    // for each name, the block and the operator that used it last
    std::map<std::string, std::pair<int, std::size_t>> last;
    for (std::size_t b = 0; b < blocks_.size(); ++b)
      for (std::size_t k = 0; k < blocks_[b].operators.size(); ++k) {
        if (groups_.contains(*blocks_[b].operators[k])) continue;
        each(*blocks_[b].operators[k], false, [&](int v) {
          const std::string name = base_of(v);
          const std::pair<int, std::size_t> here{static_cast<int>(b), k};
          const auto [found, is_new] = last.emplace(name, here);
          if (!is_new && (found->second.first != here.first || found->second.second + 1 < k))
            scattered_names_.insert(name);
          found->second = here;
        });
      }
  }
  int condition_of(const operator_desc& op) const {
    const int found = input(op, "Condition");
    return found >= 0 ? found : input(op, "Cond");
  }
  void count_reads() {
    reads_.resize(at(p_.count.variables));
    writes_.resize(at(p_.count.variables));
    for (const operator_desc* op : all_) {
      // Only the condition counts; the operators of the body count as readers themselves.
      if (sub_block_of(p_, *op) >= 0) {
        const int condition = condition_of(*op);
        if (condition >= 0) ++reads_[at(condition)];
        continue;
      }
      each(*op, true, [&](int v) { ++reads_[at(v)]; });
      each(*op, false, [&](int v) { ++writes_[at(v)]; });
    }
    // Two reads: never an inner result of a layer.
    for (int i = 0; i < p_.count.outputs; ++i) reads_[at(p_.outputs[i])] += 2;
  }
  std::string name_of(int v) const { return v < 0 ? "" : variable_name(p_, v); }
  /// Whether a variable exists only because a file must not have an empty slot there.
  bool is_left_out(int v) const { return reads_[at(v)] == 0 && name_of(v).ends_with("@UNREAD"); }
  /// Returns the name of the layer that made a variable: "fc_0" for "fc_0.tmp_1".
  std::string base_of(int v) const { return without_tmp(name_of(v)); }
  static std::string without_tmp(const std::string& name) {
    const std::size_t end = name.rfind(".tmp_");
    return end == std::string::npos || end == 0 ? name : name.substr(0, end);
  }
  bool is_parameter(int v) const {
    return v >= 0 && p_.variables[v].kind == variable_kind::parameter;
  }
  std::vector<int> dims_of(int v) const {
    if (v < 0) return {};
    const variable_desc& d = p_.variables[v];
    return {p_.dims + d.dims, p_.dims + d.dims + d.rank};
  }
  bool has_rows(int v) const {
    const std::vector<int> dims = dims_of(v);
    return !dims.empty() && dims[0] < 0;
  }
  /// Returns the dimensions of a variable without the row dimension.
  std::vector<int> inner(int v) const {
    std::vector<int> dims = dims_of(v);
    if (has_rows(v)) dims.erase(dims.begin());
    return dims;
  }
  bool is_known(int v) const {
    const std::vector<int> dims = inner(v);
    for (const int d : dims)
      if (d <= 0) return false;
    return has_rows(v) || !dims.empty();
  }
  int attribute(const operator_desc& op, std::string_view name) const {
    for (int i = 0; i < op.schema->attribute_count; ++i)
      if (op.schema->attributes[i].name == name) return i;
    return -1;
  }
  attribute_value value(const operator_desc& op, int i) const {
    if (op.attributes >= 0) return p_.attributes[op.attributes + i];
    return {op.schema->attributes[i].number, 0, 0};
  }
  double number(const operator_desc& op, std::string_view name) const {
    const int i = attribute(op, name);
    return i < 0 ? 0 : value(op, i).number;
  }
  std::vector<int> list(const operator_desc& op, std::string_view name) const {
    const int i = attribute(op, name);
    if (i < 0 || op.attributes < 0) return {};
    const attribute_value v = value(op, i);
    return {p_.integers + v.offset, p_.integers + v.offset + v.count};
  }
  std::string string(const operator_desc& op, int i) const {
    if (op.attributes < 0) return op.schema->attributes[i].text;
    const attribute_value v = value(op, i);
    return std::string(p_.characters + v.offset, at(v.count));
  }
  static bool is_list(attribute_type t) {
    return t == attribute_type::integers || t == attribute_type::booleans ||
           t == attribute_type::long_integers || t == attribute_type::blocks ||
           t == attribute_type::reals || t == attribute_type::strings;
  }
  bool is_default(const operator_desc& op, int i) const {
    const attribute_desc& a = op.schema->attributes[i];
    // A file may omit an attribute whose default is a text.
    if (a.type == attribute_type::string) return string(op, i) == a.text || string(op, i).empty();
    if (is_list(a.type)) return op.attributes < 0 || value(op, i).count == 0;
    const double found = value(op, i).number;
    return found == a.number || float(found) == float(a.number);
  }
  std::string literal(const operator_desc& op, int i) const {
    const attribute_desc& a = op.schema->attributes[i];
    const attribute_value v = value(op, i);
    if (a.type == attribute_type::string) return text_literal(string(op, i));
    if (a.type == attribute_type::boolean) return v.number != 0 ? "true" : "false";
    if (!is_list(a.type)) return number_text(v.number);
    std::string made;
    for (int n = 0; n < v.count; ++n) {
      if (n > 0) made += ", ";
      if (a.type == attribute_type::reals) {
        const std::string text = number_text(static_cast<double>(p_.reals[v.offset + n]));
        made += text.back() == 'f' || text.back() == ')' ? text : text + ".0f";
      } else {
        made += std::to_string(p_.integers[v.offset + n]);
      }
    }
    return made;
  }

  const loaded_program& program_;
  program_view p_;
  minimize_groups groups_;
  std::vector<const operator_desc*> all_;  // all operators except those of calls of minimize
  std::vector<block_operators> blocks_;
  std::set<int> run_blocks_;
  // Generated names of layers whose operators are not consecutive.
  std::set<std::string> scattered_names_;
  int block_ = 0;                                // the block that is being written
  std::vector<const operator_desc*> operators_;  // the operators of the block that is written
  // For each variable, how often it is read and written.
  std::vector<int> reads_, writes_;
};

}}}  // namespace lamina::detail
