// SPDX-License-Identifier: Apache-2.0
// lamina/train/parameter_sync.hpp - the interface that synchronises parameters between processes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

#include <lamina/core/threads/worker_pool.hpp>
#include <lamina/engine/cpu/memory/selected_rows.hpp>
#include <lamina/model/evaluation/metric_sums.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The facts that must be equal in all processes of a training. They compare them before the first
/// step.
struct sync_facts {
  std::uint64_t program = 0;  // checksum of the program
  std::uint64_t seed = 0;
  std::int64_t steps = 0;
  std::int64_t threads = 0;
  std::int64_t sync_batch_norm = 0;  // 1: the option is set and the program has batch_norm
};

/// The weights of the parts of a mini-batch, as members of larger structures: the weight of part p
/// is `stride` bytes after that of part p - 1.
struct part_weights {
  const void* first;
  std::size_t stride;
  int count;  // parts of all processes
  int local;  // parts of each process
};

/// The facts that the next update needs in addition to the gradients; a trainer sends them to its
/// parameter servers.
struct update_facts {
  const float* scalars;  // the arguments of the update in this step
  int count;
  float rate_factor;    // learning_rate.factor of the optimizer
  const float* scales;  // by parameter: the factor of a clip by norm; null: no clip
};

/// The functions with which a parameter server updates parameters, and their `trainer` argument.
struct server_functions {
  void* trainer;
  /// Updates a range, as parameter_sync::update_function.
  void (*update)(void* trainer, int parameter, std::size_t first, std::size_t count,
                 float* gradient);
  /// Updates rows [first, end) of a table, or all of them if `end` is -1. `gradient` is a
  /// basic_selected_rows<float>*, or the same of double, whose rows are counted from `first`.
  /// Returns whether it changed only the rows of the gradient.
  bool (*update_rows)(void* trainer, int parameter, int first, int end, void* gradient);
  /// Begins an update. If `scalars` is null, they are computed for the server's own step. Returns
  /// the number of earlier updates.
  std::int64_t (*begin)(void* trainer, const update_facts& told);
};

/// Synchronises the parameters of a training between its processes: each sums and updates a shard
/// of them. The stages of a training are
///
///   begin:    once, compare the processes and copy the state of rank 0; then begin each step;
///   reduce:   sum gradients, statistics and metrics over the parts of all processes;
///   update:   update the own shard, and give every process all parameters;
///   gather:   gather the accumulators for a file;
///   serve:    on a parameter server, do the work of all stages for the trainers.
///
/// All processes must call each function equally often and in the same order. The functions take
/// pointers and not types, so that a trainer of one process does not compile them; the threads of
/// one process need no such interface (in_process). `distributed` has the implementations:
/// allreduce without servers; ps_client and ps_server with them.
class parameter_sync {
 public:
  /// Updates floats [first, first + count) of a parameter with their gradient. For a parameter
  /// with selected rows the gradient is null and `count` is 0.
  using update_function = void (*)(void* trainer, int parameter, std::size_t first,
                                   std::size_t count, float* gradient);

  virtual ~parameter_sync() = default;
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  /// Whether this process is a parameter server: it only calls begin() and serve().
  bool is_server() const { return is_server_; }
  /// Whether the training is asynchronous: processes update independently through parameter
  /// servers. Then each trains on part part().number of part().count of a mini-batch; or, if
  /// processes read shards, on its own mini-batches, with part().seed added to the seed.
  bool is_asynchronous() const { return is_asynchronous_; }
  struct own_part {
    int number = 0, count = 1;
    std::uint64_t seed = 0;
  };
  const own_part& part() const { return part_; }
  /// Whether each process keeps only the accumulators of its own shard.
  bool divides_states() const { return divides_states_; }
  /// Whether reduce() also sums the gradients of this process's threads. Otherwise the trainer
  /// does: with one part per process it passes unweighted gradients, with several parts sums of
  /// weighted gradients.
  bool sums_threads() const { return sums_threads_; }

  // Stage 1: begin.

