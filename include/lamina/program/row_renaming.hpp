// SPDX-License-Identifier: Apache-2.0
// lamina/program/row_renaming.hpp - gives rows of one type but different numbers separate domains.
//
// For example, tokens<"beam"> are the hypotheses of a beam search, before and after a step. All
// these rows have one C++ type, so recording gives them one row domain. But each step selects its
// own number of hypotheses, whereas values computed from the previous hypotheses keep the previous
// rows. So each operator that makes rows gets a new domain for them, and so do the values computed
// from these rows. If a loop carries a variable with such rows, the variable has a separate domain
// too. The `assign` before the loop, and the `assign` at the end of the loop's body, copy rows to
// this domain when they copy the value.
#pragma once

#include <lamina/core/config.hpp>

#include <string_view>

#include <lamina/program/block.hpp>
#include <lamina/program/program_builder.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Whether two row domains have the same C++ type, that is, sequences of the same names.
template <class Program>
constexpr bool have_one_type(const Program& p, int a, int b) {
  while (a != b) {
    const domain_desc &x = p.domains[a], &y = p.domains[b];
    if (x.kind != domain_kind::sequence || y.kind != domain_kind::sequence ||
        std::string_view(&p.characters[x.offset], static_cast<std::size_t>(x.length)) !=
            std::string_view(&p.characters[y.offset], static_cast<std::size_t>(y.length)))
      return false;
    a = x.parent, b = y.parent;
  }
  return true;
}

namespace detail {

/// Gives the rows that an operator computes a new domain if the same type of rows is computed more
/// than once.
class row_renaming {
 public:
  constexpr explicit row_renaming(program_builder& b)
      : b_(b),
        domains_(b.domains.count),
        alive_(new bool[static_cast<unsigned>(domains_)]),
        split_(new bool[static_cast<unsigned>(domains_)]),
        defined_(new bool[static_cast<unsigned>(b.variables.count) + 1]),
        body_(new int[static_cast<unsigned>(b.variables.count) + 1]) {
    for (int d = 0; d < domains_; ++d) base_.push(d), alive_[d] = split_[d] = false;
    for (int v = 0; v < b.variables.count; ++v) defined_[v] = false, body_[v] = -1;
  }
  row_renaming(const row_renaming&) = delete;
  constexpr ~row_renaming() {
    delete[] alive_;
    delete[] split_;
    delete[] defined_;
    delete[] body_;
  }

  constexpr void run() {
    if (!find_split()) return;
    find_carried();
    for (int k = 0; k < b_.operators.count; ++k) visit(b_.operators[k]);
  }

 private:
  template <class F>
  constexpr void each(int at, const slot_desc* slot_list, int count, F&& f) const {
    for (int s = 0; s < count; ++s)
      for (int n = slot_list[s].duplicable ? b_.arguments[at++] : 1; n > 0; --n, ++at)
        if (b_.arguments[at] >= 0) f(b_.arguments[at]);
  }
  template <class F>
  constexpr void each_input(const operator_desc& op, F&& f) const {
    each(op.inputs, op.schema->inputs, op.schema->input_count, f);
  }
  template <class F>
  constexpr void each_output(const operator_desc& op, F&& f) const {
    each(op.outputs, op.schema->outputs, op.schema->output_count, f);
  }

  /// Finds the domains whose rows an operator computes although values with rows of this domain
  /// already exist. Returns whether there are any.
  constexpr bool find_split() {
    for (int i = 0; i < b_.data.count; ++i)
      for (int d = b_.variables[b_.data[i]].rows; d >= 0; d = b_.domains[d].parent)
        alive_[d] = true;
    bool any = false;
    for (int k = 0; k < b_.operators.count; ++k) {
      const operator_desc& op = b_.operators[k];
      if (op.schema->facts.made_levels == 0 || accepts_rows(op)) continue;
      each_output(op, [&](int v) {
        const int d = b_.variables[v].rows;
        if (d > batch::domain && alive_[d]) split_[d] = any = true;
      });
      each_output(op, [&](int v) { alive_[b_.variables[v].rows] = true; });
    }
    return any;
  }

