// SPDX-License-Identifier: Apache-2.0
// lamina/train/run.hpp - runs a program that is a training loop itself.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <utility>

#include <lamina/core/arrays/owned_array.hpp>
#include <lamina/core/files/checksum.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/engine/cpu/schedule/machine.hpp>
#include <lamina/model/evaluation/run_result.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/model/feeding/batch_view.hpp>
#include <lamina/model/feeding/feeder.hpp>
#include <lamina/model/feeding/minibatch_position.hpp>
#include <lamina/model/model.hpp>
#include <lamina/model/names/cost_kind.hpp>
#include <lamina/model/refused/refused_operator.hpp>
#include <lamina/plan/loop_gradient_check.hpp>
#include <lamina/reader/begin_pass.hpp>
#include <lamina/train/checkpoints/program_checksum.hpp>
#include <lamina/train/gradients/cost_rows.hpp>
#include <lamina/train/reads_minibatches.hpp>
#include <lamina/train/world.hpp>
#include <lamina/train/world_calls.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The mini-batches that a run has read, and the cost that it has computed.
struct run_summary {
  std::int64_t minibatches = 0;
  std::int64_t samples = 0;  // samples of all processes
  double cost = 0;  // the first variable that the program returns, if it is one real number
};

}}  // namespace lamina

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Feeds a machine its part of each mini-batch. Either all processes read the same mini-batches and
/// each computes a part, or each reads its shard of them. A process whose shard has ended takes
/// part without samples until all shards have ended; then a new pass begins in all processes.
template <program_type P, class Reader, class Machine>
class divided_feed {
 public:
  divided_feed(Reader& batches, Machine& machine, run_summary& summary, world_calls& calls,
               const world& all, bool shards)
      : batches_(batches),
        machine_(machine),
        summary_(summary),
        calls_(calls),
        rank_(all.rank()),
        ranks_(all.size()),
        shards_(shards) {
    if constexpr (requires { P::ranks; }) {
      if (P::ranks > 0 && P::ranks != ranks_)
        LAMINA_THROW error(
            text() << "lamina: run: expected " << P::ranks
                   << " processes, for which grad_all_reduce made the program, found " << ranks_);
    }
  }
  divided_feed(const divided_feed&) = delete;
  divided_feed& operator=(const divided_feed&) = delete;

  /// Runs the machine. Adds the position of the last mini-batch to an error about a row.
  void run(std::uint64_t seed) {
    machine_.read_from({this, &next, nullptr, &calls_});
    LAMINA_TRY { machine_.run(~0ull, seed, 0); }
    LAMINA_CATCH(const row_error& e) {
      minibatch_position at = position();
      --at.batch;
      at.first_sample -= samples_;
      const std::int64_t sample = part_.sample_of(e.domain(), e.row());
      at.fail(e, sample < 0 ? sample : sample + first_, part_.position_of(e.domain(), e.row()));
    }
  }

 private:
  using pass_type = decltype(reader::begin_pass(std::declval<Reader&>(), std::uint64_t{}));
  using iterator_type = decltype(std::declval<pass_type&>().begin());
  static constexpr bool has_fixed_weights = [] {
    if constexpr (requires { P::ranks; })
      return P::ranks > 0;
    else
      return false;
  }();

  static bool next(void* self) { return static_cast<divided_feed*>(self)->take(); }
  bool take() {
    if (!goes_on_) {
      at_.reset();
      pass_.emplace(reader::begin_pass(batches_, passes_++));
      at_.emplace(pass_->begin());
    }
    minibatch_shard mine;
    if (*at_ == pass_->end()) {
      feeder_.clear();
    } else {
      LAMINA_TRY { feeder_.fill(**at_); }
      LAMINA_CATCH(const row_error& e) { position().fail(e, e.row()); }
      ++*at_;
      mine.more = !(*at_ == pass_->end());
    }
    const batch_view<P> whole = feeder_.view();
    first_ = shards_ ? 0 : first_of_part(whole, rank_, ranks_);
    part_ = shards_ ? whole : whole.part(first_, first_of_part(whole, rank_ + 1, ranks_));
    mine.samples = part_.size();
    mine.read = whole.size();
    if (summary_.minibatches == 0) {
      checksum sum;
      feeder_.add_to(sum);
      mine.checksum = sum.value();
    }
    samples_ = calls_.read(mine, shards_, has_fixed_weights);
    if (samples_ == 0)
      LAMINA_THROW error(text() << "lamina: run: expected at least one mini-batch in pass "
                                << passes_ - 1 << " of the reader, found none");
    if (shards_) calls_.rows_before(part_.rows.count, part_.rows.first, batch_view<P>::domains);
    goes_on_ = mine.more;
    ++summary_.minibatches;
    summary_.samples += samples_;
    part_.feed_to(machine_);
    return goes_on_;
  }
  /// The position of the next mini-batch among all mini-batches of the run.
  minibatch_position position() const {
    return {.batch = summary_.minibatches, .first_sample = summary_.samples};
  }

