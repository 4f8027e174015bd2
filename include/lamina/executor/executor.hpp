// SPDX-License-Identifier: Apache-2.0
// lamina/executor/executor.hpp - the reference interpreter. It runs a program one operator after
// the other, on xtensor arrays, in any precision. It is short and simple because the tests compare
// every engine with it.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/core/place.hpp>
#include <lamina/executor/block_arguments.hpp>
#include <lamina/executor/domain_rows.hpp>
#include <lamina/executor/library_kernels.hpp>
#include <lamina/executor/onnx_kernels.hpp>
#include <lamina/executor/paddle2_kernels.hpp>
#include <lamina/executor/run_options.hpp>
#include <lamina/plan/real_type.hpp>
#include <lamina/tensor/scope.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Runs programs. Every floating variable is computed in `Real`, whatever type the program records;
/// values in the scope are converted to `Real`. A program computes in float or in double, but casts
/// and metrics may make variables of the other type (docs/double.md). If `Real` is the type of the
/// program, these variables keep their recorded type, also in the results. Fluid: Executor.
template <class Real>
class basic_executor {
 public:
  /// Makes an executor with the kernels of all operators of the library.
  basic_executor();
  /// Makes the same executor: `executor exe{place::cpu()}`. Throws lamina::error if the place is a
  /// device, because only evaluators and trainers run there.
  explicit basic_executor(const lamina::place& at) : basic_executor() {
    if (at.kind != place_kind::cpu)
      throw error(
          "lamina: executor: expected the CPU as place, found a device; evaluators, trainers and "
          "run() take a device");
  }

  /// Adds or replaces the kernel of an operator type. Pointwise operators need no kernel. The
  /// executor does not copy the characters of `type`, so they must outlive it.
  void add_kernel(std::string_view type, kernel_function<Real> kernel) { kernels_[type] = kernel; }

  /// Whether operators of this schema can be run.
  bool can_run(const operator_schema& schema) const {
    return schema.kind == operator_kind::source || kernel::is_pointwise(schema) ||
           (schema.attribute_count > 0 && schema.attributes[0].type == attribute_type::block) ||
           kernels_.find(schema.type) != kernels_.end();
  }

  /// Runs the startup operators of a program, which set the initial values of its parameters in
  /// `variables`.
  void run_startup(const program_view& program, scope& variables, std::uint64_t seed = 0) {
    scope local(variables);
    run_memory memory(program);
    place(program, variables, local, memory);
    run_options options;
    options.seed = seed;
    domain_rows rows(program);
    for (int k = 0; k < program.count.startup; ++k)
      run_operator(program, program.startup[k], memory, options, rows);
  }

  /// Runs all operators of block 0 in order, and the blocks that they run. Returns the values of
  /// the variables in `fetch`, which must be in block 0. Persistable variables are stored in
  /// `variables`; all other variables exist only during this run. Throws lamina::error that names
  /// the variable in these cases: a feed has a wrong name, type, shape, number of rows or
  /// sequences; a variable has no value; a label is out of range; a condition is still true after
  /// options.iterations iterations; or, with check_nan, a result is not finite.
  std::vector<lod_tensor> run(const program_view& program, scope& variables, const feed_map& feed,
                              const std::vector<std::string>& fetch,
                              const run_options& options = {}) {
    scope local(variables);
    run_memory memory(program);
    memory.as_declared = real_type(program) == dtype_of<Real>;
    place(program, variables, local, memory);
    domain_rows rows(program);
    take_feed(program, feed, memory.values, rows);
    run_block(program, 0, memory, options, rows);
    std::vector<lod_tensor> fetched;
    for (const std::string& name : fetch) fetched.push_back(local.get(name));
    if (memory.as_declared) to_declared(program, fetch, fetched);
    return fetched;
  }

  /// Runs the program in the same way and returns the values of the variables that the record
  /// function returned.
  std::vector<lod_tensor> run(const program_view& program, scope& variables, const feed_map& feed,
                              const run_options& options = {}) {
    std::vector<std::string> outputs;
    for (int i = 0; i < program.count.outputs; ++i)
      outputs.push_back(variable_name(program, program.outputs[i]));
    return run(program, variables, feed, outputs, options);
  }

