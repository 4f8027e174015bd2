// SPDX-License-Identifier: Apache-2.0
// lamina/transform/freeze.hpp - freezes the parameters of some layers, so that training changes
// only the other parameters.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/compile_time/fixed_string.hpp>
#include <lamina/core/messages/check.hpp>
#include <lamina/program/program.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {

/// Whether one of the names is the name of this parameter or of its layer, or a whole-word prefix.
template <fixed_string... Names, class Program>
constexpr bool is_of_names(const Program& p, int parameter) {
  const int v = p.parameters[parameter].variable;
  return (parameter_belongs_to(p, v, Names.view()) || ...);
}
/// Whether the program has parameters to which the name refers.
template <class P, fixed_string Name>
constexpr bool has_parameters_of() {
  for (int i = 0; i < P::desc.count.parameters; ++i)
    if (is_of_names<Name>(P::desc, i)) return true;
  return false;
}

/// Freezes the parameters to which the names refer or, with `Except`, all other parameters. An
/// operator with frozen statistics and the attribute use_global_stats, such as batch_norm, then
/// uses these statistics without changing them.
template <bool Except, fixed_string... Names>
constexpr void freeze_parameters(program_builder& b) {
  const struct {
    const variable_desc* variables;
    const name_desc* names;
    const char* characters;
    const parameter_desc* parameters;
  } named{b.variables.items, b.names.items, b.characters.items, b.parameters.items};
  bool* const frozen = new bool[static_cast<unsigned>(b.variables.count) + 1];
  for (int v = 0; v < b.variables.count; ++v) frozen[v] = false;
  for (int i = 0; i < b.parameters.count; ++i) {
    if (is_of_names<Names...>(named, i) == Except) continue;
    const int v = b.parameters[i].variable;
    frozen[v] = true;
    b.parameters[i].trainable = false;
    b.variables[v].stop_gradient = true;
  }
  for (int k = 0; k < b.operators.count; ++k) {
    operator_desc& op = b.operators[k];
    for (int a = 0; a < op.schema->attribute_count; ++a) {
      if (std::string_view(op.schema->attributes[a].name) != "use_global_stats") continue;
      bool writes_frozen = false;
      for (int at = op.outputs; at < op.end; ++at)
        writes_frozen = writes_frozen || (b.arguments[at] >= 0 && frozen[b.arguments[at]]);
      if (!writes_frozen) continue;
      const int at = b.attributes.count;
      for (int i = 0; i < op.schema->attribute_count; ++i) {
        const attribute_value v = op.attributes >= 0
                                      ? b.attributes[op.attributes + i]
                                      : attribute_value{op.schema->attributes[i].number, 0, 0};
        b.attributes.push(i == a ? attribute_value{1, 0, 0} : v);
      }
      op.attributes = at;
    }
  }
  delete[] frozen;
}

}  // namespace detail

/// A program some of whose parameters are frozen.
template <program_type P, bool Except, fixed_string... Names>
struct with_frozen : program_base<with_frozen<P, Except, Names...>> {
  using result = typename P::result;
  static constexpr program_desc desc =
      changed<P::desc, &detail::freeze_parameters<Except, Names...>>();
};

namespace transform {

/// Returns the program with the parameters of these layers frozen, that is, without gradients and
/// updates. A batch_norm among the layers uses its moving statistics without changing them. A name
/// is the name of a layer or parameter, or a whole-word prefix of such names: "block_1" freezes
/// "block_1.w_0" and not "block_10.w_0", "block" freezes both. A name without parameters is a
/// compile-time error. Call it before the program is given to an optimizer, because updates that
/// exist are not removed: `model tuned{transform::freeze<"features">(net),
/// share_parameters_of(trained)}`.
template <fixed_string... Names, program_type P>
constexpr with_frozen<P, false, Names...> freeze(P) {
  constexpr bool known = is_faulty<P> || (detail::has_parameters_of<P, Names>() && ...);
  static_assert(check<known>,
                "lamina: freeze: expected names of layers or parameters of the program");
  return {};
}
/// Returns the program with all parameters frozen except those of these layers:
/// `freeze_except<"output">(net)`.
template <fixed_string... Names, program_type P>
constexpr with_frozen<P, true, Names...> freeze_except(P) {
  constexpr bool known = is_faulty<P> || (detail::has_parameters_of<P, Names>() && ...);
  static_assert(check<known>,
                "lamina: freeze: expected names of layers or parameters of the program");
  return {};
}

}  // namespace transform
}}  // namespace lamina