  Reader& batches_;
  Machine& machine_;
  run_summary& summary_;
  world_calls& calls_;
  int rank_, ranks_;
  bool shards_;
  feeder<P> feeder_;
  batch_view<P> part_;
  int first_ = 0;             // the first sample of the part
  std::int64_t samples_ = 0;  // samples of the last mini-batch over all processes
  bool goes_on_ = false;      // whether any process has another mini-batch in this pass
  std::optional<pass_type> pass_;
  std::optional<iterator_type> at_;
  std::uint64_t passes_ = 0;
};

}}}  // namespace lamina::detail

namespace lamina { inline namespace LAMINA_ABI {

/// Options of run.
struct run_program_options {
  std::uint64_t seed = 0;
  /// The upper bound for the iterations of one loop; throws lamina::error if it is exceeded.
  std::uint64_t iterations = 1000000;
  bool check_nan = false;       // stop at the first NaN; slower
  bool check_infinity = false;  // stop at the first NaN or infinity
  lamina::place place{};        // lamina::cuda::place{0}: a device, with <lamina/lamina.cuh>
  /// The processes that run the program together; null: this process alone. The program needs
  /// c_allreduce_sum operators, as transform::grad_all_reduce adds them.
  lamina::world* world = nullptr;
  bool reads_shard = false;  // each process reads its own samples (reader::shard)
};

namespace detail {

/// Returns the number of accumulators of a program.
template <program_type P>
constexpr int count_accumulators() {
  int n = 0;
  for (int v = 0; v < counts_of<P>.variables; ++v)
    if (P::desc.variables[v].kind == variable_kind::accumulator && P::desc.variables[v].index >= n)
      n = P::desc.variables[v].index + 1;
  return n;
}
/// For each accumulator of a program: the parameter whose shape it has, or -1, and its initial
/// value.
template <program_type P>
inline constexpr auto accumulator_owners = [] {
  struct {
    int parameter[bound(count_accumulators<P>())];
    float first[bound(count_accumulators<P>())];  // the initial value
  } t{};
  for (int& i : t.parameter) i = -1;
  for (int v = 0; v < counts_of<P>.variables; ++v)
    if (const variable_desc& d = P::desc.variables[v]; d.kind == variable_kind::accumulator)
      t.parameter[d.index] = P::desc.variables[d.of].index;
  for (int k = 0; k < counts_of<P>.startup; ++k) {
    const operator_desc& op = P::desc.startup[k];
    const variable_desc& d = P::desc.variables[P::desc.arguments[op.outputs]];
    if (d.kind == variable_kind::accumulator)
      t.first[d.index] = static_cast<float>(P::desc.attributes[op.attributes + 2].number);
  }
  return t;
}();

/// Feeds a machine one mini-batch after the other. At the end of the reader, it starts the reader
/// again with the next pass number.
template <program_type P, class Reader, class Machine>
class minibatch_feed {
 public:
  minibatch_feed(Reader& batches, Machine& machine, run_summary& summary)
      : batches_(batches), machine_(machine), summary_(summary) {}

  static bool next(void* self) { return static_cast<minibatch_feed*>(self)->take(); }

  /// Runs the machine. Adds the position of the last mini-batch to an error about a row.
  void run(std::uint64_t seed) {
    LAMINA_TRY { machine_.run(~0ull, seed, 0); }
    LAMINA_CATCH(const row_error& e) {
      minibatch_position at = position();
      --at.batch;
      at.first_sample -= feeder_.rows();
      at.fail(e, feeder_.view().sample_of(e.domain(), e.row()),
              feeder_.view().position_of(e.domain(), e.row()));
    }
  }

 private:
  using pass_type = decltype(reader::begin_pass(std::declval<Reader&>(), std::uint64_t{}));
  using iterator_type = decltype(std::declval<pass_type&>().begin());

  bool take() {
    if (!at_ || *at_ == pass_->end()) {
      at_.reset();
      pass_.emplace(reader::begin_pass(batches_, passes_++));
      at_.emplace(pass_->begin());
    }
    if (*at_ == pass_->end())
      LAMINA_THROW error(text() << "lamina: run: expected at least one mini-batch in pass "
                                << passes_ - 1 << " of the reader, found none");
    LAMINA_TRY { feeder_.fill(**at_); }
    LAMINA_CATCH(const row_error& e) { position().fail(e, e.row()); }
    ++*at_;
    ++summary_.minibatches;
    summary_.samples += feeder_.rows();
    hand_over(feeder_.view());
    return !(*at_ == pass_->end());
  }

