// SPDX-License-Identifier: Apache-2.0
// lamina/executor/call_context.hpp - gives the kernel of an operator its arguments: the variables
// in its slots and its attributes, by name. The kernel table maps the operators to their kernels.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/executor/domain_rows.hpp>
#include <lamina/executor/run_memory.hpp>
#include <lamina/executor/run_options.hpp>
#include <lamina/program/operator_place.hpp>
#include <lamina/program/program_desc.hpp>
#include <lamina/program/row_renaming.hpp>
#include <lamina/tensor/lod_tensor.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The data about one operator that an executor keeps from run to run.
struct operator_history {
  std::uint64_t ordinal = 0;  // index among the operators of its type that draw random numbers
  std::int64_t runs = 0;      // number of runs so far
};

/// The arguments of a kernel of the reference executor, and the functions that the kernel may call.
/// `Real` is the type in which the executor computes all floating variables.
template <class Real>
class call_context {
 public:
  using array = xt::xarray<Real>;

  call_context(const program_view& program, const operator_desc& op, run_memory& memory,
               const run_options& options, domain_rows& rows, const operator_history& history)
      : program_(program),
        op_(op),
        memory_(memory),
        values_(memory.values),
        options_(options),
        rows_(rows),
        history_(history) {}

  /// Returns the schema of the operator.
  const operator_schema& schema() const { return *op_.schema; }
  /// Seeds and switches of this run.
  const run_options& options() const { return options_; }
  /// Returns the index of this operator among the operators of its type that draw random numbers.
  std::uint64_t ordinal() const { return history_.ordinal; }
  /// Returns how often this operator has run before in this run, and increments the count.
  std::uint64_t next_iteration() const { return memory_.iterations[&op_]++; }
  /// Returns how often this executor has run this operator before, in this run and in others.
  std::int64_t runs_before() const { return history_.runs; }

  // -- inputs -----------------------------------------------------------------------------------

  /// Returns how many variables an input slot holds; 0 for a slot that the operator does not have.
  int count(std::string_view slot) const { return find(slot, true).count; }
  /// Whether an input slot holds a variable.
  bool has(std::string_view slot, int i = 0) const { return input_variable(slot, i) >= 0; }
  /// Returns the value of variable i in an input slot. Throws lamina::error if there is no such
  /// variable.
  const tensor& input(std::string_view slot, int i = 0) const {
    const int v = input_variable(slot, i);
    if (v < 0) fail("expected a variable in the input slot " + quoted(slot) + ", found none");
    return value_of(v);
  }
  /// Returns the value of variable i in an input slot as an array of Real. Throws lamina::error if
  /// its elements are not floating numbers.
  const array& real(std::string_view slot, int i = 0) const {
    const tensor& t = input(slot, i);
    if (t.type() == dtype::float64 && dtype_of<Real> == dtype::float32)
      return converted_.emplace_back(t.template cast<Real>());
    if (t.type() != dtype_of<Real>)
      fail("expected floating numbers in variable " + quoted(input_name(slot, i)) + ", found " +
           lamina::name_of(t.type()));
    return t.template as<Real>();
  }
  /// Returns the value of variable i in an input slot, converted to int64.
  xt::xarray<std::int64_t> integers(std::string_view slot, int i = 0) const {
    return input(slot, i).template cast<std::int64_t>();
  }
  /// Returns the sequences of an input's rows; an object without levels if the rows form no
  /// sequences.
  const lamina::lod& lod(std::string_view slot, int i = 0) const {
    (void)input(slot, i);
    return values_[static_cast<std::size_t>(input_variable(slot, i))]->lod();
  }
  /// Returns the name of the variable in an input slot; "" if the slot is empty.
  std::string input_name(std::string_view slot, int i = 0) const {
    const int v = input_variable(slot, i);
    return v < 0 ? "" : variable_name(program_, v);
  }
  /// Throws lamina::error that names the variable in the slot unless low <= value < high; `value`
  /// is an element of this variable.
  void require_range(std::string_view slot, std::int64_t value, std::int64_t low,
                     std::int64_t high) const {
    if (value >= low && value < high) return;
    const auto all = integers(slot);
    const auto at = std::find(all.begin(), all.end(), value) - all.begin();
    fail(range_message(program_, input_variable(slot, 0), value, low, high,
                       at / static_cast<std::int64_t>(all.size() / all.shape()[0])));
  }
  /// Returns the row numbers of an input that is a sparse gradient (selected rows); null if the
  /// input is dense.
  const std::set<std::int64_t>* selected_rows(std::string_view slot, int i = 0) const {
    return rows_of_selected(input_variable(slot, i));
  }

