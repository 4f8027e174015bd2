// SPDX-License-Identifier: Apache-2.0
// lamina/executor/run_memory.hpp - the values of one run, including those of blocks.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <lamina/program/program_builder.hpp>
#include <lamina/program/program_desc.hpp>
#include <lamina/tensor/lod_tensor.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The values that one iteration of a loop keeps for the gradient of the iteration. These are the
/// values of variables of the body that operators outside of the body read or write. Fluid: a step
/// scope.
struct step_scope {
  // In the order of run_memory's list of these variables.
  std::vector<lod_tensor> values;
  std::vector<std::vector<lod_tensor>> arrays;  // the variables in the list that are tensor arrays
  std::vector<std::vector<step_scope>> scopes;  // the step scopes of inner loops
};

/// The values, arrays and step scopes of all variables of a program during one run.
class run_memory {
 public:
  explicit run_memory(const program_view& program)
      : program_(program),
        values(static_cast<std::size_t>(program.count.variables)),
        arrays(static_cast<std::size_t>(program.count.variables)),
        scopes(static_cast<std::size_t>(program.count.variables)),
        rows(static_cast<std::size_t>(program.count.variables)),
        local_(static_cast<std::size_t>(program.count.variables)),
        operators_(static_cast<std::size_t>(program.count.blocks)),
        kept_(static_cast<std::size_t>(program.count.blocks)),
        local_arrays_(static_cast<std::size_t>(program.count.blocks)) {
    for (int k = 0; k < program.count.operators; ++k)
      operators_[at(program.operators[k].block)].push_back(k);
    for (int v = 0; v < program.count.variables; ++v)
      if (program.variables[v].kind == variable_kind::tensor_array)
        local_arrays_[at(program.variables[v].block)].push_back(v);
    if (program.count.blocks > 1) find_kept();
  }

  /// Returns the storage for a variable that is not in a scope.
  lod_tensor& local(int variable) { return local_[at(variable)]; }
  /// Returns the operators of a block, in order.
  const std::vector<int>& operators(int block) const { return operators_[at(block)]; }

  /// Begins a run of a block: empties its tensor arrays.
  void enter(int block) {
    for (const int v : local_arrays_[at(block)]) arrays[at(v)].clear();
  }
  /// Ends an iteration of a loop: moves the values that its gradient needs out of the variables and
  /// returns them.
  step_scope keep(int block) {
    step_scope kept;
    for (const int v : kept_[at(block)]) {
      kept.values.push_back(std::move(*values[at(v)]));
      *values[at(v)] = {};
      kept.arrays.push_back(std::move(arrays[at(v)]));
      arrays[at(v)].clear();
      kept.scopes.push_back(std::move(scopes[at(v)]));
      scopes[at(v)].clear();
    }
    return kept;
  }
  /// Whether an iteration of a block has values that keep() must move.
  bool keeps(int block) const { return !kept_[at(block)].empty(); }
  /// Restores the values that keep() moved out.
  void restore(int block, step_scope kept) {
    for (std::size_t i = 0; i < kept.values.size(); ++i) {
      const std::size_t v = at(kept_[at(block)][i]);
      *values[v] = std::move(kept.values[i]);
      arrays[v] = std::move(kept.arrays[i]);
      scopes[v] = std::move(kept.scopes[i]);
    }
  }

  /// Whether floating variables hold numbers of their recorded type, also if it is not the
  /// executor's type. If so, a float variable of an executor in double is rounded to float,
  /// although kernels read it as doubles; a double variable of an executor in float keeps its
  /// precision.
  bool as_declared = false;

 private:
  const program_view& program_;

 public:
  // For each variable; not used for arrays and step scopes.
  std::vector<lod_tensor*> values;
  std::vector<std::vector<lod_tensor>> arrays;  // for each variable, its tensor array
  std::vector<std::vector<step_scope>> scopes;  // for each variable, its step scopes
  /// For each variable that is a sparse gradient (selected rows), its row numbers. The value of the
  /// variable is a full array with zeros in all other rows.
  std::vector<std::set<std::int64_t>> rows;
  /// How often each operator that counts its iterations has run in this run.
  std::map<const operator_desc*, std::uint64_t> iterations;

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  // Returns the body of the innermost loop that contains a block, or -1. (The block of a branch is
  // not a loop.)
  int loop_of(int block) const {
    for (; block > 0; block = program_.blocks[block].parent)
      if (is_loop_[at(block)]) return block;
    return -1;
  }
  void find_kept() {
    is_loop_.assign(at(program_.count.blocks), false);
    for (int k = 0; k < program_.count.operators; ++k) {
      const int block = sub_block_of(program_, program_.operators[k]);
      if (block >= 0 && program_.operators[k].schema->facts.block == block_rule::loop)
        is_loop_[at(block)] = true;
    }
    std::vector<bool> kept(at(program_.count.variables), false);
    for (int k = 0; k < program_.count.operators; ++k) {
      const operator_desc& op = program_.operators[k];
      const auto name = [&](int v) {
        const int loop = loop_of(program_.variables[v].block);
        if (loop >= 0 && !kept[at(v)] && !is_inside(program_, op.block, loop)) {
          kept[at(v)] = true;
          kept_[at(loop)].push_back(v);
        }
      };
      for_each_argument(op, true, name);
      for_each_argument(op, false, [&](int v) {
        name(v);
        // A gradient has the shape of its forward variable.
        if (program_.variables[v].of >= 0) name(program_.variables[v].of);
      });
    }
  }
  template <class F>
  void for_each_argument(const operator_desc& op, bool input, const F& f) const {
    const slot_desc* slot_list = input ? op.schema->inputs : op.schema->outputs;
    const int count = input ? op.schema->input_count : op.schema->output_count;
    for (int s = 0, i = input ? op.inputs : op.outputs; s < count; ++s)
      for (int n = slot_list[s].duplicable ? program_.arguments[i++] : 1; n > 0; --n, ++i)
        if (program_.arguments[i] >= 0) f(program_.arguments[i]);
  }

  std::vector<lod_tensor> local_;
  std::vector<std::vector<int>> operators_;  // for each block, its operators
  // for each body of a loop, the variables that an iteration keeps
  std::vector<std::vector<int>> kept_;
  std::vector<std::vector<int>> local_arrays_;
  std::vector<bool> is_loop_;
};

}}  // namespace lamina
