// SPDX-License-Identifier: Apache-2.0
// lamina/model/shared_parameters.hpp - names a model whose parameters another one shares.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/fixed_string.hpp>
#include <lamina/model/refused/refused_model.hpp>
#include <lamina/program/program.hpp>

namespace lamina::inline LAMINA_ABI {

/// The argument that names a model whose parameters a new model shares: all parameters, or those of
/// some layers.
template <program_type Q, fixed_string... Layers>
struct shared_parameters {
  const model<Q>& from;
};
/// Whether T is a shared_parameters argument.
template <class T>
inline constexpr bool is_shared_parameters = false;
template <program_type Q, fixed_string... Layers>
inline constexpr bool is_shared_parameters<shared_parameters<Q, Layers...>> = true;

/// `model m{program, share_parameters_of(n)}` shares each parameter that both models have. With
/// names, it shares only the parameters that belong to these names of parameters or layers:
/// `share_parameters_of<"embedding", "fc_0.w_0">(n)` (names.hpp, belongs_to). The design document
/// of PaddlePaddle: parameter_model.
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

}  // namespace lamina::inline LAMINA_ABI