  /// Returns the array of tensors in an input slot.
  std::vector<lod_tensor>& array_of(std::string_view slot) const {
    return memory_.arrays[static_cast<std::size_t>(input_variable(slot, 0))];
  }

  // -- outputs ----------------------------------------------------------------------------------

  /// Returns how many variables an output slot holds.
  int output_count(std::string_view slot) const { return find(slot, false).count; }
  /// Whether the program uses an output.
  bool wants(std::string_view slot, int i = 0) const { return output_variable(slot, i) >= 0; }
  /// Returns the description of an output that the program uses.
  const variable_desc& output_desc(std::string_view slot, int i = 0) const {
    return program_.variables[output_variable(slot, i)];
  }
  /// Returns the shape of an output, for operators whose inputs do not determine it. A gradient has
  /// the shape of its variable; other outputs have the recorded shape. Throws lamina::error if it
  /// has an unknown dimension after the first one.
  tensor_shape output_shape(std::string_view slot, int i = 0) const {
    const variable_desc& v = output_desc(slot, i);
    if (v.of >= 0 && values_[static_cast<std::size_t>(v.of)]->has_value())
      return values_[static_cast<std::size_t>(v.of)]->shape();
    tensor_shape shape;
    for (int d = 0; d < v.rank; ++d) {
      const int extent = program_.dims[v.dims + d];
      if (extent < 0 && d > 0)
        fail(lamina::text("expected dimension ")
             << d << " of variable " << quoted(variable_name(program_, output_variable(slot, i)))
             << " to be known before a run, found -1");
      shape.push_back(extent < 0 ? rows_of_domain(v.rows) : static_cast<std::size_t>(extent));
    }
    return shape;
  }
  /// Returns the recorded dimensions of an output; unknown ones are -1.
  std::vector<int> recorded_dims(std::string_view slot) const {
    const variable_desc& v = output_desc(slot);
    return {program_.dims + v.dims, program_.dims + v.dims + v.rank};
  }
  /// Whether a file leaves a dimension of an output unknown. In recorded programs, only the number
  /// of rows is unknown, and output_shape() finds it.
  bool is_unknown(std::string_view slot, std::size_t dimension) const {
    const variable_desc& v = output_desc(slot);
    return program_.is_read && v.of < 0 && program_.dims[v.dims + static_cast<int>(dimension)] < 0;
  }
  /// If an output is a sparse gradient (selected rows), returns the set to which the kernel must
  /// add the row numbers; null if the output is dense.
  std::set<std::int64_t>* selected_output(std::string_view slot) const {
    return rows_of_selected(output_variable(slot, 0));
  }
  /// Returns the array of tensors in an output slot.
  std::vector<lod_tensor>& array_output(std::string_view slot) const {
    return memory_.arrays[static_cast<std::size_t>(output_variable(slot, 0))];
  }
  /// Assigns `value` to an output, converted to the type of the output's variable. Does nothing if
  /// the program does not use the output. The kernel must have read all inputs before, because an
  /// output may be the same variable as an input.
  void give(std::string_view slot, tensor value, int i = 0) {
    const int v = output_variable(slot, i);
    if (v < 0) return;
    const variable_desc& desc = program_.variables[v];
    dtype type = is_floating(desc.type) ? dtype_of<Real> : desc.type;
    if (memory_.as_declared && is_floating(desc.type)) {
      if (desc.type == dtype::float64 && value.type() != dtype_of<Real>) type = desc.type;
      if (desc.type == dtype::float32 && value.type() != desc.type) value = value.cast(desc.type);
    }
    if (value.type() != type) value = value.wrapped(type);
    check_shape(v, value.shape());
    if (options_.check_nan && type == dtype_of<Real>) check_numbers(v, value.template as<Real>());
    static_cast<tensor&>(*values_[static_cast<std::size_t>(v)]) = std::move(value);
  }
  /// Sets the sequences of an output. An output with the rows of an input needs no call: finish()
  /// gives it the sequences of this input.
  void set_lod(std::string_view slot, lamina::lod sequences, int i = 0) {
    const int v = output_variable(slot, i);
    if (v >= 0) made_.emplace_back(v, std::move(sequences));
  }
  /// Sets the sequences of each output: those that the kernel passed to set_lod(), otherwise those
  /// of the first input with the same rows (Fluid: ShareLoD). The executor calls finish() after the
  /// kernel. Throws lamina::error if the sequences contradict the row domain of the output.
  void finish() {
    for (int s = 0, at = op_.outputs; s < schema().output_count; ++s) {
      const int n = schema().outputs[s].duplicable ? program_.arguments[at++] : 1;
      for (int i = 0; i < n; ++i, ++at)
        if (program_.arguments[at] >= 0) finish(program_.arguments[at]);
    }
  }

