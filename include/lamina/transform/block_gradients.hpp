// SPDX-License-Identifier: Apache-2.0
// lamina/transform/block_gradients.hpp - appends the gradient operators for the operators of a
// block, in reverse order, and for the blocks that these operators run.
//
// The gradient operator of a `while` is a while_grad, which runs a block of gradient operators once
// per iteration, the last iteration first. The gradient block follows these rules:
//  - A variable c that the loop carries from one iteration to the next has one gradient variable,
//    outside of the block. When the block starts, this variable holds the gradient of c at the end
//    of the iteration; when the block ends, the gradient of c at the start of the iteration.
//  - Gradients of variables of outer blocks (parameters, feeds, variables that an outer loop
//    carries) are added to sums outside of the block, which are zero before the loop. Inner loops
//    add to the same sums.
//  - Gradients of arrays of outer blocks are arrays outside of the block, written slot by slot.
//  - The block reads the values that carried variables had when the iteration began. Since the loop
//    overwrites them, the forward block first copies each carried variable c that a gradient reads
//    to c@STEP. (Fluid reads the value after the loop instead.)
#pragma once

#include <lamina/core/config.hpp>

#include <string_view>

#include <lamina/core/compile_time/same_address.hpp>
#include <lamina/operators/control/block/definition.hpp>
#include <lamina/operators/elementwise/assign/definition.hpp>
#include <lamina/operators/elementwise/sum/definition.hpp>
#include <lamina/operators/embedding/selected_rows/definition.hpp>
#include <lamina/operators/fill/definition.hpp>
#include <lamina/operators/gradient.hpp>
#include <lamina/program/block.hpp>
#include <lamina/transform/unchanged_parameters.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Whether an operator is a `*_grad` that layer::gradients recorded. A cost may depend on the
/// results of such operators, but not on the results of other gradient operators.
constexpr bool is_gradient_value(const operator_desc& op) {
  return op.role == op_role::gradient_value && is_null(op.schema->gradient) &&
         std::string_view(op.schema->type).ends_with("_grad");
}

/// Marks every floating-point result that depends on a marked variable. Returns whether it marked a
/// new variable.
constexpr bool mark_results(const program_builder& b, bool (&wanted)[gradient_state::capacity]) {
  bool found = false;
  for (int k = 0; k < b.operators.count; ++k) {
    const operator_desc op = b.operators.items[k];
    // This shortcut for operators with a single result, which most have, skips an operator whose
    // result is already marked.
    if (op.end == op.outputs + 1)
      if (const int v = b.arguments.items[op.outputs]; v < 0 || wanted[v]) continue;
    const operator_schema schema = *op.schema;
    const bool again = is_null(schema.gradient);
    if (again && !is_gradient_value(op)) continue;
    bool any = false;
    for (int s = 0, at = op.inputs; s < schema.input_count; ++s) {
      const int n = schema.has_lists && schema.inputs[s].duplicable ? b.arguments.items[at++] : 1;
      const bool through = again || (schema.differentiable >> s & 1u) != 0;
      for (int i = 0; i < n; ++i, ++at)
        any = any || (through && b.arguments.items[at] >= 0 && wanted[b.arguments.items[at]]);
    }
    if (!any) continue;
    for (int s = 0, at = op.outputs; s < schema.output_count; ++s) {
      const int n = schema.has_lists && schema.outputs[s].duplicable ? b.arguments.items[at++] : 1;
      for (int i = 0; i < n; ++i, ++at) {
        const int v = b.arguments.items[at];
        if (v >= 0 && is_floating(b.variables.items[v].type) && !b.variables.items[v].stop_gradient)
          found = found || !wanted[v], wanted[v] = true;
      }
    }
  }
  return found;
}

/// Marks the variables that need a gradient. These are the trainable parameters, the floating-point
/// feeds if `data` is set, and every floating-point result that depends on one of them. A value
/// that a loop carries depends on later operators, so in a program with blocks mark_results is
/// repeated until it finds nothing new.
constexpr void mark_wanted(const program_builder& b, bool (&wanted)[gradient_state::capacity],
                           bool data) {
  const int variables = b.variables.count;
  for (int v = 0; v < variables; ++v) wanted[v] = false;
  for (int i = 0; i < b.parameters.count; ++i)
    wanted[b.parameters.items[i].variable] = b.parameters.items[i].trainable;
  if (data)
    for (int i = 0; i < b.data.count; ++i)
      wanted[b.data.items[i]] = is_floating(b.variables.items[b.data.items[i]].type);
  while (mark_results(b, wanted) && b.blocks.count > 1) {
  }
}

