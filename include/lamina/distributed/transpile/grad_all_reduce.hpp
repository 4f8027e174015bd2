// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/transpile/grad_all_reduce.hpp - makes a training loop that several processes
// run together. Fluid: transpiler.collective.GradAllReduce.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/messages/check.hpp>
#include <lamina/distributed/transpile/division_faults.hpp>
#include <lamina/operators/collective/all_reduce/definition.hpp>
#include <lamina/operators/control/rank_table/definition.hpp>
#include <lamina/operators/elementwise/assign/definition.hpp>
#include <lamina/operators/elementwise/binary/definition.hpp>
#include <lamina/operators/elementwise/clip/definition.hpp>
#include <lamina/operators/elementwise/sum/definition.hpp>
#include <lamina/operators/fill/definition.hpp>
#include <lamina/operators/reduce/dimensions/definition.hpp>
#include <lamina/plan/parts_form.hpp>
#include <lamina/program/program.hpp>
#include <lamina/train/reads_minibatches.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {

/// Inserts the operators by which processes sum their gradients.
class all_reduce_writer {
 public:
  /// `p` is a copy of the program in `b` as it is before any insertion. With `ranks` 0, processes
  /// are weighted by their numbers of samples.
  constexpr all_reduce_writer(program_builder& b, const program_desc& p, int ranks)
      : b_(b), p_(p), ranks_(ranks), variables_(b.variables.count), operators_(b.operators.count) {}

  constexpr void write() {
    operator_desc* const old = new operator_desc[static_cast<unsigned>(operators_) + 1];
    for (int k = 0; k < operators_; ++k) old[k] = b_.operators[k];
    instead_ = new int[static_cast<unsigned>(variables_) + 1];
    value_instead_ = new int[static_cast<unsigned>(variables_) + 1];
    last_writer_ = new int[static_cast<unsigned>(variables_) + 1];
    weight_ = new int[static_cast<unsigned>(b_.blocks.count) + 1];
    for (int v = 0; v < variables_; ++v) instead_[v] = value_instead_[v] = last_writer_[v] = -1;
    for (int i = 0; i < b_.blocks.count; ++i) weight_[i] = -1;
    find_gradients(old);
    b_.operators.count = 0;
    const op_role role = b_.role;
    const int block = b_.current_block;
    for (int k = 0; k < operators_; ++k) copy(old[k], k);
    b_.role = role;
    b_.current_block = block;
    delete[] old;
    delete[] instead_;
    delete[] value_instead_;
    delete[] last_writer_;
    delete[] weight_;
  }

 private:
  // Defined before its callers: clang evaluates in constant expressions only templates that it has
  // seen.
  template <class F>
  constexpr void each(const slot_desc* slot_list, int count, int at, const F& f) {
    for (int s = 0; s < count; ++s)
      for (int n = slot_list[s].duplicable ? b_.arguments[at++] : 1; n > 0; --n, ++at)
        if (b_.arguments[at] >= 0 && b_.arguments[at] < variables_) f(b_.arguments.items[at]);
  }
  static constexpr bool is_seed(const operator_desc& op) {
    return op.role == op_role::loss_gradient;
  }
  /// Finds, for each gradient that an update reads, the last operator that writes it, and whether
  /// any operator changes states.
  constexpr void find_gradients(const operator_desc* old) {
    for (int u = 0; u < operators_; ++u) {
      const operator_desc& of = old[u];
      if (of.schema->kind != operator_kind::update)
        each(of.schema->outputs, of.schema->output_count, of.outputs, [&](int& v) {
          has_states_ = has_states_ || b_.variables[v].kind == variable_kind::parameter;
        });
      if (old[u].schema->kind != operator_kind::update) continue;
      const int gradient = b_.arguments[old[u].inputs + 1];
      for (int k = u; k-- > 0 && last_writer_[gradient] < 0;) {
        bool writes = false;
        if (old[k].block == old[u].block)
          each(old[k].schema->outputs, old[k].schema->output_count, old[k].outputs,
               [&](int& v) { writes = writes || v == gradient; });
        if (writes) last_writer_[gradient] = k;
      }
    }
  }

