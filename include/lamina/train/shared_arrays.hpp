// SPDX-License-Identifier: Apache-2.0
// lamina/train/shared_arrays.hpp - what a trainer asks of the other processes of its training.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

#include <lamina/core/worker_pool.hpp>
#include <lamina/engine/cpu/memory/selected_rows.hpp>
#include <lamina/model/metric_sums.hpp>

namespace lamina::inline LAMINA_ABI {

/// The facts that must be equal in all processes of a training. They compare them before the first
/// step.
struct shared_facts {
  std::uint64_t program = 0;  // checksum of the program
  std::uint64_t seed = 0;
  std::int64_t steps = 0;
  std::int64_t threads = 0;
  std::int64_t sync_batch_norm = 0;  // 1: with this option, in a program with batch_norm
};

/// The weights of the parts of a mini-batch, somewhere in larger structures: that of part p is
/// `stride` bytes behind that of part p - 1.
struct part_weights {
  const void* first;
  std::size_t stride;
  int count;  // parts of all processes
  int local;  // parts of each process
};

/// What the next update needs besides the gradients, as a trainer tells its parameter servers.
struct update_facts {
  const float* scalars;  // the arguments of the update in this step
  int count;
  float rate_factor;    // learning_rate.factor of the optimizer
  const float* scales;  // by parameter: what a clip by norm multiplies the gradient by, or null
};

/// The functions by which a parameter server updates parameters, and the trainer that they take.
struct server_functions {
  void* trainer;
  /// Updates a range, as shared_arrays::update_function.
  void (*update)(void* trainer, int parameter, std::size_t first, std::size_t count,
                 float* gradient);
  /// Updates rows [first, end) of a table, or with `end` -1 all of them. `gradient` is a
  /// basic_selected_rows<float>*, or that of double, whose rows are counted from `first`. Returns
  /// whether it changed the rows of the gradient alone.
  bool (*update_rows)(void* trainer, int parameter, int first, int end, void* gradient);
  /// Begins an update. With null `scalars` they are those of the server's own step. Returns the
  /// number of updates before it.
  std::int64_t (*begin)(void* trainer, const update_facts& told);
};

/// The parameters of a training, which its processes update together: each sums and updates a
/// shard of them. All processes must call each function equally often and in the same order. The
/// functions take pointers and not types, so that a trainer of one process does not compile them;
/// distributed/exchanged_arrays.hpp has the implementation.
class shared_arrays {
 public:
  /// Updates floats [first, first + count) of a parameter with their gradient. For a parameter
  /// with selected rows the gradient is null and `count` is 0.
  using update_function = void (*)(void* trainer, int parameter, std::size_t first,
                                   std::size_t count, float* gradient);

  virtual ~shared_arrays() = default;
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  /// Whether this process is a parameter server: it only calls begin() and serve().
  bool is_server() const { return is_server_; }
  /// Whether processes update by themselves, with parameter servers between them. Then each trains
  /// on part part().number of part().count of a mini-batch; or, where processes read shares, on its
  /// own mini-batches, with part().seed added to the seed.
  bool is_asynchronous() const { return is_asynchronous_; }
  struct own_part {
    int number = 0, count = 1;
    std::uint64_t seed = 0;
  };
  const own_part& part() const { return part_; }

  /// The options of this process's trainer, one per line, as `text(trainer)` says them.
  struct options_text {
    std::string (*text)(const void* trainer) = nullptr;
    const void* trainer = nullptr;
  };
  /// Says which options begin() compares besides the facts. Call it before begin().
  void describe(const options_text& options) { options_ = options; }
  /// Says what the next update uses, as a checksum; gather_facts() compares it, so that a process
  /// which has changed its options alone is noticed in that step.
  void use(std::uint64_t update) { update_ = update; }

