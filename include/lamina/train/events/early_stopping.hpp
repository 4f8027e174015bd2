// SPDX-License-Identifier: Apache-2.0
// lamina/train/events/early_stopping.hpp - ends training when validation stops improving, and keeps
// the best parameters.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <lamina/core/messages/check.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/engine/common/real_numbers.hpp>
#include <lamina/model/evaluation/run_result.hpp>
#include <lamina/model/model.hpp>
#include <lamina/train/events/best_value.hpp>
#include <lamina/train/events/process_mean.hpp>
#include <lamina/train/world.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The value that early_stopping watches, and the number of tests for which it waits for an
/// improvement.
struct early_stopping_options {
  int patience = 5;             // stop after this many tests without an improvement
  double min_delta = 0;         // a change of at most this much is not an improvement
  std::string_view metric{};    // the name of a metric; empty: the cost
  better is = better::smaller;  // use larger for an accuracy
  // The processes that train the model together, each of which calls this object after its own
  // test. All of them decide by the mean of their results, weighted by samples. Null: this process
  // decides alone.
  lamina::world* world = nullptr;
};

/// Compares the result of each test with the best one so far, and keeps the parameters of the best.
///
///   lamina::early_stopping early{
///       model, {.patience = 3, .metric = "accuracy", .is = lamina::better::larger}};
///   for (int epoch = 0; epoch < 100; ++epoch) {
///     t.pass(batches);
///     if (early(evaluator.test(validation))) break;
///   }
///   early.restore();   // the parameters of the best test
template <program_type P>
class early_stopping {
 public:
  using real = real_of<P>;

  /// Throws lamina::error for a patience below 1. The model must outlive this object.
  explicit early_stopping(model<P>& m, const early_stopping_options& options = {})
      : model_(m),
        options_(options),
        metric_(options.metric),
        best_(options.is, options.min_delta) {
    if (options.patience < 1)
      throw error(text() << "lamina: early_stopping: expected a patience of 1 or more, found "
                         << options.patience);
    keep();
  }

  /// Adds the result of a test; returns whether to stop. Throws lamina::error for a metric that the
  /// program does not have.
  bool operator()(const test_result& result) {
    return take(metric_.empty() ? result.cost : result.metric(metric_),
                static_cast<double>(result.samples));
  }
  /// Does the same with any value; NaN is not an improvement. The values of several processes have
  /// equal weights.
  bool operator()(double value) { return take(value, 1); }
#ifdef LAMINA_NAMES_OPTIONS
  // clang-format off
  early_stopping(...) = delete;  // expected early_stopping early{model, {.patience = 5}}
  bool operator()(...) = delete;  // expected the result of a test, early(evaluator.test(reader))
  // clang-format on
#endif

  /// Whether the last test was the best so far.
  bool is_best() const { return best_.any() && best_.waited() == 0; }
  /// Returns the value and the number of the best test, counted from 0; -1 if there is none.
  double best() const { return best_.best(); }
  int number_of_best() const { return best_.number_of_best(); }
  /// Returns the number of tests since the best one.
  int waited() const { return best_.waited(); }

  /// Copies the parameters of the best test into the model. If no test had a value, these are the
  /// parameters at the beginning.
  LAMINA_COLD void restore() {
    std::size_t at = 0;
    each_array([&](real* values, std::size_t n) {
      std::copy_n(parameters_.data() + at, n, values);
      at += n;
    });
  }

  /// Calls visit(number) for each number of the state, including the best parameters, to save or
  /// load it. trainer::keep calls this.
  template <class Visit>
  void each_number(Visit&& visit) {
    best_.each_number(visit);
    for (real& x : parameters_) {
      double number = static_cast<double>(x);
      visit(number);
      x = static_cast<real>(number);
    }
  }

 private:
  bool take(double value, double weight) {
    if (best_.take(detail::process_mean(options_.world, value, weight))) keep();
    return best_.waited() >= options_.patience;
  }
  template <class F>
  void each_array(F&& f) {
    for (int i = 0; i < model_.parameter_arrays(); ++i)
      f(engine::numbers_at<real>(model_.memory()[i]), parameters_in<P>().numbers(i));
  }
  LAMINA_COLD void keep() {
    parameters_.clear();
    each_array([&](const real* values, std::size_t n) {
      parameters_.insert(parameters_.end(), values, values + n);
    });
  }

  model<P>& model_;
  early_stopping_options options_;
  std::string metric_;
  best_value best_;
  std::vector<real> parameters_;
};
#ifdef LAMINA_NAMES_OPTIONS
early_stopping(...)->early_stopping<detail::no_program>;
#endif

}}  // namespace lamina
