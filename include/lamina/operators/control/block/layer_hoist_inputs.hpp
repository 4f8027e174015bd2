// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/block/layer_hoist_inputs.hpp - moves computations on the steps of an
// input out of a loop if all steps of the input are known before the loop.
//
// A step of a recurrence usually begins with a product of its input and a weight, or with a lookup
// in a table. Neither the product nor the lookup depends on previous steps. So this file records
// the computation once before the loop, for the elements of all steps, and the loop reads the
// results. One product of many rows replaces many products of few rows, which is faster; the
// gradients profit in the same way.
#pragma once

#include <lamina/core/config.hpp>

#include <initializer_list>

#include <lamina/core/compile_time/same_address.hpp>
#include <lamina/layers/layer_helper.hpp>
#include <lamina/operators/control/array/definition_step_array.hpp>
#include <lamina/operators/control/rank_table/definition.hpp>
#include <lamina/operators/embedding/lookup_table/definition.hpp>
#include <lamina/operators/matrix/mul/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer::detail {

/// Rewrites the body of a loop, which is block `body`. `first` is the number of the first operator
/// of the loop; operators from this number on belong to the body or, if they were recorded together
/// with the body, to the block around the loop.
class input_hoister {
 public:
  constexpr input_hoister(program_builder& b, int body, int first)
      : b_(b), body_(body), outer_(b.blocks[body].parent), first_(first), end_(b.operators.count) {}
  input_hoister(const input_hoister&) = delete;
  constexpr ~input_hoister() { delete[] writer_; }

  constexpr void run() {
    bool any = false;
    for (int k = first_; k < end_ && !any; ++k) any = is_cut(b_.operators[k]);
    if (!any) return;
    find_writers();
    constexpr_vector<operator_desc> made;
    made.reserve(3 * (end_ - first_));
    for (int k = first_; k < end_; ++k)
      if (!hoist(b_.operators[k], made)) made.push(b_.operators[k]);
    if (made.count == end_ - first_) return;
    drop_unread(made, body_);
    drop_unread(made, outer_);
    b_.operators.count = first_;
    for (int k = 0; k < made.count; ++k) b_.operators.push(made[k]);
  }

 private:
  /// Whether operator `op` splits an input of the loop into an array with one slot per step.
  constexpr bool is_cut(const operator_desc& op) const {
    return op.block == outer_ &&
           (same_address(op.schema, &schema_of<operators::lod_tensor_to_array>()) ||
            (same_address(op.schema, &schema_of<operators::tensor_to_tensor_array>()) &&
             axis_of(op) == 1));
  }
  constexpr int axis_of(const operator_desc& op) const {
    return static_cast<int>(b_.attributes[op.attributes].number);
  }
  constexpr bool is_read(const operator_desc& op) const {
    return op.block == body_ && same_address(op.schema, &schema_of<operators::read_from_array>());
  }
  template <class F>
  constexpr void each(int at, const slot_desc* slot_list, int count, F&& f) const {
    for (int s = 0; s < count; ++s)
      for (int n = slot_list[s].duplicable ? b_.arguments[at++] : 1; n > 0; --n, ++at)
        if (b_.arguments[at] >= 0) f(b_.arguments[at]);
  }
  constexpr void find_writers() {
    const int variables = b_.variables.count;
    writer_ = new int[static_cast<unsigned>(variables) + 1];
    for (int v = 0; v < variables; ++v) writer_[v] = -1;
    for (int k = first_; k < end_; ++k) {
      const operator_desc& op = b_.operators[k];
      if (sub_block_of(b_, op) >= 0) continue;
      each(op.outputs, op.schema->outputs, op.schema->output_count,
           [&](int v) { writer_[v] = writer_[v] == -1 ? k : several; });
    }
  }
  /// Returns the operator that writes variable v; null if none of the operators from `first` on
  /// writes v, or if several of them do.
  constexpr const operator_desc* writer_of(int v) const {
    return writer_[v] < 0 ? nullptr : &b_.operators.items[writer_[v]];
  }
  /// Whether variable v exists outside of the loop and has the same value in all steps.
  constexpr bool is_known(int v) const {
    return is_inside(b_, outer_, b_.variables[v].block) && writer_[v] != several &&
           (writer_[v] < 0 || !is_inside(b_, b_.operators[writer_[v]].block, body_));
  }

