// SPDX-License-Identifier: Apache-2.0
// lamina/io/simplify/program_graph.hpp - the operators and the values of a program message as a
// graph, which passes change.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/executor/operator_registry.hpp>
#include <lamina/io/fluid/program_message.hpp>
#include <lamina/plan/real_type.hpp>
#include <lamina/tensor/scope.hpp>
#include <lamina/tensor/tensor.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace passes {

using extents = std::vector<std::int64_t>;

/// An operator of a graph. Its operands are numbers of values; -1 stands for a variable that the
/// program does not name (@EMPTY@).
struct graph_node {
  struct slot {
    std::string name;
    std::vector<int> values;
  };
  operator_message message;  // its slots are those of the file until the graph is written
  int block = 0;
  std::vector<slot> inputs{}, outputs{};
  bool is_removed = false;

  const std::string& type() const { return message.type; }
  /// Returns the value in a slot with one value, or -1.
  int input(std::string_view name) const { return first(inputs, name); }
  int output(std::string_view name) const { return first(outputs, name); }

 private:
  static int first(const std::vector<slot>& all, std::string_view name) {
    for (const slot& s : all)
      if (s.name == name && !s.values.empty()) return s.values.size() == 1 ? s.values[0] : -1;
    return -1;
  }
};

/// A variable of a graph, with the operators that read and write it.
struct graph_value {
  variable_message message{};
  int block = 0;
  bool is_kept = false;         // fetched, fed, or named by the caller
  bool is_given = false;        // has a value before a run: fed, or persistable
  bool is_used = false;         // an operator used it before any pass
  bool is_double_name = false;  // several blocks declare the name
  std::vector<int> readers{}, writers{};
};

/// A program as operators and values. Values with the same name in different blocks count as one,
/// which passes do not touch.
class program_graph {
 public:
  /// `values` has the elements of the persistable variables, or is null.
  program_graph(program_message program, const std::vector<std::string>& keep, const scope* values)
      : program_(std::move(program)), scope_(values) {
    for (const block_message& b : program_.blocks)
      for (const variable_message& v : b.variables) {
        const auto [found, is_new] = by_name_.emplace(v.name, static_cast<int>(values_.size()));
        if (!is_new) {
          values_[index(found->second)].is_double_name = true;
          continue;
        }
        graph_value& made = values_.emplace_back();
        made.message = v;
        made.block = b.index;
        made.is_given = v.persistable;
      }
    for (const block_message& b : program_.blocks)
      for (const operator_message& op : b.operators) add(op, b.index);
    for (const std::string& name : keep)
      if (const auto found = by_name_.find(name); found != by_name_.end())
        values_[index(found->second)].is_kept = true;
    const bool is_fed = std::any_of(nodes_.begin(), nodes_.end(),
                                    [](const graph_node& n) { return n.type() == "feed"; });
    for (graph_value& v : values_) {
      if (v.message.need_check_feed) v.is_kept = v.is_given = true;
      // Without feed operators, a variable that nothing writes is fed.
      if (!is_fed && !v.is_given && v.writers.empty() && !v.readers.empty())
        v.is_kept = v.is_given = true;
    }
  }

  int node_count() const { return static_cast<int>(nodes_.size()); }
  graph_node& node(int n) { return nodes_[index(n)]; }
  const graph_node& node(int n) const { return nodes_[index(n)]; }
  const graph_value& value(int v) const { return values_[index(v)]; }
  const extents& dims(int v) const { return values_[index(v)].message.dims; }
  dtype type(int v) const { return values_[index(v)].message.type; }

  /// Whether the program trains: it has gradients or updates, which use values of other operators.
  bool is_training() const {
    for (const graph_value& v : values_)
      if (v.message.name.find("@GRAD") != std::string::npos) return true;
    return std::any_of(nodes_.begin(), nodes_.end(), [](const graph_node& n) {
      const attribute_message* role = n.message.attribute("op_role");
      return role != nullptr && (role->integer & ~std::int64_t{256}) != 0;
    });
  }

  // -- values -----------------------------------------------------------------------------------

