// SPDX-License-Identifier: Apache-2.0
// lamina/codegen/foreign_training.hpp - converts a training program that PaddlePaddle wrote to the
// form that lamina's exporter writes.
//
// Programs of PaddlePaddle differ in three ways: gradient operators name only the variables that
// they read, all operators have attributes that tell where they were recorded, and parameters are
// updated in the order of their names.
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

#include <lamina/core/messages/error.hpp>
#include <lamina/io/fluid/fluid_attributes.hpp>
#include <lamina/io/fluid/to_program_message.hpp>
#include <lamina/io/loaded_program.hpp>
#include <lamina/io/program_desc_proto.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Converts one program.
class foreign_training {
 public:
  /// Whether PaddlePaddle wrote a program: some operator has the attribute op_namescope, which
  /// lamina does not write.
  static bool is_foreign(const program_message& program) {
    for (const block_message& b : program.blocks)
      for (const operator_message& op : b.operators)
        if (op.attribute("op_namescope") != nullptr) return true;
    return false;
  }

  /// Returns the program in the form of lamina's exporter. Throws format_error if a gradient or an
  /// update has an attribute that lamina does not know and whose value may change results.
  static program_message as_exported(const loaded_program& program) {
    const program_view p = program.view();
    require_known(program, p);
    program_message made = to_program_message(p);
    for (std::size_t b = 0; b < made.blocks.size(); ++b)
      copy_columns(program.message().blocks[b], made.blocks[b]);
    for (block_message& b : made.blocks)
      for (operator_message& op : b.operators)
        if (op.type == "fill_constant" && role(op) == op_role::loss_gradient)
          for (attribute_message& a : op.attributes)
            if (a.name == "shape" && a.integers.empty()) a.integers = {1};  // a scalar
    sort_parameters(made);
    prepare_updates(made.blocks[0]);
    return made;
  }

 private:
  static op_role role(const operator_message& op) {
    const attribute_message* const a = op.attribute("op_role");
    return a == nullptr ? op_role::forward : static_cast<op_role>(a->integer);
  }
  static bool is_column(const operator_message& op) {
    return op.type == "feed" || op.type == "fetch";
  }
  static bool is_update(const operator_message& op) { return !op.output("ParamOut").empty(); }

  /// Whether an attribute that lamina does not know cannot change results.
  static bool is_neutral(const attribute_message& a) {
    constexpr std::string_view of_place[] = {
        "op_role",   "op_role_var",     "op_namescope",     "op_callstack",
        "op_device", "with_quant_attr", "place_type",       "use_mkldnn",
        "use_cudnn", "use_quantizer",   "mkldnn_data_type", "min_row_size_to_use_multithread"};
    if (std::find(std::begin(of_place), std::end(of_place), a.name) != std::end(of_place))
      return true;
    if (a.name == "rescale_grad") return a.real == 1;
    constexpr std::string_view empty[] = {"multi_precision", "use_global_beta_pow",
                                          "regularization_coeff", "regularization_method",
                                          "str_value"};
    return std::find(std::begin(empty), std::end(empty), a.name) != std::end(empty) &&
           a.integer == 0 && a.real == 0 && a.text.empty();
  }
  static bool is_fixed(const operator_message& op, const attribute_message& a) {
    const std::string_view type = forward_type(op.type);
    for (const fixed_attribute& f : fixed_attributes)
      if (f.type == type && a.name == f.name) return true;
    return false;
  }
  /// Whether an attribute of a gradient operator is also an attribute of its forward operator.
  static bool is_of_forward(const loaded_program& program, const operator_message& op,
                            const attribute_message& a) {
    const std::string_view type = forward_type(op.type);
    if (type == op.type) return false;
    for (const block_message& b : program.message().blocks)
      for (const operator_message& forward : b.operators)
        if (const attribute_message* const same = forward.attribute(a.name);
            forward.type == type && same != nullptr && bytes_of(*same) == bytes_of(a))
          return true;
    return false;
  }
  static void require_known(const loaded_program& program, const program_view& p) {
    std::vector<std::vector<const operator_message*>> messages(program.message().blocks.size());
    for (std::size_t b = 0; b < messages.size(); ++b)
      for (const operator_message& op : program.message().blocks[b].operators)
        if (!is_column(op)) messages[b].push_back(&op);
    std::vector<std::size_t> next(messages.size(), 0);
    for (int k = 0; k < p.count.operators; ++k) {
      const operator_desc& record = p.operators[k];
      const std::size_t block = static_cast<std::size_t>(record.block);
      const operator_message& op = *messages[block][next[block]++];
      if (role(op) == op_role::forward || role(op) == op_role::loss) continue;
      for (const attribute_message& a : op.attributes) {
        bool known = is_neutral(a) || is_fixed(op, a) || is_of_forward(program, op, a);
        for (int i = 0; i < record.schema->attribute_count && !known; ++i)
          known = a.name == record.schema->attributes[i].name;
        if (!known)
          throw format_error(program.source(), op.offset,
                             "expected attributes that lamina knows, found '" + a.name +
                                 "' (operator '" + op.type + "')");
      }
    }
  }

