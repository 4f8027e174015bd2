// SPDX-License-Identifier: Apache-2.0
// lamina/codegen/batch_rows.hpp - makes rows of the first dimension of a program with fixed shapes.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/io/fluid/program_message.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Finds the batch in a program whose shapes are all numbers: the first dimension of all inputs, if
/// each operator computes a row of its results from the same row of its operands. This first
/// dimension then becomes -1 in all variables that have it. A file with a fixed batch thus becomes
/// a program for any number of samples, which gives the same numbers for the batch of the file.
class batch_rows {
 public:
  explicit batch_rows(const program_message& program) : made_(program) {}

  /// Returns the program with rows, or nothing if its first dimension is not a batch.
  std::optional<program_message> found() {
    if (made_.blocks.size() != 1) return std::nullopt;
    block_message& block = made_.blocks[0];
    for (const variable_message& v : block.variables) variables_.emplace(v.name, &v);
    for (operator_message& op : block.operators) {
      if (op.type == "fetch") continue;
      if (!(op.type == "feed" ? feeds(op) : keeps_rows(op))) return std::nullopt;
    }
    if (rows_.empty()) return std::nullopt;
    for (variable_message& v : block.variables)
      if (rows_.count(v.name) != 0) v.dims[0] = -1;
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
  // Whether the results of an operator have rows if its operands have; marks them.
  bool keeps_rows(operator_message& op) {
    std::vector<std::string> inputs;
    bool any = false;
    for (const slot_message& s : op.inputs)
      for (const std::string& name : s.arguments) {
        inputs.push_back(name);
        any = any || rows_.count(name) != 0;
      }
    if (!any) return true;
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
    if (type.starts_with("elementwise_") || one_of(compared)) return first && is_aligned(op);
    if (one_of(pointwise)) return first && inputs.size() == 1;
    if (one_of(of_samples)) return first && others(false);
    if (type == "softmax" || type == "cumsum" || type == "split")
      return first && axis(integer(op, "axis", -1), rank) != 0;
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
  // Whether Y is repeated for all rows, or has the rows of X.
  bool is_aligned(const operator_message& op) const {
    const std::string &x = op.input("X").at(0), &y = op.input("Y").at(0);
    const extents &of_x = dims_of(x), &of_y = dims_of(y);
    const std::int64_t given = integer(op, "axis", -1);
    const std::size_t begin =
        given < 0 ? of_x.size() - (std::min)(of_x.size(), of_y.size()) : std::size_t(given);
    if (has_rows(y)) return begin == 0 && !of_y.empty();
    return begin > 0 || of_y == extents{1};
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
    return found == variables_.end() ? none : found->second->dims;
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
  std::map<std::string, const variable_message*, std::less<>> variables_{};
  std::set<std::string> rows_{};  // names of the variables with rows
  std::int64_t batch_ = 0;        // the extent of the batch in the file
};

}}}  // namespace lamina::detail
