// SPDX-License-Identifier: Apache-2.0
// lamina/codegen/native_names.hpp - gives names to the handles, layers and parameters of a program
// that is written as C++, and collects the statements of its text.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <lamina/codegen/cpp_text.hpp>
#include <lamina/codegen/native_rows.hpp>
#include <lamina/codegen/native_statement.hpp>
#include <lamina/tensor/scope.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// The names that are in use, and the text that is written so far.
class native_names : protected native_rows {
 protected:
  using native_rows::native_rows;

  std::string new_identifier(int v) {
    std::string wanted = identifier_of(wanted_identifier(v));
    if (wanted.size() > longest_identifier) {  // the end of a path says the most
      wanted.erase(0, wanted.size() - longest_identifier);
      wanted = identifier_of(wanted.substr((std::min)(wanted.find('_') + 1, wanted.size() - 1)));
    }
    std::string made = wanted;
    int& next = numbers_of_[wanted];
    while (native_statement::is_block_name(made) || !identifiers_.insert(made).second)
      made =
          wanted + (wanted.back() == '_' ? "" : "_") + std::to_string(next < 2 ? next = 2 : ++next);
    made_handles_.push_back(v);
    return handles_[v] = native_statement::identifier(made);
  }
  /// Returns the beginning of the C++ name of a variable: the last two words of the name of a
  /// module, or the kind of the layer if the name says nothing or is that of a node.
  std::string wanted_identifier(int v) const {
    const std::string base = base_of(v);
    if (!knows_unnamed_) return base;
    const bool says_nothing = base.starts_with('/') || base.starts_with("value") ||
                              base.starts_with("onnx::") || base.starts_with("val_");
    if (const auto found = kinds_.find(v); says_nothing && found != kinds_.end())
      return found->second;
    if (!is_parameter(v) && base.find('.') == base.npos) return base;
    std::size_t begin = base.size(), words = 0;
    while (begin > 0 && words < 2) {
      const std::size_t dot = base.rfind('.', begin - 1);
      begin = dot == base.npos ? 0 : dot;
      if (begin + 1 < base.size() && !(base[begin + 1] >= '0' && base[begin + 1] <= '9')) ++words;
    }
    return base.substr(begin == 0 ? 0 : begin + 1);
  }
  /// Finds the names that generated names must not be equal to, and the kinds of layers.
  void find_kept_names() {
    knows_unnamed_ = !unnamed_.empty();
    if (!knows_unnamed_) return;
    std::set<std::string> bases;
    for (const std::string& name : unnamed_) bases.insert(without_tmp(name));
    for (int v = 0; v < p_.count.variables; ++v)
      if (unnamed_.count(name_of(v)) == 0 && bases.count(base_of(v)) == 0)
        kept_names_.insert(base_of(v));
    unnamed_ = std::move(bases);
    for (const std::string& name : kept_names_) unnamed_.erase(name);
    for (const operator_desc* op : all_)
      each(*op, false, [&](int v) {
        std::string kind = op->schema->type;
        if (kind == "mul") kind = "fc";
        if (kind == "depthwise_conv2d") kind = "conv2d";
        if (kind.starts_with("lookup_table")) kind = "embedding";
        if (kind.starts_with("elementwise_") || kind.starts_with("reduce_"))
          kind.erase(0, kind.find('_') + 1);
        if (kind == "reshape2" || kind == "transpose2" || kind == "squeeze2" ||
            kind == "unsqueeze2" || kind == "flatten2")
          kind.pop_back();
        kinds_[v] = kind;
      });
  }
  /// Whether a name is that of an output of the program.
  bool is_output(const std::string& base) const {
    for (int i = 0; i < p_.count.outputs; ++i)
      if (base_of(p_.outputs[i]) == base) return true;
    return false;
  }
  /// Returns the name that the text gives to a layer; an empty text if the layer may generate it.
  std::string layer_name(const std::string& key, const std::string& base) {
    std::string made = key + "_" + std::to_string(keys_[key]);
    const bool may_be_unnamed = unnamed_.count(base) != 0 || (hides_names_ && !is_output(base));
    const bool is_unnamed = may_be_unnamed && kept_names_.count(made) == 0;
    if (is_unnamed || (!knows_unnamed_ && is_generated(key, base))) {
      ++counter(keys_, key);
      kept_names_.insert(std::move(made));
      return {};
    }
    made = base;
    if (unnamed_.count(base) != 0)
      for (int i = 2; !kept_names_.insert(made).second; ++i) made = base + "_" + std::to_string(i);
    return made;
  }
  /// Returns a counter of names, and records its value: statement() restores it if a row of
  /// layer_calls.hpp does not fit.
  int& counter(std::map<std::string, int>& of, const std::string& name) {
    int& found = of[name];
    counted_.emplace_back(&found, found);
    return found;
  }
  /// Returns the C++ name of a variable that an earlier statement made, or of a parameter.
  std::string handle(int v, std::size_t k) {
    if (const auto found = handles_.find(v); found != handles_.end()) return found->second;
    if (v < 0) fail(k, "expected a variable in each slot, found none");
    if (const lod_tensor* const value = constant_of(v)) return constant(v, *value, k);
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
    note_parameter(v);
    note_options(v);
    line("auto " + made + " = layer::" + call + ">(" + here_ +
         ", {.name = " + native_statement::name(name_of(v)) + options_of(v) + "});");
    return made;
  }
  /// Returns the value of a variable that is a constant of the program, or null: the file has its
  /// value, and it is not a parameter, or not of real numbers.
  const lod_tensor* constant_of(int v) const {
    const variable_desc& d = p_.variables[v];
    if (values_ == nullptr || !d.persistable || writes_[at(v)] > 0) return nullptr;
    return is_parameter(v) && is_floating(d.type) ? nullptr : values_->find(name_of(v));
  }
  /// Writes the call that makes a constant of the program, and returns its C++ name.
  std::string constant(int v, const lod_tensor& value, std::size_t k) {
    const auto numbers = value.cast<double>();
    const dtype type = p_.variables[v].type;
    const std::size_t n = value.size();
    bool equal = n > 0, whole = true, is_float = true;
    for (std::size_t i = 0; i < n; ++i) {
      const double x = numbers.flat(i);
      equal = equal && x == numbers.flat(0);
      whole = whole && std::abs(x) <= 2147483647. && x == std::floor(x);
      is_float = is_float && double(float(x)) == x;
    }
    std::string dims, elements;
    for (const int d : dims_of(v)) dims += (dims.empty() ? "" : ", ") + std::to_string(d);
    const std::string in_block = "(" + here_ + ", ";
    const auto named = [&](const char* key) {
      const std::string name = layer_name(key, name_of(v));
      return name.empty() ? name : ", {.name = " + native_statement::name(name) + "}";
    };
    const std::string type_name = cpp_type(type);
    const std::string made = new_identifier(v);
    if (equal) {
      line("auto " + made + " = layer::fill_constant<" + type_name + ", " + dims + ">" + in_block +
           number_text(numbers.flat(0)) + named("fill_constant") + ");");
      return made;
    }
    if (!(is_floating(type) ? is_float : whole) || n == 0 || n > most_elements)
      fail(k, "expected a constant of 1 to " + std::to_string(most_elements) +
                  " elements that are integers of 32 bits or floats, found '" + name_of(v) + "'");
    const dtype kept = type == dtype::int64 || type == dtype::float32 ? type
                       : is_floating(type)                            ? dtype::float32
                                                                      : dtype::int32;
    for (std::size_t i = 0; i < n; ++i)
      elements += (i > 0 ? ", " : "") + number_text(numbers.flat(i));
    std::string call = "layer::assign_value<" + dims + ">" + in_block + "std::array<" +
                       cpp_type(kept) + ", " + std::to_string(n) + ">{" + elements + "}" +
                       (kept == type ? named("assign_value") : "") + ")";
    if (kept != type) {
      ++counter(keys_, "assign_value");
      call = "layer::cast<" + type_name + ">(" + call + named("cast") + ")";
    }
    line("auto " + made + " = " + call + ";");
    return made;
  }
  /// Returns the text of the size of a layer. In C++ of ONNX files, functions for repeated layers
  /// of other sizes are templates.
  std::string size_text(int size) const {
    const std::string made = std::to_string(size);
    return knows_unnamed_ ? native_statement::size(made) : made;
  }
  void line(const std::string& statement) {
    statements_->push_back({statement});
    statements_->back().source = source_;
  }
  /// Notes the node from which an operator comes.
  void find_source(const operator_desc& op) {
    constexpr std::string_view ending = "_output_0";
    source_.clear();
    each(op, false, [&](int v) {
      if (source_.empty() && unnamed_.count(base_of(v)) != 0) source_ = base_of(v);
    });
    if (!source_.starts_with('/')) source_.clear();
    if (source_.ends_with(ending)) source_.resize(source_.size() - ending.size());
  }
  /// Whether the next layer of this kind would generate this name, so that the text need not
  /// contain it.
  bool is_generated(const std::string& key, const std::string& name) const {
    if (scattered_names_.count(name) != 0) return false;
    const auto count = keys_.find(key);
    return name == key + "_" + std::to_string(count == keys_.end() ? 0 : count->second);
  }
  /// Returns the literal of a parameter's name; empty if it is the name that the layer would
  /// generate.
  std::string parameter_name(const std::string& base, const std::string& suffix, int v) {
    note_parameter(v);
    if (hides_names_) return native_statement::name(name_of(v));
    int& next = counter(numbers_, base + suffix);
    if (name_of(v) == base + suffix + std::to_string(next)) return ++next, std::string();
    return native_statement::name(name_of(v));
  }
  /// Returns the text of the layer's option `option` with the name and options of a parameter;
  /// empty if the parameter has the generated name and no options.
  std::string parameter_option(const std::string& option, const std::string& name, int v) {
    const std::string own = options_of(v);
    note_options(v);
    if (name.empty() && own.empty()) return {};
    return "." + option + " = {" + (name.empty() ? own.substr(2) : ".name = " + name + own) + "}";
  }
  /// Appends a statement that assigns the results of a call to handles. `is_marked` says that the
  /// layer marks them itself as variables through which no gradient flows. Structured bindings are
  /// used only in programs without bodies, because clang 14 cannot capture them in the lambda of a
  /// body.
  void assign(const std::vector<int>& results, const std::string& call, bool is_marked = false) {
    bool read = false;
    for (const int v : results) read = read || reads_[at(v)] > 0;
    std::string left;
    std::vector<std::string> names;
    for (const int v : results) {
      names.push_back(new_identifier(v));
      left += (left.empty() ? "" : ", ") + names.back();
    }
    if (!read) return line(call);
    if (results.size() == 1) {
      line("auto " + left + " = " + call);
      return mark_results(results, is_marked);
    }
    if (p_.count.blocks == 1) {
      line("auto [" + left + "] = " + call);
      return mark_results(results, is_marked);
    }
    std::string all = native_statement::plain(names[0]) + "_all";
    while (!identifiers_.insert(all).second) all += "_";
    all = native_statement::identifier(all);
    line("auto " + all + " = " + call);
    for (std::size_t i = 0; i < names.size(); ++i)
      line("auto " + names[i] + " = std::get<" + std::to_string(i) + ">(" + all + ");");
    mark_results(results, is_marked);
  }
  /// If the program trains, appends calls of layer::stop_gradient for results through which no
  /// gradient flows, unless the layer marks them itself.
  void mark_results(const std::vector<int>& results, bool is_marked) {
    for (const int v : results)
      if (!is_marked && trains() && p_.variables[v].stop_gradient &&
          is_floating(p_.variables[v].type))
        line("layer::stop_gradient(" + handles_.at(v) + ");");
  }

