// SPDX-License-Identifier: Apache-2.0
// lamina/codegen/native_source.hpp - writes a program that was read from a file as C++ source text
// that calls lamina's layers.
//
// An operator, with the bias and the activation that follow it, becomes a call of a layer, as a row
// of layer_calls.hpp describes. If no row fits, the operator becomes a call of layer::record. Loops
// and branches become layer::record_block; gradients and updates become calls of minimize. The
// input of the writer is a loaded_program, so programs in another format need only a reader that
// returns a loaded_program.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/codegen/cpp_text.hpp>
#include <lamina/codegen/layer_calls.hpp>
#include <lamina/codegen/native_calls.hpp>
#include <lamina/codegen/native_repeats.hpp>
#include <lamina/codegen/own_training.hpp>
#include <lamina/core/files/paths.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/io/loaded_program.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Options of native_source.
struct native_options {
  std::string name = "net";  // the name of the program, in the global namespace
  // Where the program comes from, for a comment; if empty, the name of its file.
  std::string origin = "";
  std::string weights = "";  // the file of its parameters, if there is one
  // The values of persistable variables. Constants, and the learning rate of a training program in
  // Fluid's form, are among them.
  const scope* values = nullptr;
  // Variables whose layers get generated names, which the text does not contain. If the name of
  // such a variable is that of a node, as in "/encoder/MatMul_output_0", a comment has it.
  std::set<std::string> unnamed{};
  // Whether layers have the names of the file. Otherwise only those of outputs have names: an
  // evaluator keeps the activations of layers with names, and reuses the memory of all others.
  bool names_layers = true;
};

namespace detail {

/// Writes one program.
class native_writer : native_calls {
 public:
  native_writer(const loaded_program& program, const native_options& options)
      : native_calls(program), options_(options) {
    values_ = options.values;
    unnamed_ = options.unnamed;
    hides_names_ = !options.names_layers;
    find_kept_names();
    if (options.name != identifier_of(options.name))
      throw error("lamina: native_source: expected a C++ name for the program, found '" +
                  options.name + "'");
  }

  std::string text() {
    for (std::size_t i = 0; i < program_.feed_names().size(); ++i) feed(p_.data[i]);
    enter_block(0);
    if (p_.count.outputs == 0)
      throw format_error(program_.source(), 0,
                         "expected fetch operators, which say what a program returns, found none");
    std::string results;
    for (int i = 0; i < p_.count.outputs; ++i)
      results += (i > 0 ? ", " : "") + handle(p_.outputs[i], 0);
    if (p_.count.outputs > 1) results = "std::tuple{" + results + "}";
    line("return " + results + ";");
    require_parameters();
    all_statements_.back().is_last = true;
    native_repeats repeats(options_.name + "_block", identifiers_, p_.count.blocks > 1);
    const std::vector<native_statement> statements = repeats.shortened(std::move(all_statements_));
    const std::string body = native_statement::lines_of(statements, 2);
    std::string made =
        "// Made from " +
        in_comment(file_and_folder(options_.origin.empty() ? program_.source() : options_.origin));
    if (!options_.weights.empty())
      made += "\n// Parameters: lamina::load_safetensors(" +
              in_comment(text_literal(options_.weights)) + ", model)";
    made +=
        "\n#pragma once\n\n#include <array>\n#include <cstdint>\n#include <limits>\n"
        "#include <tuple>\n\n#include <lamina/layers/layers.hpp>\n";
    if (trains())
      made +=
          "#include <lamina/optimizer/minimize.hpp>\n#include <lamina/optimizer/optimizers.hpp>\n";
    if (repeats.functions().find("lamina::composed_name(") != std::string::npos)
      made += "#include <lamina/program/composed_name.hpp>\n";
    if (repeats.functions().find("lamina::indexed(") != std::string::npos)
      made += "#include <lamina/program/indexed.hpp>\n";
    made += "#include <lamina/program/program.hpp>\n\n";
    made += repeats.functions() + "inline constexpr auto " + options_.name +
            " = lamina::program([](lamina::block& main) {\n  namespace layer = lamina::layer;\n";
    return made + body + "});\n";
  }

 private:
  /// The name of a file with that of its folder: a header that is kept in a repository names no
  /// folders of a machine.
  static std::string file_and_folder(const std::string& path) {
    const std::size_t file = detail::folder_of(path).size();
    return file < 2 ? path : path.substr(detail::folder_of(path.substr(0, file - 1)).size());
  }

