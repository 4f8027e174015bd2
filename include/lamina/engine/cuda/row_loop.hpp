// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/row_loop.hpp - which loops of a plan are one kernel at a place: those whose
// iterations compute each row from this row alone.
//
// Then a team takes some rows through all iterations and waits for no other one. The host walks
// along the loop as ever, and in place of launching its groups it lists them (step_list.hpp). Sums
// over rows, as gradients of weights are, stand behind the loop: the rows of all iterations are put
// aside and added up at once.
#pragma once

#include <lamina/engine/cuda/cell_function.hpp>
#include <lamina/engine/cuda/host_values.hpp>
#include <lamina/operators/concat.hpp>
#include <lamina/operators/elementwise.hpp>
#include <lamina/operators/lstm.hpp>
#include <lamina/operators/tensor_array.hpp>
#include <lamina/plan/plan.hpp>

namespace lamina::engine::cuda {

/// What a group in a row loop is.
enum class row_step : std::uint8_t {
  none,         // the host's own work
  product,      // a product with weights from outside, and statements on it
  pointwise,    // statements
  cells,        // an operator, element by element (cell_function.hpp)
  call,         // moves rows into arrays of tensors, or out of them, or columns
  row_sum,      // adds up the rows of all iterations: a gradient of a bias
  product_sum,  // adds up products of the rows of all iterations: a gradient of weights
};

/// What a row loop may have.
struct row_loop_limits {
  static constexpr int groups = 64;        // of the schedule, in its block
  static constexpr int kinds = 16;         // distinct groups that compute
  static constexpr int products = 8;       // each with weights of its own
  static constexpr int width = 512;        // columns of a product, terms of a sum
  static constexpr int weights = 1 << 16;  // numbers of a matrix: more are better shared by teams
  static constexpr int arguments = 24;     // of a group
};

/// Row loops by block, and what their groups are.
template <int Groups, int Blocks>
struct row_loops {
  bool of[at_least_one(Blocks)];        // by block: whether it is one
  int kinds[at_least_one(Blocks)];      // by block: distinct groups that compute
  int products[at_least_one(Blocks)];   // by block
  int aside[at_least_one(Blocks)];      // by block: variables whose rows are put aside
  int arguments[at_least_one(Blocks)];  // by block: the most of a group
  int widest[at_least_one(Blocks)];     // by block: columns of a product
  int deepest[at_least_one(Blocks)];    // by block: terms of a product
  row_step step[at_least_one(Groups)];  // by group
  int kind[at_least_one(Groups)];       // by group: which of its block's
  int product[at_least_one(Groups)];    // by group: which of its block's products
  // By group that adds up rows: what is put aside for its operands, and whether by this group.
  int left[at_least_one(Groups)], right[at_least_one(Groups)];
  bool puts_left[at_least_one(Groups)], puts_right[at_least_one(Groups)];
  bool any;

  /// The first group of kind `kind` in `block`.
  constexpr int group_of(int block, int kind_number, const auto& grouped) const {
    for (int g = 0; g < Groups; ++g)
      if (grouped.groups[g].block == block && kind[g] == kind_number) return g;
    return -1;
  }
};

/// Finds the row loops of program P.
template <class P>
class row_loop_finder {
  using plan_type = plan<P>;
  static constexpr const auto& L = plan_type::lowered;
  static constexpr const auto& B = plan_type::grouped;
  static constexpr const auto& values = host_values_of<P>;
  static constexpr int groups = B.count, blocks = P::desc.count.blocks;
  static constexpr int variables = L.count.variables;

 public:
  constexpr row_loops<groups, blocks> run() {
    for (int g = 0; g < groups; ++g) {
      found_.kind[g] = found_.product[g] = found_.left[g] = found_.right[g] = -1;
      if (const int b = B.groups[g].block; count_[b]++ == 0) first_[b] = g;
    }
    for (int b = 0; b < blocks; ++b) runner_[b] = -1;
    for (int k = 0; k < L.count.instructions; ++k)
      if (L.instructions[k].runs >= 0) runner_[L.instructions[k].runs] = k;
    for (int v = 0; v < variables; ++v) written_[v] = aside_[v] = 0;
    for (int b = 1; b < blocks; ++b) {
      found_.of[b] = is_walked(b) && is_row_loop(b);
      found_.any = found_.any || found_.of[b];
      for (int g = first_[b]; !found_.of[b] && g < first_[b] + count_[b]; ++g)
        found_.step[g] = row_step::none, found_.kind[g] = -1;
    }
    return found_;
  }

