// SPDX-License-Identifier: Apache-2.0
// lamina/engine/common/operator_call.hpp - an operator with its arguments and attributes for one
// run, as the kernels of all engines receive it.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <string_view>

#include <lamina/engine/common/argument_info.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// One call of an operator. Slots are numbered as in the operator's schema.
class operator_call {
 public:
  /// `op` is the operator with its attributes, or null for a copy that the plan inserted; `rows`
  /// are the numbers of rows, indexed by domain.
  operator_call(const program_view& program, float* const* arguments, const argument_info* info,
                const operator_schema* schema, const operator_desc* op, const int* rows)
      : program_(program),
        arguments_(arguments),
        info_(info),
        schema_(schema),
        op_(op),
        rows_(rows) {}

  const operator_schema& schema() const { return *schema_; }
  const program_view& program() const { return program_; }
  const operator_desc* op() const { return op_; }

  /// Returns a number of rows that a schedule stores as `known`. If `known` >= 0, it is the number;
  /// otherwise it encodes a domain and a factor, and the number is the rows of the domain times the
  /// factor.
  static int rows_of(const int* rows, int known) {
    return known < 0 ? rows[domain_of_rows(known)] * parts_of_rows(known) : known;
  }

  /// The number of variables in an input slot. A slot that is not a list counts as 1, even if its
  /// variable is absent.
  int input_count(int slot) const {
    return schema().inputs[slot].duplicable ? program_.arguments[input_start(slot)] : 1;
  }
  int output_count(int slot) const {
    return schema().outputs[slot].duplicable ? program_.arguments[output_start(slot)] : 1;
  }
  /// The i-th variable of an input slot; its data is null when the variable is absent.
  LAMINA_NOINLINE operand input(int slot, int i = 0) const {
    if (!schema().has_lists) return at_position(slot + i);
    int at = i;
    for (int s = 0; s < slot; ++s) at += input_count(s);
    return at_position(at);
  }
  /// The i-th variable of an output slot; its data is null when the output is not used.
  LAMINA_NOINLINE operand output(int slot, int i = 0) const {
    if (!schema().has_lists) return at_position(schema().input_count + slot + i);
    int at = i;
    for (int s = 0; s < schema().input_count; ++s) at += input_count(s);
    for (int s = 0; s < slot; ++s) at += output_count(s);
    return at_position(at);
  }
  /// Argument n of the call's argument list, in which the variables of all slots follow one
  /// another. In an update, constants follow the inputs.
  operand at_position(int n) const {
    const argument_info& i = info_[n];
    return {arguments_[n],
            rows_of(rows_, i.rows),
            i.columns,
            i.stride,
            i.type,
            i.panel,
            program_.dims + i.dims,
            i.rank,
            i.rows < 0 ? -i.rows : 0,
            i.swapped};
  }
  float* address(int n) const { return arguments_[n]; }
  const argument_info& info(int n) const { return info_[n]; }

  /// The parent of a domain. Each row of the parent has one sequence of rows of `domain`.
  int parent_of(int domain) const { return program_.domains[domain].parent; }
  /// The kind of a domain.
  domain_kind kind_of(int domain) const { return program_.domains[domain].kind; }
  int rows_in(int domain) const { return rows_[domain]; }

  /// An attribute that is a number, a boolean or an integer.
  LAMINA_NOINLINE double number(int attribute) const {
    if (op_ != nullptr && op_->attributes >= 0)
      return program_.attributes[op_->attributes + attribute].number;
    return schema().attributes[attribute].number;
  }
  int integer(int attribute) const { return static_cast<int>(number(attribute)); }
  bool flag(int attribute) const { return number(attribute) != 0; }
  /// The length of a list attribute; integer_at() and real_at() return its elements.
  int list_size(int attribute) const { return list(attribute).count; }
  int integer_at(int attribute, int i) const {
    return program_.integers[list(attribute).offset + i];
  }
  float real_at(int attribute, int i) const { return program_.reals[list(attribute).offset + i]; }
  /// Where a list attribute begins in the program's list of numbers, and its length; for a text
  /// attribute, in the program's characters.
  attribute_value list(int attribute) const {
    if (op_ == nullptr || op_->attributes < 0) return {0, 0, 0};
    return program_.attributes[op_->attributes + attribute];
  }
  /// The operator's index among the operators of the same schema in the program. It selects the
  /// stream of random numbers.
  int ordinal() const {
    int n = 0;
    for (int k = 0; k < program_.count.operators && &program_.operators[k] != op_; ++k)
      n += program_.operators[k].schema == op_->schema ? 1 : 0;
    return n;
  }

  /// The variable of the program that is the input whose data are at address `data`; -1 if there is
  /// none.
  int variable_of(const void* data) const {
    if (op_ == nullptr || data == nullptr || program_.arguments == nullptr) return -1;
    int n = 0, at = op_->inputs;
    for (int s = 0; s < schema().input_count; ++s)
      for (int k = schema().inputs[s].duplicable ? program_.arguments[at++] : 1; k > 0; --k, ++n)
        if (const int v = program_.arguments[at++];
            v >= 0 && v < program_.count.variables && arguments_[n] == data)
          return v;
    return -1;
  }

 private:
  // In the program's list of arguments, the length of a slot that is a list precedes its variables.
  int input_start(int slot) const {
    int at = op_->inputs;
    for (int s = 0; s < slot; ++s)
      at += schema().inputs[s].duplicable ? 1 + program_.arguments[at] : 1;
    return at;
  }
  int output_start(int slot) const {
    int at = op_->outputs;
    for (int s = 0; s < slot; ++s)
      at += schema().outputs[s].duplicable ? 1 + program_.arguments[at] : 1;
    return at;
  }

  const program_view& program_;
  float* const* arguments_;
  const argument_info* info_;
  const operator_schema* schema_;
  const operator_desc* op_;
  const int* rows_;
};

/// A text attribute.
inline std::string_view text_of(const operator_call& c, int attribute) {
  if (c.op() == nullptr || c.op()->attributes < 0) return c.schema().attributes[attribute].text;
  const attribute_value v = c.list(attribute);
  return {c.program().characters + v.offset, static_cast<std::size_t>(v.count)};
}

}}}  // namespace lamina::engine
