// SPDX-License-Identifier: Apache-2.0
// lamina/codegen/minimize_replay.hpp - records the calls of minimize of a program again, and
// compares the result with the program.
//
// minimize_groups.hpp recognises a call of minimize by its first and last operators and does not
// examine the gradients between them. Therefore minimize_replay makes a copy of the program without
// the operators of these calls, and records all calls again in this copy. The message of the copy
// must then equal the program in the file.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/codegen/minimize_groups.hpp>
#include <lamina/codegen/operator_difference.hpp>
#include <lamina/io/fluid/to_program_message.hpp>
#include <lamina/io/loaded_program.hpp>
#include <lamina/io/program_desc_proto.hpp>
#include <lamina/optimizer/minimize.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// The options of a parameter that its updates show.
struct parameter_options {
  float learning_rate = 1;
  lamina::regularizer regularizer = {};
  lamina::gradient_clip clip = {};
};

/// A call of minimize, with its C++ text and a function that records it.
struct minimize_call {
  const operator_desc* seed = nullptr;
  // Variables; -1 for `rate`: the rate is a number among the options.
  int cost = -1, rate = -1;
  std::string optimizer = "";             // "adam"
  std::vector<std::string> options = {};  // without the learning rate if it is a variable
  std::string choice = "";                // "lamina::only<"fc_0">"; empty: all parameters
  std::set<int> left_out = {};            // parameters that the choice leaves out
  std::vector<int> updated = {};          // parameters that the call updates
  /// Records the call, with the variables of the builder.
  std::function<void(program_builder& b, int cost, int rate)> record = {};
};

/// Records all calls of minimize of a program again and compares.
class minimize_replay {
 public:
  /// A function that throws an error about operator number `k` of a block, or, if the block has no
  /// such operator, about the whole program.
  using failure = std::function<void(int block, std::size_t k, const std::string& what)>;

  minimize_replay(const loaded_program& program, const minimize_groups& groups,
                  const std::map<const operator_desc*, minimize_call>& calls,
                  const std::map<int, parameter_options>& parameters, failure fail)
      : program_(program),
        p_(program.view()),
        groups_(groups),
        calls_(calls),
        fail_(std::move(fail)),
        made_(std::make_unique<program_desc>()),
        b_(*made_) {
    made_->cost = b_.cost = -1;
    copy_records(parameters);
    require_room();
  }

  /// Throws an error about the first operator or variable of the file that differs from what the
  /// calls record.
  void require_same() {
    require_depth();
    for (int k = 0; k < p_.count.operators; ++k) {
      const operator_desc& op = p_.operators[k];
      if (const auto call = calls_.find(&op); call != calls_.end())
        record(call->second);
      else if (!groups_.contains(op))
        copy(op);
    }
    while (push_block()) {
    }
    require_no_fault(*calls_.begin()->first);
    require_room();
    b_.finish();
    compare(to_program_message(view_of(*made_)), program_.message());
  }

 private:
  // Nested around an operator; each takes half a MB of the stack.
  static constexpr int most_blocks = 8;

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  void fail(const std::string& what) const { fail_(0, ~std::size_t{0}, what); }
  /// Returns the number of an operator in its block.
  std::size_t place_of(const operator_desc& op) const {
    std::size_t k = 0;
    for (const operator_desc* other = p_.operators; other != &op; ++other)
      k += other->block == op.block ? 1U : 0U;
    return k;
  }
  void fail(const operator_desc& op, const std::string& what) const {
    fail_(op.block, place_of(op), what);
  }