  /// Returns the scope that run() and run_startup() use if the caller passes none. It keeps, by
  /// name, the variables that persist between runs: parameters, global variables and accumulators.
  /// Fluid: global_scope().
  scope& variables() { return variables_; }

  /// Initialises every parameter of a recorded program in `variables()`. Fluid:
  /// exe.run(startup_program).
  template <program_type P>
  void run_startup(P, std::uint64_t seed = 0) {
    if constexpr (!is_faulty<P>) run_startup(P::view(), variables_, seed);
  }
  /// Runs a recorded program with the variables in `variables()`. Returns the values of the
  /// variables that the record function returned: `const auto [cost, hidden] = exe.run(net, feed)`.
  /// If the rows of a value form sequences, `hidden.recursive_sequence_lengths()` returns their
  /// lengths. Fluid: exe.run(program, feed, fetch_list, return_numpy=False).
  template <program_type P>
  auto run(P, const feed_map& feed = {}, const run_options& options = {}) {
    std::array<lod_tensor, static_cast<std::size_t>(counts_of<P>.outputs)> fetched_values;
    if constexpr (!is_faulty<P>) {
      std::vector<lod_tensor> found = run(P::view(), variables_, feed, options);
      for (std::size_t i = 0; i < found.size(); ++i) fetched_values[i] = std::move(found[i]);
    }
    return fetched_values;
  }
  /// Runs the program in the same way and returns the values of the variables in `list`. An element
  /// of `list` is a handle of returned_variables, or a name: `exe.run(net, feed, {cost, "fc_0.w_0",
  /// "fc_0.w_0@GRAD"})`.
  template <program_type P, std::size_t N>
  std::array<lod_tensor, N> run(P, const feed_map& feed, const fetched (&list)[N],
                                const run_options& options = {}) {
    std::array<lod_tensor, N> fetched_values;
    if constexpr (!is_faulty<P>) {
      std::vector<std::string> names;
      for (const fetched& f : list) names.push_back(f.name());
      std::vector<lod_tensor> found = run(P::view(), variables_, feed, names, options);
      for (std::size_t i = 0; i < N; ++i) fetched_values[i] = std::move(found[i]);
    }
    return fetched_values;
  }

 private:
  static std::string described(const program_view& program, int variable) {
    const variable_desc& v = program.variables[variable];
    std::string text = std::string(lamina::name_of(v.type)) + " [";
    for (int d = 0; d < v.rank; ++d)
      text += (d == 0 ? "" : ", ") + std::to_string(program.dims[v.dims + d]);
    return text + "]";
  }
  static std::string described(const tensor& t) {
    return std::string(lamina::name_of(t.type())) + " " + to_string(t.shape());
  }

  static bool fits(const program_view& program, int variable, const tensor& t) {
    const variable_desc& v = program.variables[variable];
    if (v.type != t.type() && !(is_floating(v.type) && is_floating(t.type()))) return false;
    const tensor_shape shape = t.shape();
    if (static_cast<int>(shape.size()) != v.rank) return false;
    for (int d = 0; d < v.rank; ++d) {
      const int extent = program.dims[v.dims + d];
      if (extent >= 0 && static_cast<std::size_t>(extent) != shape[static_cast<std::size_t>(d)])
        return false;
    }
    return true;
  }
  static void require_fit(const program_view& program, int variable, const tensor& t,
                          const char* what) {
    if (!t.has_value() || !fits(program, variable, t))
      throw error("lamina: executor: expected " + described(program, variable) + " " + what +
                  " variable '" + variable_name(program, variable) + "', found " +
                  (t.has_value() ? described(t) : "no value"));
  }
  static void to_real(tensor& t) {
    if (t.has_value() && is_floating(t.type()) && t.type() != dtype_of<Real>)
      t = t.cast(dtype_of<Real>);
  }

