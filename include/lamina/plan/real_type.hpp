// SPDX-License-Identifier: Apache-2.0
// lamina/plan/real_type.hpp - whether a program computes in float or in double.
#pragma once

#include <lamina/core/config.hpp>

#include <type_traits>

#include <lamina/program/program_desc.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Whether programs can compute in this type.
constexpr bool is_real(dtype type) { return type == dtype::float32 || type == dtype::float64; }

/// Returns the type in which a program computes. It is float64 if all parameters of real numbers
/// are float64, otherwise float32. In a program without such parameters, the data layers decide.
/// Casts and metrics may make variables of the other type, which kernels read and write element by
/// element. Accepts a program_desc or a program_view.
template <class Program>
constexpr dtype real_type(const Program& p) {
  bool has_double = false;
  for (int i = 0; i < p.count.parameters; ++i) {
    const dtype type = p.variables[p.parameters[i].variable].type;
    if (type == dtype::float32) return dtype::float32;
    has_double = has_double || type == dtype::float64;
  }
  if (has_double) return dtype::float64;
  for (int i = 0; i < p.count.data; ++i) {
    const dtype type = p.variables[p.data[i]].type;
    if (type == dtype::float32) return dtype::float32;
    has_double = has_double || type == dtype::float64;
  }
  return has_double ? dtype::float64 : dtype::float32;
}

/// The result of real_type() as a C++ type: float or double.
template <class P>
using real_of = std::conditional_t<real_type(P::desc) == dtype::float64, double, float>;
/// Whether a program computes in float.
template <class P>
inline constexpr bool computes_in_float = std::is_same_v<real_of<P>, float>;

}}  // namespace lamina