  // -- attributes -------------------------------------------------------------------------------

  /// Returns an attribute that is a real number, a boolean or an integer; `otherwise` if the
  /// operator has no such attribute.
  double attribute(std::string_view name, double otherwise = 0) const {
    const int i = find_attribute(name);
    if (i < 0) return otherwise;
    if (schema().kind == operator_kind::update && !options_.update_numbers.empty()) {
      const variable_desc& parameter = program_.variables[input_variable("Param", 0)];
      return options_.update_numbers.at(static_cast<std::size_t>(parameter.index))
          .at(static_cast<std::size_t>(i));
    }
    return op_.attributes < 0 ? schema().attributes[i].number
                              : program_.attributes[op_.attributes + i].number;
  }
  Real real_attribute(std::string_view name, double otherwise = 0) const {
    return static_cast<Real>(attribute(name, otherwise));
  }
  int integer(std::string_view name, int otherwise = 0) const {
    return static_cast<int>(attribute(name, otherwise));
  }
  bool flag(std::string_view name) const { return attribute(name) != 0; }
  /// Returns a text attribute.
  std::string text(std::string_view name) const {
    const int i = find_attribute(name);
    if (i < 0) return {};
    if (op_.attributes < 0) return schema().attributes[i].text;
    const attribute_value& a = program_.attributes[op_.attributes + i];
    return std::string(program_.characters + a.offset, static_cast<std::size_t>(a.count));
  }
  /// Returns a list of integers.
  std::vector<int> integer_list(std::string_view name) const {
    const int i = find_attribute(name);
    if (i < 0 || op_.attributes < 0) return {};
    const attribute_value& a = program_.attributes[op_.attributes + i];
    return {program_.integers + a.offset, program_.integers + a.offset + a.count};
  }
  /// Returns a list of reals.
  std::vector<float> real_list(std::string_view name) const {
    const int i = find_attribute(name);
    if (i < 0 || op_.attributes < 0) return {};
    const attribute_value& a = program_.attributes[op_.attributes + i];
    return {program_.reals + a.offset, program_.reals + a.offset + a.count};
  }
  /// Returns an attribute that selects a dimension of an array of `rank` dimensions; -1 is the last
  /// dimension. Throws lamina::error if there is no such dimension.
  std::size_t axis(std::string_view name, std::size_t rank, int otherwise = 0) const {
    return checked_axis(integer(name, otherwise), rank);
  }
  std::size_t checked_axis(int axis, std::size_t rank) const {
    const int n = static_cast<int>(rank);
    if (axis < -n || axis >= n)
      fail(lamina::text("expected an axis from ") << -n << " to " << n - 1 << ", found " << axis);
    return static_cast<std::size_t>(axis < 0 ? axis + n : axis);
  }