  /// The options of this process's trainer, one per line, as `text(trainer)` lists them.
  struct options_text {
    std::string (*text)(const void* trainer) = nullptr;
    const void* trainer = nullptr;
  };
  /// Sets the options that begin() compares in addition to the facts. Call it before begin().
  void describe(const options_text& options) { options_ = options; }
  /// Sets a checksum of the options of the next update. gather_facts() compares it, so that a
  /// process which alone has changed its options is detected in the same step.
  void use(std::uint64_t update) { update_ = update; }
  /// Compares facts and options of all processes, and copies the parameters and accumulators of
  /// rank 0 to all of them; if divides_states(), each gets only the accumulators of its own shard.
  /// Throws lamina::error that names the first rank that differs, and the difference.
  virtual void begin(const sync_facts& mine, float* const* accumulators, int states) = 0;
  /// Compares the checksums of a mini-batch in all processes. Throws lamina::error unless they are
  /// equal; with `shards`, throws if they are equal, because then each process must have its own
  /// samples.
  virtual void require_samples(std::uint64_t checksum, bool shards) = 0;
  /// Numbers the rows of the shards of a mini-batch that the processes have read. `count` has the
  /// rows of this shard by domain, and afterwards those of all shards; sets `first` to the number
  /// of rows in the shards of lower ranks.
  virtual void gather_rows(std::int64_t* first, std::int64_t* count, int domains) = 0;
  /// Begins a step: gradients may be summed as soon as advance() reports that they are complete.
  /// The weights must be known beforehand. With `update`, a parameter is updated as soon as its sum
  /// is complete and no group reads it any more. `samples` is the size of the mini-batch.
  virtual void begin_step(const part_weights&, int /*samples*/, update_function /*update*/,
                          void* /*trainer*/) {}

  // Stage 2: reduce.

  /// Reports that a thread has run all groups of the outermost block up to `group`; -1: a group of
  /// another block. Sends and receives the messages that are ready, without waiting.
  virtual void advance(int /*thread*/, int /*group*/) {}
  /// Gathers facts about the parts of a mini-batch: `all` has `bytes` bytes per part, in the order
  /// of the processes, and the caller has filled in its own `local` parts. Throws lamina::error if
  /// the processes differ in the size of the mini-batch or in the checksum of use().
  virtual void gather_facts(void* all, std::size_t bytes, int local, int samples) = 0;
  /// Sets to[i] to the weighted mean over all parts; copies[t * count + i] is the value of local
  /// part t. A value that is equal in all parts is not changed by rounding.
  virtual void average(const float* const* copies, float* const* to, const std::size_t* floats,
                       int count, const part_weights& weights) = 0;
  /// Sums numbers, or the sums of a metric, over the processes.
  virtual void all_reduce_sum(double* numbers, std::size_t count) = 0;
  virtual void all_reduce_sum(metric_sum& sum, bool is_sum) = 0;
  /// Sums the gradients over the processes; each process gets the sums of its shard. If
  /// begin_step() has begun the step, the weights are already known.
  virtual void reduce(const part_weights& weights, worker_pool& pool) = 0;
  /// Sums the sparse gradient of a parameter over all parts with their weights: mine[t] has the
  /// rows of local part t. The sum replaces mine[0], on all processes.
  virtual void reduce_rows(engine::cpu::basic_selected_rows<float>* const* mine, int columns,
                           const part_weights& weights) = 0;
  virtual void reduce_rows(engine::cpu::basic_selected_rows<double>* const* mine, int columns,
                           const part_weights& weights) = 0;
  /// Abandons a step after an error. Returns whether it has changed parameters.
  virtual bool drop_step() noexcept { return false; }

  // Stage 3: update.

  /// Updates the rest of this process's shard with the threads of a pool, and the parameters with
  /// sparse gradients; then sends the parameters of each shard to all processes.
  virtual void update(const update_facts& facts, update_function how, void* trainer,
                      worker_pool& pool) = 0;
  /// Instead of update(), for a clip by norm: copies the sums of all shards to the gradients, on
  /// all processes, each of which then updates all parameters.
  virtual void gather_sums() = 0;
  /// Called after gather_sums() with the scales of the clip: servers update the rows of the divided
  /// tables that they own.
  virtual void update_tables(const update_facts&) {}

  // Stage 4: gather.

  /// In an asynchronous training, ends a pass: until the next update, all_reduce_sum() sums over
  /// the trainers, and gather_states() waits for all of them.
  virtual void end_pass() {}
  /// Makes the accumulators equal on all processes or, if divides_states(), gathers all of them on
  /// rank 0. of[i * states + s] belongs to parameter i. Returns the number of updates of the
  /// training; `steps` is that of this process.
  virtual std::int64_t gather_states(float* const* of, int states, std::int64_t steps) = 0;
  /// If divides_states(), releases the memory of accumulators that other processes update. On rank
  /// 0 they are undefined until the next gather_states(), on other ranks until the next begin().
  virtual void release_others(float* const* /*of*/, int /*states*/) noexcept {}

  // Stage 5: serve.

  /// Serves the trainers until all of them have ended their training.
  virtual void serve(const server_functions&, worker_pool&) {}

 protected:
  parameter_sync(int rank, int ranks) : rank_(rank), ranks_(ranks) {}
  parameter_sync(const parameter_sync&) = default;
  parameter_sync& operator=(const parameter_sync&) = default;
  int rank_, ranks_;
  bool is_server_ = false, is_asynchronous_ = false;
  bool divides_states_ = false, sums_threads_ = false;
  own_part part_;
  options_text options_;
  std::uint64_t update_ = 0;
};

}}  // namespace lamina
