// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/row_pass.hpp - which groups of a plan are one kernel where a program has few
// rows: those that each compute a row from this row alone, behind each other.
//
// A classifier's last layers, its cost, the gradient of that and the slopes of these layers are
// such groups: a team takes some rows through all of them. Chains of products are parts of a pass;
// with many rows each is launched by itself.
#pragma once

#include <lamina/engine/cuda/call_arguments.hpp>
#include <lamina/engine/cuda/product_chain.hpp>
#include <lamina/operators/cross_entropy.hpp>
#include <lamina/operators/dropout.hpp>
#include <lamina/operators/fill.hpp>
#include <lamina/operators/softmax.hpp>

namespace lamina::engine::cuda {

/// What a group is in a pass.
enum class pass_step : std::uint8_t {
  none,
  before,      // it is launched before the pass, which reads what it makes
  sum,         // the parts of a product of many terms are added up
  product,     // a link of a chain, or one that stands alone
  call,        // the kernel of an operator, a line of which is a row
  statements,  // pointwise
};

struct row_pass_limits {
  static constexpr int steps = 24, bytes = 3800;  // a kernel is told of all steps at once
  static constexpr int call_width = 1024;         // numbers a row of a call
};

/// Passes by group.
template <int Groups>
struct row_passes {
  int pass[at_least_one(Groups)];  // whose step it is, or -1
  pass_step step[at_least_one(Groups)];
  int handed[at_least_one(Groups)];  // of a product or sum: the variable that is the left side of
                                     // the next product, or -1
  bool loads[at_least_one(Groups)];  // of a product: its left side comes from memory
  int first[at_least_one(Groups)];   // by pass: its first group
  int steps[at_least_one(Groups)];   // by pass: steps, without those before
  int rows[at_least_one(Groups)];    // by pass: the rows that it computes
  unsigned long long feeds[at_least_one(Groups)];  // by pass: data that it depends on
  int count;

  constexpr bool is_step(int g) const { return pass[g] >= 0 && step[g] != pass_step::before; }
};

/// Finds passes in the groups B of the lowered program L of P, whose chains are Chains.
template <class P, auto const& L, auto const& B, auto const& Chains>
class row_pass_finder {
 public:
  static constexpr int groups = B.count;

  constexpr row_pass_finder() {
    for (int g = 0; g < at_least_one(groups); ++g) {
      found_.pass[g] = found_.handed[g] = found_.first[g] = -1;
      found_.step[g] = pass_step::none;
      found_.loads[g] = false;
      found_.steps[g] = found_.rows[g] = 0;
      found_.feeds[g] = 0;
    }
    found_.count = 0;
    for (int v = 0; v < at_least_one(L.count.variables); ++v) {
      first_writer_[v] = first_reader_[v] = groups;
      last_writer_[v] = -1;
    }
    for (int g = 0; g < groups; ++g)
      for (int n = 0; n < B.groups[g].count; ++n) note(g, at(g, n));
  }

  constexpr row_passes<groups> run() {
    for (int g = 0; g < groups; ++g)
      if (found_.pass[g] < 0 && found_.step[g] == pass_step::none && begins(g)) follow(g);
    return found_;
  }

 private:
  /// How far behind the last step the next one is looked for.
  static constexpr int reach = 16;

  static constexpr instruction at(int g, int n) {
    return L.instructions[B.order[B.groups[g].first + n]];
  }
  static constexpr int root(int v) { return v < 0 ? v : L.variables[v].root; }
  static constexpr int operand_of(const instruction& i, int n) {
    return root(L.operands[i.inputs + n].id);
  }

  constexpr void note(int g, const instruction& i) {
    const bool updates = i.schema->kind == operator_kind::update;
    for (int a = 0; a < i.input_count; ++a) {
      const int u = operand_of(i, a);
      if (u < 0) continue;
      if (g < first_reader_[u]) first_reader_[u] = g;
      if (updates) note_writer(g, u);
    }
    for (int o = i.outputs; o < i.outputs + i.output_count; ++o)
      if (L.results[o] >= 0) note_writer(g, root(L.results[o]));
  }
  constexpr void note_writer(int g, int v) {
    if (g < first_writer_[v]) first_writer_[v] = g;
    if (g > last_writer_[v]) last_writer_[v] = g;
  }

