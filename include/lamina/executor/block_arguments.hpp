// SPDX-License-Identifier: Apache-2.0
// lamina/executor/block_arguments.hpp - the conditions and outputs of the operators that run a
// block (a loop body or a branch).
#pragma once

#include <lamina/core/config.hpp>

#include <string_view>

#include <lamina/executor/domain_rows.hpp>
#include <lamina/executor/run_memory.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The condition and the outputs of an operator that runs a block.
struct block_arguments {
  block_arguments(const program_view& p, const operator_desc& op, dtype real_type)
      : program(p),
        by_rows(op.schema->facts.block == block_rule::branch ||
                op.schema->facts.block == block_rule::branch_gradient),
        real(real_type) {
    if (by_rows && p.attributes[op.attributes + 1].number != 0) by_rows = false;
    for (int out = 0; out < 2; ++out) {
      const slot_desc* slot_list = out == 0 ? op.schema->inputs : op.schema->outputs;
      const int count = out == 0 ? op.schema->input_count : op.schema->output_count;
      for (int s = 0, at = out == 0 ? op.inputs : op.outputs; s < count; ++s) {
        const std::string_view name = slot_list[s].name;
        const int n = slot_list[s].duplicable ? p.arguments[at++] : 1;
        for (int i = 0; i < n; ++i, ++at) {
          const std::size_t v = static_cast<std::size_t>(p.arguments[at]);
          if (name == "Condition" || name == "Cond") condition = v;
          if (name == "StepScopes") scopes = v;
          if (name == "Out" && out == 1) outputs.push_back(v);
        }
      }
    }
  }

  /// Whether the block runs: the condition is a bool that is true, or a variable that has rows.
  /// Throws lamina::error if the condition has no value.
  bool condition_holds(const run_memory& memory) const {
    const lod_tensor& value = *memory.values[condition];
    if (!value.has_value())
      throw error(text() << "lamina: executor: expected a value in the condition '"
                         << variable_name(program, static_cast<int>(condition)) << "', found none");
    return by_rows ? value.size() > 0 : value.cast<bool>().flat(0);
  }

  /// Sets the outputs of a block that did not run. Outputs with rows get zero rows; all other
  /// outputs keep their values.
  void leave_empty(run_memory& memory, domain_rows& rows) const {
    if (!by_rows) return;
    for (const std::size_t v : outputs) {
      const variable_desc& desc = program.variables[v];
      if (desc.kind == variable_kind::tensor_array || desc.rank == 0 ||
          program.dims[desc.dims] >= 0)
        continue;
      tensor_shape shape(program.dims + desc.dims, program.dims + desc.dims + desc.rank);
      shape[0] = 0;
      const dtype type = is_floating(desc.type) ? real : desc.type;
      *memory.values[v] = lod_tensor(tensor::zeros(type, shape), no_sequences(desc.rows));
      rows.note(static_cast<int>(v), *memory.values[v]);
    }
  }

  const program_view& program;
  bool by_rows;
  std::size_t condition = 0;
  std::size_t scopes = 0;
  std::vector<std::size_t> outputs{};
  dtype real;  // the type in which the executor computes floating variables

 private:
  lod no_sequences(int domain) const {
    return lod::from_lengths(
        std::vector<lod::level>(static_cast<std::size_t>(lod_level_of(program, domain))));
  }
};

}}  // namespace lamina
