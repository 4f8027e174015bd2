// SPDX-License-Identifier: Apache-2.0
// lamina/model/run_startup.hpp - runs a startup program that a user recorded.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

#include <lamina/engine/cpu/schedule/machine.hpp>
#include <lamina/model/model.hpp>
#include <lamina/model/names/program_names.hpp>
#include <lamina/model/parameters/moving_statistics.hpp>
#include <lamina/model/refused/refused_operator.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {

/// Whether program P has a parameter with the name of parameter `i` of program S.
template <program_type S, program_type P>
constexpr bool has_parameter_of(int i) {
  const int v = S::desc.parameters[i].variable;
  const int n = name_length(S::desc, v);
  char* text = new char[static_cast<unsigned>(n) + 1];
  name_writer w{text};
  write_name(S::desc, v, w);
  const bool found = parameter_named<P>(std::string_view(text, static_cast<std::size_t>(n))) >= 0;
  delete[] text;
  return found;
}
/// Returns the first parameter of program S that none of the models has, or -1.
template <program_type S, program_type... P>
constexpr int first_unknown_parameter() {
  for (int i = 0; i < counts_of<S>.parameters; ++i)
    if (!(has_parameter_of<S, P>(i) || ...)) return i;
  return -1;
}
/// Returns the first parameter that program S writes and that program P does not have, or -1.
template <program_type S, program_type P>
constexpr int first_foreign_result() {
  constexpr auto written = written_parameters<S>::all;
  for (int i = 0; i < written.count; ++i)
    if (!has_parameter_of<S, P>(written.of[i])) return written.of[i];
  return -1;
}

/// The name of parameter Index of program S as a type, for error messages; void if Index is -1.
template <program_type S, int Index, bool = (Index >= 0)>
struct parameter_letters_of {
  using type = void;
};
template <program_type S, int Index>
struct parameter_letters_of<S, Index, true> : variable_text<S, S::desc.parameters[Index].variable> {
};
template <program_type S, int Index>
using parameter_letters = typename parameter_letters_of<S, Index>::type;

}  // namespace detail

/// Runs program `start` once, to set parameters of model `m`. The program creates parameters with
/// the names of parameters of `m`, and writes to them with layer::store. The program may also read,
/// but not write, parameters of `sources`; if several models have a parameter of the same name, the
/// first model's parameter is used. Operators draw random numbers with `seed`. All other parameters
/// of `m` keep their values. The next training of `m` starts with new states of the optimizer.
/// Throws lamina::error if an operator throws it. Fluid: exe.run(startup_program).
template <program_type S, program_type P, program_type... More>
void run_startup(S start, model<P>& m, std::uint64_t seed = 0, const model<More>&... sources) {
  constexpr bool faulty = is_faulty<S> || is_faulty<P>;
  constexpr bool alone = faulty || counts_of<S>.data == 0;
  static_assert(check<alone>, "lamina: run_startup: a startup program has no data layers");
  constexpr int unknown = faulty ? -1 : detail::first_unknown_parameter<S, P, More...>();
  constexpr bool known = unknown < 0;
  static_assert(check<known, detail::parameter_letters<S, unknown>>,
                "lamina: run_startup: a startup program names parameters that the models have");
  constexpr int foreign = faulty || unknown >= 0 ? -1 : detail::first_foreign_result<S, P>();
  constexpr bool own = foreign < 0;
  static_assert(check<own, detail::parameter_letters<S, foreign>>,
                "lamina: run_startup: a startup program writes to parameters of the first model");
  if constexpr (!faulty && alone && known && own) {
    const model<S> shared{start, share_parameters_of(m), share_parameters_of(sources)...};
    using machine_type = engine::cpu::machine<S>;
    static_assert(check<detail::accepts_program<machine_type>,
                        typename detail::refused_operator<machine_type>::type>,
                  "lamina: a program in double: this computes in float alone");
    machine_type machine({shared.memory(), nullptr, nullptr});
    machine.run(~0ull, seed, 0);
    m.forget_training();
  }
}

}}  // namespace lamina