/// Returns the initial state for one backward walk over the operators. All walks of a program share
/// `wanted` and `next`.
constexpr gradient_state new_gradient_state(int variables, bool (&wanted)[gradient_state::capacity],
                                            int (&next)[gradient_state::capacity], int body) {
  gradient_state s{&schema_of<operators::sum>(),
                   &schema_of<operators::fill_zeros_like>(),
                   &schema_of<operators::selected_rows_sum>(),
                   &schema_of<operators::mixed_rows_sum>(),
                   variables,
                   body,
                   wanted,
                   next,
                   {},
                   {},
                   {},
                   {}};
  for (int v = 0; v < variables; ++v) s.first[v] = s.gradient[v] = s.sums[v] = -1;
  return s;
}

/// Appends the gradient operators for the operators of blocks.
class block_gradients {
 public:
  /// The first `operators` operators of the program are the forward operators.
  constexpr block_gradients(program_builder& b, int operators) : b_(b) {
    for (int k = 0; k < operators; ++k)
      if (b.operators.items[k].role == op_role::optimize &&
          is<operators::assign_variable>(b.operators.items[k]))
        stores_.push(k);
    if (b.blocks.count < 2) return;
    has_blocks_ = true;
    for (int v = 0; v < b.variables.count; ++v) carrier_[v] = copy_[v] = -1;
    for (int i = 0; i < b.blocks.count; ++i) begin_[i] = operators;
    for (int k = operators; k-- > 0;) {
      const operator_desc& op = b.operators.items[k];
      for (int block = op.block; block > 0; block = b.blocks.items[block].parent) begin_[block] = k;
      if (hands_over(op)) carrier_[output_of(b, op, 0)] = op.block;
    }
  }
  block_gradients(const block_gradients&) = delete;
  block_gradients& operator=(const block_gradients&) = delete;

  /// Appends the gradient operators for the operators of `block` before operator number `end`. The
  /// new operators belong to the current block.
  constexpr void sweep(int block, int end) {
    const int begin = block > 0 ? begin_[block] : 0;
    for (int k = end; k-- > begin;) {
      const operator_desc op = b_.operators.items[k];
      if (op.block != block) continue;
      const int first = b_.operators.count;
      if (!is_null(op.schema->gradient)) {
        if (!hands_over(op)) op.schema->gradient(b_, op);
        if (stores_.count > 0) require_unchanged(b_, stores_, first, k);
      } else if (is_gradient_value(op)) {
        differentiate_again(op);
      } else if (has_blocks_) {
        if (const int inner = sub_block_of(b_, op); inner >= 0) differentiate(op, inner, k);
      }
      if (has_blocks_) read_copies(first, block);
    }
  }

  /// Inserts the operators that copy carried variables at the start of the forward blocks. The role
  /// of these operators is backward, because only gradients read the copies.
  constexpr void insert_copies() {
    if (copies_.count == 0) return;
    const int old = b_.operators.count;
    b_.operators.take(copies_.count);
    if (b_.operators.full) return;
    auto& operators = b_.operators.items;
    bool begins[program_limits.operators];
    for (int k = 0; k < old; ++k) begins[k] = false;
    for (int i = 0; i < copies_.count; ++i) begins[begin_[carrier_[copies_[i]]]] = true;
    // Move each operator towards the end, the last one first, to make room for the copies before
    // it.
    for (int k = old, to = b_.operators.count; to > k;) {
      operators[--to] = operators[--k];
      for (int i = copies_.count; begins[k] && i-- > 0;) {
        const int v = copies_[i];
        if (begin_[carrier_[v]] != k) continue;
        const int at = b_.arguments.count;
        b_.argument(v);
        b_.argument(copy_[v]);
        operators[--to] = {
            &schema_of<operators::assign>(), at, at + 1, at + 2, -1, carrier_[v], b_.role};
      }
    }
  }

 private:
  // Whether an operator at the end of a block sets the next value of a variable of an outer block.
  // All other results of operators are variables of their own block.
  constexpr bool hands_over(const operator_desc& op) const {
    return same_address(op.schema, &schema_of<operators::assign>()) &&
           b_.variables.items[output_of(b_, op, 0)].block != op.block;
  }

  template <class F>
  constexpr void for_each_input(const operator_desc& op, const F& f) const {
    for (int s = 0, at = op.inputs; s < op.schema->input_count; ++s) {
      const int n = op.schema->inputs[s].duplicable ? b_.arguments.items[at++] : 1;
      for (int i = 0; i < n; ++i, ++at)
        if (b_.arguments.items[at] >= 0) f(b_.arguments.items[at]);
    }
  }