  /// Whether the value of a variable never changes during a run, or a run of its block.
  bool is_stable(int v) const {
    if (v < 0) return false;
    const graph_value& of = value(v);
    if (of.is_double_name || of.message.kind != variable_class::lod_tensor) return false;
    if (of.is_given) return of.writers.empty();
    return of.writers.size() == 1 && node(of.writers[0]).block == of.block;
  }
  /// Whether a stable value is used by nothing but the operators that read it.
  bool is_inner(int v) const { return is_stable(v) && !value(v).is_kept && !value(v).is_given; }
  /// Whether a value is used by nothing but one operand of an operator.
  bool is_read_once(int v) const { return is_inner(v) && value(v).readers.size() == 1; }
  /// Whether a value has floating-point elements and no sequences.
  bool is_real(int v) const {
    return v >= 0 && lamina::is_real(type(v)) && value(v).message.lod_level == 0;
  }
  /// Returns the number of the operator that computes a stable value, or -1.
  int maker(int v) const {
    return is_stable(v) && !value(v).writers.empty() ? value(v).writers[0] : -1;
  }
  /// Returns the operator that computes a stable value if it has this type, else -1.
  int maker(int v, std::string_view type) const {
    const int n = maker(v);
    return n >= 0 && node(n).type() == type ? n : -1;
  }
  /// Returns the elements of a value that is known before a run, or null.
  const tensor* constant(int v) const {
    if (v < 0 || scope_ == nullptr || !value(v).message.persistable || !is_stable(v))
      return nullptr;
    if (const auto made = made_.find(v); made != made_.end()) return &made->second;
    const lod_tensor* found = scope_->find(value(v).message.name);
    return found != nullptr && found->has_value() && is_floating(found->type()) ? found : nullptr;
  }
  /// Returns the number of a value that is known before a run and has one element. A parameter has
  /// none: it is trained and loaded by its name, so it stays a value of its own.
  std::optional<double> number(int v) const {
    if (const tensor* t = constant(v);
        t != nullptr && t->size() == 1 && !value(v).message.is_parameter)
      return t->cast<double>().flat(0);
    const int n = maker(v, "fill_constant");
    if (n < 0 || !dims_are_one(v)) return std::nullopt;
    for (const graph_node::slot& s : node(n).inputs)
      if (!s.values.empty()) return std::nullopt;
    double found = real(node(n), "value");
    const attribute_message* digits = node(n).message.attribute("str_value");
    if (digits != nullptr && !digits->text.empty() &&
        !lamina::detail::read_number(digits->text, found))
      return std::nullopt;
    return found;
  }

  /// Returns a value of one integer that is known before a run.
  std::optional<std::int64_t> index_number(int v) const {
    if (v >= 0 && scope_ != nullptr && value(v).message.persistable && is_stable(v) &&
        type(v) == dtype::int64 && !value(v).message.is_parameter) {
      const lod_tensor* found = scope_->find(value(v).message.name);
      if (found == nullptr || !found->has_value() || found->type() != dtype::int64 ||
          found->size() != 1)
        return std::nullopt;
      return found->cast<std::int64_t>().flat(0);
    }
    const std::optional<double> found = number(v);
    if (!found || *found != std::floor(*found)) return std::nullopt;
    return static_cast<std::int64_t>(*found);
  }

  // -- attributes -------------------------------------------------------------------------------