 private:
  static constexpr instruction at(int g, int n) {
    return L.instructions[B.order[B.groups[g].first + n]];
  }
  static constexpr int root(int v) { return v < 0 ? v : L.variables[v].root; }
  static constexpr bool is_float(int v) { return v >= 0 && L.variables[v].type == dtype::float32; }

  /// Whether the host walks along block b as often as it finds itself.
  constexpr bool is_walked(int b) const {
    if (count_[b] == 0 || count_[b] > row_loop_limits::groups || runner_[b] < 0 || values.node[b])
      return false;
    const instruction i = L.instructions[runner_[b]];
    return i.schema == &schema_of<while_block_gradient>() ||
           (i.schema == &schema_of<while_block>() &&
            values.computed[root(L.operands[i.inputs].id)]);
  }

  constexpr bool is_row_loop(int b) {
    const int end = first_[b] + count_[b];
    for (int g = first_[b]; g < end; ++g)
      for (int n = 0; n < B.groups[g].count; ++n) {
        const instruction i = at(g, n);
        if (i.runs >= 0) return false;
        for (int o = i.outputs; o < i.outputs + i.output_count; ++o)
          if (L.results[o] >= 0) written_[root(L.results[o])] = b;
      }
    for (int g = first_[b]; g < end; ++g)
      if (!is_row_step(b, g)) return false;
    return found_.kinds[b] > 0;
  }

  constexpr bool is_row_step(int b, int g) {
    const group_desc d = B.groups[g];
    const instruction i = at(g, 0);
    if (values.makes(L, i)) {
      // What the place needs of it would be sent before the kernel of the loop runs.
      for (int o = i.outputs; o < i.outputs + i.output_count; ++o)
        if (values.sent[root(L.results[o])]) return false;
      return true;
    }
    switch (d.head) {
      case group_head::pointwise:
        return has_rows(d) && is_plain(b, g, 0) && computes(b, g, row_step::pointwise);
      case group_head::gemm:
        return has_rows(d) && is_product(b, d, i) && is_plain(b, g, 1) &&
               computes(b, g, row_step::product);
      case group_head::reduce_rows:
        return is_row_sum(b, g, d, i);
      case group_head::call:
        if (i.schema == &schema_of<collect_product>()) return is_product_sum(b, g, i);
        if (i.schema == &schema_of<lstm_unit>() ||
            i.schema == &schema_of<gradient_of<lstm_unit>>() || i.schema == &schema_of<dropout>() ||
            i.schema == &schema_of<gradient_of<dropout>>())
          return is_cells(b, g, i);
        return is_row_call(b, g, i);
      default:
        return false;
    }
  }
  static constexpr bool has_rows(const group_desc& d) {
    return d.rows < 0 && parts_of_rows(d.rows) == 1;
  }
  constexpr bool is_product(int b, const group_desc& d, const instruction& i) const {
    const int left = root(L.operands[i.inputs].id), right = root(L.operands[i.inputs + 1].id);
    return d.depth > 0 && d.depth <= row_loop_limits::width &&
           d.columns <= row_loop_limits::width && d.depth * d.columns <= row_loop_limits::weights &&
           is_float(left) && is_float(right) && written_[right] != b &&
           is_float(L.results[i.outputs]);
  }
  /// Whether the statements of group g from instruction `from` on read and write rows of floats,
  /// and what is the same in all iterations.
  constexpr bool is_plain(int b, int g, int from) const {
    for (int n = from; n < B.groups[g].count; ++n) {
      const instruction i = at(g, n);
      if (i.schema->kind != operator_kind::pointwise) return false;
      for (int a = i.inputs; a < i.inputs + i.input_count; ++a) {
        const lamina::operand x = L.operands[a];
        if (x.how == access::channel || x.how == access::numbers || x.id == -1) return false;
        if (is_constant(x.id)) {
          // One over rows that a step makes is another number in each.
          const int index = constant_index(x.id);
          for (int d = batch::domain; d < P::desc.count.domains; ++d)
            if (index == inverse_rows(d) && !plan_type::fed.of[d]) return false;
          continue;
        }
        if (!is_float(x.id) ||
            ((x.how == access::row || x.how == access::scalar) && written_[root(x.id)] == b))
          return false;
      }
      for (int o = i.outputs; o < i.outputs + i.output_count; ++o)
        if (L.results[o] >= 0 && !is_float(L.results[o])) return false;
    }
    return true;
  }
  constexpr bool computes(int b, int g, row_step how) {
    const group_desc d = B.groups[g];
    const int arguments = plan_type::code.groups[g].argument_count +
                          (how == row_step::cells ? cell_call::most_words : 0);
    if (arguments > row_loop_limits::arguments) return false;
    found_.step[g] = how;
    if (found_.arguments[b] < arguments) found_.arguments[b] = arguments;
    for (int q = first_[b]; q < g && found_.kind[g] < 0; ++q)
      if (found_.kind[q] >= 0 && plan_type::distinct.kernel[q] == plan_type::distinct.kernel[g])
        found_.kind[g] = found_.kind[q];
    if (found_.kind[g] < 0) found_.kind[g] = found_.kinds[b]++;
    if (how == row_step::product) {
      found_.product[g] = found_.products[b]++;
      if (found_.widest[b] < d.columns) found_.widest[b] = d.columns;
      if (found_.deepest[b] < d.depth) found_.deepest[b] = d.depth;
    }
    return found_.kinds[b] <= row_loop_limits::kinds &&
           found_.products[b] <= row_loop_limits::products;
  }