  /// The position of the next mini-batch among all mini-batches of the run.
  minibatch_position position() const {
    return {.batch = summary_.minibatches, .first_sample = summary_.samples};
  }

  void hand_over(const batch_view<P>& batch) {
    if constexpr (requires(const void* const* data) { machine_.read_in(batch.rows, data); }) {
      const void* data[bound(batch_view<P>::layers)] = {};
      for (int i = 0; i < batch_view<P>::layers; ++i) data[i] = batch.data[i];
      machine_.read_in(batch.rows, data);
    } else {
      batch.feed_to(machine_);
    }
  }

  Reader& batches_;
  Machine& machine_;
  run_summary& summary_;
  feeder<P> feeder_;
  std::optional<pass_type> pass_;
  std::optional<iterator_type> at_;
  std::uint64_t passes_ = 0;
};

/// Parameter types to which any model, and any argument in place of a reader, converts.
struct some_model {
  template <program_type P>
  some_model(model<P>&);  // NOLINT: it converts
};
struct no_reader {
  template <class X>
  no_reader(const X&);  // NOLINT: it converts
};

[[noreturn]] LAMINA_API_COLD void fail_undivided();

/// Runs the program of a machine once, with the processes of options.world.
template <program_type P, class Machine, class Reader>
LAMINA_COLD void run_divided(Machine& machine, model<P>& trained, Reader& batches,
                             const run_program_options& options, run_summary& summary) {
  if constexpr (requires {
                  machine.limit_iterations(1);
                  machine.memory();
                }) {
    world& all = *options.world;
    LAMINA_TRY {
      if (all.trainers() < all.size())
        LAMINA_THROW error(
            text() << "lamina: run: expected a session without parameter servers, found "
                   << all.size() - all.trainers());
      world_calls calls(all);
      calls.require_equal("the same program", program_checksum<P>);
      calls.require_equal("the same seed", options.seed);
      for (int i = 0; i < counts_of<P>.parameters; ++i)
        calls.give(trained.memory()[i], parameters_in<P>().floats(i));
      divided_feed<P, Reader, Machine> feed(batches, machine, summary, calls, all,
                                            options.reads_shard);
      feed.run(options.seed);
      checksum sum;
      for (int i = 0; i < counts_of<P>.parameters; ++i)
        sum.add(trained.memory()[i], parameters_in<P>().floats(i) * sizeof(float));
      calls.end(sum.value());
    }
    LAMINA_CATCH(const std::exception& e) {
      all.fail(e.what());
      LAMINA_RETHROW;
    }
  } else {
    LAMINA_THROW error(
        "lamina: run: expected the CPU as place with several processes, found a device");
  }
}

/// Runs the program of a machine once.
template <program_type P, class Machine, class Reader>
run_summary run_machine(Machine& machine, [[maybe_unused]] model<P>& trained, Reader& batches,
                        const run_program_options& options) {
  initialise_state<P>(machine);
  run_summary summary;
  minibatch_feed<P, Reader, Machine> feed(batches, machine, summary);
  machine.read_from({&feed, &decltype(feed)::next});
  machine.limit_iterations(options.iterations);
  if (options.check_nan || options.check_infinity) {
    constexpr const program_view& names = run_time_program<P>::view;
    if constexpr (requires { machine.check_numbers(names, true); })
      machine.check_numbers(names, options.check_infinity);
    else
      LAMINA_THROW error("lamina: check_nan: expected the CPU as place, found a device");
  }
  if constexpr (meets_processes<P>()) {
    if (options.world != nullptr)
      run_divided<P>(machine, trained, batches, options, summary);
    else
      feed.run(options.seed);
  } else {
    if (options.world != nullptr && options.world->size() > 1) fail_undivided();
    feed.run(options.seed);
  }
  if constexpr (cost_kind_of<P>() == cost_kind::number)
    summary.cost = number_in<P, P::desc.cost>(machine);
  return summary;
}

#if LAMINA_DEFINES

void fail_undivided() {
  LAMINA_THROW error(
      "lamina: run: expected a program with c_allreduce_sum for several processes, found none: "
      "lamina::model m{lamina::transform::grad_all_reduce(program)} (docs: distributed)");
}

#endif  // LAMINA_DEFINES

}  // namespace detail

/// Runs on the CPU; with <lamina/lamina.cuh>, run_at_device.hpp adds an overload for all devices.
template <program_type P, class Reader>
run_summary run_at(host_places, model<P>& trained, Reader& batches,
                   const run_program_options& options) {
  if (options.place.kind != place_kind::cpu)
    LAMINA_THROW error(
        "lamina: run: expected the CPU as place, found a device: include <lamina/lamina.cuh> where "
        "run is called");
  constexpr auto& owners = detail::accumulator_owners<P>;
  constexpr int count = at_least_one(detail::count_accumulators<P>());
  const owned_array<float*> accumulators(count);
  std::size_t floats = 0;
  for (const int i : owners.parameter) floats += i < 0 ? 0 : parameters_in<P>().floats(i);
  engine::aligned_buffer memory(floats);
  float* at = memory.data();
  for (int a = 0; a < count; ++a) {
    const int i = owners.parameter[a];
    accumulators[a] = at;
    if (i < 0) continue;
    using real = real_of<P>;
    std::fill_n(engine::numbers_at<real>(at), parameters_in<P>().numbers(i),
                static_cast<real>(owners.first[a]));
    at += parameters_in<P>().floats(i);
  }
  static_assert(check<detail::accepts_program<engine::cpu::machine<P>>,
                      typename detail::refused_operator<engine::cpu::machine<P>>::type>,
                "lamina: a program in double: this computes in float alone");
  engine::cpu::machine<P> machine({trained.memory(), nullptr, accumulators.get()});
  return detail::run_machine<P>(machine, trained, batches, options);
}

/// Runs program P of a model once. The program reads mini-batches from the reader at
/// layer::read_minibatch. If the program is a training loop, this is the whole training. At the end
/// of the reader, the next mini-batch is the first one of another pass. Updates parameters of the
/// model in place; on a device it copies them back when the run is over. Accumulators and the step
/// count start from their initial values. A device with its own type is given after the options and
/// overrides their device: `run(model, reader, {}, lamina::cuda::place{0, lamina::cuda::tf32})`.
/// Throws lamina::error for a sample that does not fit the data layers and for a loop that does not
/// end.
template <program_type P, reader::readable Reader, class Places = places>
run_summary run(model<P>& trained, Reader&& batches, const run_program_options& options = {},
                const Places& at = {}) {
  static_assert(check<!loop_gradient_check<P>::found, typename loop_gradient_check<P>::name>,
                "lamina: train: gradients do not flow through a handle whose rows a loop changes");
  constexpr bool reads = reads_minibatches<P>() || is_faulty<P>;
  static_assert(check<reads>,
                "lamina: run: the program has no layer::read_minibatch; one that computes the cost "
                "of a mini-batch is trained by train(model, reader)");
  constexpr bool batched = reader::yields_batches<Reader> || !reads;
  static_assert(check<batched, gets_type<reader::reader_element_t<Reader>>>,
                "lamina: reader: expected mini-batches, ranges of samples: put | "
                "lamina::reader::batch(n) after the reader");
  constexpr int layers = counts_of<P>.data;
  constexpr int fields = detail::fields_a_sample<layers, reader::reader_element_t<Reader>>;
  constexpr bool fits = fields == layers || !reads || is_faulty<P>;
  static_assert(check<fits, expects<layers>, gets<fields>>,
                "lamina: reader: a sample has one field for each data layer of the program");
  using fed = detail::field_check<P, reader::reader_element_t<Reader>,
                                  (fits && batched && reads && !is_faulty<P>)>;
  static_assert(check<fed::ok, typename fed::name, typename fed::expected, typename fed::found>,
                "lamina: reader: a field holds what its data layer takes: as many numbers, and "
                "integers where it takes integers");
  constexpr bool one = __is_same(Places, places) || requires {
    at.number + sizeof(typename Places::arithmetic);
  };
  static_assert(check<one, gets_type<Places>>,
                "lamina: run: expected one place after the options, as lamina::cuda::place{0, "
                "lamina::cuda::tf32}");
  if constexpr (reads && batched && fits && fed::ok && one && !is_faulty<P>)
    return run_at(at, trained, batches, options);
  else
    return run_summary{};
}

/// Reports a program in place of a model with a one-line error. It accepts readers of mini-batches
/// only, because argument-dependent lookup also finds this function when a user calls a function
/// run() of another library with a program.
template <program_type P, reader::readable Reader, class... Place>
requires reader::yields_batches<Reader> run_summary run(const P&, Reader&&,
                                                        const run_program_options& = {},
                                                        const Place&...) {
  static_assert(never<P>,
                "lamina: run: expected a model, run(model, reader), found a program; put "
                "lamina::model m{program} before it");
  return {};
}

/// Reports an argument that is not a reader with a one-line error. All parameters need a
/// conversion, so that a user's own run() of a model and another type is a better match.
template <class... Place>
run_summary run(detail::some_model, detail::no_reader, const run_program_options& = {},
                const Place&...) {
  static_assert(never<Place...>,
                "lamina: run: expected a reader of mini-batches after the model, run(model, "
                "samples | lamina::reader::batch(32))");
  return {};
}
#ifdef LAMINA_NAMES_OPTIONS
template <class = void>
no_match<run_program_options> run(anything, ...) = delete;  // call run(model, reader)
#endif

}}  // namespace lamina
