// SPDX-License-Identifier: Apache-2.0
// lamina/model/parameters/shared_parameters.hpp - the argument by which a new model shares
// parameters of another model.
#pragma once

#include <lamina/core/config.hpp>

#include <string_view>
#include <utility>

#include <lamina/core/compile_time/fixed_string.hpp>
#include <lamina/core/messages/check.hpp>
#include <lamina/model/names/program_names.hpp>
#include <lamina/model/refused/refused_model.hpp>
#include <lamina/program/names.hpp>
#include <lamina/program/program.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The result of share_parameters_of: a model, and the names of the layers or parameters to be
/// shared; all if there are no names.
template <program_type Q, fixed_string... Layers>
struct shared_parameters {
  const model<Q>& from;
};
/// Whether T is a shared_parameters argument.
template <class T>
inline constexpr bool is_shared_parameters = false;
template <program_type Q, fixed_string... Layers>
inline constexpr bool is_shared_parameters<shared_parameters<Q, Layers...>> = true;

/// Makes a new model share parameters of model `from`. `model m{program, share_parameters_of(n)}`
/// shares each parameter that both models have. With names of layers or parameters, only the
/// parameters that belong to these names (names.hpp, belongs_to) are shared:
/// `share_parameters_of<"embedding", "fc_0.w_0">(n)`. The design document of PaddlePaddle:
/// parameter_model.
template <fixed_string... Layers, program_type Q>
shared_parameters<Q, Layers...> share_parameters_of(const model<Q>& from) {
  return {from};
}
#ifdef LAMINA_NAMES_OPTIONS
// clang-format off
template <fixed_string...>
int share_parameters_of(...) = delete;  // expected a model, share_parameters_of(model)
// clang-format on
#endif

namespace detail {

/// Finds at compile time which parameters a model of program P shares with other models.
template <program_type P>
struct parameter_sharing {
  /// The parameter of program Q with the name of parameter Index of program P, or -1.
  template <class Q, int Index>
  static constexpr int counterpart = [] {
    for (int k = 0; k < counts_of<Q>.parameters; ++k) {
      const int v = Q::desc.parameters[k].variable;
      const int n = name_length(Q::desc, v);
      char* text = new char[static_cast<unsigned>(n) + 1];
      name_writer w{text};
      write_name(Q::desc, v, w);
      const bool same = has_name(P::desc, P::desc.parameters[Index].variable,
                                 std::string_view(text, static_cast<std::size_t>(n)));
      delete[] text;
      if (same) return k;
    }
    return -1;
  }();
  template <class Q, int Index>
  struct parameter_extent {
    static constexpr variable_desc d = Q::desc.variables[Q::desc.parameters[Index].variable];
    static constexpr int first = Q::desc.dims[d.dims];
    static constexpr int last = Q::desc.dims[d.dims + d.rank - 1];
    static constexpr int at(int i) { return Q::desc.dims[d.dims + i]; }
  };
  template <class A, class B>
  static constexpr bool same_extent() {
    bool same = A::d.rank == B::d.rank && A::d.type == B::d.type;
    for (int i = 0; same && i < A::d.rank; ++i) same = A::at(i) == B::at(i);
    return same;
  }
  /// Types that the error message shows for parameter Index: its name, and its first and last
  /// dimension in both models.
  template <class Q, int Index, bool = (Index >= 0)>
  struct mismatch {
    using type = void;
  };
  template <class Q, int Index>
  struct mismatch<Q, Index, true> {
    using mine = parameter_extent<P, Index>;
    using others = parameter_extent<Q, counterpart<Q, Index>>;
    using name = typename detail::variable_text<P, P::desc.parameters[Index].variable>::type;
    using type =
        gets_type<name, expects<others::first, others::last>, gets<mine::first, mine::last>>;
  };
  /// Whether parameter Index belongs to layer or parameter `layer`.
  template <int Index>
  static constexpr bool is_of(std::string_view layer) {
    return detail::parameter_belongs_to(P::desc, P::desc.parameters[Index].variable, layer);
  }
  template <class Shared, int Index>
  struct chooses;
  template <class Q, fixed_string... Layers, int Index>
  struct chooses<shared_parameters<Q, Layers...>, Index> {
    using program = Q;
    static constexpr bool value = [] {
      if constexpr (sizeof...(Layers) == 0)
        return true;
      else
        return (is_of<Index>(Layers.view()) || ...);
    }();
  };
  /// Whether both models have a parameter that belongs to this layer.
  template <class Q, fixed_string Layer, int... Index>
  static constexpr bool shares(std::integer_sequence<int, Index...>) {
    const bool both[] = {(counterpart<Q, Index> >= 0 && is_of<Index>(Layer.view()))..., false};
    for (const bool b : both)
      if (b) return true;
    return false;
  }
  template <class Shared, int Index>
  static constexpr bool fits_one() {
    using Q = typename chooses<Shared, Index>::program;
    constexpr int k = chooses<Shared, Index>::value ? counterpart<Q, Index> : -1;
    if constexpr (k >= 0)
      return same_extent<parameter_extent<P, Index>, parameter_extent<Q, k>>();
    else
      return true;
  }
  template <class Shared, int... Index>
  static constexpr int first_mismatch(std::integer_sequence<int, Index...>) {
    const bool fits[] = {fits_one<Shared, Index>()..., true};
    for (int i = 0; i < counts_of<P>.parameters; ++i)
      if (!fits[i]) return i;
    return -1;
  }
  /// The parameter of program Q that parameter Index shares, or -1.
  template <class Shared, class Q, int Index>
  static constexpr int counterpart_of = chooses<Shared, Index>::value ? counterpart<Q, Index> : -1;
};

}  // namespace detail

}}  // namespace lamina
