// SPDX-License-Identifier: Apache-2.0
// lamina/codegen/onnx_layers.hpp - rewrites a program from an ONNX file so that calls of layers can
// record it.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <lamina/core/dtype.hpp>
#include <lamina/io/fluid/program_message.hpp>
#include <lamina/io/onnx/onnx_import.hpp>
#include <lamina/tensor/scope.hpp>
#include <lamina/tensor/tensor.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Replaces each product with a matrix of parameters, together with the bias that is added to it,
/// by the operators of an fc, and calls depthwise convolutions so. Weights that ONNX stores with
/// one row per result are transposed: an fc has one column per result. Also copies outputs whose
/// names layer::record would not keep, and moves large constants to the parameters.
class onnx_layers {
 public:
  onnx_layers(program_message program, scope& values)
      : made_(std::move(program)), values_(values) {}

  program_message rewritten() {
    for (block_message& b : made_.blocks) {
      for (variable_message& v : b.variables) variables_[v.name] = &v;
      for (const operator_message& op : b.operators)
        for (const slot_message& s : op.inputs)
          for (const std::string& name : s.arguments) ++reads_[name];
    }
    if (made_.blocks.size() != 1) return std::move(made_);
    std::vector<operator_message>& all = made_.blocks[0].operators;
    for (operator_message& op : all)
      if (is_depthwise(op)) op.type = "depthwise_conv2d";
    find_weights(all);
    for (std::size_t k = 0; k < all.size(); ++k)
      if (becomes_mul(all[k])) add_bias(all, k);
    name_outputs(all);
    store_constants();
    return std::move(made_);
  }

 private:
  using extents = std::vector<std::int64_t>;