  /// Returns the value of an attribute or, if the operator does not state it, the default.
  double real(const graph_node& n, std::string_view name) const {
    const attribute_message* a = n.message.attribute(name);
    if (a != nullptr)
      return a->type == attribute_type::real ? a->number() : static_cast<double>(a->integer);
    const attribute_desc* d = description(n.type(), name);
    return d == nullptr ? 0 : d->number;
  }
  std::int64_t integer(const graph_node& n, std::string_view name) const {
    return static_cast<std::int64_t>(real(n, name));
  }
  bool flag(const graph_node& n, std::string_view name) const { return real(n, name) != 0; }
  std::string text(const graph_node& n, std::string_view name) const {
    const attribute_message* a = n.message.attribute(name);
    if (a != nullptr) return a->text;
    const attribute_desc* d = description(n.type(), name);
    return d == nullptr ? "" : d->text;
  }
  extents integers(const graph_node& n, std::string_view name) const {
    const attribute_message* a = n.message.attribute(name);
    return a == nullptr ? extents() : a->integers;
  }
  static attribute_message attribute(const char* name, attribute_type type) {
    attribute_message a;
    a.name = name;
    a.type = type;
    return a;
  }
  static attribute_message real_attribute(const char* name, double value) {
    attribute_message a = attribute(name, attribute_type::real);
    a.real = static_cast<float>(value);
    return a;
  }
  static attribute_message integer_attribute(const char* name, std::int64_t value) {
    attribute_message a = attribute(name, attribute_type::integer);
    a.integer = value;
    return a;
  }
  static attribute_message flag_attribute(const char* name, bool value) {
    attribute_message a = attribute(name, attribute_type::boolean);
    a.integer = value ? 1 : 0;
    return a;
  }
  static attribute_message list_attribute(const char* name, extents value) {
    attribute_message a = attribute(name, attribute_type::integers);
    a.integers = std::move(value);
    return a;
  }

  // -- changes ----------------------------------------------------------------------------------

  /// Adds a parameter with these elements, which a caller of `made_values` stores in a scope.
  int add_constant(const std::string& like, tensor elements) {
    graph_value& made = values_.emplace_back();
    const int v = static_cast<int>(values_.size()) - 1;
    std::string name = like + ".folded";
    for (int i = 1; by_name_.count(name) != 0 || (scope_ != nullptr && scope_->find(name)); ++i)
      name = like + ".folded_" + std::to_string(i);
    by_name_.emplace(name, v);
    made.message.name = name;
    made.message.type = elements.type();
    for (const std::size_t d : elements.shape())
      made.message.dims.push_back(static_cast<std::int64_t>(d));
    made.message.persistable = made.message.is_parameter = made.is_given = made.is_used = true;
    made_.emplace(v, std::move(elements));
    return v;
  }
  /// Returns the elements of parameters that passes made and the program uses, by name.
  std::map<std::string, tensor> made_values() const {
    std::map<std::string, tensor> all;
    for (const auto& [v, elements] : made_)
      if (!value(v).readers.empty()) all.emplace(value(v).message.name, elements);
    return all;
  }
  /// Replaces the type, the operands and the attributes of an operator; its results stay, in the
  /// slot `result`. Then removes operators whose results nothing reads any more.
  void rewrite(int n, const char* type, std::vector<graph_node::slot> inputs,
               std::vector<attribute_message> attributes, const char* result = "Out") {
    graph_node& of = node(n);
    const std::vector<graph_node::slot> old = std::move(of.inputs);
    of.message.type = type;
    std::vector<attribute_message> roles;
    for (const char* kept : {"op_role", "op_callstack"})
      if (const attribute_message* a = of.message.attribute(kept)) roles.push_back(*a);
    of.message.attributes = std::move(attributes);
    of.message.attributes.insert(of.message.attributes.end(), roles.begin(), roles.end());
    of.message.unknown.clear();
    of.inputs = std::move(inputs);
    std::vector<graph_node::slot> outputs;
    for (graph_node::slot& s : of.outputs)
      for (const int v : s.values)
        if (v >= 0 && outputs.empty()) outputs.push_back({result, {v}});
    of.outputs = std::move(outputs);
    for (const graph_node::slot& s : of.inputs)
      for (const int v : s.values)
        if (v >= 0) values_[index(v)].readers.push_back(n);
    for (const graph_node::slot& s : old)
      for (const int v : s.values) forget_read(v, n);
  }
  /// Sets an attribute of an operator.
  void set(int n, attribute_message a) {
    for (attribute_message& old : node(n).message.attributes)
      if (old.name == a.name) {
        old = std::move(a);
        return;
      }
    node(n).message.attributes.push_back(std::move(a));
  }
  /// Sets the value in an input slot.
  void set_input(int n, const char* slot, int v) {
    values_[index(v)].readers.push_back(n);
    for (graph_node::slot& s : node(n).inputs)
      if (s.name == slot) {
        const std::vector<int> old = std::exchange(s.values, {v});
        for (const int o : old) forget_read(o, n);
        return;
      }
    node(n).inputs.push_back({slot, {v}});
  }
  /// Lets an operator write another value than before; the operator that wrote this value is
  /// removed.
  void set_result(int n, int from, int to) {
    const int old = value(to).writers.at(0);
    for (graph_node::slot& s : node(n).outputs)
      std::replace(s.values.begin(), s.values.end(), from, to);
    std::erase(values_[index(from)].writers, n);
    values_[index(to)].writers = {n};
    for (graph_node::slot& s : node(old).outputs)
      std::replace(s.values.begin(), s.values.end(), to, -1);
    remove(old);
  }
  /// Whether every use of `out` can become one of `in`, which has the same elements.
  bool can_merge(int in, int out) const {
    if (!is_stable(in) || !is_stable(out) || value(out).is_given) return false;
    if (!value(out).is_kept) return true;
    return is_inner(in) && value(in).block == value(out).block && maker(in) >= 0;
  }
  /// Makes `in` and `out` one value and removes the operator `n`, which computes `out` from `in`. A
  /// value that is kept keeps its name. `can_merge` must be true.
  void merge(int n, int in, int out) {
    if (value(out).is_kept) {
      replace_reads(in, out, n);
      set_result(maker(in), in, out);
      return;
    }
    replace_reads(out, in, -1);
    remove(n);
  }
  /// Removes an operator whose results nothing uses, and operators that only it needs.
  void remove_unused(int n) {
    const graph_node& of = node(n);
    if (of.is_removed || of.type() == "feed" || of.type() == "fetch") return;
    const std::vector<const operator_schema*>& forms = known_operators().forms(of.type());
    if (forms.empty() || forms[0]->has_side_effect || forms[0]->facts.block != block_rule::none ||
        forms[0]->facts.reads_minibatch)
      return;
    for (const graph_node::slot& s : of.outputs)
      for (const int v : s.values) {
        if (v < 0) continue;
        const std::vector<int>& writers = value(v).writers;
        const bool writes = std::find(writers.begin(), writers.end(), n) != writers.end();
        if (writes && (!is_inner(v) || !value(v).readers.empty())) return;
      }
    remove(n);
  }

