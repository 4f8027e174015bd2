// SPDX-License-Identifier: Apache-2.0
// lamina/train/training_run.hpp - passes over a reader: gradients, updates, events and checkpoints.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <lamina/model/feeding/feeder.hpp>
#include <lamina/model/feeding/minibatch_position.hpp>
#include <lamina/model/training_memory.hpp>
#include <lamina/optimizer/option_check.hpp>
#include <lamina/optimizer/train_options.hpp>
#include <lamina/reader/begin_pass.hpp>
#include <lamina/train/checkpoints/checkpoint.hpp>
#include <lamina/train/checkpoints/trainer_checkpoint.hpp>
#include <lamina/train/passes/minibatch_group.hpp>
#include <lamina/train/passes/minibatch_walk.hpp>
#include <lamina/train/passes/pass_means.hpp>
#include <lamina/train/passes/prepare_machine.hpp>
#include <lamina/train/passes/report_event.hpp>
#include <lamina/train/passes/run_tasks.hpp>
#include <lamina/train/passes/same_options.hpp>
#include <lamina/train/trainer_errors.hpp>
#include <lamina/train/world.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The result of a training run, or of one pass.
struct train_result {
  std::int64_t steps = 0;    // all updates so far, including earlier calls
  std::int64_t samples = 0;  // samples in this call
  double cost = 0;           // mean cost of the last pass
  bool stopped = false;      // an event handler stopped the run
};

/// Trains a model with an optimizer, from pass to pass. Both `train` and `trainer` use it.
/// `Machine` computes the steps. It reads the options and the optimizer in each step, because a
/// handler may change them; both must outlive the run. Code for features that `Options` cannot
/// request (threads, accumulation and processes with serial_options) is not compiled.
template <program_type P, class Opt, class Machine, class Options = train_options>
class training_run {
  /// Whether the options have more than serial_options.
  static constexpr bool has_all_options = requires(const Options& o) { o.world; };

 public:
  /// Whether the machine accumulates the gradients of several mini-batches for one update.
  static constexpr bool accumulates = requires(Machine & m, const batch_view<P>& batch) {
    m.backward(batch);
  };

  /// `kept` is null, or the training state that a model keeps: the run continues from it, and
  /// stores its own state there at the end. The other arguments are passed to the constructor of
  /// the machine. If the options request it, the run continues from a checkpoint of their
  /// directory.
  template <class... Given>
  LAMINA_COLD training_run(const Opt& opt, const Options& options, training_memory* kept,
                           Given&&... given)
      : opt_(opt),
        options_(options),
        kept_(kept),
        at_{detail::goes_on<Opt>(kept) ? kept->passes : 0, 0},
        machine_(given..., kept),
        seed_(options.seed),
        tasks_(options) {
    machine_.follow(opt);
    if constexpr (has_all_options) {
      threads_ = options.threads;
    }
    run_or_fail_all([&] {
      if constexpr (has_all_options) detail::prepare_machine(machine_, accumulates, options);
      find_position();
    });
  }
  training_run(const training_run&) = delete;
  training_run& operator=(const training_run&) = delete;
  ~training_run() {
    if (kept_ != nullptr) machine_.leave(*kept_, at_.pass);
  }

  Machine& machine() { return machine_; }
  /// Returns the number of passes so far, which is also the number of the next one.
  int passes() const { return at_.pass; }
  /// Whether a handler stopped the last pass.
  bool stopped() const { return stopping_; }
  /// Whether any mini-batch has run.
  bool has_run() const { return has_run_; }
  /// Returns the mini-batch that a pass has read last. Not for updates of several mini-batches,
  /// which may be read ahead.
  batch_view<P> minibatch() const { return feeder_.view(); }
  /// Number of samples, mean cost and metrics of the last pass; metrics of the last step.
  std::int64_t samples() const { return means_.samples(); }
  double cost() const { return means_.cost(); }
  std::span<const optimizer::metric_value> metrics_of_pass() { return means_.whole(); }
  std::span<const optimizer::metric_value> metrics_of_step() const { return means_.now(); }