  void copy_records(const std::map<int, parameter_options>& parameters) {
    const program_counts& n = p_.count;
    for (int i = 0; i < n.domains; ++i) b_.domains.push(p_.domains[i]);
    for (int i = 0; i < n.attributes; ++i) b_.attributes.push(p_.attributes[i]);
    for (int i = 0; i < n.integers; ++i) b_.integers.push(p_.integers[i]);
    for (int i = 0; i < n.reals; ++i) b_.reals.push(p_.reals[i]);
    for (int i = 0; i < n.characters; ++i) b_.characters.push(p_.characters[i]);
    for (int i = 0; i < n.dims; ++i) b_.dims.push(p_.dims[i]);
    b_.blocks.push(p_.blocks[0]);
    find_copied();
    copy_of_.assign(at(n.variables), -1);
    for (int v = 0; v < n.variables; ++v) {
      if (!is_copied_[at(v)]) continue;
      variable_desc d = p_.variables[v];
      const name_desc& name = p_.names[d.base];
      d.base = b_.names.push({nullptr, name.offset, name.length, -1, -1});
      d.of = -1;
      d.suffix = "";
      copy_of_[at(v)] = b_.variables.push(d);
    }
    named_ = b_.variables.count;
    for (int i = 0; i < n.data; ++i) b_.data.push(copy_of_[at(p_.data[i])]);
    for (int i = 0; i < n.parameters; ++i) {
      parameter_desc d = p_.parameters[i];
      if (const auto own = parameters.find(d.variable); own != parameters.end()) {
        const parameter_options& o = own->second;
        d.learning_rate = o.learning_rate;
        d.regularizer = o.regularizer.kind, d.regularizer_coefficient = o.regularizer.coefficient;
        d.clip = o.clip.kind, d.clip_low = o.clip.low, d.clip_high = o.clip.high;
      }
      d.variable = copy_of_[at(d.variable)];
      b_.parameters.push(d);
    }
  }
  template <class F>
  void each(const operator_desc& op, bool input, const F& f) const {
    const slot_desc* slot = input ? op.schema->inputs : op.schema->outputs;
    const int n = input ? op.schema->input_count : op.schema->output_count;
    for (int s = 0, i = input ? op.inputs : op.outputs; s < n; ++s)
      for (int c = slot[s].duplicable ? p_.arguments[i++] : 1; c > 0; --c, ++i)
        if (p_.arguments[i] >= 0) f(p_.arguments[i]);
  }
  /// Finds the variables that operators outside of the calls use, except variables that only the
  /// calls write.
  void find_copied() {
    std::vector<bool> trained(at(p_.count.variables)), written(trained);
    is_copied_ = trained;
    for (int k = 0; k < p_.count.operators; ++k) {
      const operator_desc& op = p_.operators[k];
      const bool member = groups_.contains(op), body = sub_block_of(p_, op) >= 0;
      each(op, false, [&](int v) {
        if (member) trained[at(v)] = true;
        if (!member && !body) written[at(v)] = true;
      });
      for (const bool input : {true, false})
        if (!member) each(op, input, [&](int v) { is_copied_[at(v)] = true; });
    }
    for (std::size_t v = 0; v < trained.size(); ++v)
      if (trained[v] && !written[v]) is_copied_[v] = false;
    for (int i = 0; i < p_.count.parameters; ++i) is_copied_[at(p_.parameters[i].variable)] = true;
    for (int i = 0; i < p_.count.data; ++i) is_copied_[at(p_.data[i])] = true;
  }

  /// Appends the next block of the program, unless it is a block of gradients.
  bool push_block() {
    const int next = b_.blocks.count;
    if (next >= p_.count.blocks || p_.blocks[next].forward_block >= 0) return false;
    b_.blocks.push(p_.blocks[next]);
    return true;
  }
  void require_room() const {
    if (b_.is_full())
      fail("expected a program of the size that lamina can record, found a larger one");
  }
  /// Throws for deeply nested blocks: recording the gradients of each level takes stack memory,
  /// which would overflow.
  void require_depth() const {
    for (int i = 0; i < p_.count.blocks; ++i) {
      int depth = 0;
      for (int block = i; block > 0; block = p_.blocks[block].parent) ++depth;
      if (depth > most_blocks)
        fail("expected at most " + std::to_string(most_blocks) +
             " blocks around an operator of a program that trains, found " + std::to_string(depth));
    }
  }
  /// Returns the variable of the builder for a variable of the program.
  int copy_of(const operator_desc& op, int v) {
    if (v < 0) return -1;
    if (copy_of_[at(v)] >= 0) return copy_of_[at(v)];
    const std::string name = variable_name(p_, v);
    for (; named_ < b_.variables.count; ++named_)
      if (b_.variables[named_].block == 0)
        made_names_.emplace(variable_name(view_of(*made_), named_), named_);
    const auto found = made_names_.find(name);
    if (found == made_names_.end())
      fail(op,
           "expected variables that the program or minimize makes before, found '" + name + "'");
    return found->second;
  }
  /// Throws if a slot that must not be empty is empty: the functions that make gradients expect a
  /// variable there.
  void require_filled(const operator_desc& op, const slot_desc& slot, int at) const {
    if (slot.dispensable || slot.intermediate) return;
    const int n = slot.duplicable ? p_.arguments[at++] : 1;
    bool filled = n > 0 || op.schema->gradient == nullptr;
    for (int i = 0; i < n; ++i) filled = filled && p_.arguments[at + i] >= 0;
    if (!filled)
      fail(op, "expected a variable in slot '" + std::string(slot.name) +
                   "' of a program that trains, found none");
  }
  void copy(const operator_desc& op) {
    while (b_.blocks.count <= op.block)
      if (!push_block())
        fail(op, "expected another call of minimize, which makes block " +
                     std::to_string(b_.blocks.count) + ", found an operator of a later block");
    operator_desc made = op;
    if (op.schema->type == std::string_view("assign"))
      made.schema = op.role == op_role::optimize ? &schema_of<operators::assign_variable>()
                                                 : &schema_of<operators::assign>();
    made.inputs = b_.arguments.count;
    for (const bool input : {true, false}) {
      const slot_desc* slot = input ? op.schema->inputs : op.schema->outputs;
      const int n = input ? op.schema->input_count : op.schema->output_count;
      if (!input) made.outputs = b_.arguments.count;
      for (int s = 0, i = input ? op.inputs : op.outputs; s < n; ++s) {
        require_filled(op, slot[s], i);
        int c = slot[s].duplicable ? p_.arguments[i++] : 1;
        if (slot[s].duplicable) b_.argument(c);
        for (; c > 0; --c, ++i) b_.argument(copy_of(op, p_.arguments[i]));
      }
    }
    made.end = b_.arguments.count;
    b_.operators.push(made);
  }
  void record(const minimize_call& call) {
    const operator_desc& op = *call.seed;
    require_room();
    while (push_block()) {
    }
    if (b_.blocks.count <= op.block)
      fail(op, "expected another call of minimize before, which makes block " +
                   std::to_string(b_.blocks.count));
    for (int i = 0; i < p_.count.parameters; ++i)
      b_.parameters[i].trainable =
          p_.parameters[i].trainable && call.left_out.count(p_.parameters[i].variable) == 0;
    b_.current_block = op.block;
    b_.role = op_role::forward;
    call.record(b_, copy_of(op, call.cost), copy_of(op, call.rate));
    require_no_fault(op);
    for (int i = 0; i < p_.count.parameters; ++i)
      b_.parameters[i].trainable = p_.parameters[i].trainable;
  }
  void require_no_fault(const operator_desc& op) const {
    if (b_.fault.kind != fault_kind::none)
      fail(op,
           "expected a call of minimize that lamina records, found one that it refuses (fault " +
               std::to_string(static_cast<int>(b_.fault.kind)) + ")");
  }

