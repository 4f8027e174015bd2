// SPDX-License-Identifier: Apache-2.0
// lamina/io/loaded_program.hpp - a program that was read at run time. The executor can run it; no
// compiler is needed.
#pragma once

#include <lamina/core/config.hpp>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/executor/domain_rows.hpp>
#include <lamina/executor/operator_registry.hpp>
#include <lamina/io/fluid/fluid_attributes.hpp>
#include <lamina/io/fluid/program_message.hpp>
#include <lamina/io/fluid/program_records.hpp>
#include <lamina/io/fluid/row_domains.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// A program that is made from a message and can be run: `executor.run(loaded, scope, feed,
/// fetch)`. It owns the arrays to which its view points. Its constructor determines facts that
/// Fluid determines only during a run: - the fed variables, which are the outputs of feed operators
/// or, without these, the variables
///    that operators of block 0 read and no operator writes; then the fields of mini-batches;
///  - the variable of each gradient, by the name of the gradient;
///  - the variables that share their rows (row_domains.hpp).
///
/// Throws format_error, with the offset in the file, for:
///  - blocks that are missing or in a cycle;
///  - a variable that no block declares, or that one block declares twice;
///  - operators of unknown type, with slots that their forms do not have, or with attributes of
///    another type.
class loaded_program {
 public:
  explicit loaded_program(program_message message, std::string source = "program",
                          const operator_registry& known = known_operators())
      : message_(std::move(message)), source_(std::move(source)), known_(&known) {
    read_blocks();
    for (const block_message& b : message_.blocks) read_variables(b);
    name_gradients();
    find_kinds();
    read_operators();
    find_feeds();
    row_domains(view()).assign(made_.variables, made_.domains);
    from_.clear();
  }
  loaded_program(loaded_program&&) = default;
  loaded_program& operator=(loaded_program&&) = default;

  /// Returns the view that executors run. It is valid as long as this object.
  program_view view() const { return made_.view(); }
  operator program_view() const { return view(); }

  /// Returns the contents of the file, including feed and fetch operators.
  const program_message& message() const { return message_; }
  /// Returns the name that errors use for the file.
  const std::string& source() const { return source_; }

