// SPDX-License-Identifier: Apache-2.0
// lamina/v2/trainer.hpp - PaddlePaddle v2's trainer.SGD: trains parameters on a reader, and tests.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include <lamina/core/check.hpp>
#include <lamina/core/error.hpp>
#include <lamina/core/file.hpp>
#include <lamina/core/text.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/optimizer/train_options.hpp>
#include <lamina/train/trainer.hpp>
#include <lamina/v2/event.hpp>
#include <lamina/v2/feeding.hpp>
#include <lamina/v2/init.hpp>
#include <lamina/v2/parameters.hpp>

namespace lamina::inline LAMINA_ABI::v2::trainer {

/// The arguments of SGD::train that are not types.
struct train_attr {
  int num_passes = 1;
  event::handler event_handler{};
};

/// Trains the parameters of a cost: `SGD trainer(cost, parameters, update_equation)`. It is a
/// lamina::trainer, whose loop it runs, with the threads and the seed of init(). Layers on which
/// the cost does not depend are computed too, as with v2's extra_layers. The parameters must
/// outlive it, and so must an update equation that is a variable. v2: trainer.SGD.
template <program_type P, lamina::optimizer::optimizer_type Opt>
class SGD {
 public:
  template <program_type... All>
  SGD(P, parameters::Parameters<All...>& trained, Opt& update_equation)
      : model_(model_in(trained)), trainer_(model_, update_equation, options()) {
    constexpr bool has = parameters::Parameters<All...>::template has<P>;
    static_assert(check<has>,
                  "lamina: v2: trainer::SGD: expected parameters that were created with this cost, "
                  "parameters::create(cost)");
  }
  template <program_type... All>
  SGD(P, parameters::Parameters<All...>& trained, const Opt& update_equation)
      : model_(model_in(trained)), trainer_(model_, update_equation, options()) {
    constexpr bool has = parameters::Parameters<All...>::template has<P>;
    static_assert(check<has>,
                  "lamina: v2: trainer::SGD: expected parameters that were created with this cost, "
                  "parameters::create(cost)");
  }

  /// Trains on all mini-batches of a reader, `num_passes` times. A second call goes on with the
  /// state of the first one, and its events count passes from 0 again. `feed` says which field of a
  /// sample goes to which data layer: `feeding<"y", "x">`; by default their orders are the same.
  /// Throws lamina::error for data that do not fit.
  template <class Reader, class Feeding = feeding_in_order>
  train_result train(Reader&& reader, const train_attr& attr = {}, Feeding feed = {}) {
    constexpr bool fed = Feeding::template fits<P>;
    static_assert(check<fed, typename Feeding::names>,
                  "lamina: v2: feeding: expected each data layer of the cost once");
    if (attr.num_passes < 0)
      throw error(text() << "lamina: v2: train: expected num_passes of 0 or more, found "
                         << attr.num_passes);
    const handled events(trainer_, attr.event_handler);
    train_result all;
    auto&& batches = feed.template applied_to<P>(reader);
    for (int pass = 0; pass < attr.num_passes && !all.stopped; ++pass) {
      const train_result one = trainer_.pass(batches);
      all = {one.steps, all.samples + one.samples, one.cost, one.stopped};
    }
    return all;
  }

  /// Computes cost and metrics of a reader's mini-batches, without training.
  template <class Reader, class Feeding = feeding_in_order>
  event::TestResult test(Reader&& reader, Feeding feed = {}) {
    constexpr bool fed = Feeding::template fits<P>;
    static_assert(check<fed, typename Feeding::names>,
                  "lamina: v2: feeding: expected each data layer of the cost once");
    if (!evaluator_) evaluator_.emplace(model_, evaluator_options{.threads = trainer_threads()});
    return event::TestResult(evaluator_->test(feed.template applied_to<P>(reader)));
  }

  /// Writes the parameters of the cost to an archive in v2's format, with
  /// <lamina/v2/parameter_tar.hpp>.
  void save_parameter_to_tar(const file_path& path) const { to_tar(path, model_); }

  /// The trainer itself, for a step at a time, for its state in files, and more.
  lamina::trainer<P, Opt>& of() { return trainer_; }

 private:
  /// Has the trainer report to a handler, until it goes.
  class handled {
   public:
    handled(lamina::trainer<P, Opt>& of, const event::handler& to) : of_(of) {
      if (to)
        of_.options().on_event = [&to, first = of_.passes()](const lamina::event& e) {
          to(e, first);
        };
    }
    handled(const handled&) = delete;
    handled& operator=(const handled&) = delete;
    ~handled() { of_.options().on_event = {}; }

   private:
    lamina::trainer<P, Opt>& of_;
  };

  template <program_type... All>
  static lamina::model<P>& model_in(parameters::Parameters<All...>& all) {
    constexpr bool has = parameters::Parameters<All...>::template has<P>;
    if constexpr (has)
      return all.template model_of<P>();
    else
      return *static_cast<lamina::model<P>*>(static_cast<void*>(&all));
  }
  static train_options options() {
    train_options made;
    made.threads = current().trainer_count;
    made.seed = current().seed;
    return made;
  }
  int trainer_threads() { return trainer_.options().threads; }

  lamina::model<P>& model_;
  lamina::trainer<P, Opt> trainer_;
  std::optional<lamina::evaluator<P>> evaluator_;
};

template <program_type P, program_type... All, lamina::optimizer::optimizer_type Opt>
SGD(P, parameters::Parameters<All...>&, const Opt&) -> SGD<P, Opt>;

}  // namespace lamina::inline LAMINA_ABI::v2::trainer