  /// position() returns the position for a checkpoint that is written now. With tasks, and in a
  /// pass in which each process reads its shard, all training processes must call it.
  /// set_position() sets it; `source` tells error messages where the position came from.
  training_position position() { return in_pass_ ? with_others(seen_.position(at_.pass)) : at_; }
  void set_position(const training_position& at, const std::string& source) {
    at_ = at;
    source_ = source;
  }

  /// Runs a mini-batch outside of any pass, without events. Returns the cost before the update.
  real_of<P> step(const batch_view<P>& batch) {
    optimizer::require_options(opt_);
    if constexpr (accumulates)
      if (minibatches_per_update() > 1 || pending() > 0) {
        const real_of<P> cost = backward(batch);
        if (pending() >= minibatches_per_update()) run_or_fail_all([&] { update(); });
        return cost;
      }
    return noted(run_or_fail_all([&] { return machine_.step(batch); }), batch.size());
  }
  /// Adds the gradients of a mini-batch to those that wait for an update.
  real_of<P> backward(const batch_view<P>& batch) {
    return noted(run_or_fail_all([&] { return machine_.backward(batch); }), batch.size());
  }
  /// Returns the number of mini-batches whose gradients wait for an update.
  int pending() const {
    if constexpr (accumulates)
      return machine_.pending();
    else
      return 0;
  }
  /// Throws lamina::error if gradients wait for an update.
  LAMINA_COLD void require_none_pending(const char* what) const {
    if (pending() > 0) detail::fail_pending(what, pending());
  }

  /// Runs one pass and reports events. The reader begins it with its number. On a parameter server,
  /// the first call serves the trainers to their end; later ones do nothing.
  template <class Reader>
  LAMINA_COLD void pass(Reader& batches) {
    run_or_fail_all([&] {
      if (!serves()) run_pass(batches);
    });
  }

  /// Calls f(). If it throws, the other processes of a distributed training stop too.
  template <class F>
  LAMINA_COLD decltype(auto) run_or_fail_all(F&& f) {
    if constexpr (has_all_options) {
      if (options_.world == nullptr) return f();
      LAMINA_TRY { return f(); }
      LAMINA_CATCH(const std::exception& e) {
        if (kept_ != nullptr) std::exchange(kept_, nullptr)->forget();
        options_.world->fail(e.what());
        LAMINA_RETHROW;
      }
    } else {
      return f();
    }
  }

