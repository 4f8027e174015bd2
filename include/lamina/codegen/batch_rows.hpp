// SPDX-License-Identifier: Apache-2.0
// lamina/codegen/batch_rows.hpp - makes rows of the first dimension of a program with fixed shapes.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <lamina/core/dtype.hpp>
#include <lamina/io/fluid/program_message.hpp>
#include <lamina/io/onnx/onnx_import.hpp>
#include <lamina/tensor/scope.hpp>
#include <lamina/tensor/tensor.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Finds the batch in a program whose shapes are all numbers: the first dimension of all inputs, if
/// each operator computes a row of its results from the same row of its operands. This first
/// dimension then becomes -1 in all variables that have it. A file with a fixed batch thus becomes
/// a program for any number of samples, which gives the same numbers for the batch of the file. A
/// constant with the same values for each sample loses its first dimension. If a reshape merges the
/// batch with the dimensions after it, as exporters do for lookups and for products of all heads,
/// the program keeps the batch apart.
class batch_rows {
 public:
  /// `values` has the constants of the program; found() adds those that it changes.
  batch_rows(const program_message& program, scope& values) : made_(program), values_(values) {}

  /// Returns the program with rows, or nothing if its first dimension is not a batch.
  std::optional<program_message> found() {
    if (made_.blocks.size() != 1) return std::nullopt;
    block_message& block = made_.blocks[0];
    for (const variable_message& v : block.variables) variables_.emplace(v.name, v);
    std::vector<operator_message> all = std::exchange(block.operators, {});
    for (const operator_message& op : all)
      if (op.type == "fetch") fetched_.insert(op.input("X").begin(), op.input("X").end());
    for (operator_message& op : all) {
      if (!(op.type == "feed" ? feeds(op) : op.type == "fetch" || keeps_rows(op)))
        return std::nullopt;
      if (!op.type.empty()) block.operators.push_back(std::move(op));
    }
    for (operator_message& op : block.operators)
      for (slot_message& s : op.inputs)
        for (std::string& name : s.arguments) name = resolved(name);
    drop_unread(block.operators);
    if (rows_.empty()) return std::nullopt;
    std::set<std::string> read;
    for (const operator_message& op : block.operators)
      for (const slot_message& s : op.inputs) read.insert(s.arguments.begin(), s.arguments.end());
    for (const variable_message& v : block.variables) variables_.erase(v.name);
    for (auto& [name, v] : variables_) block.variables.push_back(std::move(v));  // the new ones
    for (const operator_message& op : block.operators)
      for (const slot_message& s : op.outputs) read.insert(s.arguments.begin(), s.arguments.end());
    std::erase_if(block.variables,
                  [&](const variable_message& v) { return read.count(v.name) == 0; });
    for (variable_message& v : block.variables) {
      const auto m = merged_.find(v.name);
      if (rows_.count(v.name) != 0) v.dims[0] = -1;
      if (m == merged_.end()) continue;
      v.dims[0] = m->second;
      v.dims.insert(v.dims.begin(), -1);
    }
    return std::move(made_);
  }

 private:
  using extents = std::vector<std::int64_t>;

  bool feeds(const operator_message& op) {
    for (const std::string& name : op.output("Out")) {
      const extents& dims = dims_of(name);
      if (dims.size() < 2 || dims[0] < 1) return false;
      if (batch_ == 0) batch_ = dims[0];
      if (dims[0] != batch_) return false;
      rows_.insert(name);
    }
    return true;
  }
  // Whether the results of an operator have rows if its operands have; marks them. An operator that
  // the program does not need loses its type.
  bool keeps_rows(operator_message& op) {
    std::vector<std::string> inputs;
    bool any = false, merged = false;
    for (const slot_message& s : op.inputs)
      for (const std::string& name : s.arguments) {
        inputs.push_back(name);
        any = any || has_rows(name);
        merged = merged || merged_.count(name) != 0;
      }
    if (merged) return keeps_merged(op, inputs);
    if (!any) return true;
    if (op.type == "reshape2" && inputs.size() == 1 && merges(op)) return true;
    if (inputs.size() == 2 && op.inputs.size() == 2 && op.inputs[1].slot == "Y") {
      if (!has_rows(inputs[0]) && !exchange(op, inputs)) return false;
      if (is_neutral(op, inputs)) return true;
    }
    if (op.type.empty()) return true;
    if (!is_independent(op, inputs)) return false;
    for (const slot_message& s : op.outputs)
      for (const std::string& name : s.arguments) {
        if (variables_.count(name) == 0) continue;  // left out
        const extents& dims = dims_of(name);
        if (dims.empty() || dims[0] != batch_) return false;
        rows_.insert(name);
      }
    return true;
  }