  constexpr void copy(const operator_desc& op, int k) {
    b_.current_block = op.block;
    if (is_seed(op)) all_reduce_cost(op);
    each(op.schema->inputs, op.schema->input_count, op.inputs, [&](int& v) {
      if (instead_[v] >= 0)
        v = instead_[v];
      else if (value_instead_[v] >= 0 && op.role == op_role::forward)
        v = value_instead_[v];
    });
    b_.operators.push(op);
    if (is_seed(op)) return scale(b_.arguments[op.outputs]);
    if (op.schema->kind == operator_kind::update) return;
    each(op.schema->outputs, op.schema->output_count, op.outputs, [&](int& v) {
      if (last_writer_[v] == k) all_reduce_gradient(v);
    });
    note_states(op);
  }

  /// Makes a variable with the shape of another one, or a scalar.
  constexpr int like(int of, const char* suffix) {
    const variable_desc d = b_.variables[of];
    const int v =
        b_.variables.push({-1, of, suffix, -1, d.dims, d.rank, d.rows, -1, b_.current_block, d.type,
                           variable_kind::temporary, false, true});
    return v;
  }
  constexpr int number(const char* key, dtype type) {
    const int v =
        b_.add_variable(b_.layer_name(key, {}), "", -1, b_.shape(1), 1, once::domain, type);
    b_.variables[v].stop_gradient = true;
    return v;
  }
  constexpr int ring() { return b_.attribute_list(0, false); }
  constexpr int computed(const operator_schema& schema, int x, int y, int made) {
    b_.add_operator(schema, {x, y}, {made}, b_.attribute_list(-1));
    return made;
  }
  constexpr int summed(int x, const char* suffix) {
    const int made = like(x, suffix);
    b_.add_operator(schema_of<operators::c_allreduce_sum_of_samples>(), {x}, {made}, ring());
    return made;
  }

  /// Sums a variable over the processes so that a constant term in it counts once.
  constexpr int summed_once(int x, double constant) {
    if (constant == 0) return summed(x, "@ALLREDUCE");
    return shifted(summed(shifted(x, -constant, "@BARE"), "@ALLREDUCE"), constant, "@WHOLE");
  }
  constexpr int shifted(int x, double by, const char* suffix) {
    const int made = like(x, suffix);
    b_.add_operator(schema_of<operators::scale>(), {x}, {made}, b_.attribute_list(1.0, by, true));
    return made;
  }
  /// Returns the denominator of a quotient over all processes: the sum, and then the term that
  /// keeps it from 0.
  constexpr int whole_denominator(const quotient& q) {
    const int all = summed_once(q.sum, q.sum_added);
    if (q.sum == q.denominator) return all;
    for (int k = operators_; k-- > 0;) {
      const operator_desc& op = p_.operators[k];
      if (op.schema->has_lists || p_.arguments[op.outputs] != q.denominator) continue;
      const int made = like(q.denominator, "@WHOLE"), at = b_.arguments.count;
      for (int i = op.inputs; i < op.outputs; ++i)
        b_.argument(p_.arguments[i] == q.sum ? all : p_.arguments[i]);
      b_.argument(made);
      b_.operators.push({op.schema, at, at + op.outputs - op.inputs, b_.arguments.count,
                         op.attributes, b_.current_block, b_.role});
      return made;
    }
    return all;
  }