 private:
  /// Returns the processes that train together; null if this process trains alone.
  world* all() const {
    if constexpr (has_all_options)
      return options_.world;
    else
      return nullptr;
  }
  int minibatches_per_update() const {
    if constexpr (has_all_options)
      return options_.accumulate;
    else
      return 1;
  }
  /// Continues from a checkpoint, if the options ask for it and there is one.
  LAMINA_COLD void find_position() {
    if constexpr (has_all_options)
      if (all() != nullptr) detail::require_same_options(*all(), options_);
    const checkpoint_files* const files = options_.checkpoint.directory.files();
    source_ = options_.checkpoint.directory.string();
    if (files != nullptr && options_.checkpoint.resume) {
      load_checkpoint(source_, machine_, at_, options_.seed, *files, all());
      return;
    }
    if (files != nullptr) files->require_none(source_);
    if constexpr (has_all_options)
      if (all() != nullptr) detail::require_same_checkpoint(*all(), -1);
  }
  /// On a parameter server, serves the trainers and returns true.
  LAMINA_COLD bool serves() {
    if constexpr (requires { machine_.serve(); })
      if (all() != nullptr && machine_.serve()) {
        at_ = {at_.pass + 1, 0};
        return true;
      }
    return false;
  }
  /// Compares the first mini-batch of a pass with those of the other processes.
  LAMINA_COLD void require_samples(int pass) {
    if constexpr (requires { machine_.require_samples(std::uint64_t{}); })
      machine_.require_samples(seen_.position(pass).checksum);
  }
  /// Whether each process reads its shard of the mini-batches. Then a process at the end of its
  /// share takes part without samples until all processes are at their end.
  bool reads_shard() const {
    if constexpr (requires { machine_.synchronises_shards(); })
      return machine_.synchronises_shards();
    else
      return wants_shards();
  }
  bool wants_shards() const {
    if constexpr (has_all_options) return options_.reads_shard && options_.world != nullptr;
    return false;
  }
  /// Whether reads_shard(), or whether this process is the only one, whose shard is everything.
  bool has_shards() const { return reads_shard() || (wants_shards() && all()->size() == 1); }
  /// Whether this process makes asynchronous steps on its own shard, which may be empty.
  bool reads_alone() const { return wants_shards() && !reads_shard() && all()->size() > 1; }
  /// Completes a position with the progress of all processes, in shards or tasks.
  training_position with_others(training_position at) {
    if (at.batch > 0 && !tasks_.has_any() && !reads_alone())
      seen_.add_shards(at, has_shards() ? all() : nullptr);
    return tasks_.with(std::move(at));
  }
  template <class Reader>
  LAMINA_COLD void run_pass(Reader& batches) {
    require_none_pending("pass()");
    const pass_guard guard{*this};
    const int pass = at_.pass;
    const checkpoint_options& saving = options_.checkpoint;
    const bool saves = !saving.directory.empty();
    stopping_ = false;
    in_pass_ = true;
    seen_ = {};
    event e{.kind = event_kind::begin_pass, .pass = pass};
    report(e);
    means_.begin(machine_);
    const bool goes_on = tasks_.begin(at_, source_, seen_);
    auto elements = reader::begin_pass(batches, static_cast<std::uint64_t>(pass));
    detail::minibatch_walk<P, decltype(elements)> walk(elements, feeder_, pass);
    minibatch_position here{.pass = pass};
    if (at_.batch > 0 && !goes_on) {
      const bool summed = saves || at_.checksum != 0;
      for (std::int64_t left = at_.batch; left > 0; --left) {
        if (!walk.next()) {
          if (!reads_shard()) break;
          seen_.add(0);
          continue;
        }
        note(feeder_, summed);
        here.first_sample += feeder_.rows();
      }
      seen_.require(at_, source_, has_shards() ? all() : nullptr, reads_alone());
    }
    minibatch_group group;
    bool is_due = false;  // a checkpoint must be written at the next update
    for (;;) {
      const bool found = next(walk, group);
      const feeder<P>& now = group.now(feeder_);
      std::int64_t rows = found ? now.rows() : 0;
      if (reads_shard()) rows = all()->all_reduce_sum(rows);
      // An asynchronous trainer makes at least one step in each pass, so that the others do not
      // wait.
      if (rows == 0 && (seen_.batches() > 0 || !reads_alone())) break;
      const batch_view<P> view = found ? now.view() : batch_view<P>();
      if (found)
        note(now, saves || all() != nullptr);
      else
        seen_.add(0);
      if (all() != nullptr && seen_.batches() == 1) require_samples(pass);
      const std::int64_t batch = seen_.batches() - 1;
      e = {.kind = event_kind::begin_iteration, .pass = pass, .batch = batch, .samples = rows};
      report(e);
      here.batch = batch;
      const double cost =
          static_cast<double>(detail::at_minibatch(here, view, [&] { return run(view, group); }));
      means_.add(machine_, cost, static_cast<int>(rows));
      has_run_ = true;
      e.kind = event_kind::end_forward_backward;
      e.cost = cost;
      e.metrics = means_.now();
      report(e);
      if constexpr (accumulates)
        if (pending() >= minibatches_per_update())
          detail::at_minibatch(here, view, [&] { update(); });
      here.first_sample += view.size();
      tasks_.use(view.size(), pending() > 0);
      e.kind = event_kind::end_iteration;
      report(e);
      is_due = is_due ||
               (saves && saving.every_batches > 0 && seen_.batches() % saving.every_batches == 0);
      if (pending() > 0) continue;
      if (is_due) save(seen_.position(pass));
      is_due = false;
      if (stopping_) break;
    }
    if (pending() > 0) update();
    if (seen_.batches() == 0 && !stopping_)
      detail::fail_empty_pass(pass, known_batches_.has_value());
    bool own_data = false;
    if constexpr (requires { machine_.serve(); })
      if (all() != nullptr)
        own_data = machine_.sync_pass(means_, stopping_, seen_.position(pass).checksum);
    const bool whole_pass = !stopping_;
    if (whole_pass) known_batches_ = seen_.batches();
    if constexpr (requires { machine_.copy_to_host(); }) machine_.copy_to_host();
    if constexpr (requires { machine_.end_pass(); }) machine_.end_pass();
    e = event{.kind = event_kind::end_pass,
              .pass = pass,
              .batch = seen_.batches(),
              .samples = means_.samples(),
              .cost = means_.cost(),
              .metrics = means_.whole()};
    report(e);
    if (!saves) return;
    // Asynchronous trainers with their own mini-batches stop at different ones, so they restart the
    // pass.
    if (!whole_pass)
      save(own_data ? training_position{pass, 0} : seen_.position(pass));
    else if (stopping_ || (saving.every_passes > 0 && (pass + 1) % saving.every_passes == 0))
      save({pass + 1, 0});
  }