  /// Finds, for each variable that a loop carries, the loop body that gives it the next value.
  constexpr void find_carried() {
    int* const first = new int[static_cast<unsigned>(b_.variables.count) + 1];
    for (int v = 0; v < b_.variables.count; ++v) first[v] = -1;
    for (int k = 0; k < b_.operators.count; ++k) {
      const operator_desc& op = b_.operators[k];
      if (op.schema->facts.origin != row_origin::handed_over) continue;
      const int v = b_.arguments[op.outputs];
      if (first[v] < 0)
        first[v] = op.block;
      else if (op.block != first[v])
        body_[v] = op.block;
    }
    delete[] first;
  }
  /// Returns the number of levels of domain d that get new domains: from its rows upwards to the
  /// highest level that find_split found; 0 if there is none.
  constexpr int split_levels(int d) const {
    int levels = 0;
    for (int l = 1; d > batch::domain; ++l, d = b_.domains[d].parent)
      if (split_[base_[d]]) levels = l;
    return levels;
  }
  /// Returns the domain for carried variable v, whose value before the loop has rows d. Variables
  /// that one loop carries and that start with the same rows share it.
  constexpr int carried(int v, int d) {
    const int levels = split_levels(d);
    if (levels == 0) return d;
    for (int i = 0; i < loops_.count; ++i)
      if (loops_[i].body == body_[v] && loops_[i].from == d) return loops_[i].made;
    const int made = fresh(d, levels);
    loops_.push({body_[v], d, made, -1});
    return made;
  }
  /// Records that carried variable `to` gets the rows of `from` in the next iteration. Variables
  /// with one domain must get the same rows; reports a fault if they do not.
  constexpr void hand_over(int from, int to) {
    const int rows = b_.variables[to].rows, next = b_.variables[from].rows;
    for (int i = 0; i < loops_.count; ++i) {
      if (loops_[i].made != rows) continue;
      if (loops_[i].next < 0) loops_[i].next = next;
      if (loops_[i].next == next) return;
      report_variable(b_, fault_kind::stale_rows, loops_[i].next == rows ? to : from, 0);
    }
  }

  constexpr int make(int like, int parent) {
    const domain_desc d = b_.domains[like];
    const int made = b_.domains.push({d.kind, parent, d.offset, d.length, d.chosen_by});
    base_.push(base_[like]);
    return made;
  }
  /// Makes a copy of domain d whose lowest `levels` levels are new domains.
  constexpr int fresh(int d, int levels) {
    constexpr_vector<int> chain{};
    for (; levels > 0; --levels, d = b_.domains[d].parent) chain.push(d);
    int made = current(d);
    for (int i = chain.count; i-- > 0;) made = make(chain[i], made);
    return made;
  }
  /// Returns the domain that replaces d in the current operator: the newest domain made from d
  /// among the rows of its inputs. If no input has such rows, makes the domain below the
  /// replacement of d's nearest parent that an input has.
  constexpr int current(int d) {
    constexpr_vector<int> chain{};
    while (d > batch::domain && !is_seen(d)) chain.push(d), d = b_.domains[d].parent;
    int found = d;
    for (int i = 0; i < seen_.count; ++i)
      if (base_[seen_[i]] == base_[d] && seen_[i] > found) found = seen_[i];
    for (int i = chain.count; i-- > 0;) found = below(chain[i], found);
    return found;
  }
  constexpr int below(int d, int parent) {
    if (b_.domains[d].parent == parent) return d;
    for (int i = domains_; i < b_.domains.count; ++i)
      if (base_[i] == base_[d] && b_.domains[i].parent == parent) return i;
    return make(d, parent);
  }
  constexpr bool is_seen(int d) const {
    for (int i = 0; i < seen_.count; ++i)
      if (base_[seen_[i]] == base_[d]) return true;
    return false;
  }
  constexpr void see(int d) {
    for (; d > batch::domain; d = b_.domains[d].parent) seen_.push(d);
  }