  /// Before the gradient of a cost begins, computes the weight of this process and the global cost.
  constexpr void all_reduce_cost(const operator_desc& seed) {
    const int cost = b_.variables[b_.arguments[seed.outputs]].of;
    b_.role = op_role::forward;
    find_weight(cost);
    average_states();
    if (ranks_ > 0) return;
    b_.role = op_role::forward;
    int part = cost;
    if (scales_)
      part = computed(schema_of<operators::elementwise_mul>(), cost, weight(), like(cost, "@PART"));
    value_instead_[cost] = summed_once(part, scales_ ? 0 : added_);
  }
  constexpr int weight() const { return weight_[b_.current_block]; }
  /// Computes the weight of this process in a cost. A cost that is a sum needs no weight unless the
  /// program changes states.
  constexpr void find_weight(int cost) {
    const dtype type = b_.variables[cost].type;
    const parts_rule rule = parts_rule_of(p_, cost);
    const quotient q = quotient_of(p_, cost);
    const bool is_quotient = q && q.denominator >= 0;
    int& found = weight_[b_.current_block];
    scales_ = !rule.is_sum || is_quotient;
    added_ = rule.added;
    if (ranks_ > 0) {
      found = constant(1.0 / ranks_, type);
      return;
    }
    found = -1;
    if (!scales_ && !has_states_) return;
    int mine = q.denominator;
    if (!is_quotient) {
      // A tensor of ones with one element per row of the mean.
      const int from = rows_of_cost(p_, cost, rule.domain);
      if (from < 0) return;
      const int ones = b_.add_variable(b_.layer_name("part_rows", {}), ".tmp_", 0, b_.shape(-1, 1),
                                       2, rule.domain, type);
      b_.variables[ones].stop_gradient = true;
      const int shape[] = {-1, 1};
      const attribute_value extents = b_.integer_list(shape, 2);
      b_.add_operator(schema_of<operators::fill_constant_batch_size_like>(), {from}, {ones},
                      b_.attribute_list(extents, static_cast<int>(type), 1.0, 0, 0));
      mine = number("part_count", type);
      const int none[] = {0};
      const attribute_value dim = b_.integer_list(none, 1);
      b_.add_operator(schema_of<operators::reduce_sum>(), {ones}, {mine},
                      b_.attribute_list(dim, false, true));
    }
    int all = is_quotient ? whole_denominator(q) : summed(mine, "@ALLREDUCE");
    if (!is_quotient) {
      const int least = like(mine, "@LIMIT");
      b_.add_operator(schema_of<operators::clip>(), {all}, {least}, b_.attribute_list(1.0, 3e38));
      all = least;
    }
    found =
        computed(schema_of<operators::elementwise_div>(), mine, all, number("part_weight", type));
  }
  constexpr int constant(double value, dtype type) {
    const int made = number("part_weight", type);
    const int one[] = {1};
    const attribute_value shape = b_.integer_list(one, 1);
    const int values = b_.attribute_list(shape, static_cast<int>(type), value, false);
    const int at = b_.arguments.count;
    b_.argument(made);
    b_.operators.push({&schema_of<operators::fill_constant>(), at, at, at + 1, values,
                       b_.current_block, b_.role});
    return made;
  }

  /// Multiplies the gradient of a cost with respect to itself by the weight of this process.
  constexpr void scale(int seed) {
    b_.role = op_role::backward;
    if (ranks_ > 0) {
      const int made = like(seed, "@SCALED");
      b_.add_operator(schema_of<operators::scale>(), {seed}, {made},
                      b_.attribute_list(1.0 / ranks_, 0.0, true));
      instead_[seed] = made;
    } else if (scales_) {
      instead_[seed] =
          computed(schema_of<operators::elementwise_mul>(), seed, weight(), like(seed, "@SCALED"));
    }
  }
  constexpr void all_reduce_gradient(int gradient) {
    b_.role = op_role::backward;
    const variable_desc d = b_.variables[gradient];
    const int made = b_.variables.push({-1, d.of, "@GRAD@ALLREDUCE_", 0, d.dims, d.rank, d.rows, -1,
                                        b_.current_block, d.type, d.kind, false, true});
    b_.add_operator(schema_of<operators::c_allreduce_sum_of_samples>(), {gradient}, {made}, ring());
    instead_[gradient] = made;
  }