  /// Moves operator `op` before the loop, where it computes the results of all steps, and replaces
  /// it in the body by a read of the result of the step. Returns false, and changes nothing, if
  /// `op` cannot be moved.
  constexpr bool hoist(const operator_desc& op, constexpr_vector<operator_desc>& made) {
    const bool product = same_address(op.schema, &schema_of<operators::mul>());
    if (op.block != body_ || op.role != op_role::forward ||
        !(product || same_address(op.schema, &schema_of<operators::lookup_table>())))
      return false;
    const int step = b_.arguments[op.inputs + (product ? 0 : 1)];
    const int weight = b_.arguments[op.inputs + (product ? 1 : 0)];
    if (!is_known(weight)) return false;
    const operator_desc* const read = writer_of(step);
    if (is_null(read) || !is_read(*read)) return false;
    const int array = b_.arguments[read->inputs], index = b_.arguments[read->inputs + 1];
    const operator_desc* const cut = writer_of(array);
    if (is_null(cut) || !is_cut(*cut)) return false;
    const int x = b_.arguments[cut->inputs], out = b_.arguments[op.outputs];
    if (b_.variables[step].rows == once::domain || b_.variables[x].rows == once::domain)
      return false;

    const bool stacked = !same_address(cut->schema, &schema_of<operators::lod_tensor_to_array>());
    const operator_desc reading = *read, cutting = *cut;
    const int whole = add_whole(out, x, stacked), steps = add_steps(out);
    operator_desc before = op;
    before.block = outer_;
    before.inputs = b_.arguments.count;
    for (const int v : {product ? x : weight, product ? weight : x}) b_.argument(v);
    before.outputs = b_.arguments.count;
    b_.argument(whole);
    before.end = b_.arguments.count;
    if (product && stacked)
      before.attributes =
          b_.attribute_list(1 + (op.attributes < 0 ? 1.0 : b_.attributes[op.attributes].number),
                            op.attributes < 0 ? 1.0 : b_.attributes[op.attributes + 1].number);
    made.push(before);
    made.push(
        with_arguments(cutting, {whole, stacked ? -1 : b_.arguments[cutting.inputs + 1]}, steps));
    made.push(with_arguments(reading, {steps, index}, out));
    return true;
  }
  /// Copies the operator with other inputs and another output. An input of -1 is omitted.
  constexpr operator_desc with_arguments(operator_desc op, std::initializer_list<int> inputs,
                                         int output) {
    op.inputs = b_.arguments.count;
    for (const int v : inputs)
      if (v >= 0) b_.argument(v);
    op.outputs = b_.arguments.count;
    b_.argument(output);
    op.end = b_.arguments.count;
    return op;
  }
  /// Creates a variable that holds the values of `out` for all steps of x. The new variable takes
  /// over the name of `out`.
  constexpr int add_whole(int out, int x, bool stacked) {
    const int made = b_.variables.push(variable_desc(b_.variables[out]));
    variable_desc& whole = b_.variables[made];
    whole.rows = b_.variables[x].rows;
    whole.block = outer_;
    if (stacked) {
      const int at = b_.dims.count;
      for (int i = 0; i < whole.rank; ++i) {
        const int extent = b_.dims[whole.dims + i];
        b_.dims.push(extent);
        if (i > 0) continue;
        const int count = b_.dims[b_.variables[x].dims + 1];
        b_.dims.push(count);
      }
      whole.dims = at;
      ++whole.rank;
    }
    rename(out, "array_read");
    return made;
  }
  constexpr int add_steps(int out) {
    const int made = b_.variables.push(variable_desc(b_.variables[out]));
    b_.variables[made].block = outer_;
    b_.variables[made].kind = variable_kind::tensor_array;
    rename(made, "rnn_input");
    return made;
  }
  constexpr void rename(int v, const char* key) {
    b_.variables[v].base = b_.layer_name(key, {});
    b_.variables[v].suffix = ".tmp_";
    b_.variables[v].number = 0;
  }

  /// Removes the operators in `made` that split an input into its steps or read a step, if no
  /// operator reads their result any more.
  constexpr void drop_unread(constexpr_vector<operator_desc>& made, int block) const {
    const int variables = b_.variables.count;
    bool* read = new bool[static_cast<unsigned>(variables) + 1];
    for (int v = 0; v < variables; ++v) read[v] = false;
    for (int k = 0; k < made.count; ++k)
      each(made[k].inputs, made[k].schema->inputs, made[k].schema->input_count,
           [&](int v) { read[v] = true; });
    int left = 0;
    for (int k = 0; k < made.count; ++k) {
      const bool drops = made[k].block == block && (is_read(made[k]) || is_cut(made[k]));
      if (!drops || read[b_.arguments[made[k].outputs]]) made.items[left++] = made.items[k];
    }
    made.count = left;
    delete[] read;
  }

  program_builder& b_;
  int body_, outer_;
  int first_, end_;
  int* writer_ = nullptr;  // per variable: number of its writer, -1: none, or `several`
  static constexpr int several = -2;
};

/// Moves computations on the steps of known inputs out of the loop with body `body`; see the top of
/// this file.
constexpr void hoist_inputs(program_builder& b, int body, int first) {
  input_hoister(b, body, first).run();
}

}}}  // namespace lamina::layer::detail