  template <class F>
  constexpr void for_each_output(const operator_desc& op, const F& f) const {
    for (int s = 0, at = op.outputs; s < op.schema->output_count; ++s) {
      const int n = op.schema->outputs[s].duplicable ? b_.arguments.items[at++] : 1;
      for (int i = 0; i < n; ++i, ++at)
        if (b_.arguments.items[at] >= 0) f(b_.arguments.items[at]);
    }
  }

  // Returns the variable that the gradients of forward block `block` must read in place of v. If a
  // loop carries v, this is the copy from the start of the iteration, which is made if necessary;
  // otherwise v itself.
  constexpr int at_start(int v, int block) {
    if (v >= b_.gradients->forward_variables || carrier_[v] < 0) return v;
    const int carrier = carrier_[v];
    if (!is_inside(b_, block, carrier) || is_inside(b_, b_.current_block, carrier)) return v;
    if (copy_[v] < 0) {
      const variable_desc d = b_.variables.items[v];
      copy_[v] = b_.variables.push({-1, v, "@STEP", -1, d.dims, d.rank, d.rows, -1, carrier, d.type,
                                    variable_kind::temporary, false, true});
      copies_.push(v);
    }
    return copy_[v];
  }
  // Makes the operators of the current block, from number `first` on, read the copies of carried
  // variables instead of the variables.
  constexpr void read_copies(int first, int block) {
    for (int k = first; k < b_.operators.count; ++k) {
      const operator_desc& op = b_.operators.items[k];
      if (op.block != b_.current_block || sub_block_of(b_, op) >= 0) continue;
      for_each_input(op, [&](int& v) { v = at_start(v, block); });
    }
  }

  constexpr void zeros_like(int like, int made) {
    b_.add_operator(schema_of<operators::fill_zeros_like>(), {like}, {made});
  }

  // Appends the gradient of a gradient operator if a cost depends on the results of that operator.
  constexpr void differentiate_again(const operator_desc& op) {
    bool reached = false, asked = false;
    for_each_output(op, [&](int v) {
      reached = reached || b_.gradients->partials[v] > 0 || b_.gradients->gradient[v] >= 0;
    });
    for_each_input(op, [&](int& v) { asked = asked || wants_gradient(b_, v); });
    if (!reached || !asked || (!is_null(b_.again) && b_.again(b_, op))) return;
    b_.report(fault_kind::second_gradient, 0, op.schema->type, nullptr, 0, nullptr, 0);
  }

  // Appends the gradient of operator k, which runs block `body`.
  constexpr void differentiate(const operator_desc& op, int body, int k) {
    gradient_state& outer = *b_.gradients;
    const bool loop = op.schema->facts.block == block_rule::loop;
    const bool repeats = loop || b_.attributes.items[op.attributes + 1].number != 0;
    constexpr_vector<int> from, to;  // by carried variable: its value at the end of the body; the
                                     // variable
    bool flows = false;
    for (int i = begin_[body]; i < k; ++i) {
      const operator_desc& inner = b_.operators.items[i];
      if (inner.block != body || !hands_over(inner)) continue;
      const int c = output_of(b_, inner, 0);
      if (!wants_gradient(b_, c)) continue;
      const bool reached = outer.partials[c] > 0 || outer.gradient[c] >= 0;
      flows = flows || reached;
      if (!reached && !repeats) continue;
      from.push(input_of(b_, inner, 0));
      to.push(c);
    }
    constexpr_vector<int> read, arrays;
    outer_variables(body, k, to, read, arrays);
    for (int i = 0; i < arrays.count; ++i) flows = flows || outer.gradient[arrays[i]] >= 0;
    if (!flows) return;

    for (int i = 0; i < to.count; ++i)
      if (gradient_variable(b_, to[i]) < 0) outer.gradient[to[i]] = zero_gradient(b_, to[i]);
    constexpr_vector<int> sums;
    for (int i = 0; i < read.count; ++i) {
      const int v = read[i];
      int where = outer.sums[v];
      if (where < 0) {
        where = partial_gradient(b_, v);
        zeros_like(v, where);
      }
      sums.push(where);
    }
    for (int i = 0; i < arrays.count; ++i) array_gradient(b_, arrays[i]);

    const int outer_block = b_.current_block;
    const int made = b_.blocks.push({outer_block, body});
    gradient_state inner =
        new_gradient_state(outer.forward_variables, outer.wanted, outer.next, body);
    for (int i = 0; i < read.count; ++i) inner.sums[read[i]] = sums[i];
    for (int i = 0; i < arrays.count; ++i) inner.gradient[arrays[i]] = outer.gradient[arrays[i]];
    b_.gradients = &inner;
    b_.current_block = made;
    for (int i = 0; i < from.count; ++i) {
      const int handed = partial_gradient(b_, from[i]);
      if (handed >= 0)
        b_.add_operator(schema_of<operators::assign>(), {outer.gradient[to[i]]}, {handed});
    }
    sweep(body, k);
    for (int i = 0; i < read.count; ++i) add_to_sum(read[i], sums[i]);
    for (int i = 0; repeats && i < to.count; ++i) {
      const int whole = gradient_variable(b_, to[i]);
      const int outside = outer.gradient[to[i]];
      if (whole >= 0)
        b_.add_operator(schema_of<operators::assign>(), {whole}, {outside});
      else
        zeros_like(outside, outside);
    }
    b_.gradients = &outer;
    b_.current_block = outer_block;
    append(op, made, loop, read, sums, to);
  }

