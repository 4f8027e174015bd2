// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/schedule/nan_check.hpp - stops a run at the first group that computes NaN.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/engine/cpu/gemm/panel_copies.hpp>
#include <lamina/engine/cpu/memory/selected_rows.hpp>
#include <lamina/engine/cpu/schedule/group_check.hpp>
#include <lamina/engine/cpu/schedule/schedule_table.hpp>
#include <lamina/program/names.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// An argument of a group. `variable` is the variable of the recorded program that it belongs to
/// (-1: none); `is_gradient` says that the argument is the gradient of this variable.
struct checked_argument {
  int variable;
  bool is_gradient, is_written;
};

/// The parts of a schedule that the check reads. They are plain data, so that the check is compiled
/// once for all programs.
struct nan_check_view {
  const schedule_entry* entries;
  const argument_info* info;
  const memory_slot* slot_of;
  const checked_argument* of;  // one per argument
  // first_operator[g]: the first operator of group g; the last entry is the number of operators.
  const int* first_operator;
  const char* const* type;  // for each operator, its type, that is, Fluid's name
  int groups;
};

/// The tables of program P that the check reads. The first variables of P are the variables of the
/// recorded program; only these have names at run time.
template <class P>
struct nan_check_table {
  using plan_type = plan<P>;
  using schedule = schedule_table<P>;
  static constexpr int groups = schedule::groups;

  struct table_type {
    checked_argument of[bound(schedule::arguments)];
    int first_operator[bound(groups + 1)];
    const char* type[bound(plan_type::lowered.count.instructions)];
  };
  static constexpr table_type make() {
    constexpr const auto& lowered = plan_type::lowered;
    table_type t{};
    for (int a = 0; a < schedule::arguments; ++a) {
      int v = plan_type::code.arguments[a];
      v = v < 0 ? -1 : lowered.variables[v].variable;
      const bool is_gradient = v >= 0 && P::desc.variables[v].of >= 0;
      while (v >= 0 && P::desc.variables[v].of >= 0) v = P::desc.variables[v].of;
      t.of[a] = {v, is_gradient, plan_type::code.uses[a] == argument_use::updated};
    }
    int operators = 0;
    for (int g = 0; g < groups; ++g) {
      const group_desc d = plan_type::grouped.groups[g];
      const group_code c = plan_type::code.groups[g];
      t.first_operator[g] = operators;
      for (int e = d.first; e < d.first + d.count; ++e) {
        const instruction i = lowered.instructions[plan_type::grouped.order[e]];
        t.type[operators++] = i.schema->type;
        if (d.head == fusion_anchor::call && i.runs < 0)
          for (int o = 0; o < i.output_count; ++o)
            t.of[c.arguments + c.argument_count - 1 - o].is_written = true;
      }
      for (int s = c.statements; s < c.statements + c.statement_count; ++s)
        if (const int store = plan_type::code.statements[s].store; store >= 0)
          t.of[c.arguments + store].is_written = true;
    }
    t.first_operator[groups] = operators;
    return t;
  }
  static constexpr table_type table = make();
  static constexpr nan_check_view view = {schedule::table.entries,
                                          schedule::table.info,
                                          schedule::table.slot_of,
                                          table.of,
                                          table.first_operator,
                                          table.type,
                                          groups};
};

/// Searches for NaN and, on request, for infinity: in the fed data before a group reads them, and
/// in the arrays that the group wrote. The check reads all activations and gradients once more.
class nan_check {
 public:
  explicit nan_check(const group_check& of)
      : of_(of), schedule_(static_cast<const nan_check_view*>(of.schedule)), names_(of.names) {}

  /// Runs group `group` of a schedule with the arguments `arguments`. Throws an error at the first
  /// NaN or, on request, infinity; the error is a row_error if the rows of the array are samples.
  static void run(const group_check& self, const program_view& program, int group,
                  float* const* arguments, const run_context& c) {
    nan_check(self).run_group(program, group, arguments, c);
  }

 private:
  void run_group(const program_view& program, int g, float* const* arguments,
                 const run_context& c) const {
    const schedule_entry& e = schedule_->entries[g];
    const int end = e.first_argument + e.group.arguments;
    for (int a = e.first_argument; a < end; ++a)
      if (schedule_->slot_of[a].space == memory_space::feed) require(g, a, arguments, c);
    e.run(program, arguments + e.first_argument, schedule_->info + e.first_argument, e.group, c);
    for (int a = e.first_argument; a < end; ++a)
      if (schedule_->of[a].is_written) require(g, a, arguments, c);
  }

  struct position {
    int row, column;
    bool is_infinite;
  };

