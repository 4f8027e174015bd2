// SPDX-License-Identifier: Apache-2.0
// lamina/model/refused/refused_model.hpp - deduces the type of a model, and reports invalid
// constructions with short errors.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/program/program.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The primary template has no definition, because for an invalid construction a compiler would
/// list its constructors. model.hpp defines the only specialisation.
template <program_type P>
class model;

namespace detail {
/// Replaces the program of a model after a missing program was reported, so that the model causes
/// no further errors.
struct no_program {
  using result = void;
  static constexpr program_desc desc = changed<empty_program, &record_nothing>();
};

/// Deduces the program of a model from its first argument; no_program if that is not a program.
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
