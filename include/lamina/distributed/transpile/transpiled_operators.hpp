// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/transpile/transpiled_operators.hpp - queries the operators of a training
// program of Fluid and makes new ones.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/io/fluid/program_message.hpp>
#include <lamina/program/operator_schema.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Queries of the operators of a training program, and functions that make new ones.
struct transpiled_operators {
  static constexpr int rpc_role = 4;  // Fluid's OpRole.RPC

  static attribute_message integer(const char* name, std::int64_t value,
                                   attribute_type type = attribute_type::integer) {
    attribute_message a;
    a.name = name;
    a.type = type;
    a.integer = value;
    return a;
  }
  static attribute_message real(const char* name, double value) {
    attribute_message a;
    a.name = name;
    a.type = attribute_type::real;
    a.real = static_cast<float>(value);
    return a;
  }
  static attribute_message texts(const char* name, std::vector<std::string> values) {
    attribute_message a;
    a.name = name;
    a.type = attribute_type::strings;
    a.texts = std::move(values);
    return a;
  }
  static attribute_message role(int value) { return integer("op_role", value); }
  static operator_message made(const char* type, std::vector<slot_message> inputs,
                               std::vector<slot_message> outputs,
                               std::vector<attribute_message> attributes) {
    operator_message op;
    op.type = type;
    op.inputs = std::move(inputs);
    op.outputs = std::move(outputs);
    op.attributes = std::move(attributes);
    return op;
  }
  static operator_message scaled(const std::string& x, double factor, int op_role) {
    return made("scale", {{"X", {x}}}, {{"Out", {x}}},
                {real("scale", factor), real("bias", 0),
                 integer("bias_after_scale", 1, attribute_type::boolean), role(op_role)});
  }

  static int role_of(const operator_message& op) {
    const attribute_message* const a = op.attribute("op_role");
    return a == nullptr ? 0 : static_cast<int>(a->integer);
  }
  static bool is_optimize(const operator_message& op) {
    const int r = role_of(op);
    return r == static_cast<int>(op_role::optimize) ||
           r == static_cast<int>(op_role::learning_rate);
  }
  static bool is_update(const operator_message& op) {
    return is_optimize(op) && !op.input("Param").empty() && !op.input("Grad").empty();
  }
  static bool has(const std::vector<slot_message>& all, std::string_view name) {
    for (const slot_message& s : all)
      if (std::find(s.arguments.begin(), s.arguments.end(), name) != s.arguments.end()) return true;
    return false;
  }
  template <class F>
  static void each(const std::vector<slot_message>& all, const F& f) {
    for (const slot_message& s : all)
      for (const std::string& name : s.arguments) f(name);
  }
  /// Returns the gradient that the backward operators compute, from which clips and decays make the
  /// gradient of an update.
  static std::string gradient_of(const block_message& block, const operator_message& update) {
    std::set<std::string> wanted{update.input("Grad").front()};
    std::string found;
    for (std::size_t k = block.operators.size(); k-- > 0;) {
      const operator_message& op = block.operators[k];
      bool makes = false;
      each(op.outputs, [&](const std::string& name) { makes = makes || wanted.count(name) != 0; });
      if (!makes) continue;
      if (is_optimize(op)) {
        each(op.inputs, [&](const std::string& name) {
          if (name.find("@GRAD") != name.npos) wanted.insert(name);
        });
        continue;
      }
      each(op.outputs, [&](const std::string& name) {
        if (wanted.count(name) != 0) found = name;
      });
      const std::string own = update.input("Param").front() + "@GRAD";
      if (found == own) break;
    }
    if (found.empty())
      throw error(text() << "lamina: distribute_transpiler: expected an operator that makes the "
                            "gradient of "
                         << update.input("Param").front() << ", found none");
    return found;
  }
};

}}}  // namespace lamina::detail