  // Finds the variables outside of `body` that its operators use and that need a gradient, except
  // the variables in `to`. `read` gets the variables that are read, `arrays` the arrays that are
  // read or written.
  constexpr void outer_variables(int body, int end, const constexpr_vector<int>& to,
                                 constexpr_vector<int>& read, constexpr_vector<int>& arrays) {
    bool seen[gradient_state::capacity];
    const int forward = b_.gradients->forward_variables;
    for (int v = 0; v < forward; ++v) seen[v] = false;
    for (int i = 0; i < to.count; ++i) seen[to[i]] = true;
    const auto note = [&](int v) {
      if (!wants_gradient(b_, v) || seen[v] || is_inside(b_, b_.variables.items[v].block, body))
        return;
      seen[v] = true;
      (b_.variables.items[v].kind == variable_kind::tensor_array ? arrays : read).push(v);
    };
    for (int i = begin_[body]; i < end; ++i) {
      const operator_desc& op = b_.operators.items[i];
      if (!is_inside(b_, op.block, body) || sub_block_of(b_, op) >= 0) continue;
      for_each_input(op, note);
      if (op.schema->output_count == 1 && !op.schema->outputs[0].duplicable &&
          b_.variables.items[output_of(b_, op, 0)].kind == variable_kind::tensor_array)
        note(output_of(b_, op, 0));
    }
  }

  // At the end of a gradient block, adds the gradients of v in this block to the sum, variable
  // `where`.
  constexpr void add_to_sum(int v, int where) {
    const int n = b_.gradients->partials[v];
    if (n == 0) return;
    int* parts = new int[static_cast<unsigned>(n) + 1];
    parts[0] = where;
    if (n == 1)
      parts[1] = b_.gradients->first[v];
    else
      rename_partials(b_, v, parts + 1);
    operator_desc op = b_.begin(schema_of<operators::sum>());
    b_.list(parts, n + 1);
    op.outputs = b_.arguments.count;
    b_.argument(where);
    op.end = b_.arguments.count;
    b_.operators.push(op);
    delete[] parts;
  }

  // Appends the operator that runs gradient block `made`.
  constexpr void append(const operator_desc& op, int made, bool loop,
                        const constexpr_vector<int>& read, const constexpr_vector<int>& sums,
                        const constexpr_vector<int>& to) {
    const gradient_state& outer = *b_.gradients;
    const int block = op.block;
    const int scopes = b_.arguments.items[op.end - 1];
    int condition = -1;
    if (!loop) condition = at_start(b_.arguments.items[op.inputs + 1], block);
    operator_desc g = b_.begin(loop ? schema_of<operators::while_block_gradient>()
                                    : schema_of<operators::conditional_block_gradient>());
    if (!loop) b_.list(&condition, 1);
    b_.list(read.items, read.count);
    b_.list(to.items, to.count);
    b_.argument(to.count);
    for (int i = 0; i < to.count; ++i) b_.argument(outer.gradient[to[i]]);
    b_.argument(scopes);
    g.outputs = b_.arguments.count;
    b_.argument(sums.count + to.count);
    for (int i = 0; i < sums.count; ++i) b_.argument(sums[i]);
    for (int i = 0; i < to.count; ++i) b_.argument(outer.gradient[to[i]]);
    g.end = b_.arguments.count;
    g.attributes = loop ? b_.attribute_list(made)
                        : b_.attribute_list(made, b_.attributes.items[op.attributes + 1]);
    b_.operators.push(g);
  }

  program_builder& b_;
  constexpr_vector<int> stores_{};         // the operators that overwrite variables
  bool has_blocks_ = false;                // if false, the next three arrays are not used
  int carrier_[gradient_state::capacity];  // by variable: the loop body that carries it, or -1
  int copy_[gradient_state::capacity];     // by variable: its copy at the start of that body, or -1
  int begin_[program_limits.blocks];       // by block: its first operator, inner blocks included
  constexpr_vector<int> copies_{};         // the carried variables that have a copy
};

}}}  // namespace lamina::detail
