// SPDX-License-Identifier: Apache-2.0
// lamina/io/copy_parameters.hpp - copies parameters between models and the scopes of the executor
// and of file writers.
#pragma once

#include <lamina/core/config.hpp>

#include <utility>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/io/model_values.hpp>
#include <lamina/tensor/scope.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Copies the parameters of a model to variables of a scope.
inline void copy_parameters(const model_values& from, scope& to) {
  for (int i = 0; i < from.count; ++i) {
    const parameter_info info = from.describe(i);
    const auto copied = [&]<class T>(T) {
      auto elements = xt::xarray<T>::from_shape(tensor_shape(info.shape.begin(), info.shape.end()));
      from.copy(from.model, i, elements.data());
      return tensor(std::move(elements));
    };
    to.var(info.name) = info.type == dtype::float64 ? copied(double{}) : copied(float{});
  }
}
template <program_type P>
void copy_parameters(const model<P>& from, scope& to) {
  copy_parameters(values_of(from), to);
}

/// Sets the parameters of a model to the values of the variables with the same names in a scope.
/// Throws lamina::error if such a variable is missing or has another type or shape; the model is
/// then unchanged.
inline void copy_parameters(const scope& from, const model_setter& to) {
  std::vector<const void*> values;
  for (int i = 0; i < to.count; ++i) {
    const parameter_info info = to.describe(i);
    const lod_tensor& value = from.get(info.name);
    const tensor_shape shape(info.shape.begin(), info.shape.end());
    if (value.type() != info.type || value.shape() != shape)
      throw error("lamina: parameter " + info.name + ": expected " + name_of(info.type) + " " +
                  to_string(shape) + ", found " + name_of(value.type()) + " " +
                  to_string(value.shape()));
    values.push_back(value.data());
  }
  to.set_all(to.model, values.data());
}
template <program_type P>
void copy_parameters(const scope& from, model<P>& to) {
  copy_parameters(from, setter_of(to));
}

}}  // namespace lamina