  /// sum = sum + the rows of X, where nobody in the loop reads the sum.
  constexpr bool is_row_sum(int b, int g, const group_desc& d, const instruction& i) {
    if (d.rows != 1 || d.depth >= 0 || parts_of_rows(d.depth) != 1 || d.count != 2) return false;
    const instruction add = at(g, 1);
    if (add.schema != &schema_of<elementwise_add>() || add.output_count != 1) return false;
    const int made = root(L.results[i.outputs]), sum = root(L.results[add.outputs]);
    const int one = root(L.operands[add.inputs].id), other = root(L.operands[add.inputs + 1].id);
    if (!((one == sum && other == made) || (one == made && other == sum)) || made == sum)
      return false;
    found_.step[g] = row_step::row_sum;
    return is_sum(b, g, sum) &&
           put_aside(b, g, root(L.operands[i.inputs].id), found_.left[g], found_.puts_left[g]);
  }
  constexpr bool is_product_sum(int b, int g, const instruction& i) {
    found_.step[g] = row_step::product_sum;
    return is_sum(b, g, root(L.operands[i.inputs + 2].id)) &&
           put_aside(b, g, root(L.operands[i.inputs].id), found_.left[g], found_.puts_left[g]) &&
           put_aside(b, g, root(L.operands[i.inputs + 1].id), found_.right[g],
                     found_.puts_right[g]);
  }
  /// Whether only group g of block b has to do with what it adds to.
  constexpr bool is_sum(int b, int g, int sum) const {
    if (!is_float(sum) || L.variables[sum].block == b || L.variables[sum].rows < 0) return false;
    for (int q = first_[b]; q < first_[b] + count_[b]; ++q)
      for (int n = 0; q != g && n < B.groups[q].count; ++n) {
        const instruction i = at(q, n);
        for (int a = i.inputs; a < i.inputs + i.input_count; ++a)
          if (root(L.operands[a].id) == sum) return false;
        for (int o = i.outputs; o < i.outputs + i.output_count; ++o)
          if (root(L.results[o]) == sum) return false;
      }
    return true;
  }
  constexpr bool put_aside(int b, int, int v, int& number, bool& puts) {
    if (!is_float(v) || L.variables[v].rows >= 0) return false;
    puts = aside_[v] == 0 || aside_block_[v] != b;
    if (puts) aside_[v] = ++found_.aside[b], aside_block_[v] = b;
    number = aside_[v] - 1;
    return true;
  }

