// SPDX-License-Identifier: Apache-2.0
// lamina/v2/trainer.hpp - the trainer of PaddlePaddle v2, trainer.SGD, which trains and tests
// parameters.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include <lamina/core/files/file.hpp>
#include <lamina/core/messages/check.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/core/place.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/optimizer/train_options.hpp>
#include <lamina/train/trainer.hpp>
#include <lamina/v2/event.hpp>
#include <lamina/v2/feeding.hpp>
#include <lamina/v2/init.hpp>
#include <lamina/v2/parameters.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace v2::trainer {

/// The options of SGD::train.
struct train_attr {
  int num_passes = 1;
  event::handler event_handler{};
};

/// Trains the parameters of a cost: `SGD trainer(cost, parameters, update_equation)`. It runs a
/// lamina::trainer with the threads and the seed of init(). Layers on which the cost does not
/// depend are computed too, as with v2's extra_layers. The parameters must outlive this object, and
/// so must an update equation that is a variable. With <lamina/lamina.cuh>, it can train on a
/// device: `SGD trainer(cost, parameters, update_equation, lamina::cuda::place{0})`. Then the
/// parameters on the host change only at the end of each pass, and tests run on the CPU. v2:
/// trainer.SGD.
template <program_type P, lamina::optimizer::optimizer_type Opt,
          class Trainer = lamina::trainer<P, Opt>>
class SGD {
 public:
  /// Makes a trainer on the CPU. Throws lamina::error if init() has set use_gpu, because a trainer
  /// on a device needs a place (see the constructor below).
  template <program_type... All>
  SGD(P, parameters::Parameters<All...>& trained, Opt& update_equation)
      : model_(model_in(trained)), trainer_(model_, update_equation, options_of_host()) {
    constexpr bool has = parameters::Parameters<All...>::template has<P>;
    static_assert(check<has>,
                  "lamina: v2: trainer::SGD: expected parameters that were created with this cost, "
                  "parameters::create(cost)");
  }
  template <program_type... All>
  SGD(P, parameters::Parameters<All...>& trained, const Opt& update_equation)
      : model_(model_in(trained)), trainer_(model_, update_equation, options_of_host()) {
    constexpr bool has = parameters::Parameters<All...>::template has<P>;
    static_assert(check<has>,
                  "lamina: v2: trainer::SGD: expected parameters that were created with this cost, "
                  "parameters::create(cost)");
  }

  /// Makes a trainer on the device `at`, with one thread on the host.
  template <program_type... All, typed_place Place>
  SGD(P, parameters::Parameters<All...>& trained, Opt& update_equation, const Place& at)
      : model_(model_in(trained)), trainer_(model_, update_equation, options(1), at) {
    constexpr bool has = parameters::Parameters<All...>::template has<P>;
    static_assert(check<has>,
                  "lamina: v2: trainer::SGD: expected parameters that were created with this cost, "
                  "parameters::create(cost)");
  }

  /// Trains on all mini-batches of a reader, `num_passes` times. A second call continues with the
  /// parameters and the state of the optimizer after the first call; its events count passes from 0
  /// again. `feed` maps the fields of a sample to data layers: `feeding<"y", "x">`; by default both
  /// have the same order. Throws lamina::error for data that do not fit.
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

  /// Computes the cost and the metrics of the mini-batches of a reader, without training.
  template <class Reader, class Feeding = feeding_in_order>
  event::TestResult test(Reader&& reader, Feeding feed = {}) {
    constexpr bool fed = Feeding::template fits<P>;
    static_assert(check<fed, typename Feeding::names>,
                  "lamina: v2: feeding: expected each data layer of the cost once");
    trainer_.copy_to_host();
    if (!evaluator_) evaluator_.emplace(model_, evaluator_options{.threads = trainer_threads()});
    return event::TestResult(evaluator_->test(feed.template applied_to<P>(reader)));
  }

  /// Writes the parameters of the cost to an archive in v2's format. Programs that call it must
  /// include <lamina/v2/parameter_tar.hpp>.
  void save_parameter_to_tar(const file_path& path) {
    trainer_.copy_to_host();
    to_tar(path, std::as_const(model_));
  }

  /// Returns the lamina::trainer, for example to make single steps or to save its state in a file.
  Trainer& of() { return trainer_; }

 private:
  /// Makes the trainer report its events to a handler as long as this object exists.
  class handled {
   public:
    handled(Trainer& of, const event::handler& to) : of_(of) {
      if (to)
        of_.options().on_event = [&to, first = of_.passes()](const lamina::event& e) {
          to(e, first);
        };
    }
    handled(const handled&) = delete;
    handled& operator=(const handled&) = delete;
    ~handled() { of_.options().on_event = {}; }

   private:
    Trainer& of_;
  };

  template <program_type... All>
  static lamina::model<P>& model_in(parameters::Parameters<All...>& all) {
    constexpr bool has = parameters::Parameters<All...>::template has<P>;
    if constexpr (has)
      return all.template model_of<P>();
    else
      return *static_cast<lamina::model<P>*>(static_cast<void*>(&all));
  }
  static train_options options_of_host() {
    if (current().use_gpu)
      throw error(
          "lamina: v2: trainer::SGD: expected a place after the optimizer, as init() has use_gpu, "
          "found none: SGD trainer(cost, parameters, optimizer, lamina::cuda::place{0})");
    return options(current().trainer_count);
  }
  static train_options options(int threads) {
    train_options made;
    made.threads = threads;
    made.seed = current().seed;
    return made;
  }
  int trainer_threads() { return trainer_.options().threads; }

  lamina::model<P>& model_;
  Trainer trainer_;
  std::optional<lamina::evaluator<P>> evaluator_;
};

template <program_type P, program_type... All, lamina::optimizer::optimizer_type Opt>
SGD(P, parameters::Parameters<All...>&, const Opt&) -> SGD<P, Opt>;
template <program_type P, program_type... All, lamina::optimizer::optimizer_type Opt,
          typed_place Place>
SGD(P, parameters::Parameters<All...>&, Opt&, const Place&)
    -> SGD<P, Opt,
           decltype(lamina::trainer(std::declval<lamina::model<P>&>(), std::declval<Opt&>(),
                                    std::declval<const train_options&>(),
                                    std::declval<const Place&>()))>;

}}}  // namespace lamina::v2::trainer