  bool knows_unnamed_ = false;        // whether the caller says which layers need names
  bool hides_names_ = false;          // whether only layers of outputs have names
  std::set<std::string> unnamed_;     // names of layers that need not be in the text
  std::set<std::string> kept_names_;  // names that no generated name may be equal to
  std::map<int, std::string> kinds_;  // for each variable, the kind of the layer that computes it
  std::string source_;                // the node of the operator that is being written
  static constexpr std::size_t longest_identifier = 60;
  /// The most elements of a constant in the text of a program.
  static constexpr std::size_t most_elements = 1024;

  const scope* values_ = nullptr;  // of persistable variables, as far as the caller has them
  std::string here_ =
      native_statement::identifier(native_statement::block_name(0));  // the block in the text
  std::map<int, std::string> handles_;  // for each variable, its C++ name, with marks
  std::set<std::string> identifiers_;
  std::map<std::string, int> keys_;  // for each kind of layer, the number of its next name
  // For each layer and suffix, the number of the next parameter.
  std::map<std::string, int> numbers_;
  // For each C++ name, the last number that was appended to it.
  std::map<std::string, int> numbers_of_;
  std::vector<int> made_handles_;  // variables that the current statement named
  // Counters that the current statement has changed, and their old values.
  std::vector<std::pair<int*, int>> counted_;
  std::vector<native_statement> all_statements_;
  std::vector<native_statement>* statements_ = &all_statements_;  // of the current block
};

}}}  // namespace lamina::detail
