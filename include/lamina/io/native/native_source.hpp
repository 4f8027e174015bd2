// SPDX-License-Identifier: Apache-2.0
// lamina/io/native/native_source.hpp - a program that was read, as C++ source text in lamina's own
// layers.
//
// The text is made from the records of a loaded_program: what reads other formats into these has
// this writer too. An operator, with the bias and the activation that follow it, becomes the call
// of a layer by the rows of layer_calls.hpp, and layer::record where no row fits.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <lamina/core/error.hpp>
#include <lamina/io/loaded_program.hpp>
#include <lamina/io/native/cpp_text.hpp>
#include <lamina/io/native/layer_calls.hpp>
#include <lamina/program/variable_name.hpp>

namespace lamina::inline LAMINA_ABI {

/// Options of native_source.
struct native_options {
  std::string name = "net";  // of the program, in the global namespace
  std::string origin = "";   // where the program comes from; empty: its source
  std::string weights = "";  // the file of its parameters, if there is one
};

namespace detail {

/// Writes one program.
class native_writer {
 public:
  native_writer(const loaded_program& program, const native_options& options)
      : program_(program), options_(options), p_(program.view()) {
    if (options.name != identifier_of(options.name))
      throw error("lamina: native_source: expected a C++ name for the program, found '" +
                  options.name + "'");
    find_operators();
    find_torn_names();
    count_reads();
    find_rows();
  }