  /// Throws lamina::error with the name of the layer that recorded the operator, or of the operator
  /// if no layer recorded it.
  [[noreturn]] void fail(const std::string& what) const {
    throw error("lamina: executor: " + executed_place_of(program_, op_) + ": " + what);
  }

 private:
  struct slot_range {
    const int* first = nullptr;
    int count = 0;
  };

  slot_range find(std::string_view slot, bool input) const {
    const slot_desc* slot_list = input ? schema().inputs : schema().outputs;
    const int n = input ? schema().input_count : schema().output_count;
    int at = input ? op_.inputs : op_.outputs;
    for (int s = 0; s < n; ++s) {
      const int held = slot_list[s].duplicable ? program_.arguments[at++] : 1;
      if (slot == slot_list[s].name) return {program_.arguments + at, held};
      at += held;
    }
    return {};
  }
  int input_variable(std::string_view slot, int i) const {
    const slot_range r = find(slot, true);
    return i < r.count ? r.first[i] : -1;
  }
  int output_variable(std::string_view slot, int i) const {
    const slot_range r = find(slot, false);
    return i < r.count ? r.first[i] : -1;
  }
  std::set<std::int64_t>* rows_of_selected(int variable) const {
    return variable >= 0 && program_.variables[variable].kind == variable_kind::selected_rows
               ? &memory_.rows[static_cast<std::size_t>(variable)]
               : nullptr;
  }
  const tensor& value_of(int variable) const {
    const tensor& t = *values_[static_cast<std::size_t>(variable)];
    if (!t.has_value())
      fail("expected a value in variable " + quoted(variable_name(program_, variable)) +
           ", found none: feed it, or run the startup program first");
    return t;
  }
  // Returns the first input with the rows of a domain, or -1.
  int input_with_rows(int domain) const {
    for (int s = 0, at = op_.inputs; s < schema().input_count; ++s) {
      const int n = schema().inputs[s].duplicable ? program_.arguments[at++] : 1;
      for (int i = 0; i < n; ++i, ++at) {
        const int v = program_.arguments[at];
        if (v >= 0 && program_.variables[v].rows == domain && program_.variables[v].rank > 0 &&
            program_.dims[program_.variables[v].dims] < 0 &&
            values_[static_cast<std::size_t>(v)]->has_value())
          return v;
      }
    }
    return -1;
  }
  // Returns the operand of an assign if its rows have the same type as those of `domain`, that is,
  // sequences of the same names; else -1.
  int handed_over(int domain) const {
    const int v = program_.arguments[op_.inputs];
    return have_one_type(program_, program_.variables[v].rows, domain) ? v : -1;
  }
  std::size_t rows_of_domain(int domain) const {
    const int v = input_with_rows(domain);
    if (v >= 0) return values_[static_cast<std::size_t>(v)]->shape()[0];
    return rows_.has(domain) ? rows_.rows(domain) : 0;
  }
  // If a variable is a gradient, returns the variable that it is the gradient of, provided that it
  // has a value; else -1.
  int of_gradient(int variable) const {
    const int of = program_.variables[variable].of;
    return of >= 0 && values_[static_cast<std::size_t>(of)]->has_value() ? of : -1;
  }
  void finish(int variable) {
    lod_tensor& value = *values_[static_cast<std::size_t>(variable)];
    if (!value.has_value()) return;
    const int domain = program_.variables[variable].rows;
    const int levels = lod_level_of(program_, domain);
    const lamina::lod* sequences = nullptr;
    for (const auto& [made, given] : made_)
      if (made == variable) sequences = &given;
    if (sequences == nullptr && levels == 0) {
      value.set_lod({});
    } else {
      if (sequences == nullptr) {
        int like = input_with_rows(domain);
        if (like < 0 && schema().facts.origin == row_origin::handed_over)
          like = handed_over(domain);
        // In a program from a file, the rows that an operator makes and the rows of its inputs can
        // have the same domain.
        if (like < 0 && program_.is_read) like = of_gradient(variable);
        sequences =
            like >= 0 ? &values_[static_cast<std::size_t>(like)]->lod() : &rows_.sequences(domain);
        if (program_.is_read && !lies_over(*sequences, value)) sequences = &found_sequences(value);
      }
      if (!program_.is_read &&
          (static_cast<int>(sequences->levels()) != levels ||
           (levels > 0 && (value.rank() == 0 || sequences->rows() != value.shape()[0]))))
        fail(lamina::text("expected sequences of ")
             << levels << " levels over the rows of " << to_string(value.shape()) << " in variable "
             << quoted(variable_name(program_, variable)) << ", found lengths "
             << to_string(*sequences));
      if (sequences != &value.lod()) value.set_lod(*sequences);
    }
    rows_.note(variable, value);
  }
  static bool lies_over(const lamina::lod& sequences, const tensor& value) {
    return !sequences.empty() && value.rank() > 0 && sequences.rows() == value.shape()[0];
  }
  // Returns the sequences of the first input with the same number of rows (Fluid: ShareLoD), or
  // none.
  const lamina::lod& found_sequences(const tensor& value) const {
    static const lamina::lod none;
    for (int i = op_.inputs, s = 0; s < schema().input_count; ++s)
      for (int n = schema().inputs[s].duplicable ? program_.arguments[i++] : 1; n > 0; --n, ++i) {
        const int v = program_.arguments[i];
        if (v < 0 || !values_[static_cast<std::size_t>(v)]->has_value()) continue;
        const lamina::lod& found = values_[static_cast<std::size_t>(v)]->lod();
        if (lies_over(found, value)) return found;
      }
    return none;
  }
  int find_attribute(std::string_view name) const {
    for (int i = 0; i < schema().attribute_count; ++i)
      if (name == schema().attributes[i].name) return i;
    return -1;
  }
  static std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

