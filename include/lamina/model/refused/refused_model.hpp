// SPDX-License-Identifier: Apache-2.0
// lamina/model/refused/refused_model.hpp - deduces the model of a call, and explains invalid calls.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/program/program.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// For an invalid call a compiler would list the constructors of the primary template. So there is
/// no definition of it: model.hpp defines the only specialisation.
template <program_type P>
class model;

namespace detail {
/// Replaces the program type after a missing program was reported. A model of it causes no further
/// errors.
struct no_program {
  using result = void;
  static constexpr program_desc desc = changed<empty_program, &record_nothing>();
};

/// Deduces the program of a model from its first argument.
template <class First>
struct modelled {
  using program = no_program;
};
template <program_type P>
struct modelled<P> {
  using program = P;
};
template <program_type P>
struct modelled<model<P>> {
  using program = P;
};
template <class First>
using modelled_in = typename modelled<First>::program;
}  // namespace detail

}}  // namespace lamina