  // A reshape of [batch, ...] to [batch * m, ...] becomes a reshape to [batch, m, ...].
  bool merges(operator_message& op) {
    const std::string out = op.output("Out").at(0);
    const extents& to = dims_of(out);
    if (to.empty() || to[0] == batch_ || to[0] <= 0 || to[0] % batch_ != 0) return false;
    return reshapes_to(op, out, to[0] / batch_);
  }
  // Writes a reshape of samples; m > 0: the batch of the result is merged with a dimension of m.
  bool reshapes_to(operator_message& op, const std::string& out, std::int64_t m) {
    if (fetched_.count(out) != 0 && m > 0) return false;
    extents shape = dims_of(out);
    if (m > 0) {
      merged_[out] = shape[0] = m;
      shape.insert(shape.begin(), -1);
    } else {
      if (shape.empty() || shape[0] != batch_) return false;
      rows_.insert(out);
      shape[0] = -1;
    }
    const std::string from = op.input("X").at(0);
    if (fetched_.count(out) == 0 && split_dims(from) == shape) return drop(op, out, from);
    std::erase_if(op.attributes, [](const attribute_message& a) { return a.name == "shape"; });
    op.attributes.push_back(onnx_set("shape", shape));
    return true;
  }
  // The dimensions in the program that is made.
  extents split_dims(const std::string& name) const {
    extents dims = dims_of(name);
    if (const auto m = merged_.find(name); m != merged_.end()) {
      dims[0] = m->second;
      dims.insert(dims.begin(), -1);
    } else if (has_rows(name)) {
      dims[0] = -1;
    }
    return dims;
  }
  // Leaves out an operator whose result is equal to another variable.
  bool drop(operator_message& op, const std::string& out, const std::string& equal) {
    op.type.clear();
    aliases_[out] = equal;
    if (merged_.count(out) == 0) rows_.insert(out);
    return true;
  }
  // The variable that an alias stands for.
  std::string resolved(std::string name) const {
    for (auto other = aliases_.find(name); other != aliases_.end(); other = aliases_.find(name))
      name = other->second;
    return name;
  }
  // Writes an operator with operands whose batch is merged with a dimension: the dimensions after
  // the first one have a higher number in the program that is made.
  bool keeps_merged(operator_message& op, const std::vector<std::string>& inputs) {
    std::vector<std::string> made;
    for (const slot_message& s : op.outputs)
      for (const std::string& name : s.arguments)
        if (variables_.count(name) != 0) made.push_back(name);
    if (made.empty()) return false;
    if (op.type == "reshape2") return splits(op, made[0]);
    for (const std::string& name : made)
      if (fetched_.count(name) != 0) return false;
    if (op.type == "gather") return gathers(op, made[0]);
    const auto x = merged_.find(inputs[0]);
    if (x == merged_.end()) return false;
    const extents& dims = dims_of(inputs[0]);
    const int rank = static_cast<int>(dims.size());
    const auto same = [&](const std::string& other) {
      const auto found = merged_.find(other);
      return found != merged_.end() && found->second == x->second;
    };
    const auto moves = [&](const char* attribute, std::int64_t usual) {  // an axis
      const std::int64_t at = axis(integer(op, attribute, usual), rank);
      std::erase_if(op.attributes, [&](const attribute_message& a) { return a.name == attribute; });
      op.attributes.push_back(onnx_set(attribute, at + 1));
      return at > 0;
    };
    bool fits = false;
    if (op.type == "transpose2" || op.type == "slice") {
      const bool turns = op.type == "transpose2";
      for (attribute_message& a : op.attributes) {
        if (a.name != (turns ? "axis" : "axes")) continue;
        fits = !a.integers.empty() && (turns ? a.integers[0] == 0 : true);
        for (std::int64_t& d : a.integers) {
          d = axis(d, rank) + 1;
          fits = fits && (turns || d > 1);
        }
        if (turns) a.integers.insert(a.integers.begin(), 0);
      }
    } else if (op.type == "softmax" || op.type == "split" || op.type == "cumsum") {
      fits = moves("axis", op.type == "split" ? 0 : -1);
    } else if (op.type == "concat" || op.type == "stack") {
      fits = std::all_of(inputs.begin(), inputs.end(), same) && moves("axis", 0);
    } else if (op.type == "layer_norm") {
      fits = moves("begin_norm_axis", 1);
    } else if (op.type == "matmul") {
      fits = same(inputs.at(1)) ? rank == 3
                                : !has_rows(inputs[1]) && dims_of(inputs[1]).size() == 2 &&
                                      integer(op, "transpose_X", 0) == 0;
    } else if (inputs.size() == 2 &&
               (op.type.starts_with("elementwise_") || is_compared(op.type))) {
      const extents& of_y = dims_of(inputs[1]);
      const std::int64_t given = integer(op, "axis", -1);
      const bool trails = given < 0 || given + static_cast<int>(of_y.size()) == rank;
      fits = same(inputs[1])
                 ? of_y == dims
                 : !has_rows(inputs[1]) && merged_.count(inputs[1]) == 0 &&
                       (of_y == extents{1} || (trails && static_cast<int>(of_y.size()) < rank));
      std::erase_if(op.attributes, [](const attribute_message& a) { return a.name == "axis"; });
    } else {
      fits = inputs.size() == 1 && is_pointwise(op.type);
    }
    for (const std::string& name : made) {
      fits = fits && !dims_of(name).empty() && dims_of(name)[0] == dims[0];
      merged_[name] = x->second;
    }
    return fits;
  }
  bool splits(operator_message& op, const std::string& out) {
    const extents& to = dims_of(out);
    if (op.inputs.size() != 1 || to.empty() || to[0] <= 0 || to[0] % batch_ != 0) return false;
    return reshapes_to(op, out, to[0] == batch_ ? 0 : to[0] / batch_);
  }
  // A lookup of the ids of all samples, or a selection of all elements in their order.
  bool gathers(operator_message& op, const std::string& out) {
    const std::string x = op.input("X").at(0), index = op.input("Index").at(0);
    const auto of_x = merged_.find(x), of_index = merged_.find(index);
    if (of_index != merged_.end() && of_x == merged_.end() && !has_rows(x) &&
        dims_of(index).size() == 1 && dims_of(x).size() == 2) {
      const variable_message& w = variables_.at(x);
      if (!w.is_parameter || values_.find(x) == nullptr || w.type != dtype::float32) return false;
      op.type = "lookup_table_v2";
      op.inputs = {{"W", {x}}, {"Ids", {plain_ids(index, dims_of(x)[0])}}};
      op.attributes.clear();
      merged_[out] = of_index->second;
      return true;
    }
    const lod_tensor* const order = values_.find(index);
    if (of_x == merged_.end() || order == nullptr ||
        order->size() != static_cast<std::size_t>(batch_ * of_x->second) ||
        dims_of(index).size() != 1)
      return false;
    const auto numbers = order->cast<std::int64_t>();
    for (std::size_t i = 0; i < order->size(); ++i)
      if (numbers.flat(i) != static_cast<std::int64_t>(i)) return false;
    merged_[out] = of_x->second;
    return drop(op, out, x);
  }
  // ONNX adds the number of rows to negative ids: x + (x < 0) * n. An embedding does without: ids
  // that are not in its table are an error.
  std::string plain_ids(const std::string& name, std::int64_t n) const {
    const auto made_by = [&](const std::string& of, std::string_view type) {
      const operator_message* found = nullptr;
      for (const operator_message& op : made_.blocks[0].operators)
        for (const slot_message& s : op.outputs)
          if (op.type == type && s.arguments == std::vector{of}) found = &op;
      return found;
    };
    const operator_message* const flat = made_by(resolved(name), "reshape2");
    const operator_message* const sum =
        made_by(flat == nullptr ? resolved(name) : flat->input("X").at(0), "elementwise_add");
    if (sum == nullptr) return name;
    const operator_message* const product = made_by(sum->input("Y").at(0), "elementwise_mul");
    const operator_message* const number =
        product == nullptr ? nullptr : made_by(product->input("X").at(0), "cast");
    const operator_message* const negative =
        number == nullptr ? nullptr : made_by(number->input("X").at(0), "less_than");
    if (negative == nullptr || negative->input("X") != sum->input("X") ||
        uniform(negative->input("Y").at(0)) != 0. ||
        uniform(product->input("Y").at(0)) != static_cast<double>(n))
      return name;
    const std::string& plain = sum->input("X").at(0);
    return split_dims(plain) == split_dims(name) ? plain : name;
  }
  // The number that all elements of a constant are.
  std::optional<double> uniform(const std::string& name) const {
    const lod_tensor* const value = values_.find(name);
    if (value == nullptr || value->size() == 0 || has_rows(name)) return std::nullopt;
    const auto numbers = value->cast<double>();
    for (std::size_t i = 1; i < value->size(); ++i)
      if (numbers.flat(i) != numbers.flat(0)) return std::nullopt;
    return numbers.flat(0);
  }
  // Leaves out x + 0, x * 1 and x && true.
  bool is_neutral(operator_message& op, const std::vector<std::string>& inputs) {
    const std::string out = op.output("Out").empty() ? "" : op.output("Out")[0];
    if (out.empty() || fetched_.count(out) != 0 || dims_of(out) != dims_of(inputs[0])) return false;
    const bool adds = op.type == "elementwise_add", same = dims_of(out) == dims_of(inputs[1]);
    if (adds && same && zeros_.count(inputs[0]) != 0) return drop(op, out, inputs[1]);
    if (adds && zeros_.count(inputs[1]) != 0) return drop(op, out, inputs[0]);
    if (!adds && op.type != "elementwise_mul" && op.type != "logical_and") return false;
    // A parameter stays, also if it is zero.
    if (variables_.at(inputs[1]).is_parameter && !same) return false;
    return uniform(inputs[1]) == (adds ? 0. : 1.) && drop(op, out, inputs[0]);
  }
  // Removes operators whose results nothing reads.
  void drop_unread(std::vector<operator_message>& all) const {
    std::set<std::string> read = fetched_;
    std::vector<operator_message> kept;
    for (auto op = all.rbegin(); op != all.rend(); ++op) {
      bool is_read = op->type == "feed" || op->type == "fetch";
      for (const slot_message& s : op->outputs)
        for (const std::string& name : s.arguments) is_read = is_read || read.count(name) != 0;
      if (!is_read) continue;
      for (const slot_message& s : op->inputs) read.insert(s.arguments.begin(), s.arguments.end());
      kept.push_back(std::move(*op));
    }
    all.assign(std::make_move_iterator(kept.rbegin()), std::make_move_iterator(kept.rend()));
  }
  static bool is_compared(std::string_view type) {
    return std::find(std::begin(compared), std::end(compared), type) != std::end(compared);
  }
  static bool is_pointwise(std::string_view type) {
    return std::find(std::begin(pointwise), std::end(pointwise), type) != std::end(pointwise);
  }

