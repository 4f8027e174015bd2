// SPDX-License-Identifier: Apache-2.0
// lamina/model/evaluation/refused_evaluator.hpp - deduces the type of an evaluator, and reports
// invalid constructions with short errors.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/compile_time/fixed_string.hpp>
#include <lamina/core/messages/check.hpp>
#include <lamina/engine/cpu/schedule/machine.hpp>
#include <lamina/model/evaluation/activation_view.hpp>
#include <lamina/model/evaluation/evaluator_options.hpp>
#include <lamina/model/evaluation/run_result.hpp>
#include <lamina/model/model.hpp>
#include <lamina/transform/clone_for_test.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// An evaluator that does nothing. It replaces an evaluator after an error was reported, so that
/// calls of its members cause no further errors.
struct refused_evaluator {
  void refresh() {}
  void check_nan(bool = false) {}
  template <class... Feed>
  void forward(Feed...) {}
  template <fixed_string Name>
  missing_view activation() {
    return {};
  }
  template <fixed_string Name, int Level = -1>
  sequence_view sequences() {
    return {};
  }
  float cost() { return 0; }
  template <class Reader>
  test_result test(Reader&&) {
    return {};
  }
  void reset() {}
};

/// The primary template has no definition, because for an invalid construction a compiler would
/// list its constructors. All evaluators are specialisations, and the deduction guide at the end
/// selects them.
template <program_type P, class Machine = engine::cpu::machine<for_test<P>>>
class evaluator;

/// The evaluator of a program with a mistake, which has been reported.
template <program_type P, class Machine>
requires(is_faulty<P>) class evaluator<P, Machine> : public refused_evaluator {
 public:
  template <class... Given>
  explicit evaluator(const Given&...) {}
  template <class Given>
  evaluator(const Given&, const evaluator_options&) {}
};

/// Reports a construction without a model.
template <class Machine>
class evaluator<detail::no_program, Machine> : public refused_evaluator {
 public:
  template <class... Given>
  explicit evaluator(const Given&...) {
    constexpr bool told = (__is_same(Given, model<detail::no_program>) || ...);
    static_assert(check<told, gets_type<Given...>>,
                  "lamina: evaluator: expected a model, evaluator e{model}");
  }
  template <class Given>
  evaluator(const Given&, const evaluator_options&) {}
#ifdef LAMINA_NAMES_OPTIONS
  evaluator(anything, ...) = delete;  // expected evaluator e{model} or e{model, {.threads = 2}}
#endif
};

namespace detail {
/// Deduces the program of an evaluator from its first argument; no_program if that is neither a
/// model nor a program. Places and bfloat16 storage have separate deduction guides, which accept a
/// seed as third argument.
template <class First>
struct evaluated {
  using program = no_program;
};
template <program_type P>
struct evaluated<model<P>> {
  using program = P;
};
template <program_type P>
struct evaluated<P> {
  using program = P;
};
template <class First>
using evaluated_in = typename evaluated<First>::program;
}  // namespace detail

// There is a single deduction guide, so that options in braces are accepted. Its parameters are on
// one line, because clang prints each line of it in an error.
// clang-format off
template <class M = left_out, class Options = evaluator_options>
evaluator(const M& = {}, const Options& = {}) -> evaluator<detail::evaluated_in<M>>;
// clang-format on
#ifdef LAMINA_NAMES_OPTIONS
evaluator(...)->evaluator<detail::no_program>;
#endif

}}  // namespace lamina