  // Converts values to the types that the program declares.
  static void to_declared(const program_view& program, const std::vector<std::string>& names,
                          std::vector<lod_tensor>& values) {
    for (int v = 0; v < program.count.variables; ++v) {
      const variable_desc& desc = program.variables[v];
      if (desc.block != 0 || !is_real(desc.type) || desc.type == dtype_of<Real>) continue;
      const std::string name = variable_name(program, v);
      for (std::size_t i = 0; i < names.size(); ++i)
        if (names[i] == name && is_floating(values[i].type()))
          static_cast<tensor&>(values[i]) = values[i].cast(desc.type);
    }
  }

  static tensor_shape recorded_shape(const program_view& program, int variable) {
    const int* first = program.dims + program.variables[variable].dims;
    return tensor_shape(first, first + program.variables[variable].rank);
  }

  // Finds the storage of each variable of the program. Only variables of block 0 can be in a scope,
  // because the names of variables in other blocks need not be unique. Accumulators start as zeros.
  static void place(const program_view& program, scope& variables, scope& local,
                    run_memory& memory) {
    for (int v = 0; v < program.count.variables; ++v) {
      lod_tensor*& value = memory.values[static_cast<std::size_t>(v)];
      if (program.variables[v].block != 0) {
        value = &memory.local(v);
        continue;
      }
      const std::string name = variable_name(program, v);
      if (!program.variables[v].persistable) {
        value = &local.var(name);
        continue;
      }
      lod_tensor* found = variables.find(name);
      value = found != nullptr ? found : &variables.var(name);
      if (!value->has_value()) {
        if (program.variables[v].kind == variable_kind::accumulator)
          *value = tensor::zeros(dtype_of<Real>, recorded_shape(program, v));
        continue;
      }
      require_fit(program, v, *value, "in the scope for");
      to_real(*value);
    }
  }

  static void take_feed(const program_view& program, const feed_map& feed,
                        const std::vector<lod_tensor*>& values, domain_rows& rows) {
    std::size_t known = 0;
    for (int i = 0; i < program.count.data; ++i) {
      const int v = program.data[i];
      const std::string name = variable_name(program, v);
      const auto found = feed.find(name);
      if (found == feed.end()) continue;
      ++known;
      require_fit(program, v, found->second, "to be fed to");
      rows.feed(v, found->second);
      lod_tensor& to = *values[static_cast<std::size_t>(v)];
      to = found->second;
      to_real(to);
    }
    if (known != feed.size()) unknown_feed(program, feed);
  }
  [[noreturn]] static void unknown_feed(const program_view& program, const feed_map& feed) {
    std::string names;
    for (int i = 0; i < program.count.data; ++i)
      names += (i == 0 ? "'" : ", '") + variable_name(program, program.data[i]) + "'";
    for (const auto& [name, value] : feed) {
      bool found = false;
      for (int i = 0; i < program.count.data; ++i)
        found = found || variable_name(program, program.data[i]) == name;
      if (!found)
        throw error("lamina: executor: expected feeds for the data variables " + names +
                    ", found '" + name + "'");
    }
    throw error("lamina: executor: two data variables have the same name, among " + names);
  }

  void run_block(const program_view& program, int block, run_memory& memory,
                 const run_options& options, domain_rows& rows) {
    memory.enter(block);
    for (const int k : memory.operators(block))
      run_operator(program, program.operators[k], memory, options, rows);
  }