  /// Returns the program. With `prune`, leaves out variables that no operator used before, either.
  program_message finish(bool prune) {
    program_message made = std::move(program_);
    for (block_message& b : made.blocks) b.operators.clear();
    for (graph_node& n : nodes_) {
      if (n.is_removed) continue;
      write(n.inputs, n.message.inputs);
      write(n.outputs, n.message.outputs);
      made.blocks[index(n.block)].operators.push_back(std::move(n.message));
    }
    for (block_message& b : made.blocks)
      std::erase_if(b.variables, [&](const variable_message& m) {
        const graph_value& v = value(by_name_.find(m.name)->second);
        return !v.is_double_name && !v.is_kept && v.readers.empty() && v.writers.empty() &&
               m.kind == variable_class::lod_tensor && (v.is_used || prune);
      });
    for (const auto& [v, elements] : made_)
      if (!value(v).readers.empty()) made.blocks[0].variables.push_back(value(v).message);
    return made;
  }
  int count_operators() const {
    return static_cast<int>(std::count_if(nodes_.begin(), nodes_.end(), [](const graph_node& n) {
      return !n.is_removed && n.type() != "feed" && n.type() != "fetch";
    }));
  }

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  bool dims_are_one(int v) const {
    return std::all_of(dims(v).begin(), dims(v).end(), [](std::int64_t d) { return d == 1; });
  }
  static const attribute_desc* description(std::string_view type, std::string_view name) {
    const std::vector<const operator_schema*>& forms = known_operators().forms(type);
    if (forms.empty()) return nullptr;
    for (int i = 0; i < forms[0]->attribute_count; ++i)
      if (forms[0]->attributes[i].name == name) return &forms[0]->attributes[i];
    return nullptr;
  }

