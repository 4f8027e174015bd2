// SPDX-License-Identifier: Apache-2.0
// lamina/plan/lowering_builder.hpp - emits instructions, and the copies that layouts need.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/fixed_buffer.hpp>
#include <lamina/core/same_address.hpp>
#include <lamina/operators/elementwise/sum/definition.hpp>
#include <lamina/plan/instruction.hpp>
#include <lamina/plan/plan_operators.hpp>
#include <lamina/plan/real_type.hpp>
#include <lamina/program/program_builder.hpp>

namespace lamina::inline LAMINA_ABI {

/// The facts about a program's variables that lowering collects. The arrays are not members of the
/// lowering: a compiler writes a member along all the bases that contain it.
struct lowering_facts {
  static constexpr int capacity = program_limits.variables;
  int copy_of[capacity];  // its staged, packed or unpacked copy, or -1
  // Not used where a program has one block:
  bool changed[capacity];  // several operators write it
  bool escapes[capacity];  // operators outside of its block name it
  int summed[capacity];    // the variable that an operator adds it to, as its only use
  int turned[capacity];    // the panels of its transpose, or -1
};

/// The state of a lowering, and the functions that add to it.
struct lowering_builder {
  const program_desc& p;
  fixed_buffer<plan_variable, lowered_limits.variables> variables;
  fixed_buffer<instruction, lowered_limits.instructions> instructions;
  fixed_buffer<operand, lowered_limits.operands> operands;
  fixed_buffer<int, lowered_limits.results> results;
  fixed_buffer<double, lowered_limits.constants> constants;
  const bool many;   // blocks
  const dtype real;  // what it computes in
  static constexpr int capacity = lowering_facts::capacity;
  int (&copy_of)[capacity];
  bool (&changed)[capacity];
  bool (&escapes)[capacity];
  int (&summed)[capacity];
  int (&turned)[capacity];
  int (&gradient)[lowered_limits.parameters];  // by parameter: its whole gradient
  int block = 0;                               // of the operator that is lowered

  /// Appends to the result of shapes_of() for the program. This is a separate evaluation, because
  /// clang counts the steps of each one.
  constexpr lowering_builder(const program_desc& program, lowered_program& to,
                             lowering_facts& facts)
      : p(program),
        variables(to.variables, to.count.variables),
        instructions(to.instructions, to.count.instructions),
        operands(to.operands, to.count.operands),
        results(to.results, to.count.results),
        constants(to.constants, to.count.constants),
        many(program.count.blocks > 1),
        real(real_type(program)),
        copy_of(facts.copy_of),
        changed(facts.changed),
        escapes(facts.escapes),
        summed(facts.summed),
        turned(facts.turned),
        gradient(to.gradients) {
    for (int d = batch::domain; d < p.count.domains; ++d) constants.push(0.0);
    const int count = program.count.variables;
    for (int v = 0; v < count; ++v) facts.copy_of[v] = -1;
    if (many) find_changed(program, facts);
  }
  lowering_builder(const lowering_builder&) = delete;

