// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/call_site.hpp - a call of the schedule on the host: its arrays and attributes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <lamina/core/error.hpp>
#include <lamina/core/text.hpp>
#include <lamina/engine/cuda/call_arguments.hpp>
#include <lamina/plan/instruction.hpp>

namespace lamina::engine::cuda {

/// What a schedule knows of an argument before any batch arrives.
struct argument_info {
  int rows;     // below zero: of a domain
  int columns;  // elements a row
  int stride;   // elements from row to row
  int line;     // elements of the last dimension
  dtype type;
};

/// An input whose numbers a kernel checks: its slot, what a message calls one, and whether they
/// choose a row of input 0 or an element of its lines.
struct checked_input {
  int slot = -1;
  const char* what = "";
  bool chooses_rows = false;
};

/// What a schedule knows of a group.
struct group_info {
  int variable;  // one that it writes, for messages; -1
  int rows, columns, depth;
  const operator_schema* schema;  // of a call
  const operator_desc* op;        // whose attributes count; null for the plan's own copies
};

/// What changes from run to run.
struct run_state {
  const int* rows;                // by domain
  const std::int64_t* first_row;  // by domain
  const std::uint64_t* seed;      // in the memory of the place: of the run + step
  fault_word* fault;

  int rows_of(int known) const {
    return known < 0 ? rows[domain_of_rows(known)] * parts_of_rows(known) : known;
  }
};

/// A group of the schedule about to run.
struct call_site {
  const program_view& program;
  float* const* arguments;
  const argument_info* info;
  const group_info& group;
  const run_state& run;
  int number_of_group;

  const operator_schema& schema() const { return *group.schema; }
  argument_view at(int n) const {
    const argument_info& i = info[n];
    return {arguments[n], run.rows_of(i.rows), i.columns, i.line, i.stride, i.type};
  }
  /// Slots are numbered as the schema numbers them; each holds one variable.
  argument_view input(int slot) const { return at(slot); }
  argument_view output(int slot) const { return at(schema().input_count + slot); }
  int domain(int n) const { return info[n].rows < 0 ? domain_of_rows(info[n].rows) : 0; }

  double number(int attribute) const {
    if (group.op != nullptr && group.op->attributes >= 0)
      return program.attributes[group.op->attributes + attribute].number;
    return schema().attributes[attribute].number;
  }
  int integer(int attribute) const { return static_cast<int>(number(attribute)); }
  bool flag(int attribute) const { return number(attribute) != 0; }
  std::string_view text_of(int attribute) const {
    if (group.op == nullptr || group.op->attributes < 0) return schema().attributes[attribute].text;
    const attribute_value v = program.attributes[group.op->attributes + attribute];
    return {program.characters + v.offset, static_cast<std::size_t>(v.count)};
  }
  /// The operator's number among those of its kind in the program, for random streams.
  int ordinal() const {
    int n = 0;
    for (int k = 0; k < program.count.operators && &program.operators[k] != group.op; ++k)
      n += program.operators[k].schema == group.op->schema ? 1 : 0;
    return n;
  }

  /// Arrays by slot, and the lines of one of them.
  void set_arrays(call_arguments& a, int inputs, int outputs) const {
    for (int i = 0; i < inputs; ++i) a.in[i] = input(i);
    for (int i = 0; i < outputs; ++i) a.out[i] = output(i);
  }
  void share_lines(call_arguments& a, const argument_view& of) const {
    a.lines = of.lines();
    a.width = of.line;
  }
  void share_rows(call_arguments& a, const argument_view& of) const {
    a.lines = of.rows;
    a.width = of.columns;
  }

  [[noreturn]] LAMINA_COLD void fail(const std::string& what) const {
    throw error(text() << "lamina: cuda: " << schema().type << ": " << what);
  }
  void require_float(const argument_view& a) const {
    if (a.type != dtype::float32)
      fail(text() << "expected float32 on the device, found " << name_of(a.type));
  }
};

}  // namespace lamina::engine::cuda
