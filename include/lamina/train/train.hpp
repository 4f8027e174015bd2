// SPDX-License-Identifier: Apache-2.0
// lamina/train/train.hpp - the training loop: reader -> gradients -> update, with events.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <optional>

#include <lamina/model/cost_kind.hpp>
#include <lamina/optimizer/option_check.hpp>
#include <lamina/optimizer/sgd.hpp>
#include <lamina/optimizer/train_options.hpp>
#include <lamina/train/checkpoint.hpp>
#include <lamina/train/minibatch_walk.hpp>
#include <lamina/train/pass_means.hpp>
#include <lamina/train/reads_minibatches.hpp>
#include <lamina/train/trainer.hpp>

namespace lamina::inline LAMINA_ABI {

/// The result of a training run.
struct train_result {
  std::int64_t steps = 0;    // updates, those before a resumed checkpoint included
  std::int64_t samples = 0;  // in this call
  double cost = 0;           // mean over the last pass
  bool stopped = false;      // by an event handler
};

namespace detail {

/// Trains with an optimizer and reads the options in each step: a handler may change, for example,
/// the learning rate or the number of passes.
template <class P, class Trainer, class Opt, class Reader>
LAMINA_COLD train_result train_loop(Trainer& t, const Opt& opt, Reader& batches,
                                    const train_options& options) {
  t.follow(opt);
  const int threads = options.threads;
  const std::uint64_t seed = options.seed;
  if (options.passes < 0)
    throw error("lamina: train: expected 0 passes or more, found " +
                std::to_string(options.passes));
  lamina::feeder<P> feeder;
  training_position at;
  const checkpoint_options& saving = options.checkpoint;
  if (!saving.directory.empty()) {
    const checkpoint_files& files = *saving.directory.files();
    if (saving.resume)
      load_checkpoint(saving.directory.string(), t, at, options.seed, files);
    else
      files.require_none(saving.directory.string());
  }

  const auto save = [&](training_position reached) {
    save_checkpoint(saving.directory.string(), t, reached, options.seed, saving.keep,
                    *saving.directory.files());
  };

  train_result result;
  pass_means<P> means;
  bool stopping = false;
  std::optional<std::int64_t> known_batches;
  const auto report = [&](event e) {
    e.stopping = &stopping;
    e.batches = known_batches;
    if (options.on_event) {
      options.on_event(e);
      optimizer::require_options(opt);
    }
    if (options.threads != threads || options.seed != seed)
      throw error(text() << "lamina: train: expected threads and seed of the options to stay "
                         << threads << " and " << seed << " until training is over, found "
                         << options.threads << " and " << options.seed);
  };

  for (int pass = at.pass; pass < options.passes && !stopping; ++pass) {
    report({.kind = event_kind::begin_pass, .pass = pass});
    means.begin(t);
    auto elements = reader::begin_pass(batches, static_cast<std::uint64_t>(pass));
    minibatch_walk<P, decltype(elements)> walk(elements, feeder);
    samples_of_pass seen;
    const auto note = [&] {  // for the comparison in a resumed run
      if (saving.directory.empty()) return;
      checksum sum;
      feeder.add_to(sum);
      seen.add(feeder.rows(), sum);
    };
    std::int64_t batch = 0;
    if (pass == at.pass && at.batch > 0) {
      for (; batch < at.batch && walk.next(); ++batch) note();
      seen.require(at, saving.directory.string());
    }
    while (walk.next()) {
      note();
      const int rows = feeder.rows();
      report({.kind = event_kind::begin_iteration, .pass = pass, .batch = batch, .samples = rows});
      const double cost = static_cast<double>(t.step(feeder.view()));
      means.add(t, cost, rows);
      event e{.kind = event_kind::end_forward_backward,
              .pass = pass,
              .batch = batch,
              .samples = rows,
              .cost = cost,
              .metrics = means.now()};
      report(e);
      e.kind = event_kind::end_iteration;
      report(e);
      ++batch;
      if (!saving.directory.empty() && saving.every_batches > 0 &&
          batch % saving.every_batches == 0)
        save(seen.position(pass));
      if (stopping) break;
    }
    const bool whole_pass = !stopping;
    if (whole_pass) known_batches = batch;
    result.samples += means.samples();
    result.cost = means.cost();
    if constexpr (requires { t.bring_back(); }) t.bring_back();
    report({.kind = event_kind::end_pass,
            .pass = pass,
            .batch = batch,
            .samples = means.samples(),
            .cost = result.cost,
            .metrics = means.whole()});
    if (!saving.directory.empty()) {
      if (!whole_pass)
        save(seen.position(pass));
      else if (stopping || (saving.every_passes > 0 && (pass + 1) % saving.every_passes == 0))
        save({pass + 1, 0});
    }
  }
  result.steps = t.steps();
  result.stopped = stopping;
  return result;
}

}  // namespace detail

/// Trains on the CPU; with <lamina/lamina.cuh>, train_at_device.hpp adds an overload for all
/// devices.
template <class Opt, class P, class Reader>
train_result train_at(host_places, const Opt& opt, model<P>& m, Reader& batches,
                      const train_options& options) {
  if (options.place.kind != place_kind::cpu)
    throw error(
        "lamina: train: expected the CPU as place, found a device: include "
        "<lamina/lamina.cuh> where train is called");
  if (options.threads < 1 || options.threads > 256)
    throw error("lamina: train: expected 1 to 256 threads, found " +
                std::to_string(options.threads));
  trainer<P, Opt> t(opt, m, options.threads, options.seed);
  return detail::train_loop<P>(t, opt, batches, options);
}

/// Trains `m` with an optimizer on a reader of mini-batches (ranges of samples). The reader begins
/// each pass with the number of the pass. Events are reported in the order of Paddle's v2 trainer:
/// begin_pass, then for each mini-batch begin_iteration, end_forward_backward, end_iteration, then
/// end_pass. Called as `adam.train(m, reader, options)`.
/// Skips mini-batches without samples. Throws lamina::error for data that do not fit.
/// Returns a train_result; the declared type is `auto`, because only then does clang show the
/// user's line in an error.
template <optimizer::optimizer_type Opt, program_type P, class Reader, class Places = places>
auto train_with(const Opt& opt, model<P>& m, Reader&& batches, const train_options& options = {},
                const Places& at = {}) {
  constexpr cost_kind cost = cost_kind_of<P>();
  constexpr bool reads = reads_minibatches<P>();
  static_assert(check<!reads>,
                "lamina: train: the program has layer::read_minibatch, so it trains itself: "
                "lamina::run(model, reader)");
  constexpr bool has_cost = cost != cost_kind::none || is_faulty<P> || reads;
  static_assert(check<has_cost>, "lamina: train: the program returns no cost");
  constexpr bool has_parameters =
      P::desc.count.parameters > 0 || cost == cost_kind::none || is_faulty<P> || reads;
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
                "lamina::reader::batch(n) behind the reader");
  constexpr int layers = P::desc.count.data;
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
    if constexpr (accepts) {
      optimizer::require_options(opt);
      return train_at(at, opt, m, batches, options);
    } else {
      return train_result{};
    }
  } else {
    return train_result{};
  }
}