  /// Whether an operator gives its output the rows of its second operand Y, as
  /// row_origin::second_operand says; the first operand X may then have different rows of the same
  /// type.
  constexpr bool accepts_rows(const operator_desc& op) {
    if (op.schema->facts.origin != row_origin::second_operand) return false;
    seen_.count = 0;
    const int y = b_.arguments[op.inputs + 1];
    if (y >= 0) see(b_.variables[y].rows);
    return is_seen(b_.variables[b_.arguments[op.outputs]].rows);
  }
  /// Stores the rows of the operator's inputs in seen_.
  constexpr void see_inputs(const operator_desc& op) {
    const operator_facts& facts = op.schema->facts;
    seen_.count = 0;
    int position = 0;
    each_input(op, [&](int v) {
      const int n = position++;
      if (n < 32 && (facts.apart_inputs >> n & 1u) != 0) return;
      see(b_.variables[v].rows);
      if (facts.origin == row_origin::ranked)
        for (int i = 0; i < tables_.count; i += 2)
          if (tables_[i] == v) see(tables_[i + 1]);
    });
  }
  /// Reports a fault if two inputs have rows of one type but different domains.
  constexpr void refuse_mixed(const operator_desc& op) {
    if (op.role != op_role::forward || op.schema->facts.accepts_any_rows) return;
    for (int i = 0; i < seen_.count; ++i)
      for (int j = 0; j < i; ++j) {
        if (base_[seen_[i]] != base_[seen_[j]] || seen_[i] == seen_[j]) continue;
        const int older = seen_[i] < seen_[j] ? seen_[i] : seen_[j];
        each_input(op, [&](int v) {
          for (int d = b_.variables[v].rows; d > batch::domain; d = b_.domains[d].parent)
            if (d == older) report_variable(b_, fault_kind::stale_rows, v, 0);
        });
        return;
      }
  }

  constexpr void visit(const operator_desc& op) {
    if (sub_block_of(b_, op) >= 0) return;
    const operator_facts& facts = op.schema->facts;
    const int levels = accepts_rows(op) ? 0 : facts.made_levels;
    see_inputs(op);
    refuse_mixed(op);
    const bool reads = facts.origin == row_origin::array_slot;
    if (facts.origin == row_origin::handed_over && defined_[b_.arguments[op.outputs]])
      hand_over(b_.arguments[op.inputs], b_.arguments[op.outputs]);
    int from = -1, made = -1;
    each_output(op, [&](int v) {
      variable_desc& to = b_.variables[v];
      const int d = to.rows;
      if (defined_[v] || d <= batch::domain || to.kind == variable_kind::data) return;
      const bool split = split_[base_[d]];
      if (op.role != op_role::forward && to.of >= 0) {
        to.rows = b_.variables[to.of].rows;
      } else if (to.kind == variable_kind::tensor_array && split) {
        return;
      } else if (split && reads) {
        to.rows = read_at(b_.arguments[op.inputs + 1], d);
      } else if (split && levels > 0) {
        if (from != d) from = d, made = fresh(d, levels);
        to.rows = made;
      } else {
        to.rows = current(d);
        if (body_[v] >= 0) to.rows = carried(v, to.rows);
      }
    });
    each_output(op, [&](int v) { defined_[v] = true; });
    if (facts.origin == row_origin::ranks) {
      tables_.push(b_.arguments[op.outputs]);
      tables_.push(b_.variables[b_.arguments[op.inputs]].rows);
    }
  }
  /// Returns the domain of the rows of an array's value at `index`. Arrays with rows of one type
  /// that are read at the same index variable share it.
  constexpr int read_at(int index, int d) {
    for (int i = 0; i < reads_.count; i += 3)
      if (reads_[i] == index && reads_[i + 1] == base_[d]) return reads_[i + 2];
    const int made = fresh(d, lod_level_of(b_, d));
    for (const int n : {index, base_[d], made}) reads_.push(n);
    return made;
  }

  // The values that loop body `body` carries, whose rows are `from` before the loop and have domain
  // `made` in it.
  struct carried_rows {
    int body, from, made;
    int next;  // the rows that they get for the next iteration; -1: not known yet
  };

  program_builder& b_;
  int domains_;                   // number of domains after recording
  constexpr_vector<int> base_{};  // by domain: the domain that recording gave to these rows
  bool* alive_;                   // by recorded domain: values with its rows exist
  bool* split_;                   // by recorded domain: several operators make its rows, or the
                                  // data and an operator
  bool* defined_;                 // by variable: an earlier operator has written it
  int* body_;                     // by variable: the body from find_carried, or -1
  constexpr_vector<carried_rows> loops_{};
  constexpr_vector<int> seen_{};    // rows of the current operator's inputs, and their parents
  constexpr_vector<int> tables_{};  // rank tables, each with the rows from which it was made
  constexpr_vector<int> reads_{};   // array indices, each with a domain and the rows read there
};

}  // namespace detail

/// Gives rows of one type but different numbers separate domains, as the top of this file explains.
/// Recording calls it after the record function. A program in which no operator makes rows is not
/// changed.
constexpr void rename_rows(program_builder& b) {
  bool any = false;
  for (int k = 0; k < b.operators.count && b.domains.count > 2 && !any; ++k)
    any = b.operators[k].schema->facts.made_levels > 0;
  if (any) detail::row_renaming(b).run();
}

}}  // namespace lamina
