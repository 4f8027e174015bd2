// SPDX-License-Identifier: Apache-2.0
// lamina/model/refused/refused_model.hpp - which model a call makes, and what refuses calls.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/program/program.hpp>

namespace lamina::inline LAMINA_ABI {

/// A compiler lists the constructors of the primary template for a call that fits none. So there is
/// none: model.hpp defines the only specialisation.
template <program_type P>
class model;

namespace detail {
/// The program type after a missing program was reported. A model of it causes no further errors.
struct no_program {
  using result = void;
  static constexpr program_desc desc = changed<empty_program, &record_nothing>();
};

/// The program of a model that is made of this.
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

}  // namespace lamina::inline LAMINA_ABI