  std::string text() {
    for (int i = 0; i < p_.count.data; ++i) feed(p_.data[i]);
    enter_block(0);
    if (p_.count.outputs == 0)
      throw format_error(program_.source(), 0,
                         "expected fetch operators, which say what a program returns, found none");
    std::string results;
    for (int i = 0; i < p_.count.outputs; ++i)
      results += (i > 0 ? ", " : "") + handle(p_.outputs[i], 0);
    if (p_.count.outputs > 1) results = "std::tuple{" + results + "}";
    std::string made =
        "// Made from " + in_comment(options_.origin.empty() ? program_.source() : options_.origin);
    if (!options_.weights.empty())
      made += "\n// Parameters: lamina::load_safetensors(" + in_comment(quoted(options_.weights)) +
              ", model)";
    made +=
        "\n#pragma once\n\n#include <array>\n#include <cstdint>\n#include <limits>\n"
        "#include <tuple>\n\n#include <lamina/layers/layers.hpp>\n"
        "#include <lamina/program/program.hpp>\n\n";
    made += "inline constexpr auto " + options_.name +
            " = lamina::program([](lamina::block& main) {\n  namespace layer = lamina::layer;\n";
    return made + body_ + "  return " + results + ";\n});\n";
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  [[noreturn]] void fail(std::size_t k, const std::string& what) const {
    if (k >= operators_.size()) throw format_error(program_.source(), 0, what);
    throw format_error(program_.source(), offsets_[k],
                       what + " (operator " + std::to_string(k) + " of block " +
                           std::to_string(block_) + ", '" + operators_[k]->schema->type + "')");
  }

  // -- what the program is ----------------------------------------------------------------------

  // The operators of each block, and their places in the file.
  void find_operators() {
    blocks_.resize(at(p_.count.blocks));
    for (int i = 0; i < p_.count.operators; ++i) {
      all_.push_back(&p_.operators[i]);
      blocks_[at(p_.operators[i].block)].first.push_back(&p_.operators[i]);
    }
    for (std::size_t b = 0; b < blocks_.size(); ++b)
      for (const operator_message& m : program_.message().blocks[b].operators)
        if (m.type != "feed" && m.type != "fetch") blocks_[b].second.push_back(m.offset);
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      open(static_cast<int>(b));
      for (std::size_t k = 0; k < operators_.size(); ++k) require_written(k);
    }
    open(0);
  }
  void open(int block) {
    block_ = block;
    std::tie(operators_, offsets_) = blocks_[at(block)];
    offsets_.resize(operators_.size());
  }
  void require_written(std::size_t k) {
    const operator_desc& op = *operators_[k];
    const std::string_view type = op.schema->type;
    if (type.ends_with("_grad") || op.schema->kind == operator_kind::update)
      fail(k, "expected a program that infers, found an operator of training");
    if (const int inner = sub_block_of(p_, op); inner >= 0) {
      if (type != "while" && type != "conditional_block")
        fail(k, "expected a loop or a branch, found another operator with a block");
      if (!run_blocks_.insert(inner).second)
        fail(k, "expected one operator that runs block " + std::to_string(inner) +
                    ", found a second one");
    }
    constexpr std::string_view of_rows[] = {
        "split_lod_tensor",  "merge_lod_tensor",           "lod_rank_table",
        "max_sequence_len",  "lod_tensor_to_array",        "array_to_lod_tensor",
        "shrink_rnn_memory", "reorder_lod_tensor_by_rank", "last_rnn_memory"};
    for (const std::string_view t : of_rows)
      if (t == type)
        fail(k,
             "expected all rows in each operator, found those that a condition or a time step "
             "chooses");
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
  /// The variables in a slot; empty without them or without such a slot.
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

  // The names whose operators do not follow each other: two layers cannot have one generated name.
  void find_torn_names() {
    std::map<std::string, std::pair<int, std::size_t>> last;  // by name: block, operator
    for (std::size_t b = 0; b < blocks_.size(); ++b)
      for (std::size_t k = 0; k < blocks_[b].first.size(); ++k)
        each(*blocks_[b].first[k], false, [&](int v) {
          const std::string name = base_of(v);
          const std::pair<int, std::size_t> here{static_cast<int>(b), k};
          const auto [found, is_new] = last.emplace(name, here);
          if (!is_new && (found->second.first != here.first || found->second.second + 1 < k))
            torn_.insert(name);
          found->second = here;
        });
  }
  int condition_of(const operator_desc& op) const {
    const int found = input(op, "Condition");
    return found >= 0 ? found : input(op, "Cond");
  }
  void count_reads() {
    reads_.resize(at(p_.count.variables));
    writes_.resize(at(p_.count.variables));
    for (const operator_desc* op : all_) {
      if (sub_block_of(p_, *op) >= 0) {  // its own operands; what the body uses, the body counts
        const int condition = condition_of(*op);
        if (condition >= 0) ++reads_[at(condition)];
        continue;
      }
      each(*op, true, [&](int v) { ++reads_[at(v)]; });
      each(*op, false, [&](int v) { ++writes_[at(v)]; });
    }
    for (int i = 0; i < p_.count.outputs; ++i) reads_[at(p_.outputs[i])] += 2;  // never inside
  }

  std::string name_of(int v) const { return v < 0 ? "" : variable_name(p_, v); }
  /// The name of the layer that made a variable: "fc_0" of "fc_0.tmp_1".
  std::string base_of(int v) const {
    std::string name = name_of(v);
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
  /// The dimensions without that of the rows.
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

  // -- rows -------------------------------------------------------------------------------------

  /// Rows that form sequences, of one type in the source text.
  struct row_class {
    int like;               // another class with the same rows, or its own number
    int parent;             // the class of the sequences' own rows; -1: the samples
    int first;              // the first variable with them
    int feed = -1;          // the first input with them
    bool nested = false;    // of nested_sequence
    std::string text = "";  // the type, when it is known
  };

  int level_of(int v) const { return has_rows(v) ? lod_level_of(p_, p_.variables[v].rows) : 0; }
  int root(int c) {
    while (c >= 0 && classes_[at(c)].like != c) {
      int& like = classes_[at(c)].like;
      c = like = classes_[at(like)].like;
    }
    return c;
  }
  int class_of(int v) { return level_of(v) == 0 ? -1 : root(class_[at(v)]); }
  int new_class(int v, int parent) {
    const int c = static_cast<int>(classes_.size());
    classes_.push_back({c, parent, v});
    return c;
  }
  // A sequence of sequences, and so on; `levels` of them are new.
  int new_classes(int v, int levels, int parent) {
    for (int l = 0; l < levels; ++l) parent = new_class(v, parent);
    return parent;
  }

  // Which variables have the rows of which. A file does not say that two inputs have sequences of
  // the same lengths; operators that read them side by side do.
  void find_rows() {
    class_.assign(at(p_.count.variables), -1);
    for (int i = 0; i < p_.count.data; ++i) {
      const int v = p_.data[i], level = level_of(v);
      if (level > 2)
        fail(operators_.size(), "expected at most 2 levels of sequences in '" + name_of(v) + "'");
      if (level == 0) continue;
      class_[at(v)] = new_classes(v, level, -1);
      classes_[at(class_[at(v)])].feed = v;
      classes_[at(class_[at(v)])].nested = level == 2;
    }
    for (const operator_desc* op : all_) {
      if (sub_block_of(p_, *op) >= 0) continue;
      const operator_facts& facts = op->schema->facts;
      std::vector<int> inputs;
      each(*op, true, [&](int v) { inputs.push_back(v); });
      std::map<int, int> first;  // by level
      for (const int v : inputs) {
        if (facts.accepts_any_rows || facts.made_levels > 0 || level_of(v) == 0) continue;
        const int like = first.emplace(level_of(v), v).first->second;
        if (class_of(like) != class_of(v)) join(class_of(v), class_of(like));
      }
      std::map<int, int> made;  // by level
      each(*op, false, [&](int v) {
        const int level = level_of(v);
        if (level == 0 || class_[at(v)] >= 0) return;
        const auto [found, is_new] = made.emplace(level, -1);
        if (is_new) found->second = rows_of_result(*op, v, level, inputs);
        class_[at(v)] = found->second;
      });
    }
  }
  void join(int a, int b) {
    if (classes_[at(b)].first > classes_[at(a)].first && classes_[at(a)].feed >= 0) std::swap(a, b);
    if (classes_[at(b)].feed < 0) std::swap(a, b);
    classes_[at(a)].like = b;
    const int pa = root(classes_[at(a)].parent), pb = root(classes_[at(b)].parent);
    if (pa >= 0 && pb >= 0 && pa != pb) join(pa, pb);
  }
  int rows_of_result(const operator_desc& op, int v, int level, const std::vector<int>& inputs) {
    const operator_facts& facts = op.schema->facts;
    const int second = inputs.size() > 1 ? inputs[1] : -1;
    if (op.schema->type == std::string_view("sequence_expand") && second >= 0) {
      int copies = class_of(second);
      const double asked = number(op, "ref_level");
      for (int l = level_of(second) - 1; asked >= 0 && l > asked; --l)
        copies = root(classes_[at(copies)].parent);
      int depth = 0;
      for (int c = copies; c >= 0; c = root(classes_[at(c)].parent)) ++depth;
      return depth == level ? copies : new_class(v, copies);
    }
    if (facts.origin == row_origin::second_operand && second >= 0 && level_of(second) == level)
      return class_of(second);
    int same = -1, above = -1, below = -1;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if ((facts.apart_inputs >> i & 1) != 0) continue;
      const int l = level_of(inputs[i]);
      if (l == level && same < 0) same = class_of(inputs[i]);
      if (l == level + 1 && above < 0) above = root(classes_[at(class_of(inputs[i]))].parent);
      if (l == level - 1 && below < 0) below = class_of(inputs[i]);
    }
    if (facts.made_levels > 0) {
      if (facts.made_levels >= level) return new_classes(v, level, -1);
      return new_class(v, below >= 0 ? below : same >= 0 ? root(classes_[at(same)].parent) : -1);
    }
    if (same >= 0) return same;
    return above >= 0 ? above : new_classes(v, level, -1);
  }
  std::string rows_text(int c) {
    row_class& r = classes_[at(c)];
    if (!r.text.empty()) return r.text;
    if (r.nested) {
      r.text = "lamina::nested_tokens<" + quoted(name_of(r.feed)) + ">";
      const int parent = root(r.parent);
      if (parent >= 0) classes_[at(parent)].text = r.text + "::parent";
      return r.text;
    }
    for (const row_class& other : classes_)  // the rows of samples of a nested input
      if (other.nested && root(other.parent) == c)
        return r.text = "lamina::nested_tokens<" + quoted(name_of(other.feed)) + ">::parent";
    const int parent = root(r.parent);
    const std::string name = r.feed >= 0 ? name_of(r.feed) : base_of(r.first);
    std::string wanted = name;
    for (int i = 2; r.feed < 0 && !row_names_.insert(wanted).second; ++i)
      wanted = name + "_" + std::to_string(i);
    return r.text = "lamina::tokens<" + quoted(wanted) +
                    (parent >= 0 ? ", " + rows_text(parent) : "") + ">";
  }
  std::string rows(int v) {
    if (!has_rows(v)) return "lamina::once";
    return level_of(v) == 0 ? "lamina::batch" : rows_text(class_of(v));
  }
  std::string handle_type(std::size_t k, int v) {
    if (!is_known(v))
      fail(k, "expected known dimensions behind the first of '" + name_of(v) + "', found " +
                  std::string(lamina::text().list(dims_of(v))));
    std::string made =
        std::string("lamina::variable<") + cpp_type(p_.variables[v].type) + ", " + rows(v);
    for (const int d : inner(v)) made += ", " + std::to_string(d);
    return made + ">";
  }

  // -- names ------------------------------------------------------------------------------------

  std::string new_identifier(int v) {
    const std::string wanted = identifier_of(base_of(v));
    std::string made = wanted;
    int& next = numbers_of_[wanted];
    while (!identifiers_.insert(made).second)
      made =
          wanted + (wanted.back() == '_' ? "" : "_") + std::to_string(next < 2 ? next = 2 : ++next);
    made_handles_.push_back(v);
    return handles_[v] = made;
  }
  /// A counter of names that a try may change.
  int& counter(std::map<std::string, int>& of, const std::string& name) {
    int& found = of[name];
    counted_.emplace_back(&found, found);
    return found;
  }
  /// The C++ name of a variable that a statement before made, or of a parameter.
  std::string handle(int v, std::size_t k) {
    if (const auto found = handles_.find(v); found != handles_.end()) return found->second;
    if (v < 0) fail(k, "expected a variable in each slot, found none");
    if (!is_parameter(v))
      fail(k, "expected a variable that an operator computes, found '" + name_of(v) + "'");
    const dtype type = p_.variables[v].type;
    if ((type != dtype::float32 && type != dtype::float64) || !is_known(v) || has_rows(v))
      fail(k,
           "expected a parameter of real numbers and known dimensions, found '" + name_of(v) + "'");
    ++counter(keys_, "create_parameter");
    std::string call = std::string("create_parameter<") + cpp_type(type);
    for (const int d : dims_of(v)) call += ", " + std::to_string(d);
    const std::string made = new_identifier(v);
    line("auto " + made + " = layer::" + call + ">(" + here_ + ", {.name = " + quoted(name_of(v)) +
         "});");
    return made;
  }
  void line(const std::string& statement) { body_ += wrapped(statement, indent_); }

  /// Whether a layer gets this name by itself.
  bool is_generated(const std::string& key, const std::string& name) const {
    if (torn_.count(name) != 0) return false;
    const auto count = keys_.find(key);
    return name == key + "_" + std::to_string(count == keys_.end() ? 0 : count->second);
  }
  /// The name of a parameter as an option of its layer; empty where that is what the layer calls
  /// it.
  std::string parameter_name(const std::string& base, const std::string& suffix, int v) {
    int& next = counter(numbers_, base + suffix);
    if (name_of(v) == base + suffix + std::to_string(next)) return ++next, std::string();
    return quoted(name_of(v));
  }

  // -- attributes -------------------------------------------------------------------------------

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
    if (a.type == attribute_type::string) return string(op, i) == a.text;
    if (is_list(a.type)) return op.attributes < 0 || value(op, i).count == 0;
    const double found = value(op, i).number;
    return found == a.number || float(found) == float(a.number);
  }
  std::string literal(const operator_desc& op, int i) const {
    const attribute_desc& a = op.schema->attributes[i];
    const attribute_value v = value(op, i);
    if (a.type == attribute_type::string) return quoted(string(op, i));
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

  // -- calls ------------------------------------------------------------------------------------

  /// The operators that one layer records, from operator `k` to before `end`.
  struct layer_text {
    std::string function, arguments, key, base;
    std::vector<std::string> templates, options;
    std::vector<int> results;
    std::size_t end = 0;
  };

  static std::vector<std::string> split(std::string_view list) {
    std::vector<std::string> items;
    while (!list.empty()) {
      const std::size_t end = list.find(',');
      std::string_view item = list.substr(0, end);
      while (item.starts_with(' ')) item.remove_prefix(1);
      while (item.ends_with(' ')) item.remove_suffix(1);
      if (!item.empty()) items.emplace_back(item);
      if (end == std::string_view::npos) break;
      list.remove_prefix(end + 1);
    }
    return items;
  }

  /// Writes one layer, or one operator by layer::record; returns the next operator.
  std::size_t statement(std::size_t k) {
    const operator_desc& op = *operators_[k];
    if (sub_block_of(p_, op) >= 0) return run_block(k), k + 1;
    if (op.schema->type == std::string_view("write_to_array")) {
      const int x = input(op, "X"), i = input(op, "I"), array = output(op, "Out");
      const std::string value = handle(x, k), place = handle(i, k);
      line("layer::array_write(" + value + ", " + place + ", " + handle(array, k) + ");");
      return k + 1;
    }
    for (const layer_call& row : layer_calls) {
      if (row.type != operators_[k]->schema->type) continue;
      // What is tried leaves no trace if it does not fit.
      const std::size_t body = body_.size();
      made_handles_.clear();
      counted_.clear();
      layer_text made;
      made.end = k + 1;
      if (call(k, row.call, made)) {
        finish(made);
        return made.end;
      }
      body_.resize(body);
      for (const int v : made_handles_) {
        identifiers_.erase(handles_.at(v));
        handles_.erase(v);
      }
      while (!counted_.empty()) {
        *counted_.back().first = counted_.back().second;
        counted_.pop_back();
      }
    }
    record(k);
    return k + 1;
  }

  /// Writes the operators of a block.
  void enter_block(int block) {
    open(block);
    for (int v = 0; v < p_.count.variables; ++v) {
      if (p_.variables[v].kind != variable_kind::tensor_array || p_.variables[v].block != block ||
          writes_[at(v)] == 0)
        continue;
      const std::string item = handle_type(operators_.size(), v);
      const std::string made = new_identifier(v);
      line("auto " + made + " = layer::create_array<" + item + ">(" + here_ +
           ", {.name = " + quoted(base_of(v)) + "});");
    }
    for (std::size_t k = 0; k < operators_.size();) k = statement(k);
  }
  /// Writes a loop or a branch.
  void run_block(std::size_t k) {
    const operator_desc& op = *operators_[k];
    const int inner = sub_block_of(p_, op), outer = block_;
    // What the body alone computes, and what follows reads.
    for (const operator_desc* within : all_) {
      if (!is_inside(p_, within->block, inner)) continue;
      each(*within, false, [&](int v) {
        const variable_desc& d = p_.variables[v];
        if (is_inside(p_, d.block, inner) || handles_.count(v) != 0 || is_parameter(v) ||
            d.kind == variable_kind::step_scopes)
          return;
        const std::string type = handle_type(k, v);
        line("auto " + new_identifier(v) + " = layer::declare<" + type + ">(" + here_ + ", " +
             quoted(base_of(v)) + ");");
      });
    }
    const bool loop = op.schema->type == std::string_view("while");
    const bool flag =
        op.schema->attribute_count > 1 && op.attributes >= 0 && value(op, 1).number != 0;
    const int scopes = output(op, loop ? "StepScopes" : "Scope");
    const std::string condition = handle(condition_of(op), k), here = here_;
    const std::string body = "body_" + std::to_string(inner);
    line(std::string("layer::record_block<lamina::") +
         (loop ? "while_block" : "conditional_block") + ">(" + here_ + ", " +
         quoted(scopes < 0 ? "" : base_of(scopes)) + ", " + condition + ", " +
         (flag ? "true" : "false") + ", [&](lamina::block& " + body + ") {");
    const std::map<int, std::string> visible = handles_;
    here_ = body;
    indent_ += 2;
    enter_block(inner);
    indent_ -= 2;
    here_ = here;
    handles_ = visible;
    open(outer);
    line("});");
  }

  void finish(layer_text& made) {
    std::erase(made.options, "&act");
    if (is_generated(made.key, made.base))
      ++counter(keys_, made.key);
    else
      made.options.push_back(".name = " + quoted(made.base));
    while (!made.templates.empty() && made.templates.back().empty()) made.templates.pop_back();
    std::string text = "layer::" + made.function;
    for (std::size_t i = 0; i < made.templates.size(); ++i)
      text += (i == 0 ? "<" : ", ") + made.templates[i];
    if (!made.templates.empty()) text += ">";
    text += "(" + made.arguments;
    for (std::size_t i = 0; i < made.options.size(); ++i)
      text += (i == 0 ? ", {" : ", ") + made.options[i];
    text += made.options.empty() ? ");" : "});";
    assign(made.results, text);
  }

  /// A statement that names the results of a call. Structured bindings, which clang 14 cannot
  /// capture in the lambda of a body, are for programs without bodies.
  void assign(const std::vector<int>& results, const std::string& call) {
    bool read = false;
    for (const int v : results) read = read || reads_[at(v)] > 0;
    std::string left;
    std::vector<std::string> names;
    for (const int v : results) {
      names.push_back(new_identifier(v));
      left += (left.empty() ? "" : ", ") + names.back();
    }
    if (!read) return line(call);
    if (results.size() == 1) return line("auto " + left + " = " + call);
    if (p_.count.blocks == 1) return line("auto [" + left + "] = " + call);
    std::string all = names[0] + "_all";
    while (!identifiers_.insert(all).second) all += "_";
    line("auto " + all + " = " + call);
    for (std::size_t i = 0; i < names.size(); ++i)
      line("auto " + names[i] + " = std::get<" + std::to_string(i) + ">(" + all + ");");
  }

  /// Makes the call that a row of layer_calls.hpp describes; false if the operator does not fit.
  bool call(std::size_t k, std::string_view row, layer_text& made) {
    const operator_desc& op = *operators_[k];
    const std::size_t open = row.find('('), close = row.find(')');
    std::string_view head = row.substr(0, open), arguments = row.substr(open + 1, close - open - 1),
                     tail = row.substr(close + 1), templates, options;
    if (const std::size_t angle = head.find('<'); angle != std::string_view::npos) {
      templates = head.substr(angle + 1, head.size() - angle - 2);
      head = head.substr(0, angle);
    }
    if (const std::size_t semicolon = arguments.find(';'); semicolon != std::string_view::npos) {
      options = arguments.substr(semicolon + 1);
      arguments = arguments.substr(0, semicolon);
    }
    made.function = head;
    made.key = op.schema->type;
    std::string finishing;
    std::vector<std::string> results;
    if (const std::size_t key = tail.find("key "); key != std::string_view::npos) {
      made.key = tail.substr(key + 4);
      tail = tail.substr(0, key);
    }
    if (const std::size_t plus = tail.find('+'); plus != std::string_view::npos) {
      finishing = split(tail.substr(plus + 1)).at(0);
      tail = tail.substr(0, plus);
    }
    if (const std::size_t arrow = tail.find("->"); arrow != std::string_view::npos)
      results = split(tail.substr(arrow + 2));
    if (results.empty()) results.emplace_back(op.schema->outputs[0].name);

    used_slots_.clear();
    used_attributes_.clear();
    for (const std::string& slot : results) {
      made.results.push_back(output(op, slot));
      if (made.results.back() < 0 || handles_.count(made.results.back()) != 0) return false;
    }
    made.base = base_of(made.results[0]);
    if (made.function == "$pool2d" && !pool(op, made)) return false;
    const bool is_fc = finishing == "$flatten" && fc(k, made);
    if (!is_fc) {
      if (finishing == "$flatten") made.key = "mul";
      for (const std::string& item : split(templates))
        if (!template_argument(op, item, made)) return false;
      for (const std::string& item : split(arguments))
        if (!argument(k, item, made)) return false;
      for (const std::string& item : split(options))
        if (!option(op, item, made)) return false;
      if (!is_complete(op, made)) return false;
    }
    if (finishing == "1") return fuse(made, 1, true);
    if (finishing == "$act") return fuse(made, 0, false);
    if (is_fc)
      return fuse(made, made.templates.at(1).empty() ? 1 : std::stoi(made.templates[1]), true);
    return true;
  }

  // Slots and attributes that the row does not name are empty or have their defaults, and results
  // that the function does not return are not read.
  bool is_complete(const operator_desc& op, const layer_text& made) const {
    for (int s = 0; s < op.schema->input_count; ++s)
      if (used_slots_.count(op.schema->inputs[s].name) == 0 &&
          !in_slot(op, op.schema->inputs[s].name, true).empty())
        return false;
    for (int i = 0; i < op.schema->attribute_count; ++i)
      if (used_attributes_.count(op.schema->attributes[i].name) == 0 && !is_default(op, i))
        return false;
    bool fits = true;
    each(op, false, [&](int v) {
      for (const int r : made.results)
        if (r == v) return;
      // A statistic that is updated in place is read by the operator itself.
      if (is_parameter(v)) return;
      fits = fits && reads_[at(v)] == 0;
    });
    return fits;
  }

  bool template_argument(const operator_desc& op, const std::string& item, layer_text& made) {
    if (item[0] == '$') return computed(op, item.substr(1), made);
    if (item.ends_with("...")) {
      const std::string name = item.substr(0, item.size() - 3);
      used_attributes_.insert(name);
      for (const int i : list(op, name)) made.templates.push_back(std::to_string(i));
      return true;
    }
    const std::size_t equals = item.find('=');
    const std::string name = item.substr(0, equals);
    const int i = attribute(op, name);
    if (i < 0) return false;
    used_attributes_.insert(name);
    const std::string text = literal(op, i);
    made.templates.push_back(equals != std::string::npos && text == item.substr(equals + 1) ? ""
                                                                                            : text);
    if (!made.templates.back().empty())  // those before it must stand there too
      for (std::size_t n = 0; n + 1 < made.templates.size(); ++n)
        if (made.templates[n].empty()) made.templates[n] = defaults_.at(n);
    defaults_.resize(made.templates.size());
    defaults_.back() = equals == std::string::npos ? text : item.substr(equals + 1);
    return true;
  }

  static std::string pair(const std::vector<int>& two) {
    return two[0] == two[1] ? std::to_string(two[0])
                            : "{" + std::to_string(two[0]) + ", " + std::to_string(two[1]) + "}";
  }
  static std::string extent2_text(const std::vector<int>& two) {
    return two[0] == two[1] ? pair(two) : "lamina::extent2" + pair(two);
  }
  // A window, of lists with two numbers each; false for other lists.
  bool window(const operator_desc& op, bool ceil_mode, std::string& text) const {
    std::string inside;
    const std::pair<const char*, const char*> members[] = {
        {"strides", "stride"}, {"paddings", "padding"}, {"dilations", "dilation"}};
    for (const auto& [attribute, member] : members) {
      const std::vector<int> two = list(op, attribute);
      const int usual = attribute == std::string_view("paddings") ? 0 : 1;
      if (two.empty() || two == std::vector{usual, usual}) continue;
      if (two.size() != 2) return false;
      inside += (inside.empty() ? "." : ", .") + std::string(member) + " = " + pair(two);
    }
    if (const double groups = number(op, "groups"); groups > 1)
      inside += (inside.empty() ? "." : ", .") + ("groups = " + number_text(groups));
    if (ceil_mode) inside += inside.empty() ? ".ceil_mode = true" : ", .ceil_mode = true";
    text = inside.empty() ? "" : "lamina::window{" + inside + "}";
    return true;
  }
  bool pool(const operator_desc& op, layer_text& made) {
    const bool all = number(op, "global_pooling") != 0, adaptive = number(op, "adaptive") != 0;
    const std::vector<int> size = list(op, "ksize");
    std::string text;
    if (size.size() != 2 || !window(op, number(op, "ceil_mode") != 0, text)) return false;
    made.key = adaptive ? "adaptive_pool2d" : "pool2d";
    made.function = all ? "global_pool2d" : adaptive ? "adaptive_pool2d" : "pool2d";
    if (all && adaptive) return false;
    if (!all) made.templates.push_back(extent2_text(size));
    if (!all && !adaptive) made.templates.push_back(text);
    return true;
  }

  bool computed(const operator_desc& op, const std::string& item, layer_text& made) {
    const int result = made.results[0];
    const auto parameter_dim = [&](std::size_t offset, std::size_t d) {
      const int v = input(op, item.substr(offset));
      const std::vector<int> dims = is_parameter(v) ? dims_of(v) : std::vector<int>();
      if (dims.size() != 2) return false;
      made.templates.push_back(std::to_string(dims[d]));
      return true;
    };
    if (item.starts_with("rows ")) {
      const int v = input(op, item.substr(5));
      return v >= 0 && p_.variables[v].type == dtype::float32 && parameter_dim(5, 0);
    }
    if (item.starts_with("columns ")) return parameter_dim(8, 1);
    if (item == "type") {
      made.templates.push_back(cpp_type(p_.variables[result].type));
      return true;
    }
    if (item == "dims") {
      if (!is_known(result)) return false;
      const int x = input(op, "X");
      if (x >= 0 && (has_rows(x) != has_rows(result) || !is_known(x))) return false;
      std::int64_t from = 1, to = 1;
      if (x >= 0)
        for (const int d : inner(x)) from *= d;
      for (const int d : inner(result)) {
        to *= d;
        made.templates.push_back(std::to_string(d));
      }
      return x >= 0 ? from == to : !has_rows(result);
    }
    if (item == "reduced") {
      if (number(op, "reduce_all") != 0) return true;
      for (const int d : list(op, "dim")) made.templates.push_back(std::to_string(d));
      return !made.templates.empty();
    }
    if (item == "matmul") {
      std::string form;
      if (number(op, "transpose_X") != 0) form = ".transpose_x = true";
      if (number(op, "transpose_Y") != 0)
        form += form.empty() ? ".transpose_y = true" : ", .transpose_y = true";
      if (!form.empty()) made.templates.push_back("layer::matmul_form{" + form + "}");
      return true;
    }
    if (item == "filters" || item == "size") {
      const int filter = input(op, "Filter");
      const std::vector<int> dims = is_parameter(filter) ? dims_of(filter) : std::vector<int>();
      if (dims.size() != 4) return false;
      made.templates.push_back(item == "size" ? extent2_text({dims[2], dims[3]})
                                              : std::to_string(dims[0]));
      return true;
    }
    if (item == "window") {
      std::string text;
      if (!window(op, false, text)) return false;
      made.templates.push_back(text);
      // conv2d chooses between two operators by the channels of the image
      const std::vector<int> channels = dims_of(input(op, "Input"));
      const double groups = number(op, "groups");
      const bool depthwise = channels.size() == 4 && groups == channels[1] && groups > 1;
      return channels.size() == 4 && depthwise == (made.key == "depthwise_conv2d");
    }
    return false;
  }

  bool argument(std::size_t k, const std::string& item, layer_text& made) {
    const operator_desc& op = *operators_[k];
    std::string text;
    if (item == "$main") {
      text = here_;
    } else if (std::isupper(static_cast<unsigned char>(item[0])) != 0) {
      const bool all = item.back() == '*', braces = item.back() == '}';
      const std::string slot = item.substr(0, item.size() - (all ? 1 : braces ? 2 : 0));
      const std::vector<int> variables = in_slot(op, slot, true);
      if (variables.empty()) return false;
      used_slots_.insert(slot);
      for (const int v : variables) text += (text.empty() ? "" : ", ") + handle(v, k);
      for (const int v : variables)
        if (braces && handle_type(k, v) != handle_type(k, variables[0])) return false;
      if (all) text = "std::tuple{" + text + "}";
      if (braces) text = "{" + text + "}";
    } else {
      const int i = attribute(op, item);
      if (i < 0) return false;
      used_attributes_.insert(item);
      text = literal(op, i);
    }
    made.arguments += (made.arguments.empty() ? "" : ", ") + text;
    return true;
  }

  bool option(const operator_desc& op, const std::string& item, layer_text& made) {
    if (item[0] == '~') return used_attributes_.insert(item.substr(1)), true;
    if (item == "&act") return made.options.push_back(item), true;
    if (const std::size_t mark = item.find('@'); mark != std::string::npos) {
      const std::size_t dot = item.find('.');
      const std::string slot = item.substr(mark + 1, dot - mark - 1), own = item.substr(0, mark);
      used_slots_.insert(slot);
      const int v = input(op, slot);
      if (v < 0) return true;
      if (!is_parameter(v) || handles_.count(v) != 0) return false;
      const std::string name = parameter_name(made.base, "." + item.substr(dot + 1) + "_", v);
      if (!name.empty())
        made.options.push_back(
            "." + own + (own.ends_with("_name") ? " = " + name : " = {.name = " + name + "}"));
      return true;
    }
    if (const std::size_t mark = item.find('?'); mark != std::string::npos) {
      const std::string slot = item.substr(mark + 1);
      used_slots_.insert(slot);
      if (input(op, slot) < 0) made.options.push_back("." + item.substr(0, mark) + " = false");
      return true;
    }
    const std::size_t equals = item.find('='), colon = item.find(':');
    const std::string own = item.substr(0, colon != std::string::npos ? colon : equals);
    std::string name =
        colon == std::string::npos ? own : item.substr(colon + 1, equals - colon - 1);
    const bool enumerated = name[0] == '$';
    if (enumerated) name = name.substr(1);
    const int i = attribute(op, name);
    if (i < 0) return false;
    used_attributes_.insert(name);
    const std::string usual = equals == std::string::npos ? "" : item.substr(equals + 1);
    if (enumerated) {
      if (string(op, i) == usual) return true;
      const std::string text = enumerator(name, string(op, i));
      if (text.empty()) return false;
      made.options.push_back("." + own + " = " + text);
      return true;
    }
    const double found = value(op, i).number;
    if (!usual.empty() && float(found) == float(std::stod(usual))) return true;
    made.options.push_back("." + own + " = " + literal(op, i));
    return true;
  }
  static std::string enumerator(std::string_view attribute, std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const auto one_of = [&](auto... words) { return ((text == words) || ...); };
    if (attribute == "pooling_type" || attribute == "pooltype") {
      if (text == "avg") text = "average";
      if (one_of("average", "max", "sum", "sqrt", "last", "first"))
        return "lamina::pooling_type::" + text;
    } else if (attribute == "dropout_implementation") {
      if (one_of("upscale_in_train", "downgrade_in_infer"))
        return "lamina::dropout_implementation::" + text;
    } else if (one_of("identity", "sigmoid", "tanh", "relu")) {
      return "lamina::recurrent_activation::" + text;
    }
    return {};
  }

  // -- layers of several operators --------------------------------------------------------------

  /// fc of one input, or of several whose products are added up.
  bool fc(std::size_t k, layer_text& made) {
    const auto weight_of = [&](std::size_t i) {
      if (i >= operators_.size() || operators_[i]->schema->type != std::string_view("mul"))
        return -1;
      const int w = input(*operators_[i], "Y");
      return is_parameter(w) && handles_.count(w) == 0 && dims_of(w).size() == 2 &&
                     number(*operators_[i], "y_num_col_dims") == 1
                 ? w
                 : -1;
    };
    const int w = weight_of(k);
    if (w < 0) return false;
    if (input(*operators_[k], "X") < 0) return false;
    const int size = dims_of(w)[1],
              flatten = static_cast<int>(number(*operators_[k], "x_num_col_dims"));
    std::size_t n = 1;
    for (; weight_of(k + n) >= 0 && dims_of(weight_of(k + n))[1] == size &&
           number(*operators_[k + n], "x_num_col_dims") == flatten &&
           base_of(output(*operators_[k + n], "Out")) == made.base;)
      ++n;
    if (n > 1) {  // only if a sum of exactly these follows
      bool sums =
          k + n < operators_.size() && operators_[k + n]->schema->type == std::string_view("sum");
      const std::vector<int> added =
          sums ? in_slot(*operators_[k + n], "X", true) : std::vector<int>();
      sums = sums && added.size() == n;
      for (std::size_t i = 0; i < n && sums; ++i)
        sums = added[i] == output(*operators_[k + i], "Out") && reads_[at(added[i])] == 1;
      if (!sums) n = 1;
    }
    std::string parameter;
    bool shared = n > 1;
    for (std::size_t i = 1; i < n; ++i) shared = shared && weight_of(k + i) == w;
    for (std::size_t i = 0; i < n; ++i) {
      const std::string name =
          shared ? quoted(name_of(w)) : parameter_name(made.base, ".w_", weight_of(k + i));
      if (n > 1 && !shared && !name.empty()) return false;  // they would be one parameter
      parameter = name;
      made.arguments += (i > 0 ? ", " : "") + handle(input(*operators_[k + i], "X"), k);
    }
    if (n > 1) {
      made.arguments = "std::tuple{" + made.arguments + "}";
      made.end = k + n + 1;
      made.results = {output(*operators_[k + n], "Out")};
    }
    made.function = "fc";
    made.key = "fc";
    made.templates = {std::to_string(size), flatten == 1 ? "" : std::to_string(flatten)};
    if (!parameter.empty()) made.options.push_back(".param = {.name = " + parameter + "}");
    return true;
  }

  /// Takes the bias along dimension `axis` and the activation that follow into the layer.
  bool fuse(layer_text& made, int axis, bool has_bias) {
    const auto follows = [&](int v) {  // the next operator alone reads the result
      if (made.end >= operators_.size() || reads_[at(v)] != 1 || writes_[at(v)] != 1) return false;
      const operator_desc& next = *operators_[made.end];
      const int x = input(next, "X");
      return x == v && output(next, "Out") >= 0 && base_of(output(next, "Out")) == made.base &&
             handles_.count(output(next, "Out")) == 0;
    };
    int& result = made.results[0];
    bool added = false;
    if (has_bias && follows(result)) {
      const operator_desc& next = *operators_[made.end];
      const int b = input(next, "Y");
      const bool adds = next.schema->type == std::string_view("elementwise_add") &&
                        is_parameter(b) && dims_of(b).size() == 1 && handles_.count(b) == 0 &&
                        number(next, "axis") == axis;
      if (adds) {
        const std::string name = parameter_name(made.base, ".b_", b);
        if (!name.empty()) made.options.push_back(".bias_param = {.name = " + name + "}");
        result = output(next, "Out");
        ++made.end;
        added = true;
      }
    }
    if (has_bias && !added) made.options.push_back(".bias = false");
    if (follows(result)) {
      const operator_desc& next = *operators_[made.end];
      constexpr std::string_view acts[] = {"relu",
                                           "tanh",
                                           "sigmoid",
                                           "logsigmoid",
                                           "softplus",
                                           "softsign",
                                           "tanh_shrink",
                                           "exp",
                                           "log",
                                           "sqrt",
                                           "rsqrt",
                                           "abs",
                                           "ceil",
                                           "floor",
                                           "round",
                                           "sin",
                                           "cos",
                                           "asin",
                                           "acos",
                                           "atan",
                                           "reciprocal",
                                           "square",
                                           "gelu",
                                           "selu",
                                           "leaky_relu",
                                           "elu",
                                           "relu6",
                                           "brelu",
                                           "soft_relu",
                                           "stanh",
                                           "hard_sigmoid",
                                           "swish",
                                           "hard_swish",
                                           "pow",
                                           "hard_shrink",
                                           "softshrink",
                                           "thresholded_relu",
                                           "softmax"};
      bool defaults = true;
      for (int i = 0; i < next.schema->attribute_count; ++i)
        defaults = defaults && is_default(next, i);
      for (const std::string_view act : acts) {
        if (act != next.schema->type || !defaults) continue;
        const std::string option = ".act = lamina::activation::" + std::string(act);
        const auto place = std::find(made.options.begin(), made.options.end(), "&act");
        if (place != made.options.end())
          *place = option;
        else
          made.options.insert(made.options.begin(), option);
        result = output(next, "Out");
        ++made.end;
        break;
      }
    }
    return true;
  }

  // -- any operator -----------------------------------------------------------------------------

  void record(std::size_t k) {
    const operator_desc& op = *operators_[k];
    const std::string_view type = op.schema->type;
    std::string text =
        "layer::record<lamina::" + std::string(type == "clip_by_norm" ? "clip_to_norm" : type) +
        ">(" + here_ + ", ";
    if (type == "lookup_table_v2" || type == "flatten_contiguous_range" || type == "read_minibatch")
      fail(k, "expected an operator that layer::record takes, found another");
    std::string base;
    each(op, false, [&](int v) {
      if (base.empty()) base = base_of(v);
    });
    text += quoted(base);
    for (int s = 0; s < op.schema->input_count; ++s) {
      const std::vector<int> variables = in_slot(op, op.schema->inputs[s].name, true);
      if (variables.empty()) continue;
      text += ", layer::in(" + quoted(op.schema->inputs[s].name);
      for (const int v : variables) text += ", " + handle(v, k);
      text += ")";
    }
    for (int i = 0; i < op.schema->attribute_count; ++i) {
      if (is_default(op, i)) continue;
      const attribute_type t = op.schema->attributes[i].type;
      if (t == attribute_type::strings || t == attribute_type::block)
        fail(k, "expected attributes of numbers and texts, found '" +
                    std::string(op.schema->attributes[i].name) + "'");
      const std::string value = literal(op, i);
      text += ", layer::set(" + quoted(op.schema->attributes[i].name) + ", " +
              (is_list(t) ? "std::array{" + value + "}" : value) + ")";
    }
    std::vector<int> made;
    for (int s = 0; s < op.schema->output_count; ++s) {
      const slot_desc& slot = op.schema->outputs[s];
      const std::vector<int> variables = in_slot(op, slot.name, false);
      if (variables.empty()) continue;
      std::string types, targets;
      bool known = true;
      for (const int v : variables) known = known && (is_known(v) || reads_[at(v)] > 0);
      if (!known) continue;  // nothing reads it, and only its gradient would need its shape
      for (const int v : variables) {
        if (is_parameter(v) || handles_.count(v) != 0) {
          targets += ", " + handle(v, k);
          continue;
        }
        types += (types.empty() ? "" : ", ") + handle_type(k, v);
        made.push_back(v);
      }
      if (!types.empty() && !targets.empty())
        fail(k,
             "expected new variables in slot '" + std::string(slot.name) + "', found old ones too");
      text += targets.empty() ? ", layer::out<" + types + ">(" + quoted(slot.name) + ")"
                              : ", layer::into(" + quoted(slot.name) + targets + ")";
    }
    assign(made, text + ");");
  }

  void feed(int v) {
    const std::size_t none = operators_.size();
    const std::string name = name_of(v), type = cpp_type(p_.variables[v].type);
    if (!has_rows(v) || !is_known(v) || inner(v).empty())
      fail(none, "expected -1 and known dimensions of the input '" + name + "', found " +
                     std::string(lamina::text().list(dims_of(v))));
    const int level = level_of(v);
    std::string inside;
    const std::vector<int> dims = inner(v);
    if (dims.size() != 1 || dims[0] != 1)
      for (const int d : dims) inside += ", " + std::to_string(d);
    std::string function = level == 0 ? "data" : level == 1 ? "sequence" : "nested_sequence";
    std::string from = "main";
    if (level > 0) {
      const int first = classes_[at(class_of(v))].feed;
      if (first != v) {
        if (level > 1)
          fail(none, "expected one input with nested sequences of these lengths, found '" + name +
                         "' too");
        from = handles_.at(first);
      } else {
        row_names_.insert(name);
      }
    }
    const std::string made = new_identifier(v);
    line("auto " + made + " = layer::" + function + "<" + quoted(name) + ", " + type + inside +
         ">(" + from + ");");
  }

  const loaded_program& program_;
  const native_options& options_;
  program_view p_;
  std::vector<const operator_desc*> all_;  // operators
  std::vector<std::pair<std::vector<const operator_desc*>, std::vector<std::uint64_t>>> blocks_;
  std::set<int> run_blocks_;
  std::set<std::string> torn_;                   // names of layers in several places
  int block_ = 0;                                // the one that is written
  std::vector<const operator_desc*> operators_;  // of this block
  std::vector<std::uint64_t> offsets_;           // by operator: its place in the file
  std::string here_ = "main";                    // the block in the text
  std::size_t indent_ = 2;
  std::vector<int> reads_, writes_;  // by variable
  std::vector<int> class_;           // by variable: its rows, -1 without sequences
  std::vector<row_class> classes_;
  std::set<std::string> row_names_;
  std::map<int, std::string> handles_;  // by variable: its C++ name
  std::set<std::string> identifiers_;
  std::map<std::string, int> keys_;        // by kind of layer: the number of the next name
  std::map<std::string, int> numbers_;     // by layer and suffix: the number of the next parameter
  std::map<std::string, int> numbers_of_;  // by C++ name: the last number behind it
  std::vector<int> made_handles_;          // variables that the current statement named
  std::vector<std::pair<int*, int>> counted_;  // counters that it changed, and what they were
  std::set<std::string, std::less<>> used_slots_, used_attributes_;
  std::vector<std::string> defaults_;
  std::string body_;
};

}  // namespace detail

/// A program that was read, as the text of a C++ header: `inline constexpr auto net =
/// lamina::program(...)` in calls of layers, which records the same operators, layers and
/// parameters under the same names. Throws format_error, with the offset of the operator in the
/// file, for what is not written yet: loops and branches, programs of training, inputs without
/// rows, and dimensions that the file does not tell.
inline std::string native_source(const loaded_program& program,
                                 const native_options& options = {}) {
  return detail::native_writer(program, options).text();
}

}  // namespace lamina::inline LAMINA_ABI