  static constexpr bool is_float(int v) { return v >= 0 && L.variables[v].type == dtype::float32; }
  /// Whether all instructions of a group from the n-th on are statements on floats of its rows.
  static constexpr bool has_plain_statements(int g, int n) {
    for (; n < B.groups[g].count; ++n) {
      const instruction i = at(g, n);
      if (i.schema->kind == operator_kind::update) return false;
      for (int a = i.inputs; a < i.inputs + i.input_count; ++a) {
        const auto& from = L.operands[a];
        if (from.how == access::channel || from.how == access::numbers) return false;
        if (from.id >= 0 && !is_float(root(from.id))) return false;
      }
      for (int o = i.outputs; o < i.outputs + i.output_count; ++o)
        if (L.results[o] >= 0 && !is_float(root(L.results[o]))) return false;
    }
    return true;
  }
  static constexpr bool is_row_call(const instruction& i) {
    const operator_schema* const known[] = {&schema_of<softmax>(),
                                            &schema_of<gradient_of<softmax>>(),
                                            &schema_of<cross_entropy>(),
                                            &schema_of<gradient_of<cross_entropy>>(),
                                            &schema_of<softmax_with_cross_entropy>(),
                                            &schema_of<gradient_of<softmax_with_cross_entropy>>(),
                                            &schema_of<dropout>(),
                                            &schema_of<gradient_of<dropout>>()};
    for (const operator_schema* const k : known)
      if (i.schema == k) return true;
    return false;
  }
  /// What group g may be, by itself.
  static constexpr pass_step kind_of(int g) {
    const group_desc d = B.groups[g];
    if (d.rows >= 0 && d.head != group_head::call) return pass_step::none;
    switch (d.head) {
      case group_head::gemm:
      case group_head::gemm_dx:
        if (parts_of_rows(d.rows) != 1 || d.depth < 1 || !has_plain_statements(g, 1) ||
            !is_float(operand_of(at(g, 0), 0)))
          return pass_step::none;
        if (d.depth > chain_limits::width)
          return d.head == group_head::gemm && d.columns <= chain_limits::width ? pass_step::sum
                                                                                : pass_step::none;
        return d.columns <= row_pass_room::widest &&
                       d.columns * d.depth <= row_pass_room::most_weights
                   ? pass_step::product
                   : pass_step::none;
      case group_head::pointwise:
        return parts_of_rows(d.rows) == 1 && d.columns <= chain_limits::width &&
                       has_plain_statements(g, 0)
                   ? pass_step::statements
                   : pass_step::none;
      case group_head::call:
        return is_row_call(at(g, 0)) && calls_rows(at(g, 0)) ? pass_step::call : pass_step::none;
      default:
        return pass_step::none;
    }
  }
  /// Whether each line of a call is a row: matrices of one row domain.
  static constexpr bool calls_rows(const instruction& i) {
    for (int a = i.inputs; a < i.inputs + i.input_count; ++a)
      if (const int v = L.operands[a].id; is_constant(v) || (v >= 0 && !is_matrix(v))) return false;
    for (int o = i.outputs; o < i.outputs + i.output_count; ++o)
      if (const int v = L.results[o]; v >= 0 && !is_matrix(v)) return false;
    return true;
  }
  static constexpr bool is_matrix(int v) {
    const plan_variable& d = L.variables[v];
    return d.rows < 0 && parts_of_rows(d.rows) == 1 && d.root == v &&
           d.columns <= row_pass_limits::call_width && v < P::desc.count.variables &&
           P::desc.variables[v].rank == 2;
  }
  /// The rows that a step computes.
  static constexpr int rows_of(int g) {
    const group_desc d = B.groups[g];
    if (d.head != group_head::call) return d.rows;
    const int v = operand_of(at(g, 0), 0);
    return v < 0 ? 0 : L.variables[v].rows;
  }

  /// Whether g is a product that a chain with members has taken, or another link than its first.
  static constexpr bool is_taken(int g) {
    const int c = Chains.chain[g];
    return c >= 0 && (Chains.members[c] > 0 || Chains.first[c] != g);
  }
  constexpr bool begins(int g) const {
    const pass_step kind = kind_of(g);
    return kind != pass_step::none && kind != pass_step::statements && !is_taken(g);
  }

