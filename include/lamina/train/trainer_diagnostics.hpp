// SPDX-License-Identifier: Apache-2.0
// lamina/train/trainer_diagnostics.hpp - deduces the trainer of a call, and explains invalid calls.
#pragma once

#include <lamina/core/config.hpp>

#include <string_view>

#include <lamina/core/files/file.hpp>
#include <lamina/core/messages/check.hpp>
#include <lamina/model/model.hpp>
#include <lamina/optimizer/rule.hpp>
#include <lamina/optimizer/sgd.hpp>
#include <lamina/optimizer/train_options.hpp>
#include <lamina/train/cpu_trainer.hpp>
#include <lamina/train/training_run.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// A trainer that does nothing; it replaces the real one after an error was reported.
struct trainer_diagnostics {
  template <class Batch>
  float step(const Batch&) {
    return 0;
  }
  template <class Reader>
  train_result pass(Reader&&) {
    return {};
  }
  double cost() const { return 0; }
  double metric(std::string_view) { return 0; }
  void save(const file_path&) {}
  void load(const file_path&) {}
};

/// For an invalid call a compiler would list the constructors of the primary template. So there is
/// no definition of it: the specialisations are used, and the guide at the end deduces them.
template <program_type P, optimizer::optimizer_type Opt, class Machine = cpu_trainer<P, Opt>>
class trainer;

/// The trainer of a program whose mistake has been reported.
template <program_type P, optimizer::optimizer_type Opt, class Machine>
requires(is_faulty<P>) class trainer<P, Opt, Machine> : public trainer_diagnostics {
 public:
  template <class... Given>
  explicit trainer(const Given&...) {}
  template <class Given>
  trainer(const Given&, const Opt&, const train_options&) {}
};

/// Explains a call without a model, or without an optimizer.
template <class Opt, class Machine>
class trainer<detail::no_program, Opt, Machine> : public trainer_diagnostics {
 public:
  template <class... Given>
  explicit trainer(const Given&...) {
    constexpr bool told = (__is_same(Given, model<detail::no_program>) || ...);
    static_assert(check<told, gets_type<Given...>>,
                  "lamina: trainer: expected a model and an optimizer, trainer t{model, adam}");
  }
  template <class Given>
  trainer(const Given&, const Opt&, const train_options&) {}
#ifdef LAMINA_NAMES_OPTIONS
  trainer(anything, ...) = delete;  // expected trainer t{model, adam, {.threads = 2}}
#endif
};

namespace detail {
/// Deduces the type of trainer from the arguments. If no constructor fits, that type explains why.
template <class First, class Second, class Third>
struct trained {
  using program = no_program;
  using rule = optimizer::sgd;
};
template <program_type P, optimizer::optimizer_type Opt>
struct trained<model<P>, Opt, train_options> {
  using program = P;
  using rule = Opt;
};
template <program_type P, optimizer::optimizer_type Opt>
struct trained<P, Opt, train_options> {
  using program = P;
  using rule = Opt;
};
template <class M, class O, class Options>
using net_in = typename trained<M, O, Options>::program;
template <class M, class O, class Options>
using rule_in = typename trained<M, O, Options>::rule;
}  // namespace detail

// A single guide also accepts options in braces. Its parameters are on one line, because clang
// prints each line in an error.
// clang-format off
template <class M = left_out, class O = left_out, class Options = train_options>
trainer(const M& = {}, const O& = {}, const Options& = {})
    -> trainer<detail::net_in<M, O, Options>, detail::rule_in<M, O, Options>>;
// clang-format on
#ifdef LAMINA_NAMES_OPTIONS
trainer(...)->trainer<detail::no_program, optimizer::sgd>;
#endif

}}  // namespace lamina
