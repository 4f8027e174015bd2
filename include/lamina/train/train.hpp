// SPDX-License-Identifier: Apache-2.0
// lamina/train/train.hpp - the training loop: reader -> gradients -> update, with events.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <utility>

#include <lamina/model/names/cost_kind.hpp>
#include <lamina/optimizer/option_check.hpp>
#include <lamina/optimizer/sgd.hpp>
#include <lamina/optimizer/train_options.hpp>
#include <lamina/train/cpu_trainer.hpp>
#include <lamina/train/reads_minibatches.hpp>
#include <lamina/train/serial_trainer.hpp>
#include <lamina/train/training_run.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {

/// Trains a model that keeps its training state, pass by pass; `given` are the arguments of the
/// machine's constructor. It reads the options in each pass, because a handler may change the
/// number of passes.
template <class P, class Machine, class Opt, class Reader, class Options, class... Given>
LAMINA_COLD train_result train_loop(const Opt& opt, model<P>& m, Reader& batches,
                                    const Options& options, Given&&... given) {
  if (options.passes < 0) fail_passes(options.passes);
  // A run with checkpoints starts from them, not from the training state of the model.
  const bool has_directory = !options.checkpoint.directory.empty();
  if (has_directory) m.forget_training();
  if (m.training().is_part && goes_on<Opt>(&m.training())) {
    const world* all = nullptr;
    if constexpr (requires { options.world; }) all = options.world;
    if (all == nullptr || all->size() == 1 || all->rank() == 0) fail_part_of_state();
  }
  training_run<P, Opt, Machine, Options> run(opt, options, &m.training(), given...);
  train_result result;
  for (const int first = has_directory ? 0 : run.passes();
       run.passes() < first + options.passes && !run.stopped();) {
    run.pass(batches);
    result.samples += run.samples();
    result.cost = run.cost();
  }
  // The model keeps the training state; on rank 0, the state of all shards.
  if constexpr (requires { run.machine().gather_state(); })
    run.run_or_fail_all([&] { run.machine().gather_state(); });
  result.steps = run.machine().steps();
  result.stopped = run.stopped();
  return result;
}

}  // namespace detail

/// Trains on the CPU; with <lamina/lamina.cuh>, train_at_device.hpp adds an overload for all
/// devices.
template <class Opt, class P, class Reader>
train_result train_at(host_places, const Opt& opt, model<P>& m, Reader& batches,
                      const train_options& options) {
  if (options.place.kind != place_kind::cpu) detail::fail_host_place();
  if (options.threads < 1 || options.threads > 256) detail::fail_threads(options.threads);
  return detail::train_loop<P, cpu_trainer<P, Opt>>(opt, m, batches, options, opt, m,
                                                    options.threads, options.seed);
}

/// Does the same with serial_options. Sharded tables need train_options.
template <class Opt, class P, class Reader>
train_result train_at(host_places, const Opt& opt, model<P>& m, Reader& batches,
                      const serial_options& options) {
  if (options.place.kind != place_kind::cpu) detail::fail_host_place();
  if constexpr (has_distributed_tables<P>)
    return train_at(host_places{}, opt, m, batches, options.with_defaults());
  else
    return detail::train_loop<P, serial_trainer<P, Opt>>(opt, m, batches, options, opt, m,
                                                         options.seed);
}

/// Trains `m` with an optimizer on a reader of mini-batches (ranges of samples). Called as
/// `adam.train(m, reader, options)`. The reader begins each pass with the number of the pass.
/// Events are reported in the order of Paddle's v2 trainer: begin_pass, then for each mini-batch
/// begin_iteration, end_forward_backward, end_iteration, then end_pass. The model keeps its
/// training state. A second call with the same type of optimizer continues with the moments, the
/// step and the pass number that the first one reached, so n calls of one pass equal one call of n
/// passes, bit for bit. The training restarts with another type of optimizer, after model::load()
/// or forget_training(), and with a directory for checkpoints, which store a separate state. Skips
/// mini-batches without samples. Throws lamina::error for data that do not fit. `options` are
/// serial_options or train_options. Returns a train_result; the declared type is `auto`, because
/// only then does clang show the user's line in an error.
template <optimizer::optimizer_type Opt, program_type P, class Reader,
          class Options = serial_options, class Places = places>