  /// Compares facts and options of all processes, and gives all of them the parameters and
  /// accumulators of rank 0; where divides_states(), each gets the accumulators of its own shard.
  /// Throws lamina::error that names the first rank that differs, and in what.
  virtual void begin(const shared_facts& mine, float* const* accumulators, int states) = 0;
  /// Takes the checksums of a mini-batch of all processes. Throws lamina::error unless they are
  /// equal, or, with `shares`, if they are: then each process must have samples of its own.
  virtual void require_samples(std::uint64_t checksum, bool shares) = 0;
  /// Joins the shares that the processes have of a mini-batch. `count` has the rows of this share
  /// by domain, and afterwards those of all shares; `first` becomes the number of rows in the
  /// shares of lower ranks.
  virtual void join_shares(std::int64_t* first, std::int64_t* count, int domains) = 0;
  /// Collects facts about the parts of a mini-batch: `all` has `bytes` bytes per part, in the order
  /// of the processes. This process has filled in those of its own `local` parts. Throws
  /// lamina::error if the mini-batches of the processes differ in size, or what use() has said.
  virtual void gather_facts(void* all, std::size_t bytes, int local, int samples) = 0;
  /// Sets to[i] to the weighted mean over all parts; copies[t * count + i] is that of local part t.
  /// A value that is equal in all parts is not changed by rounding.
  virtual void average(const float* const* copies, float* const* to, const std::size_t* floats,
                       int count, const part_weights& weights) = 0;
  /// Adds up numbers, or the sums of a metric, over the processes.
  virtual void add_up(double* numbers, std::size_t count) = 0;
  virtual void add_up(metric_sum& sum, bool is_sum) = 0;
  /// Adds up the rows of all parts, with their weights: mine[t] has those of local part t. The sum
  /// replaces mine[0].
  virtual void join_rows(engine::cpu::basic_selected_rows<float>* const* mine, int columns,
                         const part_weights& weights) = 0;
  virtual void join_rows(engine::cpu::basic_selected_rows<double>* const* mine, int columns,
                         const part_weights& weights) = 0;
  /// Begins a step: gradients may be summed as soon as advance() says that they are complete. The
  /// weights must be known beforehand. With `update`, parameters are updated as soon as their sums
  /// are there and no group reads them any more. `samples` is the size of the mini-batch.
  virtual void begin_sums(const part_weights&, int /*samples*/, update_function /*update*/,
                          void* /*trainer*/) {}
  /// Says that a thread has run all groups of the outermost block up to `group`; -1: a group of
  /// another block. Sends and receives what there is, but waits for nothing.
  virtual void advance(int /*thread*/, int /*group*/) {}
  /// Gives up a step after an error. Returns whether it has changed parameters.
  virtual bool drop_step() noexcept { return false; }
  /// Whether reduce() adds up the gradients of this process's threads too. Otherwise the trainer
  /// does: with one part per process its gradients are without their weights, with several they are
  /// sums of weighted gradients.
  virtual bool adds_threads() const { return false; }
  /// Sums the gradients over the processes, each for its shard. The weights of a step that
  /// begin_sums() has begun are known already.
  virtual void reduce(const part_weights& weights, worker_pool& pool) = 0;
  /// Copies the sums to the gradients, on all processes.
  virtual void bring_totals() = 0;
  /// Updates what is not updated yet of the shard of this process, with the threads of a pool, and
  /// the parameters with selected rows; then all processes have the parameters of all shards.
  virtual void update(update_function how, void* trainer, worker_pool& pool) = 0;
  /// Makes the accumulators equal on all processes, or, where divides_states(), brings all of them
  /// to rank 0. of[i * states + s] belongs to parameter i.
  virtual void collect(float* const* of, int states) = 0;
  /// Whether each process keeps the accumulators of its own shard alone.
  virtual bool divides_states() const { return false; }
  /// Where divides_states(), gives back the memory of accumulators that other processes update. At
  /// rank 0 they are undefined until the next collect(), elsewhere until the next begin().
  virtual void release_others(float* const* /*of*/, int /*states*/) noexcept {}
  /// Tells what the next update() needs besides the gradients.
  virtual void note(const update_facts&) {}
  /// Where update() is not called, because each process updates with the totals: servers update the
  /// rows of the divided tables that they own, as note() has told.
  virtual void update_tables() {}
  /// In an asynchronous training, ends a pass: add_up() adds up over the trainers until the next
  /// update, and collect() waits for all of them.
  virtual void end_pass() {}
  /// The number of updates, where `mine` is that of this process.
  virtual std::int64_t updates(std::int64_t mine) const { return mine; }
  /// Serves the trainers until all of them have ended their training.
  virtual void serve(const server_functions&, worker_pool&) {}

 protected:
  shared_arrays(int rank, int ranks) : rank_(rank), ranks_(ranks) {}
  shared_arrays(const shared_arrays&) = default;
  shared_arrays& operator=(const shared_arrays&) = default;
  int rank_, ranks_;
  bool is_server_ = false, is_asynchronous_ = false;
  own_part part_;
  options_text options_;
  std::uint64_t update_ = 0;
};

}  // namespace lamina::inline LAMINA_ABI