  static void copy_columns(const block_message& from, block_message& to) {
    std::vector<operator_message> feeds, fetches;
    for (const operator_message& op : from.operators)
      if (is_column(op)) (op.type == "feed" ? feeds : fetches).push_back(op);
    to.operators.insert(to.operators.begin(), feeds.begin(), feeds.end());
    to.operators.insert(to.operators.end(), fetches.begin(), fetches.end());
    for (const variable_message& v : from.variables)
      if (v.kind == variable_class::feed_minibatch || v.kind == variable_class::fetch_list)
        to.variables.push_back(v);
  }
  /// Sorts the parameters in the list of variables by their first use, because layers make them in
  /// this order.
  static void sort_parameters(program_message& program) {
    std::map<std::string, std::size_t> first;
    for (const block_message& b : program.blocks)
      for (const operator_message& op : b.operators)
        for (const slot_message& s : op.inputs)
          for (const std::string& name : s.arguments) first.emplace(name, first.size());
    std::vector<variable_message>& variables = program.blocks[0].variables;
    std::vector<variable_message> sorted;
    for (const variable_message& v : variables)
      if (v.is_parameter) sorted.push_back(v);
    const auto place = [&](const variable_message& v) {
      const auto found = first.find(v.name);
      return found == first.end() ? first.size() : found->second;
    };
    std::stable_sort(
        sorted.begin(), sorted.end(),
        [&](const variable_message& x, const variable_message& y) { return place(x) < place(y); });
    std::size_t next = 0;
    for (variable_message& v : variables)
      if (v.is_parameter) v = std::move(sorted[next++]);
  }
  /// Sorts consecutive updates by their parameters, which changes no result because each update
  /// changes only its own variables. Also marks accumulators as not trainable, because files of
  /// PaddlePaddle do not mark them.
  static void prepare_updates(block_message& b) {
    std::set<std::string> kept;
    for (const operator_message& op : b.operators)
      if (is_update(op))
        for (const slot_message& s : op.inputs)
          if (s.slot != "Param" && s.slot != "Grad")
            kept.insert(s.arguments.begin(), s.arguments.end());
    for (variable_message& v : b.variables)
      if (kept.count(v.name) != 0) v.stop_gradient = true;
    const auto place = [&](const operator_message& op) {
      const auto& names = op.input("Param");
      std::size_t i = 0;
      while (i < b.variables.size() && !names.empty() && b.variables[i].name != names[0]) ++i;
      return i;
    };
    const auto begin = std::find_if(b.operators.begin(), b.operators.end(), is_update);
    const auto end = std::find_if_not(begin, b.operators.end(), is_update);
    std::stable_sort(begin, end, [&](const operator_message& x, const operator_message& y) {
      return place(x) < place(y);
    });
  }
};

}}}  // namespace lamina::detail