  void add(const operator_message& op, int block) {
    const int n = static_cast<int>(nodes_.size());
    graph_node& made = nodes_.emplace_back();
    made.message = op;
    made.block = block;
    // A batch_norm of inference has its statistics as results too, and does not change them.
    const bool keeps = op.type == "batch_norm" && tests(op);
    for (const slot_message& s : op.inputs) {
      graph_node::slot& to = made.inputs.emplace_back();
      to.name = s.slot;
      for (const std::string& name : s.arguments) {
        const int v = find(name);
        to.values.push_back(v);
        if (v < 0) continue;
        values_[index(v)].is_used = true;
        values_[index(v)].readers.push_back(n);
        if (op.type == "fetch") values_[index(v)].is_kept = true;
      }
    }
    for (const slot_message& s : op.outputs) {
      graph_node::slot& to = made.outputs.emplace_back();
      to.name = s.slot;
      for (const std::string& name : s.arguments) {
        const int v = find(name);
        const bool is_own = keeps && (s.slot == "MeanOut" || s.slot == "VarianceOut") && v >= 0 &&
                            values_[index(v)].message.persistable;
        to.values.push_back(v);
        if (v < 0 || is_own) continue;
        values_[index(v)].is_used = true;
        if (op.type == "feed")
          values_[index(v)].is_kept = values_[index(v)].is_given = true;
        else
          values_[index(v)].writers.push_back(n);
      }
    }
  }
  static bool tests(const operator_message& op) {
    for (const char* name : {"is_test", "use_global_stats"})
      if (const attribute_message* a = op.attribute(name); a != nullptr && a->integer != 0)
        return true;
    return false;
  }
  // A name that no block declares is one of other libraries, such as @EMPTY@.
  int find(const std::string& name) {
    const auto found = by_name_.find(name);
    if (found != by_name_.end()) return found->second;
    if (name == "@EMPTY@") return -1;
    graph_value& made = values_.emplace_back();
    made.message.name = name;
    made.is_double_name = true;  // no pass touches it
    by_name_.emplace(name, static_cast<int>(values_.size()) - 1);
    return static_cast<int>(values_.size()) - 1;
  }
  void write(const std::vector<graph_node::slot>& from, std::vector<slot_message>& to) const {
    std::vector<slot_message> made;
    for (const graph_node::slot& s : from) {
      slot_message& m = made.emplace_back();
      m.slot = s.name;
      for (const slot_message& old : to)
        if (old.slot == s.name) m.unknown = old.unknown;
      for (const int v : s.values) m.arguments.push_back(v < 0 ? "@EMPTY@" : value(v).message.name);
    }
    to = std::move(made);
  }
  // One operand of operator n does not read v any more.
  void forget_read(int v, int n) {
    if (v < 0) return;
    std::vector<int>& readers = values_[index(v)].readers;
    if (const auto found = std::find(readers.begin(), readers.end(), n); found != readers.end())
      readers.erase(found);
    if (!readers.empty()) return;
    if (const int m = maker(v); m >= 0) remove_unused(m);
  }
  // Operands that read `from` read `to`, except those of operator `except`.
  void replace_reads(int from, int to, int except) {
    std::vector<int> remaining;
    for (const int n : std::exchange(values_[index(from)].readers, {})) {
      if (n == except) {
        remaining.push_back(n);
        continue;
      }
      for (graph_node::slot& s : node(n).inputs)
        std::replace(s.values.begin(), s.values.end(), from, to);
      values_[index(to)].readers.push_back(n);
    }
    values_[index(from)].readers = std::move(remaining);
  }
  void remove(int n) {
    graph_node& of = node(n);
    if (of.is_removed) return;
    of.is_removed = true;
    for (const graph_node::slot& s : of.outputs)
      for (const int v : s.values)
        if (v >= 0) std::erase(values_[index(v)].writers, n);
    for (const graph_node::slot& s : std::exchange(of.inputs, {}))
      for (const int v : s.values) forget_read(v, n);
  }

  program_message program_;
  const scope* scope_;
  std::vector<graph_value> values_;
  std::vector<graph_node> nodes_;
  std::map<std::string, int, std::less<>> by_name_;
  std::map<int, tensor> made_;
};

}}}  // namespace lamina::passes