/// Refuses a program, or anything else that is not a model, with a one-line error.
template <optimizer::optimizer_type Opt, class Other, class Reader, class... Place>
auto train_with(const Opt&, const Other&, Reader&&, const train_options& = {}, const Place&...) {
  static_assert(!program_type<Other>,
                "lamina: train: expected a model, train(model, reader), found a program; put "
                "lamina::model m{program} before it");
  static_assert(check<program_type<Other>, gets_type<Other>>,
                "lamina: train: expected a model and a reader behind it, train(model, reader)");
  return train_result{};
}

/// Trains with the default optimizer.
template <program_type P, class Reader, class Places = places>
train_result train(model<P>& m, Reader&& batches, const train_options& options = {}) {
  return optimizer::default_sgd.train(m, std::forward<Reader>(batches), options);
}
template <program_type P, class Reader, class Place>
auto train(model<P>& m, Reader&& batches, const train_options& options, const Place& at) {
  return optimizer::default_sgd.train(m, std::forward<Reader>(batches), options, at);
}
template <program_type P, class Reader>
auto train(const P& program, Reader&& batches, const train_options& options = {}) {
  return train_with(optimizer::default_sgd, program, batches, options);
}
#ifdef LAMINA_NAMES_OPTIONS
no_match<train_options> train(anything, anything, ...) = delete;
#endif

}  // namespace lamina::inline LAMINA_ABI