  /// Whether the cost needs the rows of all mini-batches of an update.
  static constexpr bool needs_all_rows = requires {
    requires accumulates && !Machine::parts_type::accumulates_one_by_one;
  };
  using minibatch_group =
      std::conditional_t<needs_all_rows, detail::minibatch_group<P>, detail::no_minibatch_group<P>>;
  template <class Walk>
  bool next(Walk& walk, [[maybe_unused]] minibatch_group& group) {
    if constexpr (needs_all_rows)
      if (minibatches_per_update() > 1) return group.next(walk, feeder_, minibatches_per_update());
    return walk.next();
  }
  /// Runs a mini-batch of a pass: a whole step or, if an update takes several mini-batches, only
  /// the gradients.
  real_of<P> run(const batch_view<P>& batch, [[maybe_unused]] const minibatch_group& group) {
    if constexpr (accumulates)
      if (minibatches_per_update() > 1) return machine_.backward(batch, group.whole());
    return machine_.step(batch);
  }
  void update() {
    if constexpr (accumulates) machine_.update();
  }
  real_of<P> noted(real_of<P> cost, int samples) {
    has_run_ = true;
    means_.add(machine_, static_cast<double>(cost), samples);
    return cost;
  }
  /// Ends a pass, also after an exception, so that the next pass starts from its beginning.
  struct pass_guard {
    training_run& of;
    ~pass_guard() {
      of.in_pass_ = false;
      if constexpr (accumulates) of.machine_.drop_gradients();
      of.at_ = {of.at_.pass + 1, 0};
    }
  };

  static void require_options(const void* opt) {
    optimizer::require_options(*static_cast<const Opt*>(opt));
  }
  LAMINA_COLD void report(event& e) {
    detail::report_event(
        detail::reported_run{options_.on_event, stopping_, known_batches_, &opt_, &require_options},
        e);
    int threads = 1;
    if constexpr (has_all_options) threads = options_.threads;
    if (options_.seed != seed_ || threads != threads_)
      detail::fail_changed_options(threads_, seed_, threads, options_.seed);
  }
  /// Counts a mini-batch, so that a resumed run can compare it.
  void note(const feeder<P>& batch, bool summed) {
    if (!summed) return seen_.add(batch.rows());
    checksum sum;
    batch.add_to(sum);
    seen_.add(batch.rows(), sum);
  }
  void save(training_position reached) {
    const checkpoint_options& saving = options_.checkpoint;
    if constexpr (requires { machine_.gather_state(); }) machine_.gather_state();
    reached = with_others(std::move(reached));
    bool all_write = false;  // tables are divided over processes
    if constexpr (has_distributed_tables<P> && accumulates)
      all_write = machine_.trained().embedding() != nullptr;
    if (all() != nullptr && all()->rank() != 0 && !all_write) return;
    save_checkpoint(saving.directory.string(), machine_, std::move(reached), options_.seed,
                    saving.keep, *saving.directory.files());
  }

  const Opt& opt_;
  const Options& options_;
  training_memory* kept_;
  training_position at_;  // position where the next pass begins
  Machine machine_;
  int threads_ = 1;
  const std::uint64_t seed_;
  feeder<P> feeder_;
  detail::pass_means<P> means_;
  samples_of_pass seen_;  // samples read in the current pass
  detail::run_tasks tasks_;
  std::string source_;  // directory or file from which the position came
  std::optional<std::int64_t> known_batches_;
  bool stopping_ = false, in_pass_ = false, has_run_ = false;
};

}}  // namespace lamina