  // Runs an operator that runs a block: a loop, a branch, or the gradient of one.
  void run_block_operator(const program_view& program, const operator_desc& op, int block,
                          run_memory& memory, const run_options& options, domain_rows& rows) {
    const block_arguments arguments(program, op, dtype_of<Real>);
    const auto once = [&] { run_block(program, block, memory, options, rows); };
    const block_rule rule = op.schema->facts.block;
    if (rule == block_rule::loop) {
      std::vector<step_scope>& scopes = memory.scopes[arguments.scopes];
      scopes.clear();
      for (std::uint64_t n = 0; arguments.condition_holds(memory); ++n) {
        if (n == options.iterations)
          throw error(text() << "lamina: executor: operator 'while': expected the condition '"
                             << variable_name(program, static_cast<int>(arguments.condition))
                             << "' to be false after " << options.iterations
                             << " iterations, found true");
        once();
        if (memory.keeps(block)) scopes.push_back(memory.keep(block));
      }
    } else if (rule == block_rule::loop_gradient) {
      std::vector<step_scope>& scopes = memory.scopes[arguments.scopes];
      const int body = program.blocks[block].forward_block;
      const bool last = is_last_gradient(program, block);
      for (std::size_t n = scopes.size(); n-- > 0;) {
        memory.restore(body, last ? std::move(scopes[n]) : scopes[n]);
        once();
      }
      if (last) scopes.clear();
    } else if (arguments.condition_holds(memory)) {
      once();
    } else {
      arguments.leave_empty(memory, rows);
    }
  }

  // Whether this gradient of a loop body is the last one in the program; with several costs, a body
  // may have several gradients.
  static bool is_last_gradient(const program_view& program, int block) {
    bool last = false;
    for (int k = 0; k < program.count.operators; ++k) {
      const operator_desc& op = program.operators[k];
      if (op.schema->facts.block != block_rule::loop_gradient) continue;
      const int other = sub_block_of(program, op);
      if (program.blocks[other].forward_block == program.blocks[block].forward_block)
        last = other == block;
    }
    return last;
  }

  // Reads the next mini-batch; the rows of all domains are then those of this mini-batch.
  static void read_minibatch(const program_view& program, const operator_desc& op,
                             run_memory& memory, const run_options& options, domain_rows& rows) {
    if (!options.next_minibatch)
      throw error(
          "lamina: executor: operator 'read_minibatch': expected a run with "
          "options.next_minibatch, found none");
    feed_map feed;
    const bool more = options.next_minibatch(feed);
    rows.forget();
    take_feed(program, feed, memory.values, rows);
    *memory.values[static_cast<std::size_t>(program.arguments[op.end - 1])] =
        tensor::filled<bool>({1}, more);
  }

  void run_operator(const program_view& program, const operator_desc& op, run_memory& memory,
                    const run_options& options, domain_rows& rows) {
    if (op.schema->kind == operator_kind::source) return;
    if (op.schema->facts.reads_minibatch) return read_minibatch(program, op, memory, options, rows);
    if (const int block = sub_block_of(program, op); block >= 0)
      return run_block_operator(program, op, block, memory, options, rows);
    const auto found = kernels_.find(op.schema->type);
    operator_history& history = remembered(program, op);
    call_context<Real> ctx(program, op, memory, options, rows, history);
    if (found != kernels_.end())
      found->second(ctx);
    else if (kernel::is_pointwise(*op.schema))
      kernel::pointwise(ctx);
    else
      ctx.fail(text() << "expected an operator with a kernel or a pointwise definition, found none"
                      << " for '" << op.schema->type << "'");
    ctx.finish();
    ++history.runs;
  }

  operator_history& remembered(const program_view& program, const operator_desc& op) {
    const auto [at, is_new] = history_.try_emplace({program.reading, &op});
    if (is_new && op.schema->facts.random)
      for (int k = 0; k < program.count.operators && &program.operators[k] != &op; ++k)
        if (program.operators[k].schema->type == std::string_view(op.schema->type))
          ++at->second.ordinal;
    return at->second;
  }

  kernel_table<Real> kernels_;
  scope variables_;
  // The key is the unique number of the program (`reading`) and the operator.
  std::map<std::pair<std::uint64_t, const operator_desc*>, operator_history> history_;
};

template <class Real>
basic_executor<Real>::basic_executor() {
  kernel::add_library_kernels(kernels_);
  kernel::add_paddle2_kernels(kernels_);
  kernel::add_onnx_kernels(kernels_);
}

/// The interpreter in float, the precision in which engines compute most programs.
using executor = basic_executor<float>;

}}  // namespace lamina