  constexpr void follow(int first) {
    first_ = first;
    added_count_ = steps_ = bytes_ = words_ = 0;
    if (!add(first)) return undo(0);
    int items = 1, last = first;
    bool has_others = kind_of(first) != pass_step::product;
    for (int h = first + 1; h < groups && h <= last + reach; ++h) {
      const pass_step kind = kind_of(h);
      if (kind == pass_step::none || kind == pass_step::sum || found_.step[h] != pass_step::none ||
          is_taken(h) || !is_run_with(first, h) || rows_of(h) != rows_of(first) || !reads_pass(h))
        continue;
      const int before = added_count_;
      if (!add(h)) {
        undo(before);
        continue;
      }
      ++items;
      has_others = has_others || kind != pass_step::product;
      last = h;
      if (const int c = Chains.chain[h]; c >= 0)
        for (int g = h; g >= 0; g = Chains.next[g]) last = g;
    }
    if (items < 2 || !has_others || !hand_on()) return undo(0);
    const int p = found_.count++;
    found_.first[p] = first;
    found_.rows[p] = rows_of(first);
    for (int k = 0; k < added_count_; ++k) {
      found_.feeds[p] |= B.groups[added_[k]].feeds;
      if (found_.is_step(added_[k])) ++found_.steps[p];
    }
  }
  /// Whether groups are always run together: an evaluator may be given some data alone.
  static constexpr bool is_run_with(int g, int h) {
    return !P::desc.is_test || B.groups[g].feeds == B.groups[h].feeds;
  }
  constexpr void undo(int to) {
    while (added_count_ > to) {
      const int g = added_[--added_count_];
      if (found_.is_step(g)) --steps_, bytes_ -= bytes_of(g), words_ -= words_of(g);
      found_.pass[g] = found_.handed[g] = -1;
      found_.loads[g] = false;
      found_.step[g] = pass_step::none;
    }
  }
  /// Floats of shared memory for its weights.
  static constexpr int words_of(int g) {
    const group_desc d = B.groups[g];
    return d.head == group_head::gemm_dx ? row_pass_room::weights(d.columns, d.depth) : 0;
  }

  /// What a kernel is told of a step, at most.
  static constexpr int bytes_of(int g) {
    const group_desc d = B.groups[g];
    if (d.head == group_head::call) return static_cast<int>(sizeof(call_arguments));
    int arrays = 6;
    for (int n = 0; n < d.count; ++n) arrays += at(g, n).input_count + at(g, n).output_count;
    return 8 * arrays;
  }

  constexpr bool is_step(int g) const {
    return found_.pass[g] == found_.count && found_.step[g] != pass_step::before;
  }
  constexpr bool reads_pass(int g) const {
    for (int n = 0; n < B.groups[g].count; ++n) {
      const instruction i = at(g, n);
      for (int a = 0; a < i.input_count; ++a)
        if (const int u = operand_of(i, a);
            u >= 0 && first_writer_[u] < g && is_step(first_writer_[u]))
          return true;
    }
    return false;
  }

  /// Adds group g, with the links of its chain and with what has to run before it.
  constexpr bool add(int g) {
    if (Chains.chain[g] < 0) return add_one(g);
    for (; g >= 0; g = Chains.next[g])
      if (!add_one(g)) return false;
    return true;
  }
  constexpr bool add_one(int g) {
    const pass_step kind = kind_of(g);
    constexpr int room =
        chain_limits::words - row_pass_room::weights_at(256, row_pass_room::widest);
    if (!may_run_in_pass(g, kind)) return false;
    if (steps_ == row_pass_limits::steps || bytes_ + bytes_of(g) > row_pass_limits::bytes ||
        words_ + words_of(g) > room)
      return false;
    put(g, kind);
    ++steps_, bytes_ += bytes_of(g), words_ += words_of(g);
    return true;
  }
  constexpr void put(int g, pass_step kind) {
    found_.pass[g] = found_.count;
    found_.step[g] = kind;
    added_[added_count_++] = g;
  }

