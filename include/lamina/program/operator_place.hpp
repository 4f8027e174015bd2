// SPDX-License-Identifier: Apache-2.0
// lamina/program/operator_place.hpp - names an operator and a variable in messages, as the user
// wrote them.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>

#include <lamina/core/messages/text.hpp>
#include <lamina/program/operator_schema.hpp>
#include <lamina/program/program_desc.hpp>
#include <lamina/program/variable_name.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Returns the layer that recorded an operator, "layer embedding_0", named after the variables that
/// it computes; "gradient of layer embedding_0" for a gradient operator. Returns "" if no layer
/// recorded it, as in a program from a file, or if `op` is null, that is, for a copy that the plan
/// has added.
LAMINA_API_COLD std::string layer_of(const program_view& p, const operator_desc* op);

/// Returns layer_of(p, op), or the operator's type if that is "".
LAMINA_API_COLD std::string place_of(const program_view& p, const operator_desc* op,
                                     const operator_schema& schema);

/// Returns "feed 'words'" for a data layer, "variable 'argmax_0.tmp_0'" for other variables.
LAMINA_API_COLD std::string source_of(const program_view& p, int variable);

/// Returns layer_of(p, &op), or "operator 'type'" if that is "".
LAMINA_API_COLD std::string executed_place_of(const program_view& p, const operator_desc& op);

/// Returns the message "expected values from LOW to HIGH - 1 in feed 'words', found VALUE in row
/// ROW".
LAMINA_API_COLD std::string range_message(const program_view& p, int variable, std::int64_t value,
                                          std::int64_t low, std::int64_t high, std::int64_t row);

#if LAMINA_DEFINES

std::string layer_of(const program_view& p, const operator_desc* op) {
  if (op == nullptr || p.arguments == nullptr) return "";
  const operator_schema& schema = *op->schema;
  for (const bool gradient : {false, true}) {
    int at = gradient ? op->inputs : op->outputs;
    const slot_desc* const described = gradient ? schema.inputs : schema.outputs;
    const int count = gradient ? schema.input_count : schema.output_count;
    for (int s = 0; s < count; ++s) {
      const int n = described[s].duplicable ? p.arguments[at++] : 1;
      for (int i = 0; i < n; ++i) {
        const int v = p.arguments[at++];
        if (v < 0 || v >= p.count.variables) continue;
        if (!gradient && p.variables[v].kind != variable_kind::temporary) continue;
        std::string name = variable_name(p, v);
        const std::size_t end = name.find(".tmp_");
        if (end == name.npos || (name.find("@GRAD") != name.npos) != gradient) continue;
        name.resize(end);
        return text(gradient ? "gradient of layer " : "layer ") << name;
      }
    }
  }
  return "";
}

std::string place_of(const program_view& p, const operator_desc* op,
                     const operator_schema& schema) {
  std::string found = layer_of(p, op);
  return found.empty() ? std::string(schema.type) : found;
}

std::string source_of(const program_view& p, int variable) {
  return text(p.variables[variable].kind == variable_kind::data ? "feed '" : "variable '")
         << variable_name(p, variable) << "'";
}

std::string executed_place_of(const program_view& p, const operator_desc& op) {
  std::string found = layer_of(p, &op);
  return found.empty() ? std::string(text("operator '") << op.schema->type << "'") : found;
}

std::string range_message(const program_view& p, int variable, std::int64_t value, std::int64_t low,
                          std::int64_t high, std::int64_t row) {
  return text("expected values from ")
         << low << " to " << high - 1 << " in " << source_of(p, variable) << ", found " << value
         << " in row " << row;
}

#endif  // LAMINA_DEFINES

}}  // namespace lamina