  // Finds the parameters that are only the second operand of products, all with or all without
  // the transpose, as the recurrent weights of the steps of an LSTM are. Transposes the former.
  void find_weights(const std::vector<operator_message>& all) {
    std::map<std::string, int> plain, turned;
    for (const operator_message& op : all)
      if (is_product(op)) ++(flag(op, "transpose_Y") ? turned : plain)[op.input("Y").at(0)];
    for (const auto& [name, count] : plain)
      if (is_matrix(name) && count == reads_[name]) weights_.insert(name);
    for (const auto& [name, count] : turned) {
      if (!is_matrix(name) || count != reads_[name]) continue;
      weights_.insert(name);
      transpose(name);
    }
  }
  // Whether each channel of the images is a group; layer::conv2d records such a convolution under
  // another name.
  bool is_depthwise(const operator_message& op) const {
    const attribute_message* groups = op.attribute("groups");
    if (op.type != "conv2d" || groups == nullptr || groups->integer < 2) return false;
    const extents& dims = variables_.at(op.input("Input").at(0))->dims;
    return dims.size() == 4 && dims[1] == groups->integer;
  }
  bool is_product(const operator_message& op) const {
    return op.type == "matmul" && !flag(op, "transpose_X") && op.attribute("alpha") == nullptr &&
           variables_.at(op.input("X").at(0))->dims.size() >= 2;
  }
  bool becomes_mul(operator_message& op) {
    if (!is_product(op) || weights_.count(op.input("Y").at(0)) == 0) return false;
    const std::size_t rank = variables_.at(op.input("X").at(0))->dims.size();
    op.type = "mul";
    op.attributes.clear();
    op.attributes.push_back(onnx_set("x_num_col_dims", static_cast<int>(rank) - 1));
    return true;
  }
  // Moves the addition of a bias to the product at k, and names both like the result.
  void add_bias(std::vector<operator_message>& all, std::size_t k) {
    const std::string product = all[k].output("Out").at(0);
    if (reads_[product] != 1) return;
    const int axis = static_cast<int>(variables_.at(product)->dims.size()) - 1;
    for (std::size_t i = k + 1; i < all.size(); ++i) {
      operator_message& op = all[i];
      if (op.type == "fetch" || op.input("X") != std::vector{product}) continue;
      if (op.type != "elementwise_add" || !is_parameter(op.input("Y").at(0), 1) ||
          variables_.at(op.input("Y").at(0))->dims[0] != variables_.at(product)->dims.back())
        return;
      const attribute_message* given = op.attribute("axis");
      if (given != nullptr && given->integer != axis && given->integer != -1) return;
      std::erase_if(op.attributes, [](const attribute_message& a) { return a.name == "axis"; });
      op.attributes.push_back(onnx_set("axis", axis));
      const std::string name = op.output("Out").at(0) + ".tmp_0";
      if (variables_.count(name) != 0) return;
      variable_message* const v = variables_.at(product);
      v->name = name;
      variables_[name] = v;
      for (slot_message& s : op.inputs)
        if (s.slot == "X") s.arguments = {name};
      for (slot_message& s : all[k].outputs)
        if (s.slot == "Out") s.arguments = {name};
      std::rotate(all.begin() + std::ptrdiff_t(k) + 1, all.begin() + std::ptrdiff_t(i),
                  all.begin() + std::ptrdiff_t(i) + 1);
      return;
    }
  }
  // layer::record names the second and later results of an operator after the first one, so outputs
  // of the program among the results of such an operator are copied to variables of their names.
  void name_outputs(std::vector<operator_message>& all) {
    std::set<std::string> fetched;
    for (const operator_message& op : all)
      if (op.type == "fetch") fetched.insert(op.input("X").begin(), op.input("X").end());
    std::vector<operator_message> copies;
    std::vector<variable_message> made;
    for (operator_message& op : all) {
      std::size_t results = 0;
      for (const slot_message& s : op.outputs) results += s.arguments.size();
      if (op.type == "feed" || results < 2) continue;
      for (slot_message& s : op.outputs)
        for (std::string& name : s.arguments) {
          if (fetched.count(name) == 0) continue;
          made.push_back(*variables_.at(name));
          made.back().name = name + ".result";
          operator_message& copy = copies.emplace_back();
          copy.type = "assign";
          copy.offset = op.offset;
          copy.inputs.push_back({"X", {made.back().name}});
          copy.outputs.push_back({"Out", {name}});
          name = made.back().name;
        }
    }
    std::size_t end = 0;  // before the fetch operators
    while (end < all.size() && all[end].type != "fetch") ++end;
    all.insert(all.begin() + std::ptrdiff_t(end), copies.begin(), copies.end());
    append(std::move(made));
  }
  // Integers that are too many for the text of a program become a parameter that is not trained.
  void store_constants() {
    std::vector<operator_message> casts;
    std::vector<variable_message> made;
    for (variable_message& v : made_.blocks[0].variables) {
      const lod_tensor* const value = v.persistable ? values_.find(v.name) : nullptr;
      if (value == nullptr || is_floating(v.type) || value->size() <= most_numbers ||
          !is_exact(*value))
        continue;
      made.push_back(v);
      variable_message& stored = made.back();
      stored.name = v.name + ".values";
      stored.type = dtype::float32;
      stored.is_parameter = stored.stop_gradient = true;
      static_cast<tensor&>(values_.var(stored.name)) = value->cast(dtype::float32);
      operator_message& op = casts.emplace_back();
      op.type = "cast";
      op.inputs.push_back({"X", {stored.name}});
      op.outputs.push_back({"Out", {v.name}});
      op.attributes.push_back(onnx_set("in_dtype", static_cast<int>(dtype::float32)));
      op.attributes.push_back(onnx_set("out_dtype", static_cast<int>(v.type)));
      v.persistable = v.is_parameter = false;
    }
    std::vector<operator_message>& all = made_.blocks[0].operators;
    std::size_t begin = 0;  // after the feed operators
    while (begin < all.size() && all[begin].type == "feed") ++begin;
    all.insert(all.begin() + std::ptrdiff_t(begin), casts.begin(), casts.end());
    append(std::move(made));
  }
  static bool is_exact(const tensor& value) {
    const auto numbers = value.cast<double>();
    for (std::size_t i = 0; i < value.size(); ++i)
      if (std::abs(numbers.flat(i)) > 0x1p24) return false;
    return true;
  }
  void append(std::vector<variable_message> made) {
    for (variable_message& v : made) made_.blocks[0].variables.push_back(std::move(v));
    variables_.clear();  // the addresses have changed
  }
  bool is_matrix(const std::string& name) const { return is_parameter(name, 2); }
  bool is_parameter(const std::string& name, std::size_t rank) const {
    const variable_message& v = *variables_.at(name);
    return v.is_parameter && v.dims.size() == rank && values_.find(name) != nullptr;
  }
  void transpose(const std::string& name) {
    tensor& value = values_.var(name);
    value = value.visit([](const auto& from) {
      std::decay_t<decltype(from)> to = xt::transpose(from);
      return tensor(std::move(to));
    });
    std::reverse(variables_.at(name)->dims.begin(), variables_.at(name)->dims.end());
  }
  static bool flag(const operator_message& op, const char* name) {
    const attribute_message* a = op.attribute(name);
    return a != nullptr && a->integer != 0;
  }

  // The most elements of a constant that native_source writes.
  static constexpr std::size_t most_numbers = 1024;

  program_message made_;
  scope& values_;
  std::map<std::string, variable_message*> variables_{};
  std::map<std::string, int> reads_{};
  std::set<std::string> weights_{};
};

}}}  // namespace lamina::detail
