// SPDX-License-Identifier: Apache-2.0
// lamina/codegen/onnx_names.hpp - names the layers of a program from an ONNX file as a person would
// have named them, and joins activations to their layers.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/io/fluid/program_message.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Returns the module of PyTorch to which the name of a value belongs: "features.1.block.0" for
/// "/features/features.1/block/block.0/Conv_output_0"; an empty text if the name has no module.
inline std::string module_of(std::string_view name) {
  std::string made;
  std::string_view before;
  if (!name.starts_with('/')) return made;
  name.remove_prefix(1);
  for (std::size_t end; (end = name.find('/')) != name.npos; name.remove_prefix(end + 1)) {
    const std::string_view part = name.substr(0, end);
    // "features/features.1" is the module "features.1"
    const bool repeats = part.size() > before.size() && part.starts_with(before) &&
                         part[before.size()] == '.' && !before.empty();
    if (repeats) made.resize(made.size() - before.size());
    if (!made.empty() && made.back() != '.') made += '.';
    made += part;
    before = part;
  }
  return made;
}

/// Names layers. A layer with parameters of its own has the name of its module, which is the
/// beginning of the names of these parameters; if they do not tell it, as "onnx::Conv_12", the name
/// of the value does. Outputs of the program keep their names. All other layers need none.
class onnx_names {
 public:
  explicit onnx_names(program_message program) : made_(std::move(program)) {}

  /// Returns the program with the new names. An activation follows its layer, and both have the
  /// name of one layer.
  program_message named() {
    if (made_.blocks.size() != 1) return std::move(made_);
    std::vector<operator_message>& all = made_.blocks[0].operators;
    for (const variable_message& v : made_.blocks[0].variables) {
      dims_[v.name] = v.dims;
      if (v.is_parameter)
        parameters_.insert(v.name);
      else if (v.persistable)
        unnamed_.insert(v.name);
      taken_.insert(v.name);
    }
    for (const operator_message& op : all)
      for (const slot_message& s : op.inputs)
        for (const std::string& name : s.arguments) {
          ++reads_[name];
          if (op.type == "fetch") kept_.insert(name);
        }
    for (std::size_t k = 0; k < all.size();) k = name_layer(all, k);
    for (variable_message& v : made_.blocks[0].variables)
      if (const auto other = renamed_.find(v.name); other != renamed_.end()) v.name = other->second;
    return std::move(made_);
  }
  /// Returns the names of the variables whose layers need no name.
  std::set<std::string> unnamed() { return std::move(unnamed_); }