  /// Rows of floats, and the mask of a dropout, all of them of one domain.
  constexpr bool is_cells(int b, int g, const instruction& i) {
    int rows = 0;
    const auto fits = [&](int v) {
      if (v < 0) return true;
      const int r = L.variables[v].rows;
      const bool is_mask = L.variables[v].type == dtype::uint8;
      if ((!is_float(root(v)) && !is_mask) || r >= 0 || parts_of_rows(r) != 1 ||
          (rows < 0 && r != rows))
        return false;
      rows = r;
      return true;
    };
    for (int a = i.inputs; a < i.inputs + i.input_count; ++a)
      if (!fits(L.operands[a].id)) return false;
    for (int o = i.outputs; o < i.outputs + i.output_count; ++o)
      if (!fits(L.results[o])) return false;
    return computes(b, g, row_step::cells);
  }

  /// Whether columns of rows are put beside each other, or taken apart.
  static constexpr bool joins_columns(const instruction& i) {
    if (i.schema != &schema_of<concat>() && i.schema != &schema_of<gradient_of<concat>>())
      return false;
    const operator_desc& op = P::desc.operators[i.op];
    if (op.attributes < 0 || P::desc.attributes[op.attributes].number != 1) return false;
    for (int a = op.inputs + 1; a < op.inputs + 1 + P::desc.arguments[op.inputs]; ++a)
      if (P::desc.variables[P::desc.arguments[a]].rank != 2) return false;
    return true;
  }

  /// Calls that move rows of floats as numbers of the host say, or columns.
  constexpr bool is_row_call(int b, int g, const instruction& i) {
    if (!joins_columns(i) && i.schema != &schema_of<read_from_array>() &&
        i.schema != &schema_of<write_to_array>() &&
        i.schema != &schema_of<read_from_array_gradient>() &&
        i.schema != &schema_of<write_to_array_gradient>() &&
        i.schema != &schema_of<shrink_rnn_memory>() &&
        i.schema != &schema_of<gradient_of<shrink_rnn_memory>>())
      return false;
    for (int a = 0; a < i.input_count; ++a) {
      const int v = root(L.operands[i.inputs + a].id);
      if (v < 0) continue;
      if (is_taken_by_host(i.schema, a) ? !values.computed[v] : !moves_rows(b, v)) return false;
    }
    for (int o = i.outputs; o < i.outputs + i.output_count; ++o)
      if (const int v = root(L.results[o]); v >= 0 && !moves_rows(b, v)) return false;
    found_.step[g] = row_step::call;
    return true;
  }
  /// Floats, of an array of tensors that outlives the iteration: slots of others begin at other
  /// rows in each.
  static constexpr bool moves_rows(int b, int v) {
    const bool array =
        v < P::desc.count.variables && P::desc.variables[v].kind == variable_kind::tensor_array;
    return is_float(v) && (array ? L.variables[v].block != b : L.variables[v].rows < 0);
  }

  row_loops<groups, blocks> found_{};
  int first_[at_least_one(blocks)] = {}, count_[at_least_one(blocks)] = {};
  int runner_[at_least_one(blocks)] = {};          // the instruction that runs it
  int written_[at_least_one(variables)] = {};      // the last block that is known to write it
  int aside_[at_least_one(variables)] = {};        // one more than its number ...
  int aside_block_[at_least_one(variables)] = {};  // ... in this block
};

/// Row loops of a program; `any` is false where it has none.
template <class P>
constexpr auto find_row_loops() {
  if constexpr (P::desc.count.blocks > 1)
    return row_loop_finder<P>().run();
  else
    return row_loops<0, 0>{};
}
template <class P>
inline constexpr auto row_loops_of = find_row_loops<P>();

/// A plan in which rows of the values in a row loop have places of their own: two that share memory
/// have rows of one length, or else rows of one team would lie over those of another.
template <class P>
struct row_loop_plan : plan<P> {
  using base = plan<P>;
  struct kept_rows_apart {
    static constexpr bool of(int block) { return row_loops_of<P>.of[block]; }
  };
  static constexpr auto memory = place_variables<P, base::lowered, base::grouped, base::reach,
                                                 base::views, base::same, kept_rows_apart>();
};

/// Whether program P has row loops.
template <class P>
inline constexpr bool has_row_loops = row_loops_of<P>.any;

}  // namespace lamina::engine::cuda
