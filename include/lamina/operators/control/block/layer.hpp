// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/block/layer.hpp - records the body of a loop or of a conditional as a
// block.
//
// The body is called twice. The first call only finds out to which handles of outer blocks the body
// assigns (program/block.hpp); the operators that this call records are discarded. Each of these
// handles gets a new "carried" variable in the outer block, and refers to this variable from then
// on. One operator before the block assigns the handle's present value to the carried variable. One
// operator at the end of the block assigns the value that the handle then has. So in a block
// exactly one operator writes each variable, and a carried variable is constant until the end of
// the block. The carried variable must be a new one: after `auto h = x;` the handles h and x refer
// to the same variable, and an assignment to h must not change x.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/one_operator.hpp>
#include <lamina/operators/control/block/definition.hpp>
#include <lamina/operators/elementwise/assign/definition.hpp>
#include <lamina/program/rollback.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer::detail {

/// Opens a block inside the current block; the destructor closes the new block.
class open_block {
 public:
  constexpr explicit open_block(program_builder& b)
      : b_(b), outer_(b.current_block), begin_(b.written_begin) {
    b.written_begin = b.written.count;
    b.current_block = b.blocks.push({outer_, -1});
  }
  constexpr block inner() const { return {&b_, b_.current_block}; }
  constexpr void close() {
    b_.current_block = outer_;
    b_.written.count = b_.written_begin;
    b_.written_begin = begin_;
  }

 private:
  program_builder& b_;
  int outer_;
  int begin_;
};

/// A handle of an outer block to which a body assigns.
struct carried_handle {
  variable_handle* to;
  int variable;  // the carried variable
};

/// A recorded body: the number of its block, the number of its first operator, and its carried
/// variables.
struct recorded_body {
  int block = -1;
  int first = 0;
  constexpr_vector<carried_handle> carried{};

  constexpr bool writes(const variable_handle& h) const {
    for (int i = 0; i < carried.count; ++i)
      if (carried[i].to == &h) return true;
    return false;
  }
  constexpr bool carries(int variable) const {
    for (int i = 0; i < carried.count; ++i)
      if (carried[i].variable == variable) return true;
    return false;
  }
};

constexpr void copy_variable(program_builder& b, int from, int to) {
  b.add_operator(schema_of<operators::assign>(), {from}, {to});
}

/// Whether V is the type of a condition for the whole batch: a single bool.
template <class V>
inline constexpr bool is_condition = __is_same(V, variable<bool, once, 1>);

/// Whether the user's function for a body, branch or step has no parameter. This is an error; the
/// layers that call the function report it.
template <class F>
inline constexpr bool takes_nothing = requires(F& f) {
  f();
};

/// Calls `body` to find out to which handles it assigns; discards the operators that the call
/// records.
template <class F>
constexpr void find_written(program_builder& b, F& body, recorded_body& made) {
  rollback recorded(b);
  open_block opened(b);
  block inner = opened.inner();
  body(inner);
  for (int i = b.written_begin; i < b.written.count; ++i) {
    const written_handle& w = b.written[i];
    made.carried.push({w.to, -1});
    w.to->id = w.before;
  }
  opened.close();
  recorded.undo();
}

/// Records `body` as a separate block.
template <class F>
constexpr void record_body(layer_helper& layer, F& body, recorded_body& made, int line) {
  program_builder& b = layer.builder();
  find_written(b, body, made);
  const int count = made.carried.count;
  for (int i = 0; i < count; ++i) {
    carried_handle& c = made.carried[i];
    c.to->note_write();
    c.variable = layer.output_like(c.to->id);
    b.variables[c.variable].kind = variable_kind::temporary;
    b.variables[c.variable].persistable = false;
    copy_variable(b, c.to->id, c.variable);
    c.to->id = c.variable;
  }
  made.first = b.operators.count;
  open_block opened(b);
  made.block = b.current_block;
  block inner = opened.inner();
  body(inner);
  bool stable = b.written.count - b.written_begin <= count;
  for (int i = b.written_begin; i < b.written.count; ++i)
    stable = stable && made.writes(*b.written[i].to);
  if (!stable) b.report(fault_kind::unstable_body, line, {}, nullptr, 0, nullptr, 0);
  // All carried variables must get their new values from the values before the update, as in a swap
  // of two handles. So a new value that is itself a carried variable is copied first.
  for (int i = 0; i < count; ++i) {
    variable_handle& h = *made.carried[i].to;
    if (h.id == made.carried[i].variable || !made.carries(h.id)) continue;
    const int aside = layer.output_like(h.id);
    copy_variable(b, h.id, aside);
    h.id = aside;
  }
  for (int i = 0; i < count; ++i) {
    carried_handle& c = made.carried[i];
    if (c.to->id != c.variable) copy_variable(b, c.to->id, c.variable);
    c.to->id = c.variable;
  }
  opened.close();
}

/// Creates a variable for Fluid's slot StepScopes or Scope.
constexpr int scopes_output(layer_helper& layer) {
  program_builder& b = layer.builder();
  const int made = layer.output(b.shape(1), 1, once::domain, dtype::int64);
  b.variables[made].kind = variable_kind::step_scopes;
  b.variables[made].stop_gradient = true;
  return made;
}

/// Appends a conditional_block operator that runs a recorded body.
constexpr void add_conditional(layer_helper& layer, const recorded_body& made, int condition,
                               bool scalar) {
  program_builder& b = layer.builder();
  const int scope = scopes_output(layer);
  const int at = b.attribute_list(made.block, scalar);
  b.operators.push(lamina::detail::block_operator(b, schema_of<operators::conditional_block>(),
                                                  made.block, made.first, condition, scope, at));
}

}}}  // namespace lamina::layer::detail