 private:
  // Names the operators of the layer that begins at k; returns the position after them.
  std::size_t name_layer(std::vector<operator_message>& all, std::size_t k) {
    for (slot_message& s : all[k].inputs)
      for (std::string& name : s.arguments)
        if (const auto other = renamed_.find(name); other != renamed_.end()) name = other->second;
    if (all[k].type == "feed" || all[k].type == "fetch") return k + 1;
    std::size_t end = k + 1;
    std::vector<std::string> results = {result_of(all[k])};
    if (results[0].empty()) {
      for (const slot_message& s : all[k].outputs)
        for (const std::string& name : s.arguments)
          if (kept_.count(name) == 0) unnamed_.insert(name);
      return end;
    }
    const bool is_fc = all[k].type == "mul";
    const auto follows = [&](std::size_t i) {
      return i < all.size() && all[i].input("X") == std::vector{results.back()} &&
             reads_[results.back()] == 1 && kept_.count(results.back()) == 0;
    };
    if (is_fc && follows(end) && all[end].type == "elementwise_add" &&
        parameters_.count(all[end].input("Y").at(0)) != 0)
      results.push_back(result_of(all[end++]));
    original_ = results.back();
    if (takes_activation(all[k]))
      for (std::size_t i = end; i < all.size(); ++i) {
        if (!follows(i)) continue;
        if (!is_plain_activation(all[i])) break;
        all[i].attributes.clear();
        std::rotate(all.begin() + std::ptrdiff_t(end), all.begin() + std::ptrdiff_t(i),
                    all.begin() + std::ptrdiff_t(i) + 1);
        results.push_back(result_of(all[end++]));
        break;
      }
    const std::string last = results.back();
    std::string name = last;
    if (kept_.count(last) == 0) {
      const std::string module = module_name(all, k, end);
      if (!module.empty() && taken_.insert(module).second)
        name = module;
      else
        unnamed_.insert(last);
    }
    for (std::size_t i = 0, n = 0; i < results.size(); ++i) {
      std::string wanted = name;
      if (i + 1 < results.size()) do
          wanted = base_of(name) + ".tmp_" + std::to_string(n++);
        while (wanted != results[i] && !taken_.insert(wanted).second);
      if (wanted == results[i]) continue;
      renamed_[results[i]] = wanted;
      for (std::size_t op = k; op < end; ++op) {
        for (slot_message& s : all[op].outputs)
          std::replace(s.arguments.begin(), s.arguments.end(), results[i], wanted);
        for (slot_message& s : all[op].inputs)
          std::replace(s.arguments.begin(), s.arguments.end(), results[i], wanted);
      }
    }
    return end;
  }
  // The module of the parameters that only this layer reads.
  std::string module_name(const std::vector<operator_message>& all, std::size_t k,
                          std::size_t end) const {
    if (!makes_parameters(all[k])) return {};
    bool any = false;
    for (std::size_t i = k; i < end; ++i)
      for (const slot_message& s : all[i].inputs)
        for (const std::string& name : s.arguments) {
          if (parameters_.count(name) == 0) continue;
          any = true;
          if (reads_.at(name) != 1) continue;
          for (const std::string_view ending : {".weight", ".bias", ".weight_bias"})
            if (name.size() > ending.size() && name.ends_with(ending))
              return name.substr(0, name.size() - ending.size());
        }
    // The activation may be in a module of its own.
    return any ? module_of(original_) : std::string();
  }
  // The only result of an operator that is read; an empty text if there are several.
  std::string result_of(const operator_message& op) const {
    std::string found;
    for (const slot_message& s : op.outputs)
      for (const std::string& name : s.arguments) {
        const auto n = reads_.find(name);
        if (n == reads_.end() || n->second == 0) continue;
        if (!found.empty()) return {};
        found = name;
      }
    return found;
  }
  static bool makes_parameters(const operator_message& op) {
    constexpr std::string_view types[] = {"mul",          "conv2d",         "depthwise_conv2d",
                                          "batch_norm",   "layer_norm",     "group_norm",
                                          "lookup_table", "lookup_table_v2"};
    return std::find(std::begin(types), std::end(types), op.type) != std::end(types);
  }
  bool takes_activation(const operator_message& op) const {
    constexpr std::string_view types[] = {"mul",
                                          "conv2d",
                                          "depthwise_conv2d",
                                          "elementwise_add",
                                          "elementwise_sub",
                                          "elementwise_mul",
                                          "elementwise_div"};
    if (std::find(std::begin(types), std::end(types), op.type) == std::end(types)) return false;
    const slot_message& first = op.inputs.at(0);
    const auto dims = dims_.find(first.arguments.at(0));
    return !op.type.ends_with("conv2d") || first.slot != "Input" ||
           (dims != dims_.end() && !dims->second.empty() && dims->second[0] < 0);
  }
  static bool is_plain_activation(const operator_message& op) {
    constexpr std::string_view types[] = {"relu",       "tanh", "sigmoid", "softplus",
                                          "softsign",   "gelu", "relu6",   "swish",
                                          "hard_swish", "mish", "selu"};
    if (std::find(std::begin(types), std::end(types), op.type) == std::end(types)) return false;
    const std::pair<std::string_view, double> defaults[] = {
        {"approximate", 0}, {"threshold", 6}, {"beta", 1}, {"scale", 6}, {"offset", 3}};
    for (const attribute_message& a : op.attributes) {
      bool is_default = false;
      for (const auto& [name, value] : defaults)
        is_default = is_default ||
                     (a.name == name &&
                      value == (a.type == attribute_type::real ? a.number()
                                                               : static_cast<double>(a.integer)));
      if (!is_default) return false;
    }
    return op.type != "selu" || op.attributes.empty();
  }
  static std::string base_of(const std::string& name) {
    const std::size_t end = name.rfind(".tmp_");
    return end == std::string::npos || end == 0 ? name : name.substr(0, end);
  }

  program_message made_;
  std::map<std::string, int> reads_{};
  std::map<std::string, std::vector<std::int64_t>> dims_{};
  std::set<std::string> parameters_{}, kept_{}, taken_{}, unnamed_{};
  std::map<std::string, std::string> renamed_{};
  std::string original_{};  // the name of the layer's result, without the activation
};

}}}  // namespace lamina::detail