  /// Writes the call of one layer, or of layer::record for operator k. Returns the index of the
  /// next operator that is not written yet.
  std::size_t statement(std::size_t k) {
    const operator_desc& op = *operators_[k];
    find_source(op);
    if (const minimize_call* const call = minimize_of(op)) return minimize(*call, k), k + 1;
    if (sub_block_of(p_, op) >= 0) return run_block(k), k + 1;
    if (op.schema->type == std::string_view("assign") && op.role == op_role::optimize)
      return store(k), k + 1;
    if (op.schema->type == std::string_view("split_lod_tensor")) open_rows(op);
    if (op.schema->type == std::string_view("read_minibatch")) return read_minibatch(k), k + 1;
    if (op.schema->type == std::string_view("write_to_array")) {
      const int x = input(op, "X"), i = input(op, "I"), array = output(op, "Out");
      const std::string value = handle(x, k), place = handle(i, k);
      line("layer::array_write(" + value + ", " + place + ", " + handle(array, k) + ");");
      return k + 1;
    }
    for (const layer_call& row : layer_calls) {
      if (row.type != operators_[k]->schema->type) continue;
      // If the row does not fit, all changes of the attempt are undone.
      const std::size_t before = statements_->size(), parameters = parameters_.size();
      made_handles_.clear();
      counted_.clear();
      layer_text made;
      made.end = k + 1;
      if (call(k, row.call, made)) {
        finish(made);
        return made.end;
      }
      statements_->resize(before);
      parameters_.resize(parameters);
      for (const int v : made_handles_) {
        identifiers_.erase(native_statement::plain(handles_.at(v)));
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
  /// Writes a call of minimize.
  void minimize(const minimize_call& call, std::size_t k) {
    std::string text = "lamina::optimizer::" + call.optimizer + "{";
    if (call.rate >= 0) text += ".learning_rate = " + handle(call.rate, k);
    for (const std::string& option : call.options)
      text += (text.back() == '{' ? "" : ", ") + option;
    text += "}.minimize(" + handle(call.cost, k) + (call.choice.empty() ? "" : ", ") + call.choice;
    line(text + ");");
  }
  /// Writes an operator that stores a value in a parameter as a call of layer::store.
  void store(std::size_t k) {
    const int x = input(*operators_[k], "X"), to = output(*operators_[k], "Out");
    if (!is_parameter(to)) fail(k, "expected a variable that keeps what is stored, found another");
    const std::string value = handle(x, k);
    line("layer::store(" + value + ", " + handle(to, k) + ");");
  }
  /// Writes the operator read_minibatch. The names of its variables are the name of the reader with
  /// a number.
  void read_minibatch(std::size_t k) {
    const operator_desc& op = *operators_[k];
    const std::vector<int> read = in_slot(op, "Out", false);
    const int more = output(op, "More");
    std::string reader = read.empty() ? "" : name_of(read[0]), fields;
    if (reader.ends_with("_0")) reader.resize(reader.size() - 2);
    bool fits = more >= 0 && handles_.count(more) == 0 && !read.empty() && read.size() <= 10 &&
                is_generated("read_minibatch", base_of(more));
    for (std::size_t i = 0; i < read.size() && fits; ++i) {
      const int v = read[i], level = level_of(v);
      fits = name_of(v) == reader + "_" + std::to_string(i) && handles_.count(v) == 0 &&
             has_rows(v) && is_known(v) && !inner(v).empty() && level <= 2;
      fields += level == 0 ? ", lamina::field<"
                           : (level == 1 ? ", lamina::sequence_field<"
                                         : ", lamina::nested_sequence_field<") +
                                 text_literal(name_of(classes_[at(class_of(v))].feed)) + ", ";
      fields += cpp_type(p_.variables[v].type);
      if (inner(v) != std::vector{1})
        for (const int d : inner(v)) fields += ", " + std::to_string(d);
      fields += ">";
    }
    if (!fits)
      fail(k, "expected 1 to 10 fields with the names of a reader, its name and numbers from 0");
    ++counter(keys_, "read_minibatch");
    const std::string next = new_identifier(more);
    line("auto " + next + " = lamina::variable<bool, lamina::once, 1>{" + here_ + ".builder, 0};");
    const std::string call =
        "layer::read_minibatch<" + text_literal(reader) + fields + ">(" + here_ + ", " + next + ")";
    assign(read, read.size() == 1 ? "std::get<0>(" + call + ");" : call + ";", true);
  }
  /// Writes the operators of a block.
  void enter_block(int block) {
    open(block);
    for (std::size_t k = 0; k < operators_.size();) {
      make_arrays(k, block);
      k = statement(k);
    }
  }
  /// Writes the calls that make the tensor arrays of this block to which operator k, or its body,
  /// is the first to write. The rows of their items are open at this point.
  void make_arrays(std::size_t k, int block) {
    const auto make = [&](int v) {
      const variable_desc& d = p_.variables[v];
      if (d.kind != variable_kind::tensor_array || d.block != block || handles_.count(v) != 0)
        return;
      const std::string item = handle_type(k, v);
      const std::string made = new_identifier(v);
      line("auto " + made + " = layer::create_array<" + item + ">(" + here_ +
           ", {.name = " + native_statement::name(base_of(v)) + "});");
    };
    const operator_desc& op = *operators_[k];
    const int inner = sub_block_of(p_, op);
    if (inner < 0) return each(op, false, make);
    for (const operator_desc* within : all_)
      if (sub_block_of(p_, *within) < 0 && is_inside(p_, within->block, inner))
        each(*within, false, make);
  }
  /// Writes the calls that open the rows that a mask selects.
  void open_rows(const operator_desc& op) {
    const int mask = input(op, "Mask");
    for (const bool truth : {true, false}) {
      const int v = output(op, truth ? "OutTrue" : "OutFalse");
      if (mask < 0 || v < 0 || is_left_out(v)) continue;
      const int c = root(chosen_rows(mask, truth, v));
      if (opened_.insert(c).second) line("layer::open_rows<" + rows_text(c) + ">(" + here_ + ");");
    }
  }
  /// Writes a loop or a branch.
  void run_block(std::size_t k) {
    const operator_desc& op = *operators_[k];
    const int inner = sub_block_of(p_, op), outer = block_;
    // Declares variables of this block that only the body writes.
    for (const operator_desc* within : all_) {
      if (!is_inside(p_, within->block, inner)) continue;
      each(*within, false, [&](int v) {
        const variable_desc& d = p_.variables[v];
        if (is_inside(p_, d.block, inner) || handles_.count(v) != 0 || is_parameter(v) ||
            d.kind == variable_kind::step_scopes || is_made_by_minimize(v))
          return;
        const std::string type = handle_type(k, v);
        line("auto " + new_identifier(v) + " = layer::declare<" + type + ">(" + here_ + ", " +
             native_statement::name(base_of(v)) + ");");
      });
    }
    const bool loop = op.schema->type == std::string_view("while");
    const bool flag =
        op.schema->attribute_count > 1 && op.attributes >= 0 && value(op, 1).number != 0;
    const int scopes = output(op, loop ? "StepScopes" : "Scope");
    const std::string condition = handle(condition_of(op), k), here = here_;
    const std::string body = native_statement::identifier(native_statement::block_name(inner));
    line(std::string("layer::record_block<lamina::operators::") +
         (loop ? "while_block" : "conditional_block") + ">(" + here_ + ", " +
         native_statement::name(scopes < 0 ? "" : base_of(scopes)) + ", " + condition + ", " +
         (flag ? "true" : "false") + ", [&](lamina::block& " + body + ") {");
    const std::map<int, std::string> visible = handles_;
    here_ = body;
    std::vector<native_statement> inside;
    std::vector<native_statement>* const outside = std::exchange(statements_, &inside);
    enter_block(inner);
    statements_ = outside;
    here_ = here;
    handles_ = visible;
    open(outer);
    statements_->back().body = std::move(inside);
    statements_->back().end = "});";
  }
  void record(std::size_t k) {
    const operator_desc& op = *operators_[k];
    const std::string_view type = op.schema->type;
    std::string text = "layer::record<lamina::operators::" +
                       std::string(type == "clip_by_norm" ? "clip_to_norm" : type) + ">(" + here_ +
                       ", ";
    // Operators without a definition that a program may name, among them all of onnx_kernels.hpp.
    constexpr std::string_view not_recorded[] = {"lookup_table_v2",     "flatten_contiguous_range",
                                                 "read_minibatch",      "lod_rank_table",
                                                 "expand_v2",           "strided_slice",
                                                 "non_max_suppression", "unique",
                                                 "bitwise_and",         "bitwise_or",
                                                 "bitwise_xor",         "bitwise_left_shift",
                                                 "bitwise_right_shift"};
    if (std::find(std::begin(not_recorded), std::end(not_recorded), type) != std::end(not_recorded))
      fail(k,
           "expected an operator that compiled programs have, found one that only the executor "
           "runs");
    std::string base;
    each(op, false, [&](int v) {
      if (base.empty() && !is_left_out(v)) base = base_of(v);
    });
    const std::string name = !knows_unnamed_ ? base : layer_name(std::string(type), base);
    text += name.empty() ? "\"\"" : native_statement::name(name);
    for (int s = 0; s < op.schema->input_count; ++s) {
      const std::vector<int> variables = in_slot(op, op.schema->inputs[s].name, true);
      if (variables.empty()) continue;
      text += ", layer::in(" + text_literal(op.schema->inputs[s].name);
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
      text += ", layer::set(" + text_literal(op.schema->attributes[i].name) + ", " +
              (is_list(t) ? "std::array{" + value + "}" : value) + ")";
    }
    std::vector<int> made;
    for (int s = 0; s < op.schema->output_count; ++s) {
      const slot_desc& slot = op.schema->outputs[s];
      const std::vector<int> variables = in_slot(op, slot.name, false);
      if (variables.empty()) continue;
      std::string types, targets;
      bool known = true;
      for (const int v : variables)
        known = known && !is_left_out(v) && (is_known(v) || reads_[at(v)] > 0);
      // Nothing reads these results, and only a gradient would need their shapes.
      if (!known) continue;
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
      text += targets.empty() ? ", layer::out<" + types + ">(" + text_literal(slot.name) + ")"
                              : ", layer::into(" + text_literal(slot.name) + targets + ")";
    }
    assign(made, text + ");");
  }
  void feed(int v) {
    const std::size_t none = operators_.size();
    const std::string name = name_of(v), type = cpp_type(p_.variables[v].type);
    const std::vector<int> extents = dims_of(v);
    const bool is_empty = std::find(extents.begin(), extents.end(), 0) != extents.end();
    if (is_empty && reads_[at(v)] == 0) return;  // there is nothing to feed and nothing reads it
    if (!is_known(v) || inner(v).empty())
      fail(none, "expected known dimensions of the input '" + name +
                     "', the first of which may be -1, found " +
                     std::string(lamina::text().list(dims_of(v))));
    if (!has_rows(v)) {
      std::string list;
      for (const int d : extents) list += ", " + std::to_string(d);
      declare(v,
              "layer::data_once<" + text_literal(name) + ", " + type + list + ">(" + here_ + ");");
      return;
    }
    const int level = level_of(v);
    std::string inside;
    const std::vector<int> dims = inner(v);
    if (dims.size() != 1 || dims[0] != 1)
      for (const int d : dims) inside += ", " + std::to_string(d);
    std::string function = level == 0 ? "data" : level == 1 ? "sequence" : "nested_sequence";
    std::string from = here_;
    if (level > 0) {
      const int first = classes_[at(class_of(v))].feed;
      if (first != v) {
        function = "sequence";
        from = handles_.at(first);
      } else {
        row_names_.insert(name);
      }
    }
    declare(
        v,
        "layer::" + function + "<" + text_literal(name) + ", " + type + inside + ">(" + from + ");",
        level > 0);
  }
  /// Writes the call that makes an input; without a name if nothing reads it.
  void declare(int v, const std::string& call, bool is_read = false) {
    const std::string made = new_identifier(v);
    line(is_read || reads_[at(v)] > 0 ? "auto " + made + " = " + call : call);
  }

  const native_options& options_;
  std::set<int> opened_;  // the classes of rows that the text has opened
};

}  // namespace detail

/// Returns the text of a C++ header for a program that was read from a file: `inline constexpr auto
/// net = lamina::program(...)` in calls of layers. The program in the header records the same
/// operators, layers and parameters under the same names, including loops and branches. Gradients
/// and updates become the call of minimize that recorded them; before, native_source records this
/// call again and compares the result with the file. Values of parameters and accumulators are not
/// part of the text. A training program in Fluid's form, as written by training_messages_of or
/// PaddlePaddle, also becomes a call of minimize. Throws format_error with the offset in the file
/// of an operator that cannot be written: gradients or updates that minimize would not record,
/// inputs without rows, or dimensions that the file does not contain.
inline std::string native_source(const loaded_program& program,
                                 const native_options& options = {}) {
  if (!detail::fluid_updates::are_in(program.message()))
    return detail::native_writer(program, options).text();
  const detail::own_training own(program, options.values);
  return detail::native_writer(loaded_program(own.program(), program.source()), options).text();
}

}}  // namespace lamina