  bool is_independent(operator_message& op, const std::vector<std::string>& inputs) {
    const std::string_view type = op.type;
    const auto one_of = [&](const auto& all) {
      return std::find(std::begin(all), std::end(all), type) != std::end(all);
    };
    const bool first = has_rows(inputs[0]);
    const auto others = [&](bool rows) {  // whether the operands after the first have rows
      return std::all_of(inputs.begin() + 1, inputs.end(),
                         [&](const std::string& name) { return has_rows(name) == rows; });
    };
    const int rank = static_cast<int>(dims_of(inputs[0]).size());
    if ((type == "logical_and" || type == "logical_or") && !has_rows(inputs.at(1)))
      return first && is_masked(op, inputs);
    if (type.starts_with("elementwise_") || is_compared(type)) return first && is_aligned(op);
    if (is_pointwise(type)) return first && inputs.size() == 1;
    if (one_of(of_samples)) return first && others(false);
    if (type == "softmax" || type == "cumsum")
      return first && axis(integer(op, "axis", -1), rank) != 0;
    if (type == "split" || type == "arg_max" || type == "arg_min")
      return first && inputs.size() == 1 && axis(integer(op, "axis", 0), rank) != 0;
    if (type == "layer_norm") return first && integer(op, "begin_norm_axis", 1) > 0;
    if (type == "mul") return first && others(false) && integer(op, "x_num_col_dims", 1) > 0;
    if (type == "matmul") return first && is_product_of_rows(op, rank);
    if (type == "lookup_table" || type == "lookup_table_v2")
      return !has_rows(op.input("W").at(0)) && has_rows(op.input("Ids").at(0));
    if (type == "reshape2") return first && inputs.size() == 1 && reshapes_rows(op);
    if (type == "flatten2") return first && integer(op, "axis", 1) == 1;
    if (type == "transpose2") return first && list(op, "axis").at(0) == 0;
    if (type == "concat" || type == "stack")
      return first && others(true) && axis(integer(op, "axis", 0), rank) != 0;
    if (type == "expand") return first && inputs.size() == 1 && list(op, "expand_times").at(0) == 1;
    if (type == "pad")
      return first && list(op, "paddings").at(0) == 0 && list(op, "paddings").at(1) == 0;
    if (type == "slice" || type == "squeeze2") return first && spares_rows(op, "axes", rank);
    if (type == "unsqueeze2") return first && spares_rows(op, "axes", rank + 1);
    if (type.starts_with("reduce_"))
      return first && integer(op, "reduce_all", 0) == 0 && spares_rows(op, "dim", rank);
    return false;
  }
  // The first of two operands has no rows, but the second one: exchanges them, or gives the first
  // one rows.
  bool exchange(operator_message& op, std::vector<std::string>& inputs) {
    constexpr std::pair<std::string_view, std::string_view> exchanged[] = {
        {"elementwise_add", "elementwise_add"},
        {"elementwise_mul", "elementwise_mul"},
        {"elementwise_max", "elementwise_max"},
        {"elementwise_min", "elementwise_min"},
        {"equal", "equal"},
        {"not_equal", "not_equal"},
        {"logical_and", "logical_and"},
        {"logical_or", "logical_or"},
        {"logical_xor", "logical_xor"},
        {"less_than", "greater_than"},
        {"less_equal", "greater_equal"},
        {"greater_than", "less_than"},
        {"greater_equal", "less_equal"}};
    const bool same = dims_of(inputs[0]).size() == dims_of(inputs[1]).size();
    if (op.inputs.size() != 2 || op.inputs[0].slot != "X" || op.inputs[1].slot != "Y" || !same)
      return !op.type.starts_with("elementwise_");
    for (const auto& [type, other] : exchanged)
      if (op.type == type && dims_of(inputs[0]) == dims_of(inputs[1])) {
        op.type = other;
        std::swap(op.inputs[0].arguments, op.inputs[1].arguments);
        std::swap(inputs[0], inputs[1]);
        return true;
      }
    if (!op.type.starts_with("elementwise_") || dims_of(inputs[0]) != dims_of(inputs[1]))
      return false;
    if (const std::optional<double> number = uniform(inputs[0]);
        op.type == "elementwise_keep" && number && std::isfinite(*number) &&
        variables_.at(inputs[1]).type == dtype::boolean)
      return keeps_number(op, inputs, *number);
    inputs[0] = with_rows(inputs[0], inputs[1]);
    op.inputs[0].arguments = {inputs[0]};
    return !inputs[0].empty();
  }
  // A number where a mask is true, else 0, is the product of the number and the mask.
  bool keeps_number(operator_message& op, std::vector<std::string>& inputs, double number) {
    const std::string out = op.output("Out").at(0), mask = inputs[1];
    if (number == 0) zeros_.insert(out);
    inputs = {with_type(mask, variables_.at(out).type, out)};
    op.type = "scale";
    op.inputs = {{"X", inputs}};
    op.attributes.clear();
    op.attributes.push_back(onnx_set("scale", number));
    return true;
  }
  std::string with_type(const std::string& from, dtype type, const std::string& wanted) {
    if (variables_.at(from).type == type) return from;
    return add_operator("cast", {{"X", {from}}},
                        {onnx_set("in_dtype", static_cast<int>(variables_.at(from).type)),
                         onnx_set("out_dtype", static_cast<int>(type))},
                        wanted + ".cast", type, dims_of(from));
  }
  // Logical operators take operands of one shape. With a mask that is the same for all samples, x
  // becomes the product of numbers, or the larger one.
  bool is_masked(operator_message& op, const std::vector<std::string>& inputs) {
    const std::string row = one_row(inputs[1]), out = op.output("Out").at(0);
    if (row.empty() || dims_of(inputs[0]) != dims_of(inputs[1])) return false;
    const std::string mask = new_name(row + ".numbers");
    variable_message v = variables_.at(row);
    v.name = mask;
    v.type = dtype::float32;
    v.is_parameter = v.stop_gradient = true;
    static_cast<tensor&>(values_.var(mask)) = values_.find(row)->cast(dtype::float32);
    variables_.emplace(mask, std::move(v));
    const char* const type = op.type == "logical_and" ? "elementwise_mul" : "elementwise_max";
    const std::string numbers =
        add_operator(type, {{"X", {with_type(inputs[0], dtype::float32, out)}}, {"Y", {mask}}}, {},
                     out + ".numbers", dtype::float32, dims_of(out));
    op.type = "cast";
    op.inputs = {{"X", {numbers}}};
    op.attributes.clear();
    op.attributes.push_back(onnx_set("in_dtype", static_cast<int>(dtype::float32)));
    op.attributes.push_back(onnx_set("out_dtype", static_cast<int>(dtype::boolean)));
    return true;
  }
  // Adds an operator whose result has rows; returns the name of the result.
  std::string add_operator(const char* type, std::vector<slot_message> inputs,
                           std::vector<attribute_message> attributes, const std::string& wanted,
                           dtype result, const extents& dims) {
    operator_message op;
    variable_message v;
    op.type = type;
    op.inputs = std::move(inputs);
    op.attributes = std::move(attributes);
    v.name = new_name(wanted);
    v.type = result;
    v.dims = dims;
    op.outputs = {{"Out", {v.name}}};
    rows_.insert(v.name);
    made_.blocks[0].operators.push_back(std::move(op));
    return variables_.emplace(v.name, v).first->first;
  }
  // Adds operators that compute a constant for each row of `like`, which has the same shape;
  // returns the name of their result, or an empty name if the rows of the constant differ.
  std::string with_rows(const std::string& name, const std::string& like) {
    const std::string row = one_row(name);
    if (row.empty()) return {};
    const dtype type = variables_.at(name).type;
    const extents dims = dims_of(like);
    const std::string zeros = add_operator(
        "fill_zeros_like", {{"X", {with_type(like, type, name)}}}, {}, name + ".zeros", type, dims);
    return add_operator("elementwise_add", {{"X", {zeros}}, {"Y", {row}}}, {}, name + ".rows", type,
                        dims);
  }
  std::string new_name(const std::string& wanted) const {
    std::string made = wanted;
    for (int i = 2; variables_.count(made) != 0; ++i) made = wanted + "_" + std::to_string(i);
    return made;
  }
  // Returns the name of a constant that has one of the equal rows of the constant `name`; an empty
  // name if this is not a constant, or has other rows.
  std::string one_row(const std::string& name) {
    const lod_tensor* const value = values_.find(name);
    const extents& dims = dims_of(name);
    if (value == nullptr || dims.size() < 2 || dims[0] != batch_ || has_rows(name)) return {};
    if (const auto known = shared_.find(name); known != shared_.end()) return known->second;
    std::vector<std::size_t> shape(dims.begin() + 1, dims.end());
    std::optional<tensor> row;
    value->visit([&](const auto& elements) {
      const std::size_t size = elements.size() / static_cast<std::size_t>(batch_);
      const auto* const first = elements.data();
      for (std::size_t i = size; i < elements.size(); ++i)
        if (std::memcmp(&first[i], &first[i % size], sizeof *first) != 0) return;
      auto made = std::decay_t<decltype(elements)>::from_shape(shape);
      std::copy(first, first + size, made.data());
      row = tensor(std::move(made));
    });
    if (!row) return {};
    variable_message v = variables_.at(name);
    v.name = new_name(name + ".row");
    v.dims.erase(v.dims.begin());
    static_cast<tensor&>(values_.var(v.name)) = std::move(*row);
    variables_.emplace(v.name, v);
    return shared_[name] = v.name;
  }
  // Whether Y is repeated for all rows, or has the rows of X.
  bool is_aligned(operator_message& op) {
    const std::string &x = op.input("X").at(0), &y = op.input("Y").at(0);
    const extents &of_x = dims_of(x), &of_y = dims_of(y);
    const std::int64_t given = integer(op, "axis", -1);
    const std::size_t begin =
        given < 0 ? of_x.size() - (std::min)(of_x.size(), of_y.size()) : std::size_t(given);
    if (has_rows(y)) return begin == 0 && !of_y.empty();
    if (begin > 0 || of_y == extents{1}) return true;
    const std::string row = one_row(y);
    if (row.empty()) return false;
    op.inputs[1].arguments = {row};
    std::erase_if(op.attributes, [](const attribute_message& a) { return a.name == "axis"; });
    if (of_y.size() < of_x.size()) op.attributes.push_back(onnx_set("axis", 1));
    return true;
  }
  bool is_product_of_rows(const operator_message& op, int rank) const {
    const std::string& y = op.input("Y").at(0);
    const int of_y = static_cast<int>(dims_of(y).size());
    if (has_rows(y)) return rank > 2 && of_y == rank;
    return of_y <= 2 && rank > 1 && (rank > 2 || integer(op, "transpose_X", 0) == 0);
  }
  // Whether the elements of a row stay in this row; the shape is then stated without the batch.
  bool reshapes_rows(operator_message& op) const {
    extents shape = dims_of(op.output("Out").at(0));
    if (shape.empty() || shape[0] != batch_) return false;
    shape[0] = -1;
    for (attribute_message& a : op.attributes)
      if (a.name == "shape") a.integers = shape;
    return true;
  }
  bool spares_rows(const operator_message& op, std::string_view attribute, int rank) const {
    for (const std::int64_t a : list(op, attribute))
      if (axis(a, rank) == 0) return false;
    return true;
  }