auto train_with(const Opt& opt, model<P>& m, Reader&& batches, const Options& options = {},
                const Places& at = {}) {
  constexpr cost_kind cost = cost_kind_of<P>();
  constexpr bool reads = reads_minibatches<P>();
  static_assert(check<!reads>,
                "lamina: train: the program has layer::read_minibatch, so it trains itself: "
                "lamina::run(model, reader)");
  constexpr bool has_cost = cost != cost_kind::none || is_faulty<P> || reads;
  static_assert(check<has_cost>, "lamina: train: the program returns no cost");
  constexpr bool has_parameters =
      counts_of<P>.parameters > 0 || cost == cost_kind::none || is_faulty<P> || reads;
  static_assert(check<has_parameters>, "lamina: train: the program has no parameters to train");
  static_assert(check<(cost != cost_kind::array || reads), gets_type<typename P::result>>,
                "lamina: train: the cost is one number; take its mean over the batch first");
  constexpr bool readable = reader::readable<Reader>;
  static_assert(check<readable, gets_type<Reader>>,
                "lamina: reader: expected a reader: a copyable range, or a callable without "
                "arguments (or of the pass number) that returns a range");
  constexpr bool batched = reader::yields_batches<Reader>;
  static_assert(check<batched, gets_type<reader::yield_of<Reader>>>,
                "lamina: reader: expected mini-batches, ranges of samples: put | "
                "lamina::reader::batch(n) after the reader");
  constexpr int layers = counts_of<P>.data;
  constexpr int fields = detail::fields_a_sample<layers, reader::yield_of<Reader>>;
  constexpr bool fits = fields == layers || is_faulty<P> || reads;
  static_assert(check<fits, expects<layers>, gets<fields>>,
                "lamina: reader: a sample has one field for each data layer of the program");
  using fed = detail::field_check<P, reader::yield_of<Reader>,
                                  (fits && batched && readable && !reads && !is_faulty<P>)>;
  static_assert(check<fed::ok, typename fed::name, typename fed::expected, typename fed::found>,
                "lamina: reader: a field holds what its data layer takes: as many numbers, and "
                "integers where it takes integers");
  if constexpr (cost == cost_kind::number && readable && batched && fits && fed::ok && !reads &&
                !is_faulty<P>) {
    constexpr bool accepts = accepts_gradients<P, Opt>;
    static_assert(check<accepts, gets_type<Opt>>,
                  "lamina: train: an embedding with is_sparse has gradients of rows, which sgd, "
                  "momentum, adagrad, adam, rmsprop and lamb take");
    constexpr bool keeps = keeps_operands<P>;
    static_assert(check<keeps, detail::faulty_name<with_backward<P>::desc>>,
                  "lamina: store: a gradient needs the value from before the store; store after "
                  "minimize, or read a copy, layer::assign(x)");
    if constexpr (accepts && keeps) {
      optimizer::require_options(opt);
      return train_at(at, opt, m, batches, options);
    } else {
      return train_result{};
    }
  } else {
    return train_result{};
  }
}

/// Reports a program, or anything else that is not a model, with a one-line error.
template <optimizer::optimizer_type Opt, class Other, class Reader, class Options = serial_options,
          class... Place>
auto train_with(const Opt&, const Other&, Reader&&, const Options& = {}, const Place&...) {
  static_assert(!program_type<Other>,
                "lamina: train: expected a model, train(model, reader), found a program; put "
                "lamina::model m{program} before it");
  static_assert(check<program_type<Other>, gets_type<Other>>,
                "lamina: train: expected a model and a reader after it, train(model, reader)");
  return train_result{};
}

/// Trains with the default optimizer. As with `adam.train`, braces choose between serial_options
/// and train_options by the members that they name.
template <program_type P, class Reader>
auto train(model<P>& m, Reader&& batches, const dependent<serial_options, P>& options = {}) {
  return train_with(optimizer::default_sgd, m, std::forward<Reader>(batches), options);
}
template <program_type P, class Reader, class... Place>
auto train(model<P>& m, Reader&& batches, const dependent<train_options, P>& options,
           const Place&... at) {
  return train_with(optimizer::default_sgd, m, std::forward<Reader>(batches), options, at...);
}
template <program_type P, class Reader>
auto train(const P& program, Reader&& batches, const train_options& options = {}) {
  return train_with(optimizer::default_sgd, program, batches, options);
}
#ifdef LAMINA_NAMES_OPTIONS
no_match<train_options> train(anything, anything, ...) = delete;
#endif

}}  // namespace lamina