  /// Returns the names of the fed variables, in the order of the feed operators. Fields of
  /// mini-batches are not among them.
  std::vector<std::string> feed_names() const { return names_of(made_.fed()); }
  /// Returns the names of the variables of fetch operators, in their order.
  std::vector<std::string> fetch_names() const { return names_of(made_.outputs); }
  /// Returns the names of the variables that outlive a run: parameters and accumulators of
  /// optimizers.
  std::vector<std::string> persistable_names() const {
    std::vector<int> found;
    for (int v = 0; v < count(made_.variables); ++v)
      if (made_.variables[at(v)].persistable) found.push_back(v);
    return names_of(found);
  }
  /// Returns the description of a variable of block 0 in the file, or null.
  const variable_message* find(std::string_view name) const {
    return message_.blocks[0].find(name);
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  template <class T>
  static int count(const std::vector<T>& v) {
    return program_records::count(v);
  }
  [[noreturn]] void fail(std::uint64_t offset, const std::string& what) const {
    throw format_error(source_, offset, what);
  }
  std::vector<std::string> names_of(const std::vector<int>& variables) const {
    std::vector<std::string> names;
    for (const int v : variables) names.push_back(variable_name(view(), v));
    return names;
  }

  void read_blocks() {
    const std::size_t n = message_.blocks.size();
    if (n == 0) fail(0, "expected at least one block, found none");
    if (n > at(program_limits.blocks))
      fail(0, text("expected at most ") << program_limits.blocks << " blocks, found " << n);
    for (std::size_t i = 0; i < n; ++i) {
      const block_message& b = message_.blocks[i];
      const int number = static_cast<int>(i);
      if (b.index != number)
        fail(b.offset, text("expected block ") << number << ", found idx " << b.index);
      if (i == 0 ? b.parent > 0 : b.parent < 0 || b.parent >= number)
        fail(b.offset, text("expected a parent_idx below ")
                           << number << " in block " << number << ", found " << b.parent);
      if (b.forward_block < -1 || b.forward_block >= static_cast<int>(n))
        fail(b.offset, text("expected the forward_block_idx of block ")
                           << number << " to be one of " << n << " blocks, found "
                           << b.forward_block);
      made_.blocks.push_back({i == 0 ? -1 : b.parent, b.forward_block});
    }
    by_name_.resize(n);
  }

  void read_variables(const block_message& b) {
    for (const variable_message& m : b.variables) {
      if (m.kind == variable_class::feed_minibatch || m.kind == variable_class::fetch_list)
        continue;
      const auto [found, is_new] = by_name_[at(b.index)].emplace(m.name, count(made_.variables));
      if (!is_new)
        fail(m.offset, "expected one variable '" + m.name + "' in block " +
                           std::to_string(b.index) + ", found a second one");
      variable_desc d{};
      d.base = count(made_.names);
      d.of = -1;
      d.suffix = "";
      d.number = d.index = -1;
      d.block = b.index;
      d.dims = count(made_.dims);
      d.type = m.has_tensor() ? m.type : dtype::int64;
      d.kind = m.kind == variable_class::lod_tensor_array ? variable_kind::tensor_array
               : m.kind == variable_class::step_scopes    ? variable_kind::step_scopes
               : m.kind == variable_class::selected_rows  ? variable_kind::selected_rows
                                                          : variable_kind::temporary;
      d.persistable = m.persistable && b.index == 0 && m.has_tensor();
      d.stop_gradient = m.stop_gradient;
      read_dims(m, d);
      from_.push_back(&m);
      levels_.push_back(d.rank > 0 && made_.dims[at(d.dims)] < 0 ? m.lod_level : 0);
      made_.names.push_back({nullptr, static_cast<int>(made_.characters.size()),
                             static_cast<int>(m.name.size()), -1, -1});
      made_.characters += m.name;
      made_.variables.push_back(d);
    }
  }
  void read_dims(const variable_message& m, variable_desc& d) {
    if (m.dims.size() > 16)
      fail(m.offset, "expected at most 16 dimensions of variable '" + m.name + "', found " +
                         std::to_string(m.dims.size()));
    for (const std::int64_t extent : m.dims) {
      if (extent < -1 || extent > 0x7fffffff)
        fail(m.offset, "expected dimensions from -1 to 2147483647 of variable '" + m.name +
                           "', found " + std::to_string(extent));
      made_.dims.push_back(static_cast<int>(extent));
    }
    if (m.kind == variable_class::lod_rank_table) {
      made_.dims.insert(made_.dims.end(), {-1, 2});
      d.rank = 2;
    } else if (m.dims.empty()) {
      made_.dims.push_back(1);  // later versions have scalars without dimensions
      d.rank = 1;
    } else {
      d.rank = static_cast<int>(m.dims.size());
    }
  }

  /// Returns the variable to which a name in a block refers, or -1. Searches the block, the blocks
  /// around it and, for a block of gradients, the forward block.
  int find(int block, std::string_view name) const {
    for (; block >= 0; block = made_.blocks[at(block)].parent) {
      for (int b = block, tries = 0; b >= 0 && tries < 2; ++tries) {
        for (int outer = b; outer >= 0; outer = made_.blocks[at(outer)].parent) {
          const auto found = by_name_[at(outer)].find(name);
          if (found != by_name_[at(outer)].end()) return found->second;
        }
        b = made_.blocks[at(block)].forward_block;
      }
    }
    return -1;
  }

  // Finds the variable of each gradient by its name: "fc_0.w_0@GRAD@RENAME@1" is a gradient of
  // fc_0.w_0, and "x@GRAD_0@GRAD" is a gradient of x@GRAD_0.
  void name_gradients() {
    for (variable_desc& d : made_.variables) {
      const name_desc& name = made_.names[at(d.base)];
      const std::string_view whole =
          std::string_view(made_.characters).substr(at(name.offset), at(name.length));
      const std::size_t suffix = whole.rfind("@GRAD");
      if (suffix == std::string_view::npos || suffix == 0) continue;
      const int of = find(d.block, whole.substr(0, suffix));
      if (of < 0) continue;
      made_.suffixes.emplace_back(whole.substr(suffix));
      d.suffix = made_.suffixes.back().c_str();
      d.of = of;
      if (d.kind == variable_kind::temporary) d.kind = variable_kind::gradient;
      levels_[at(static_cast<int>(&d - made_.variables.data()))] = levels_[at(of)];
    }
  }

  // Finds which persistable variables are parameters. Only files of PaddlePaddle 2.3 and later mark
  // parameters; in other files, all persistable variables count as parameters.
  void find_kinds() {
    bool told = false;
    for (const variable_message& m : message_.blocks[0].variables) told = told || m.is_parameter;
    for (int v = 0; v < count(made_.variables); ++v) {
      variable_desc& d = made_.variables[at(v)];
      if (d.block != 0 || !d.persistable) continue;
      const variable_message* m = from_[at(v)];
      if (told && !m->is_parameter) continue;
      d.kind = variable_kind::parameter;
      d.index = count(made_.parameters);
      made_.parameters.push_back(
          {v, 1, regularizer_kind::none, 0, clip_kind::none, 0, 0, !m->stop_gradient});
    }
  }

  // Reads the operators of all blocks. The operators of an inner block are stored before the
  // operator that runs the block, as in recorded programs.
  void read_operators() {
    std::vector<bool> read(message_.blocks.size(), false);
    std::vector<std::pair<int, std::size_t>> open;  // block, next operator
    for (std::size_t i = 0; i < read.size(); ++i) {
      if (read[i]) continue;
      read[i] = true;
      open.emplace_back(static_cast<int>(i), 0);
      while (!open.empty()) {
        auto& [block, next] = open.back();
        if (next == message_.blocks[at(block)].operators.size()) {
          open.pop_back();
          continue;
        }
        const operator_message& op = message_.blocks[at(block)].operators[next];
        const int inner = inner_block(op, block);
        if (inner >= 0 && !read[at(inner)]) {
          read[at(inner)] = true;
          open.emplace_back(inner, 0);
          continue;
        }
        ++next;
        read_operator(op, block);
      }
    }
  }
  // Returns the block that an operator runs, or -1. Throws format_error unless the number of this
  // block is higher than that of the operator's block; so blocks cannot run each other in a cycle.
  int inner_block(const operator_message& op, int block) const {
    const attribute_message* a = op.attribute("sub_block");
    if (a == nullptr || a->type != attribute_type::block) return -1;
    if (a->integer <= block || a->integer >= static_cast<std::int64_t>(message_.blocks.size()))
      fail(op.offset, "expected the sub_block of operator '" + op.type + "' in block " +
                          std::to_string(block) + " to be a later block of " +
                          std::to_string(message_.blocks.size()) + ", found " +
                          std::to_string(a->integer));
    return static_cast<int>(a->integer);
  }

  void read_operator(const operator_message& named, int block) {
    const std::optional<operator_message> other = detail::translated(named);
    const operator_message& op = other ? *other : named;
    if (op.type == "feed" || op.type == "fetch") return read_column(op, block);
    const operator_schema& schema = form_of(op);
    if (const char* name = detail::unknown_meaning(op))
      fail(op.offset, "expected the default of attribute '" + std::string(name) +
                          "', the only value that lamina computes, of operator '" + op.type +
                          "', found another");
    operator_desc d{&schema, count(made_.arguments), 0, 0, count(made_.attributes),
                    block,   op_role::forward};
    for (int s = 0; s < schema.input_count; ++s)
      read_slot(op, block, op.input(schema.inputs[s].name), schema.inputs[s]);
    d.outputs = count(made_.arguments);
    for (int s = 0; s < schema.output_count; ++s)
      read_slot(op, block, op.output(schema.outputs[s].name), schema.outputs[s]);
    d.end = count(made_.arguments);
    for (int i = 0; i < schema.attribute_count; ++i) {
      const attribute_desc& wanted = schema.attributes[i];
      const attribute_message* a = op.attribute(wanted.name);
      made_.attributes.push_back(a != nullptr ? value_of(op, *a, wanted.type)
                                              : attribute_value{wanted.number, 0, 0});
      if (schema.type == std::string_view("fill_constant") &&
          wanted.name == std::string_view("value"))
        read_digits(op, made_.attributes.back().number);
    }
    if (const attribute_message* role = op.attribute("op_role"))
      d.role = static_cast<op_role>(role->integer);
    made_.operators.push_back(d);
  }

  // Reads a feed or fetch operator: its variable, and its position among the feeds or fetches.
  void read_column(const operator_message& op, int block) {
    const bool feeds = op.type == "feed";
    const std::vector<std::string>& names = feeds ? op.output("Out") : op.input("X");
    const attribute_message* col = op.attribute("col");
    if (names.size() != 1 || block != 0)
      fail(op.offset, "expected one variable of block 0 in operator '" + op.type + "', found " +
                          std::to_string(names.size()) + " in block " + std::to_string(block));
    std::map<std::int64_t, int>& columns = feeds ? feed_columns_ : fetch_columns_;
    const std::int64_t column =
        col != nullptr ? col->integer : static_cast<std::int64_t>(columns.size());
    if (!columns.emplace(column, argument(op, block, names[0])).second)
      fail(op.offset, "expected one operator '" + op.type + "' of column " +
                          std::to_string(column) + ", found a second one");
  }

  const operator_schema& form_of(const operator_message& op) const {
    const std::vector<const operator_schema*>& forms = known_->forms(op.type);
    if (forms.empty())
      fail(op.offset, "expected an operator that lamina knows, found '" + op.type + "'");
    std::string_view unfit;
    for (const operator_schema* form : forms) {
      unfit = slot_outside(op, *form);
      if (unfit.empty()) return *form;
    }
    fail(op.offset, "expected the slots that lamina knows of operator '" + op.type +
                        "', found the input slot '" + std::string(unfit) + "'");
  }
  // Returns the first nonempty input slot of the operator that the form does not have; empty if
  // there is none. Returns an empty name for gradient operators, because in files they may have
  // more inputs than in lamina.
  static std::string_view slot_outside(const operator_message& op, const operator_schema& form) {
    if (op.type.size() > 5 && op.type.compare(op.type.size() - 5, 5, "_grad") == 0) return {};
    for (const slot_message& m : op.inputs) {
      bool known = m.arguments.empty();
      for (int s = 0; s < form.input_count && !known; ++s) known = m.slot == form.inputs[s].name;
      if (!known) return m.slot;
    }
    return {};
  }

  void read_slot(const operator_message& op, int block, const std::vector<std::string>& names,
                 const slot_desc& slot) {
    if (slot.duplicable) {
      made_.arguments.push_back(static_cast<int>(names.size()));
      for (const std::string& name : names) made_.arguments.push_back(argument(op, block, name));
      return;
    }
    if (names.size() > 1)
      fail(op.offset, "expected one variable in slot '" + std::string(slot.name) +
                          "' of operator '" + op.type + "', found " + std::to_string(names.size()));
    made_.arguments.push_back(names.empty() ? -1 : argument(op, block, names[0]));
  }
  int argument(const operator_message& op, int block, const std::string& name) const {
    if (name == "@EMPTY@") return -1;
    const int v = find(block, name);
    if (v < 0)
      fail(op.offset, "expected a variable of block " + std::to_string(block) +
                          " or the blocks around it in operator '" + op.type + "', found '" + name +
                          "', which none declares");
    return v;
  }

  // If the operator has the attribute str_value, reads the value of a constant from it: the text
  // can be exact where a float is not.
  void read_digits(const operator_message& op, double& value) const {
    const attribute_message* digits = op.attribute("str_value");
    if (digits == nullptr || digits->text.empty()) return;
    if (!detail::read_number(digits->text, value))
      fail(op.offset, "expected a number in attribute 'str_value' of operator '" + op.type +
                          "', found '" + digits->text + "'");
  }

  attribute_value value_of(const operator_message& op, const attribute_message& a,
                           attribute_type wanted) {
    std::string found;
    const attribute_value value = made_.put(a, wanted, found);
    if (!found.empty())
      fail(op.offset,
           "expected " + found + " in attribute '" + a.name + "' of operator '" + op.type + "'");
    return value;
  }

  void find_feeds() {
    for (const auto& [column, v] : fetch_columns_) made_.outputs.push_back(v);
    for (const auto& [column, v] : feed_columns_) made_.data.push_back(v);
    if (made_.data.empty()) {
      std::vector<bool> written(made_.variables.size(), false), used(made_.variables.size(), false);
      for (const operator_desc& op : made_.operators)
        for (const bool input : {true, false})
          made_.for_each_argument(op, input,
                                  [&](int v) { (input ? used : written)[at(v)] = true; });
      for (int v = 0; v < count(made_.variables); ++v) {
        const variable_desc& d = made_.variables[at(v)];
        if (d.block == 0 && !d.persistable && !written[at(v)] && d.of < 0 &&
            d.kind == variable_kind::temporary && (used[at(v)] || from_[at(v)]->need_check_feed))
          made_.data.push_back(v);
      }
    }
    made_.find_fields();
    for (int i = 0; i < count(made_.data); ++i) {
      variable_desc& d = made_.variables[at(made_.data[at(i)])];
      d.kind = variable_kind::data;
      d.index = i;
    }
    made_.domains.assign(empty_program.domains, empty_program.domains + 2);
    for (int v = 0; v < count(made_.variables); ++v) made_.variables[at(v)].rows = levels_[at(v)];
  }

  program_message message_;
  std::string source_;
  const operator_registry* known_;
  // For each block, its variables by name.
  std::vector<std::map<std::string, int, std::less<>>> by_name_;
  std::map<std::int64_t, int> feed_columns_, fetch_columns_;
  std::vector<int> levels_;  // for each variable, its number of LoD levels
  // For each variable, its message; used only in the constructor.
  std::vector<const variable_message*> from_;
  program_records made_;
};

}}  // namespace lamina