  // -- comparison ---------------------------------------------------------------------------------

  static bool is_column(const operator_message& op) {
    return op.type == "feed" || op.type == "fetch";
  }
  void compare(const program_message& made, const program_message& file) const {
    std::vector<std::vector<const operator_desc*>> records(at(p_.count.blocks));
    for (int k = 0; k < p_.count.operators; ++k)
      records[at(p_.operators[k].block)].push_back(&p_.operators[k]);
    if (made.blocks.size() != file.blocks.size())
      fail("expected " + std::to_string(made.blocks.size()) +
           " blocks, which minimize records, found " + std::to_string(file.blocks.size()));
    for (std::size_t i = 0; i < made.blocks.size(); ++i) {
      if (made.blocks[i].parent != file.blocks[i].parent ||
          made.blocks[i].forward_block != file.blocks[i].forward_block)
        fail("expected the parent of block " + std::to_string(i) +
             " that minimize records, found another");
      std::vector<const operator_message*> found;
      for (const operator_message& op : file.blocks[i].operators)
        if (!is_column(op)) found.push_back(&op);
      const std::vector<operator_message>& wanted = made.blocks[i].operators;
      for (std::size_t k = 0; k < found.size() && k < records[i].size(); ++k) {
        const operator_desc& op = *records[i][k];
        if (k >= wanted.size())
          fail(op, "expected no operator, because minimize records none, found one");
        if (!groups_.contains(op)) {
          if (wanted[k].type != op.schema->type)
            fail(op, "expected '" + wanted[k].type +
                         "', which minimize records, found another operator");
        } else if (const std::string what = operator_difference(wanted[k], *found[k]);
                   !what.empty()) {
          fail(op, what);
        }
      }
      if (wanted.size() > found.size())
        fail("expected '" + wanted[found.size()].type +
             "', which minimize records, at the end of block " + std::to_string(i) +
             ", found no operator");
      compare_variables(made.blocks[i], file.blocks[i]);
    }
  }
  void compare_variables(const block_message& made, const block_message& file) const {
    std::map<std::string_view, const variable_message*> found;
    for (const variable_message& v : file.variables) found.emplace(v.name, &v);
    for (const variable_message& v : made.variables) {
      const auto place = found.find(v.name);
      const bool same = place != found.end() && bytes_of(v) == bytes_of(*place->second);
      if (!same && !is_copy(made.index, v.name))
        fail("expected the variable '" + v.name + "' of block " + std::to_string(made.index) +
             " that minimize makes, found " + (place == found.end() ? "none" : "another"));
    }
  }
  bool is_copy(int block, const std::string& name) const {
    for (int v = 0; v < p_.count.variables; ++v)
      if (is_copied_[at(v)] && p_.variables[v].block == block && variable_name(p_, v) == name)
        return true;
    return false;
  }
  const loaded_program& program_;
  program_view p_;
  const minimize_groups& groups_;
  const std::map<const operator_desc*, minimize_call>& calls_;
  failure fail_;
  std::unique_ptr<program_desc> made_;
  program_builder b_;
  std::vector<bool> is_copied_ = {};
  std::vector<int> copy_of_ = {};  // for each variable, its copy in the builder, or -1
  int named_ = 0;  // variables of the builder before this one are in made_names_, or are copies
  std::map<std::string, int> made_names_ = {};
};

}}}  // namespace lamina::detail
