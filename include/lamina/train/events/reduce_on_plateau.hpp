// SPDX-License-Identifier: Apache-2.0
// lamina/train/events/reduce_on_plateau.hpp - lowers a learning rate when a measured value stops
// improving.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/messages/check.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/optimizer/learning_rate.hpp>
#include <lamina/train/events/best_value.hpp>
#include <lamina/train/events/process_mean.hpp>
#include <lamina/train/world.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Options: when and by how much a learning rate is lowered.
struct plateau_options {
  float factor = 0.1f;          // the rate is multiplied by this number, from 0 to below 1
  int patience = 10;            // lower the rate after this many values without an improvement
  double min_delta = 1e-4;      // a change of at most this much is not an improvement
  int cooldown = 0;             // number of values after a reduction that do not count
  float smallest_factor = 0;    // lower bound for the product of all reductions
  better is = better::smaller;  // use larger for an accuracy
  // The processes that train together, each of which calls this object with its own value; all of
  // them decide by the mean. Null: this process decides alone, and its optimizer's rate must be
  // changed in all processes.
  lamina::world* world = nullptr;
};

/// Multiplies the learning rate of an optimizer by a factor when a value has not improved for
/// `patience` calls. A schedule continues and is multiplied by the factor.
///
///   lamina::reduce_on_plateau plateau{{.factor = 0.5f, .patience = 3}};
///   t.keep(plateau);                                  // its state is saved with the trainer's
///   for (...) { t.pass(batches); plateau(evaluator.test(validation).cost, adam); }
class reduce_on_plateau {
 public:
  /// Throws lamina::error for options outside of their range.
  explicit reduce_on_plateau(const plateau_options& options = {})
      : options_(options), best_(options.is, options.min_delta) {
    if (!(options.factor >= 0 && options.factor < 1))
      throw error(
          (text() << "lamina: reduce_on_plateau: expected a factor from 0 to below 1, found ")
              .print("%g", static_cast<double>(options.factor)));
    if (options.patience < 1)
      throw error(text() << "lamina: reduce_on_plateau: expected a patience of 1 or more, found "
                         << options.patience);
  }

  /// Adds the next value; returns whether the rate was lowered. NaN is not an improvement.
  bool operator()(double value, optimizer::learning_rate& rate) {
    const bool improved = best_.take(detail::process_mean(options_.world, value, 1));
    if (cooldown_ > 0) {
      --cooldown_;
      best_.forgive();
    }
    if (improved || best_.waited() < options_.patience) return false;
    best_.forgive();
    cooldown_ = options_.cooldown;
    const float lowered = rate.factor * options_.factor;
    const float wanted = lowered > options_.smallest_factor ? lowered : options_.smallest_factor;
    if (!(wanted < rate.factor)) return false;
    rate.factor = wanted;
    return true;
  }
  /// Does the same for the learning rate of an optimizer.
  template <class Opt>
  requires requires(Opt& opt) { opt.learning_rate.factor; }
  bool operator()(double value, Opt& opt) { return (*this)(value, opt.learning_rate); }
#ifdef LAMINA_NAMES_OPTIONS
  // clang-format off
  bool operator()(...) = delete;  // expected a value and an optimizer, plateau(cost, adam)
  // clang-format on
#endif

  /// Calls visit(number) for each number of the state, to save or load it. trainer::keep calls
  /// this.
  template <class Visit>
  void each_number(Visit&& visit) {
    best_.each_number(visit);
    visit(cooldown_);
  }

 private:
  plateau_options options_;
  best_value best_;
  double cooldown_ = 0;  // remaining values that do not count
};

}}  // namespace lamina