  LAMINA_API LAMINA_COLD void require(int g, int a, float* const* arguments,
                                      const run_context& c) const;
  bool finds(int a, const float* data, const run_context& c, position& at) const {
    const argument_info& info = schedule_->info[a];
    if (data == nullptr) return false;
    if (info.type == dtype::float32) return finds_in<float>(a, data, c, at);
    if (info.type == dtype::float64) return finds_in<double>(a, data, c, at);
    return false;
  }
  template <class Real>
  LAMINA_COLD bool finds_in(int a, const float* data, const run_context& c, position& at) const {
    const argument_info& info = schedule_->info[a];
    const memory_space space = schedule_->slot_of[a].space;
    if (space == memory_space::array || space == memory_space::numbers) return false;
    if (space == memory_space::rows) {
      const auto& sparse = *reinterpret_cast<const basic_selected_rows<Real>*>(data);
      for (int r = 0; r < sparse.size(); ++r)
        if (finds_in_row(sparse.row(r), sparse.columns(), at)) {
          at.row = sparse.number(r);
          return true;
        }
      return false;
    }
    const Real* from = numbers_at<Real>(data);
    std::ptrdiff_t stride = info.stride;
    const int rows = c.rows_of(info.rows);
    std::vector<Real> unpacked;
    if (info.panel) {
      unpacked.resize(static_cast<std::size_t>(rows) * static_cast<std::size_t>(info.columns));
      unpack(rows, info.columns, from, unpacked.data());
      from = unpacked.data();
      stride = info.columns;
    }
    for (at.row = 0; at.row < rows; ++at.row)
      if (finds_in_row(from + at.row * stride, info.columns, at)) return true;
    return false;
  }
  template <class Real>
  bool finds_in_row(const Real* x, int columns, position& at) const {
    // The first loop only finds out whether the row contains NaN or infinity; it has no branches,
    // so the compiler vectorises it.
    int strange = 0;
    for (int j = 0; j < columns; ++j) strange |= x[j] - x[j] == 0 ? 0 : 1;
    for (int j = 0; strange != 0 && j < columns; ++j) {
      at.is_infinite = x[j] == x[j];
      if (x[j] - x[j] == 0 || (at.is_infinite && !of_.infinity)) continue;
      at.column = j;
      return true;
    }
    return false;
  }

  std::string name_of(int variable) const {
    if (variable < 0 || variable >= names_->count.variables) return "without a name";
    std::string name(static_cast<std::size_t>(name_length(*names_, variable)), ' ');
    name_writer w{name.data()};
    write_name(*names_, variable, w);
    return name;
  }
  [[noreturn]] LAMINA_API LAMINA_COLD void fail(int g, int a, float* const* arguments,
                                                const run_context& c, const position& at) const;
  /// Adds to the message which parameters among the group's operands contain NaN or infinity.
  LAMINA_API LAMINA_COLD void tell_parameters(text& message, int g, float* const* arguments,
                                              const run_context& c) const;

  const group_check& of_;
  const nan_check_view* schedule_;
  const program_view* names_;
};

template <class P>
struct nan_check_of {
  static group_check make() { return {&nan_check::run, &nan_check_table<P>::view}; }
};

#if LAMINA_DEFINES

void nan_check::require(int g, int a, float* const* arguments, const run_context& c) const {
  position at{};
  if (finds(a, arguments[a], c, at)) fail(g, a, arguments, c, at);
}

void nan_check::fail(int g, int a, float* const* arguments, const run_context& c,
                     const position& at) const {
  const argument_info& info = schedule_->info[a];
  const memory_slot& slot = schedule_->slot_of[a];
  const checked_argument& of = schedule_->of[a];
  const std::string name = name_of(of.variable);
  const bool fed = slot.space == memory_space::feed;
  text message("lamina: check_nan: ");
  if (const std::size_t end = name.find(".tmp_"); end != name.npos)
    message << "layer " << std::string_view(name).substr(0, end) << ", ";
  if (of.is_gradient || (slot.space == memory_space::updated && of_.leaves_updates))
    message << "gradient of ";
  message << (fed ? "data layer " : "variable ") << name;
  const int domain = domain_of_rows(info.rows);
  const std::int64_t row =
      at.row / lamina::parts_of_rows(info.rows) + (domain > 0 ? c.first_row[domain] : 0);
  message << ": expected numbers, found " << (at.is_infinite ? "infinity" : "NaN") << " in row "
          << row << ", column " << at.column;
  if (!fed) {
    message << ", computed by ";
    for (int k = schedule_->first_operator[g]; k < schedule_->first_operator[g + 1]; ++k)
      message << (k == schedule_->first_operator[g] ? "" : ", ") << schedule_->type[k];
    tell_parameters(message, g, arguments, c);
  }
  if (domain > 0) throw row_error(message, domain, row);
  throw error(message);
}

void nan_check::tell_parameters(text& message, int g, float* const* arguments,
                                const run_context& c) const {
  const schedule_entry& e = schedule_->entries[g];
  for (int a = e.first_argument; a < e.first_argument + e.group.arguments; ++a) {
    position at{};
    const checked_argument& of = schedule_->of[a];
    if (schedule_->slot_of[a].space == memory_space::parameter && !of.is_written &&
        finds(a, arguments[a], c, at))
      message << "; parameter " << name_of(of.variable) << " has "
              << (at.is_infinite ? "infinity" : "NaN") << " in it";
  }
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