  bool has_rows(const std::string& name) const { return rows_.count(name) != 0; }
  const extents& dims_of(const std::string& name) const {
    static const extents none;
    const auto found = variables_.find(name);
    return found == variables_.end() ? none : found->second.dims;
  }
  static std::int64_t axis(std::int64_t given, int rank) {
    return given < 0 ? given + rank : given;
  }
  static std::int64_t integer(const operator_message& op, std::string_view name,
                              std::int64_t otherwise) {
    const attribute_message* a = op.attribute(name);
    return a == nullptr ? otherwise : a->integer;
  }
  static extents list(const operator_message& op, std::string_view name) {
    const attribute_message* a = op.attribute(name);
    return a == nullptr ? extents() : a->integers;
  }

  static constexpr std::string_view compared[] = {"less_than",     "less_equal", "greater_than",
                                                  "greater_equal", "equal",      "not_equal",
                                                  "logical_and",   "logical_or", "logical_xor"};
  static constexpr std::string_view pointwise[] = {
      "relu",         "tanh",       "sigmoid",     "logsigmoid",
      "softplus",     "softsign",   "tanh_shrink", "exp",
      "log",          "sqrt",       "rsqrt",       "abs",
      "ceil",         "floor",      "round",       "sin",
      "cos",          "asin",       "acos",        "atan",
      "reciprocal",   "square",     "sign",        "gelu",
      "selu",         "elu",        "relu6",       "leaky_relu",
      "brelu",        "soft_relu",  "stanh",       "swish",
      "hard_sigmoid", "hard_swish", "pow",         "hard_shrink",
      "softshrink",   "scale",      "logical_not", "cast",
      "assign",       "clip",       "erf",         "thresholded_relu",
      "dropout"};
  // The first operand has samples; the others are parameters.
  static constexpr std::string_view of_samples[] = {
      "conv2d", "depthwise_conv2d", "conv2d_transpose", "conv3d", "pool2d",       "pool3d",
      "lrn",    "group_norm",       "batch_norm",       "prelu",  "pixel_shuffle"};

  program_message made_;
  scope& values_;
  std::map<std::string, variable_message, std::less<>> variables_{};
  std::set<std::string> rows_{};                  // names of the variables with rows
  std::map<std::string, std::string> shared_{};   // constants, and the constants with one row
  std::set<std::string> fetched_{}, zeros_{};     // zeros_: results that are 0 for each sample
  std::map<std::string, std::string> aliases_{};  // results that are left out, and their equals
  // Variables [batch * m, ...] of the file, which are [batch, m, ...] in the program: m by name.
  std::map<std::string, std::int64_t> merged_{};
  std::int64_t batch_ = 0;  // the extent of the batch in the file
};

}}}  // namespace lamina::detail
