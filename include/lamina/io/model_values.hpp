// SPDX-License-Identifier: Apache-2.0
// lamina/io/model_values.hpp - access to a model through types that do not depend on its program,
// so that writers and readers of files are compiled once for all programs.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>

#include <lamina/model/model.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The program and the parameters of a model.
struct model_values {
  program_view program;
  int count;  // the number of parameters
  parameter_info (*describe)(int parameter);
  const void* model;
  /// Copies the elements of a parameter, row by row, to `elements`, an array of the same size and
  /// type.
  void (*copy)(const void* model, int parameter, void* elements);
};

/// Returns the program and the parameters of a model. The result refers to the model, which must
/// outlive it.
template <program_type P>
model_values values_of(const model<P>& from) {
  return {P::view(), model<P>::parameter_arrays(), &model<P>::describe, &from,
          [](const void* m, int i, void* elements) {
            const auto value = static_cast<const model<P>*>(m)->get(i);
            std::copy_n(value.data(), value.size(), static_cast<real_of<P>*>(elements));
          }};
}

/// A function that sets all parameters of a model; values[i] points to the elements of parameter i,
/// row by row.
struct model_setter {
  int count;
  parameter_info (*describe)(int parameter);
  void* model;
  void (*set_all)(void* model, const void* const* values);
};
template <program_type P>
model_setter setter_of(model<P>& to) {
  return {model<P>::parameter_arrays(), &model<P>::describe, &to,
          [](void* m, const void* const* values) {
            constexpr int n = model<P>::parameter_arrays();
            const real_of<P>* typed[bound(n + 1)];
            for (int i = 0; i < n; ++i) typed[i] = static_cast<const real_of<P>*>(values[i]);
            static_cast<model<P>*>(m)->set_all(typed);
          }};
}

}}  // namespace lamina
