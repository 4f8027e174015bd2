// SPDX-License-Identifier: Apache-2.0
// lamina/train/fit.hpp - trains in passes, with a test on validation data after each.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/optimizer/event.hpp>
#include <lamina/train/events/early_stopping.hpp>
#include <lamina/train/trainer.hpp>
#include <lamina/train/world.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The options of fit: how it trains and when it stops.
struct fit_options {
  int passes = 100;             // upper bound for the number of passes
  int patience = 0;             // stop after this many tests without an improvement; 0: never
  double min_delta = 0;         // a change of at most this much is not an improvement
  std::string_view metric{};    // a metric of the validation data; empty: the cost
  better is = better::smaller;  // use larger for an accuracy
};

/// The result of fit. The model has the parameters of the best pass.
struct fit_result {
  int passes = 0;              // passes in this call
  int best_pass = -1;          // number of the pass with the best test
  test_result best;            // best result on the validation data
  bool stopped_early = false;  // no improvement for `patience` tests
  bool stopped = false;        // stopped by an event handler
};

namespace detail {
/// Throws lamina::error that names an option of fit in which processes differ. All training
/// processes must call it.
LAMINA_COLD inline void require_same_options(world& all, const fit_options& mine) {
  static constexpr const char* names[] = {"passes", "patience", "min_delta", "metric (a checksum)",
                                          "is (0: smaller, 1: larger)"};
  constexpr std::size_t count = std::size(names);
  double letters = 0;
  for (const char c : mine.metric) letters = letters * 31 + c;
  const double numbers[count] = {static_cast<double>(mine.passes),
                                 static_cast<double>(mine.patience), mine.min_delta, letters,
                                 mine.is == better::larger ? 1.0 : 0.0};
  std::vector<double> found(count * static_cast<std::size_t>(all.trainers()));
  all.gather_trainers(numbers, sizeof numbers, found.data());
  for (std::size_t k = count; k < found.size(); ++k)
    if (found[k] != found[k % count])
      throw error((text() << "lamina: fit: expected the same option " << names[k % count]
                          << " in each process, found ")
                      .print("%.9g in rank 0", found[k % count])
                      .print(" and %.9g in rank ", found[k])
                  << k / count);
}
}  // namespace detail

/// Trains pass by pass and tests on validation data after each pass. At the end the model has the
/// parameters of the best test, whatever ended the training. The handler of the trainer's options
/// receives three more events: end_validation after each test, with its cost and metrics; new_best
/// after a test that is the best so far; early_stop. With several processes (.world), all must call
/// it with equal options. Each tests on the whole validation data or on its own shard, and the
/// results are combined. So all processes end with the parameters of the same pass, and all stop if
/// a handler stops in one of them. Throws lamina::error for options outside of their range or
/// different between processes.
template <program_type P, class Opt, class Machine, class Reader, class Validation>
fit_result fit(trainer<P, Opt, Machine>& t, Reader&& batches, Validation&& validation,
               const fit_options& options = {}) {
  if (options.passes < 1 || options.patience < 0)
    throw error(text() << "lamina: fit: expected 1 pass or more and a patience of 0 or more, found "
                       << options.passes << " and " << options.patience);
  evaluator<P> tests(t.trained());
  early_stopping<P> early(t.trained(),
                          {.patience = options.patience > 0 ? options.patience : options.passes + 1,
                           .min_delta = options.min_delta,
                           .metric = options.metric,
                           .is = options.is});
  world* all = t.options().world;
  // A parameter server does not train, so it tests alone.
  if (all != nullptr && (all->trainers() == 1 || all->rank() >= all->trainers())) all = nullptr;
  if (all != nullptr) detail::require_same_options(*all, options);
  fit_result result;
  while (result.passes < options.passes && !result.stopped && !result.stopped_early) {
    const int pass = t.passes();
    result.stopped = t.pass(batches).stopped;
    ++result.passes;
    test_result tested = all != nullptr ? tests.test(validation, *all) : tests.test(validation);
    result.stopped_early = early(tested);
    std::vector<optimizer::metric_value> metrics;
    for (const auto& m : tested.metrics) metrics.push_back({m.name, m.value});
    event e{.pass = pass, .samples = tested.samples, .cost = tested.cost, .metrics = metrics};
    const auto report = [&](event_kind kind) {
      e.kind = kind;
      e.stopping = &result.stopped;
      if (t.options().on_event) t.options().on_event(e);
    };
    report(event_kind::end_validation);
    if (early.is_best()) {
      report(event_kind::new_best);
      result.best_pass = pass;
      result.best = std::move(tested);
    }
    if (result.stopped_early) report(event_kind::early_stop);
    if (all != nullptr) result.stopped = all->all_reduce_sum(result.stopped ? 1 : 0) > 0;
  }
  early.restore();
  t.copy_to_device();
  return result;
}

}}  // namespace lamina