  void check_shape(int variable, const tensor_shape& found) const {
    if (program_.is_read) return;
    const variable_desc& v = program_.variables[variable];
    bool same = static_cast<int>(found.size()) == v.rank;
    std::string expected = "[";
    for (int d = 0; d < v.rank; ++d) {
      const int extent = program_.dims[v.dims + d];
      expected += (d == 0 ? "" : ", ") + std::to_string(extent);
      same = same &&
             (extent < 0 || static_cast<std::size_t>(extent) == found[static_cast<std::size_t>(d)]);
    }
    if (!same)
      fail("expected the shape " + expected + "] for variable " +
           quoted(variable_name(program_, variable)) + ", found " + to_string(found));
  }
  void check_numbers(int variable, const array& a) const {
    for (std::size_t i = 0; i < a.size(); ++i)
      if (!std::isfinite(a.flat(i)))
        fail(lamina::text("expected finite numbers in ")
             << source_of(program_, variable) << ", found " << std::to_string(a.flat(i))
             << " at element " << i);
  }

  const program_view& program_;
  const operator_desc& op_;
  run_memory& memory_;
  const std::vector<lod_tensor*>& values_;
  const run_options& options_;
  domain_rows& rows_;
  const operator_history& history_;
  // Inputs of doubles, converted for an executor in float.
  mutable std::deque<array> converted_;
  // The variables and sequences that the kernel passed to set_lod().
  std::vector<std::pair<int, lamina::lod>> made_;
};

/// A kernel of the reference executor.
template <class Real>
using kernel_function = void (*)(call_context<Real>&);

/// Maps the type of an operator to its kernel. The table does not copy the characters of the types,
/// so they must outlive the table.
template <class Real>
using kernel_table = std::map<std::string_view, kernel_function<Real>>;

}}  // namespace lamina