  /// Records the parameters that an operator changes and that the optimizer does not update: moving
  /// statistics, and variables in which the program stores values.
  constexpr void note_states(const operator_desc& op) {
    each(op.schema->outputs, op.schema->output_count, op.outputs, [&](int& v) {
      if (b_.variables[v].kind == variable_kind::parameter) states_.push(v);
    });
    if (weight() >= 0) average_states();
  }
  /// Replaces each recorded state by its mean over the processes: max + sum of weight * (value -
  /// max). This form leaves a value unchanged if all processes have the same.
  constexpr void average_states() {
    int kept = 0;
    for (int i = 0; i < states_.count; ++i) {
      const int v = states_[i];
      if (weight() < 0) {
        states_[kept++] = v;
        continue;
      }
      b_.role = op_role::optimize;
      const int most = like(v, "@MOST");
      b_.add_operator(schema_of<operators::c_allreduce_max_of_samples>(), {v}, {most}, ring());
      const int less = computed(schema_of<operators::elementwise_sub>(), v, most, like(v, "@LESS"));
      const int part =
          computed(schema_of<operators::elementwise_mul>(), less, weight(), like(v, "@PART"));
      const int mean = computed(schema_of<operators::elementwise_add>(), most,
                                summed(part, "@ALLREDUCE"), like(v, "@MEAN"));
      b_.add_operator(schema_of<operators::assign_variable>(), {mean}, {v});
    }
    states_.count = kept;
  }

  program_builder& b_;
  const program_desc& p_;
  int ranks_, variables_, operators_;
  int* instead_ = nullptr;        // by variable: its replacement for later operators, or -1
  int* value_instead_ = nullptr;  // the same for operators with the role `forward`
  int* last_writer_ = nullptr;    // by gradient that an update reads: the operator, or -1
  int* weight_ = nullptr;         // by block: the weight of the last cost, or -1
  bool scales_ = false;           // whether the last cost is multiplied by the weight
  double added_ = 0;              // the constant in the last cost, if it is a sum
  bool has_states_ = false;
  constexpr_vector<int> states_{};
};

template <program_type P, int Ranks>
constexpr void all_reduce_gradients(program_builder& b) {
  all_reduce_writer(b, P::desc, Ranks).write();
}

}  // namespace detail

/// A training program whose gradients are summed over processes.
template <program_type P, int Ranks>
struct grad_all_reduced : program_base<grad_all_reduced<P, Ranks>> {
  using result = typename P::result;
  /// The number of processes; 0: any.
  static constexpr int ranks = Ranks;
  static constexpr program_desc desc = changed<P::desc, &detail::all_reduce_gradients<P, Ranks>>();
};

namespace transform {

/// Converts a program with updates (`minimize`, or `transform::minimize`) to data-parallel
/// training: several processes run it together, each on its part of every mini-batch.
/// c_allreduce_sum follows the gradient of each parameter, before clips, decays and updates. The
/// gradient of the cost is multiplied by the weight of the process: the number of rows over which
/// it computes the mean, divided by the number of rows of all processes. After the updates, the
/// program reads the global cost. Moving statistics and values that the program stores become their
/// means, with the same weights.
///
///   lamina::model model{lamina::transform::grad_all_reduce(training)};
///   lamina::run(model, reader, {.world = &world});
///
/// With a number of processes, `grad_all_reduce<4>(training)`, each process has the weight 1 / 4,
/// and the cost stays that of the process, as in Fluid's GradAllReduce.
template <int Ranks = 0, program_type P>
constexpr grad_all_reduced<P, Ranks> grad_all_reduce(P) {
  constexpr detail::division_faults faults = detail::division_faults_of(P::desc, Ranks);
  constexpr bool updates = !faults.no_gradients || is_faulty<P>;
  static_assert(check<updates>,
                "lamina: grad_all_reduce: the program has updates, by minimize(cost)");
  static_assert(check<!faults.again>,
                "lamina: grad_all_reduce: the gradients of this program are summed over processes "
                "already");
  static_assert(check<!faults.has_rows>,
                "lamina: grad_all_reduce: embeddings without is_sparse, whose gradients are not "
                "rows");
  static_assert(check<!faults.cost, typename detail::type_packets<P, faults.op>::type>,
                "lamina: grad_all_reduce: a cost is a mean or a sum over rows of one kind, or a "
                "quotient of two such sums; found another after the named operator");
  static_assert(Ranks >= 0, "lamina: grad_all_reduce: a number of processes");
  return {};
}

}  // namespace transform
}}  // namespace lamina