 protected:
  /// Marks the variables that a loop carries and the sums over its iterations; one operator writes
  /// every other variable of a program. A count among the arguments may look like a variable, which
  /// is then marked as escaping although it does not escape: this only loses an optimisation. The
  /// function is static, because a compiler reads what a parameter refers to in a third of the time
  /// of a member.
  static constexpr void find_changed(const program_desc& p, lowering_facts& facts) {
    auto& escapes = facts.escapes;
    auto& summed = facts.summed;
    auto& turned = facts.turned;
    auto& changed = facts.changed;
    bool written[capacity];
    const int count = p.count.variables, operators = p.count.operators;
    const operator_schema* const sums = &schema_of<sum>();
    for (int v = 0; v < count; ++v)
      written[v] = changed[v] = escapes[v] = false, summed[v] = turned[v] = -1;
    for (int k = 0; k < operators; ++k) {
      const operator_desc op = p.operators[k];
      const bool adds = same_address(op.schema, sums), inner = op.block > 0;
      if (adds && inner) find_summed(p, op, summed);
      for (int at = op.inputs; at < op.end; ++at) {
        const int v = p.arguments[at];
        if (v < 0 || v >= count) continue;
        if (inner && !adds && at < op.outputs) summed[v] = -2;
        if (const int of = p.variables[v].block;
            of != op.block && of != 0 && !escapes[v] && !is_inside(p, op.block, of))
          escapes[v] = true;
      }
      if (op.attributes >= 0 && sub_block_of(p, op) >= 0) continue;
      // A parameter that a loop trains has another value in each iteration.
      const bool trains = inner && op.role == op_role::optimize;
      if (op.end == op.outputs + 1) {
        if (const int v = p.arguments[op.outputs]; v >= 0)
          changed[v] = trains || written[v], written[v] = true;
        continue;
      }
      for (int s = 0, at = op.outputs; s < op.schema->output_count; ++s)
        for (int n = op.schema->outputs[s].duplicable ? p.arguments[at++] : 1; n > 0; --n, ++at)
          if (const int v = p.arguments[at]; v >= 0)
            changed[v] = trains || written[v], written[v] = true;
    }
  }
  /// Sum = Sum + the gradients of one iteration. A variable that any other operator reads is not an
  /// addend.
  static constexpr void find_summed(const program_desc& p, const operator_desc& op,
                                    int (&summed)[capacity]) {
    const int sum = p.arguments[op.outputs], count = p.count.variables;
    const bool adds = p.arguments[op.inputs + 1] == sum;
    for (int at = adds ? op.inputs + 2 : op.inputs; at < op.outputs; ++at)
      if (const int v = p.arguments[at]; v >= 0 && v < count)
        summed[v] = adds && summed[v] == -1 ? sum : -2;
  }
  /// Whether variable v has more than one value in a run.
  constexpr bool changes(int v) const { return many && v < p.count.variables && changed[v]; }
  /// Whether a value made in block `from` may be read here; `v` is the variable of the program from
  /// which it was made.
  constexpr bool is_known(int made, int v) const {
    const int from = variables.items[made].block;
    return from == block || (is_inside(p, block, from) && !changes(v));
  }
  constexpr int argument(int at) const { return p.arguments[at]; }
  constexpr double attribute(const operator_desc& op, int i) const {
    return op.attributes >= 0 ? p.attributes[op.attributes + i].number
                              : op.schema->attributes[i].number;
  }
  constexpr int root(int v) const { return variables.items[v].root; }
  constexpr int temporary(int rows, int columns, bool panel, int variable) {
    const int v = variables.count;
    return variables.push({rows, columns, real, panel, variable, v, block, 1, 0ull});
  }

  constexpr int constant(double value) { return constant_operand(constants.push(value)); }

  // -- emitting ----------------------------------------------------------------------------------

  constexpr instruction begin(group_head head, const operator_schema& schema, int output, int op) {
    return {head, &schema, output, op,    operands.count, 0,  results.count, 0,
            1,    1,       0,      false, block,          -1, 0ull};
  }
  /// Appends an operand, or a result, of the instruction that began last; end() counts them.
  constexpr void use(int v, access how) { operands.items[operands.count++] = {v, how}; }
  constexpr void result(int v) { results.items[results.count++] = v; }
  constexpr void end(instruction& i) {
    i.input_count = operands.count - i.inputs;
    i.output_count = results.count - i.outputs;
    if (p.is_test) spread_feeds(i);
    instructions.items[instructions.count++] = i;
  }
  /// The feeds that a value depends on matter where a program may run with some of its feeds.
  constexpr void spread_feeds(instruction& i) {
    for (int a = i.inputs; a < operands.count; ++a)
      if (operands.items[a].id >= 0) i.feeds |= variables.items[operands.items[a].id].feeds;
    for (int r = i.outputs; r < results.count; ++r)
      if (results.items[r] >= 0) variables.items[results.items[r]].feeds |= i.feeds;
  }

