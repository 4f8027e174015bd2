// SPDX-License-Identifier: Apache-2.0
// lamina/train/trainer.hpp - trains a model step by step or pass by pass, and keeps its state.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/core/messages/check.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/model/feeding/feeder.hpp>
#include <lamina/model/parameters/file_part.hpp>
#include <lamina/optimizer/train_options.hpp>
#include <lamina/train/checkpoints/checkpoint.hpp>
#include <lamina/train/checkpoints/trainer_checkpoint.hpp>
#include <lamina/train/cpu_trainer.hpp>
#include <lamina/train/gradients/machine_gradients.hpp>
#include <lamina/train/passes/minibatch_check.hpp>
#include <lamina/train/trainer_diagnostics.hpp>
#include <lamina/train/training_run.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Trains a model, one mini-batch or one pass per call (PaddlePaddle's design document: the
/// optimizer {model, gradient machines}). Between calls it keeps the state of the training: the
/// accumulators of the optimizer, the step count that schedules and dropout use, and the number of
/// the pass, which shuffles use. So n calls of pass() equal one `train` of n passes, bit for bit.
///
///   lamina::trainer t{model, adam, {.threads = 2}};
///   for (int epoch = 0; epoch < 20; ++epoch) {
///     t.pass(batches);
///     std::cout << t.cost() << ' ' << evaluator.test(validation).cost << '\n';
///   }
///
/// The model must outlive the trainer, and so must an optimizer that is a variable: its options are
/// read in each step, so `adam.learning_rate = 1e-4f` between two steps has an effect. A constant
/// or temporary optimizer is copied; optimizer() gives access to the copy. Several trainers may
/// train one model, or models that share parameters, in turn; each has its own state. `Machine`
/// computes the steps, on the CPU or on a device.
template <program_type P, optimizer::optimizer_type Opt, class Machine>
requires(!is_faulty<P>) class trainer<P, Opt, Machine> {
  static_assert(detail::is_trainable<P, Opt>());

 public:
  using real = real_of<P>;
  /// Whether gradients can be computed separately from updates. They can on the CPU.
  static constexpr bool accumulates_gradients = training_run<P, Opt, Machine>::accumulates;

  /// `options` are those of `train`, except for the number of passes. Throws lamina::error for
  /// options outside of their range. With a directory for checkpoints, pass() writes them as
  /// `train` does, and with `resume` the trainer continues from the newest one.
  trainer(model<P>& m, Opt& opt, const train_options& options = {})
      : options_(options), used_(opt), run_(opt, options_, nullptr, opt, m, threads(), seed()) {}
  trainer(model<P>& m, const Opt& opt, const train_options& options = {})
      : own_(opt),
        options_(options),
        used_(*own_),
        run_(used_, options_, nullptr, used_, m, threads(), seed()) {}
  /// Makes a trainer on a device: `trainer t{model, adam, {}, lamina::cuda::place{0}}`, with
  /// <lamina/lamina.cuh>. The model on the host changes at the end of each pass, and by
  /// copy_to_host().
  template <typed_place Place>
  trainer(model<P>& m, Opt& opt, const train_options& options, const Place& at)
      : options_(options), used_(opt), run_(opt, options_, nullptr, at, opt, m, seed()) {
    if (options.threads != 1)
      LAMINA_THROW error(text() << "lamina: train: expected 1 thread with a device as place, found "
                                << options.threads);
  }

  /// Refuses a program in place of a model with a one-line error.
  template <class Q, class... More>
  requires(std::is_same_v<Q, P>) trainer(const Q&, const Opt& opt, const More&...)
      : trainer(*static_cast<model<P>*>(static_cast<void*>(this)), opt) {
    static_assert(never<Q>,
                  "lamina: trainer: expected a model, trainer t{model, adam}, found a program; put "
                  "lamina::model m{program} before it");
  }
  /// Refuses a model of another program with a one-line error.
  template <program_type Q, class Options = train_options>
  requires(!__is_same(Q, P)) trainer(const model<Q>&, const Opt& opt, const Options& = {})
      : trainer(*static_cast<model<P>*>(static_cast<void*>(this)), opt) {
    static_assert(check<is_faulty<Q>, expects_type<P>, gets_type<Q>>,
                  "lamina: trainer: expected a model of its program, found that of another one");
  }
  /// Refuses a temporary model with a one-line error.
  template <class... More>
  trainer(model<P>&& m, const Opt& opt, const More&...) : trainer(m, opt) {
    static_assert(never<P, More...>,
                  "lamina: trainer: expected a model that outlives it, found a temporary one; give "
                  "the model a name: lamina::model m{program}");
  }
  trainer(const trainer&) = delete;
  trainer& operator=(const trainer&) = delete;

  /// Trains on one mini-batch, a range of samples. Returns its cost before the update. Throws
  /// lamina::error for data that do not fit.
  template <class Batch>
  real step(const Batch& samples) {
    static_assert(check<std::ranges::range<const Batch&>, gets_type<Batch>>,
                  "lamina: trainer: expected a mini-batch, a range of samples; pass() takes a "
                  "reader");
    if constexpr (detail::are_samples<P, const Batch>()) read([&] { feeder_.fill(samples); });
    return step(feeder_.view());
  }
  /// Does the same for a mini-batch as arrays.
  real step(const batch_view<P>& batch) {
    require_samples(batch);
    return noted(run_.step(batch));
  }
  /// Computes the gradients of a mini-batch for the next update(), which the caller must call.
  /// Several calls before one update() accumulate their gradients as if their samples were one
  /// mini-batch: for a mean, each gradient is weighted by its rows; for a sum, they are added.
  /// Returns the cost of this mini-batch.
  template <class Batch>
  real backward(const Batch& samples) {
    static_assert(check<std::ranges::range<const Batch&>, gets_type<Batch>>,
                  "lamina: trainer: expected a mini-batch, a range of samples; pass() takes a "
                  "reader");
    if constexpr (detail::are_samples<P, const Batch>()) read([&] { feeder_.fill(samples); });
    return backward(feeder_.view());
  }
  /// Does the same for a mini-batch as arrays.
  real backward(const batch_view<P>& batch) {
    static_assert(check<accumulates_gradients>,
                  "lamina: trainer: gradients apart from updates, and those "
                  "of several machines, are for the CPU");
    require_samples(batch);
    if constexpr (accumulates_gradients)
      return noted(run_.backward(batch));
    else
      return 0;
  }
  /// Updates the parameters with the gradients of backward(). Throws lamina::error if there are
  /// none.
  void update() {
    static_assert(check<accumulates_gradients>,
                  "lamina: trainer: gradients apart from updates, and those "
                  "of several machines, are for the CPU");
    optimizer::require_options(used_);
    if constexpr (accumulates_gradients) run_.run_or_fail_all([&] { run_.machine().update(); });
  }
  /// Updates the parameters with the gradients that gradient machines of this model have computed,
  /// each in its last backward(): `t.update({&machine_a, &machine_b})`. Each may have run in a
  /// different thread. The gradients are combined as in backward().
  void update(std::initializer_list<gradient_machine<P>*> machines) {
    optimizer::require_options(used_);
    run_.machine().update_with(
        [&](auto& parts) { detail::combine_machines<P>(machines, parts, trained()); });
  }
#ifdef LAMINA_NAMES_OPTIONS
  template <class First, class... More>
  void update(const First&, const More&...) = delete;  // update(), or update({&machine})
#endif
  /// Returns the number of mini-batches whose gradients wait for update().
  int pending() const { return run_.pending(); }

  /// Trains on a pass of a reader of mini-batches and reports events, as `train` does. The reader
  /// begins with the number of the pass. After load() of a state in the middle of a pass, this
  /// function reads the earlier mini-batches of the pass again without training on them.
  template <class Reader>
  train_result pass(Reader&& batches) {
    if constexpr (detail::are_minibatches<P, Reader>()) {
      optimizer::require_options(used_);
      run_.pass(batches);
      // All processes gather the state here, so that later rank 0 alone may save.
      if constexpr (requires { run_.machine().gather_state(); })
        run_.run_or_fail_all([this] { run_.machine().gather_state(); });
      cost_ = run_.cost();
      of_pass_ = true;
      return {steps(), run_.samples(), cost_, run_.stopped()};
    } else {
      return {};
    }
  }

  /// Returns the cost of the last step(), or the mean over the samples of the last pass().
  double cost() const { return cost_; }
  /// Returns the metric with this name of the last step() or pass(). For an unknown name, throws
  /// lamina::error that lists the known ones.
  double metric(std::string_view name) {
    return event{.kind = of_pass_ ? event_kind::end_pass : event_kind::end_iteration,
                 .metrics = of_pass_ ? run_.metrics_of_pass() : run_.metrics_of_step()}
        .metric(name);
  }
  /// Returns the value of a layer or variable in the last mini-batch, computed before its update,
  /// as a view in its own shape. It serves, for example, to find samples with large errors and
  /// train on them again, or to carry states to the next mini-batch. It is valid until the next
  /// mini-batch; dropout is active. Name the layer, or return the variable from the program. With
  /// several threads, the rows of all threads are copied.
  template <fixed_string Name>
  auto activation() {
    constexpr int found = variable_named<P>(Name.view());
    static_assert(check<found >= 0, detail::name_letters<Name>>,
                  "lamina: activation: the program has no layer or variable of this name");
    constexpr int v = found < 0 ? 0 : found;
    using program = training_program<P, Opt>;
    constexpr bool kept = keeps_value<program, v> &&
                          layout_of_variable<program, v>.slot.space != memory_space::parameter;
    static_assert(check<(kept || found < 0), detail::name_letters<Name>>,
                  "lamina: activation: this variable is not kept; name its layer, or return it "
                  "from the program");
    if constexpr (found >= 0 && kept) {
      if (!run_.has_run())
        LAMINA_THROW error("lamina: trainer: expected a step before activation(), found none");
      return run_.machine().template activation<v>();
    } else {
      return missing_view{};
    }
  }
  /// Returns the number of updates so far, on which schedules and dropout depend.
  std::int64_t steps() { return run_.machine().steps(); }
  /// Returns the number of passes so far, which is also the number of the next one.
  int passes() const { return run_.passes(); }
  /// Whether an event handler stopped the last pass.
  bool stopped() const { return run_.stopped(); }

  /// Returns the optimizer that the trainer reads in each step.
  Opt& optimizer() { return used_; }
  /// Returns the options; changes to threads and seed have no effect.
  train_options& options() { return options_; }
  model<P>& trained() { return run_.machine().trained(); }
  /// Returns the machine itself, for callers that read metrics.
  Machine& machine() { return run_.machine(); }
  /// Returns the mini-batch that pass() runs, for event handlers that compute with the same
  /// samples. Only with `accumulate` 1, because otherwise later mini-batches may already have been
  /// read.
  batch_view<P> minibatch() const { return run_.minibatch(); }

  /// Writes the state of the training to a file: parameters, accumulators, step, position, seed,
  /// the factor of the learning rate and the numbers of kept objects. The file is complete or does
  /// not exist. An event handler may call it in the middle of a pass. In a distributed training all
  /// processes must call it, and rank 0 writes the file. `parts` are those of model::save.
  template <file_part... Parts>
  LAMINA_COLD void save(const file_path& path, const Parts&... parts) {
    run_.require_none_pending("save()");
    copy_to_host();
    Machine& machine = run_.machine();
    if constexpr (requires { machine.gather_state(); }) machine.gather_state();
    std::vector<double> numbers;
    for (const kept_object& k : kept_) k.visit(k.object, numbers, false);
    std::vector<tensor_entry> more;
    if (!kept_.empty())
      more.push_back({"@kept@",
                      dtype::float64,
                      {numbers.size()},
                      raw_bytes(std::string_view(reinterpret_cast<const char*>(numbers.data()),
                                                 numbers.size() * sizeof(double)))});
    more = detail::with_parts(std::move(more), parts...);
    const training_position at = run_.position();
    if constexpr (divides)
      if (machine.trained().embedding())
        return detail::write_sharded(machine, path.string(), facts(at), std::move(more));
    if (options_.world != nullptr && options_.world->rank() != 0) return;
    std::vector<tensor_entry> entries =
        detail::checkpoint_entries(machine.trained().arrays(), machine.arrays(), facts(at));
    for (tensor_entry& e : more) entries.push_back(std::move(e));
    write_tensor_file(path, entries);
  }
  /// Continues from a file of save(), or from a checkpoint: the next steps equal those that the
  /// saved trainer would have made, bit for bit. Throws format_error for a damaged file, and
  /// lamina::error for a file of another program, optimizer or seed; nothing is changed then.
  template <file_part... Parts>
  LAMINA_COLD void load(const file_path& path, Parts&... parts) {
    const std::vector<tensor_entry> entries = entries_of(path);
    const auto take = [&] { load_state(entries, path); };
    detail::read_parts(entries, path.string(), take, parts...);
  }
  /// Saves and loads the state of an object together with the trainer's, such as a
  /// reduce_on_plateau or an early_stopping. The object must outlive the trainer. Call it before
  /// load(), for the same objects in the same order as in the program that saved the file.
  template <class State>
  void keep(State& state) {
    kept_.push_back({&state, [](void* of, std::vector<double>& numbers, bool loads) {
                       std::size_t at = 0;
                       static_cast<State*>(of)->each_number([&](double& x) {
                         if (!loads)
                           numbers.push_back(x);
                         else if (at < numbers.size())
                           x = numbers[at++];
                       });
                       numbers.erase(numbers.begin(),
                                     numbers.begin() + static_cast<std::ptrdiff_t>(at));
                     }});
  }
  /// Copies parameters and accumulators from a device to the host; does nothing on the CPU.
  void copy_to_host() {
    if constexpr (requires(Machine & m) { m.copy_to_host(); }) run_.machine().copy_to_host();
  }
  /// Copies parameters and accumulators from the host to a device, after they were changed on the
  /// host.
  void copy_to_device() {
    if constexpr (requires(Machine & m) { m.copy_to_device(); }) run_.machine().copy_to_device();
  }

 private:
  static constexpr bool divides = has_distributed_tables<P> && requires(Machine & m) {
    m.embedding_arrays();
  };
  struct kept_object {
    void* object;
    void (*visit)(void* of, std::vector<double>& numbers, bool loads);
  };

  /// Calls f(), which reads a mini-batch. If each process reads its shard, an error occurs in one
  /// process only, so it must stop the others too.
  template <class F>
  void read(F&& f) {
    options_.reads_shard ? run_.run_or_fail_all(f) : f();
  }
  void require_samples(const batch_view<P>& batch) {
    read([&] {
      if (batch.size() == 0)
        LAMINA_THROW error("lamina: trainer: expected a mini-batch with samples, found none");
    });
  }
  std::vector<tensor_entry> entries_of(const file_path& path) {
    if constexpr (divides)
      if (trained().embedding())
        return trained().embedding()->read(path.string(), machine().embedding_arrays());
    return read_tensor_file(path);
  }
  void assign(const std::vector<tensor_entry>& entries, const std::string& path,
              detail::checkpoint_facts& found) {
    if constexpr (divides)
      if (trained().embedding()) return detail::assign_sharded(machine(), entries, path, found);
    detail::assign_checkpoint(entries, path, trained().arrays(), machine().arrays(), found);
  }
  /// Loads the state of a file; changes nothing if it throws.
  LAMINA_COLD void load_state(const std::vector<tensor_entry>& entries, const file_path& path) {
    Machine& machine = run_.machine();
    detail::checkpoint_facts found = facts({});
    std::vector<double> numbers = kept_numbers(entries, path.string());
    assign(entries, path.string(), found);
    copy_to_device();
    machine.set_steps(found.steps);
    if constexpr (requires { used_.learning_rate.factor; })
      used_.learning_rate.factor = found.rate_factor;
    for (const kept_object& k : kept_) k.visit(k.object, numbers, true);
    run_.set_position(found.at, path.string());
  }
  /// Returns the numbers of kept objects in a file. Their count must equal that of the kept objects
  /// in this trainer.
  std::vector<double> kept_numbers(const std::vector<tensor_entry>& entries,
                                   const std::string& path) const {
    std::vector<double> here, found;
    for (const kept_object& k : kept_) k.visit(k.object, here, false);
    for (const tensor_entry& e : entries)
      if (e.name == "@kept@" && e.type == dtype::float64) {
        found.resize(e.bytes.size() / sizeof(double));
        std::memcpy(found.data(), e.bytes.data(), found.size() * sizeof(double));
      }
    if (found.size() != here.size())
      LAMINA_THROW error(text() << "lamina: trainer: " << path << ": expected " << here.size()
                                << " numbers of kept objects, found " << found.size()
                                << "; call keep() for the same objects before load()");
    return found;
  }
  real noted(real cost) {
    cost_ = static_cast<double>(cost);
    of_pass_ = false;
    return cost;
  }
  detail::checkpoint_facts facts(const training_position& at) {
    return {Opt::type, steps(), at, options_.seed, detail::rate_factor_of(used_), true};
  }
  int threads() const {
    if (options_.place.kind != place_kind::cpu)
      LAMINA_THROW error(
          "lamina: trainer: expected a device behind the options, as "
          "lamina::cuda::place{0}, found one among them");
    if (options_.threads < 1 || options_.threads > 256)
      LAMINA_THROW error(text() << "lamina: train: expected 1 to 256 threads, found "
                                << options_.threads);
    return options_.threads;
  }
  std::uint64_t seed() const {
    if (options_.passes != 1)
      LAMINA_THROW error(
          text() << "lamina: trainer: expected options without a number of passes, as each "
                    "call of pass() is one, found "
                 << options_.passes);
    return options_.seed;
  }

  std::optional<Opt> own_;
  train_options options_;
  Opt& used_;
  training_run<P, Opt, Machine> run_;
  std::vector<kept_object> kept_;
  feeder<P> feeder_;
  double cost_ = 0;
  bool of_pass_ = false;
};

}}  // namespace lamina