  /// Whether somebody between the pass's first group and g writes u.
  constexpr bool is_written_before(int u, int g) const {
    return last_writer_[u] >= first_ && first_writer_[u] < g;
  }
  /// Whether nobody but g writes v, nor reads it before.
  constexpr bool is_own_result(int v, int g) const {
    return first_writer_[v] == g && last_writer_[v] == g && first_reader_[v] >= g;
  }
  /// Whether group g may run behind the first group of the pass: what it reads lies there then, or
  /// is a row of what the pass makes. It may need groups that stand between: they are added.
  constexpr bool may_run_in_pass(int g, pass_step kind) {
    for (int n = 0; n < B.groups[g].count; ++n) {
      const instruction i = at(g, n);
      for (int a = 0; a < i.input_count; ++a) {
        const int u = operand_of(i, a);
        if (u < 0 || !is_written_before(u, g)) continue;
        if (first_writer_[u] != last_writer_[u]) return false;
        const int w = first_writer_[u];
        if (found_.pass[w] != found_.count && !add_needed(w, g)) return false;
        if (!is_step(w)) continue;
        const access how = L.operands[i.inputs + a].how;
        const bool is_weight = n == 0 && a == 1 && kind == pass_step::product;
        if (is_weight || how == access::row || how == access::scalar) return false;
      }
      for (int o = i.outputs; o < i.outputs + i.output_count; ++o)
        if (L.results[o] >= 0 && !is_own_result(root(L.results[o]), g)) return false;
    }
    return true;
  }
  /// Adds group w, which g of the pass reads: as a step, or as one that is launched before.
  constexpr bool add_needed(int w, int g) {
    if (found_.step[w] != pass_step::none || Chains.chain[w] >= 0 || !is_run_with(first_, w))
      return false;
    if (kind_of(w) == pass_step::statements && rows_of(w) == rows_of(g)) return add_one(w);
    const group_desc d = B.groups[w];
    const operator_schema* const schema = at(w, 0).schema;
    if (d.head != group_head::pointwise && schema != &schema_of<fill_constant>() &&
        schema != &schema_of<stage_feed>())
      return false;
    for (int n = 0; n < d.count; ++n) {
      const instruction i = at(w, n);
      if (i.schema->kind == operator_kind::update) return false;
      for (int a = 0; a < i.input_count; ++a)
        if (const int u = operand_of(i, a); u >= 0 && is_written_before(u, w)) return false;
      for (int o = i.outputs; o < i.outputs + i.output_count; ++o)
        if (L.results[o] >= 0 && !is_own_result(root(L.results[o]), w)) return false;
    }
    put(w, pass_step::before);
    return true;
  }

  /// Finds what products hand on to the next one; false where a chain does not store what memory
  /// would have to have.
  constexpr bool hand_on() {
    int last = -1;
    for (int g = first_; g < groups; ++g) {
      if (!is_step(g)) continue;
      const pass_step kind = found_.step[g];
      if (kind == pass_step::product) {
        const int v = operand_of(at(g, 0), 0);
        const bool is_handed = last >= 0 && first_writer_[v] == last && last_writer_[v] == last &&
                               B.groups[last].columns == B.groups[g].depth;
        if (is_handed)
          found_.handed[last] = v;
        else
          found_.loads[g] = true;
        const bool follows = Chains.chain[g] >= 0 && Chains.first[Chains.chain[g]] != g;
        if (follows && !is_handed) return false;
      }
      if (kind == pass_step::product || kind == pass_step::sum) last = g;
    }
    return true;
  }

  row_passes<groups> found_{};
  // Of the pass that is looked for: its groups in the order in which they were added.
  int first_ = 0, added_[at_least_one(groups)] = {}, added_count_ = 0;
  int steps_ = 0, bytes_ = 0, words_ = 0;
  int first_writer_[at_least_one(L.count.variables)] = {};
  int last_writer_[at_least_one(L.count.variables)] = {};
  int first_reader_[at_least_one(L.count.variables)] = {};
};

/// Groups whose passes run where their first group stands: all that a pass writes is made there.
template <auto const& L, auto const& B, auto const& Passes>
constexpr auto join_passes() {
  auto r = B;
  for (int g = 0; g < B.count; ++g) {
    if (Passes.pass[g] < 0) continue;
    for (int n = B.groups[g].first; n < B.groups[g].first + B.groups[g].count; ++n) {
      const instruction i = L.instructions[B.order[n]];
      for (int o = i.outputs; o < i.outputs + i.output_count; ++o)
        if (L.results[o] >= 0)
          r.producer[L.variables[L.results[o]].root] = Passes.first[Passes.pass[g]];
    }
  }
  return r;
}

}  // namespace lamina::engine::cuda