  /// One copy of a variable in another layout, made when first needed; in the variable's own block
  /// unless it changes there, so that a loop does not make it in each iteration.
  constexpr int copied(int v, const operator_schema& how, bool panel, int op) {
    if (v < p.count.variables && copy_of[v] >= 0 && is_known(copy_of[v], v)) return copy_of[v];
    const plan_variable d = variables.items[v];
    const int here = block;
    if (!changes(v)) block = variables.items[d.root].block;
    const int made = temporary(d.rows, d.columns, panel, -1);
    variables.items[made].type = d.type;
    instruction i = begin(group_head::call, how, 0, op);
    use(v, access::load);
    result(made);
    end(i);
    block = here;
    if (v < p.count.variables) copy_of[v] = made;
    return made;
  }
  /// A weight of an outer block, which is the same in all iterations.
  constexpr bool is_of_outer_block(int v) const {
    return v < p.count.variables && is_weight(p.variables[v]) && !changes(v) &&
           variables.items[v].block != block;
  }
  /// The panels of a weight's transpose, made once.
  constexpr int turned_panels(int v, int op) {
    if (turned[v] >= 0) return turned[v];
    const int here = block;
    block = variables.items[v].block;
    const int made = temporary(variables.items[v].columns, variables.items[v].rows, true, -1);
    instruction i = begin(group_head::call, schema_of<transposed_panels>(), 0, op);
    use(v, access::load);
    result(made);
    end(i);
    block = here;
    return turned[v] = made;
  }
  constexpr bool is_feed(int v) const {
    return v < p.count.variables && p.variables[v].kind == variable_kind::data;
  }
  /// The variable with padded rows: kernels that read whole vectors cannot use a feed in place.
  constexpr int in_rows(int v, int op) {
    if (variables.items[v].panel) return copied(v, schema_of<unpack_panels>(), false, op);
    return v;
  }
  constexpr int padded_rows(int v, int op) {
    return is_feed(root(v)) ? copied(v, schema_of<stage_feed>(), false, op) : in_rows(v, op);
  }
  constexpr int in_panels(int v, int op) {
    return variables.items[v].panel ? v : copied(v, schema_of<pack_panels>(), true, op);
  }
  constexpr int in_layout(int v, bool panel, int op) {
    return panel ? in_panels(v, op) : in_rows(v, op);
  }

  /// A kernel of its own: the operands keep the order of the operator's arguments, with counts and
  /// empty slots.
  constexpr void lower_call(const operator_desc& op, int k) {
    const bool raw = op.schema->knows_panels;
    int* taken = new int[static_cast<unsigned>(op.end - op.inputs)];
    int n = 0;
    for (int s = 0, at = op.inputs; s < op.schema->input_count; ++s) {
      const bool list = op.schema->inputs[s].duplicable;
      const int count = list ? argument(at++) : 1;
      for (int i = 0; i < count; ++i, ++at) {
        const int v = argument(at);
        taken[n++] = v < 0 || raw ? v : in_rows(v, k);
      }
    }
    instruction i = begin(group_head::call, *op.schema, 0, k);
    for (int s = 0; s < n; ++s) use(taken[s], access::load);
    delete[] taken;
    for (int s = 0, at = op.outputs; s < op.schema->output_count; ++s) {
      const bool list = op.schema->outputs[s].duplicable;
      const int count = list ? argument(at++) : 1;
      for (int o = 0; o < count; ++o, ++at) {
        const int v = argument(at);
        // A kernel that knows panels writes the gradient of a weight in the weight's layout; any
        // other kernel writes it row by row.
        if (v >= 0 && p.variables[v].kind == variable_kind::gradient)
          variables.items[v].panel = raw && is_weight(p.variables[p.variables[v].of]);
        result(v);
      }
    }
    end(i);
  }
};

}  // namespace lamina::inline LAMINA_ABI
