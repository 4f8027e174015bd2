// SPDX-License-Identifier: Apache-2.0
// lamina/model/parameters/copy_arrays.hpp - copies the parameters of a model to another model, or
// blends the parameters of both models.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/engine/common/real_numbers.hpp>
#include <lamina/model/parameters/stored_arrays.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// A model's parameters and their memory, for functions that are not templates on the program.
struct parameter_memory {
  parameter_list_view list;
  float* const* array;
};

namespace detail {

/// Returns the index of the parameter with this name, or -1.
LAMINA_API_COLD int find_parameter(const parameter_list_view& in, std::string_view name);

/// Returns, for each parameter of `to`, the index of the parameter of `from` with the same name.
/// Throws lamina::error if `from` lacks a parameter or has it with another shape or type.
LAMINA_API_COLD std::vector<int> counterparts(const parameter_list_view& to,
                                              const parameter_list_view& from);

/// Computes to = (1 - tau) to + tau from, in doubles.
template <class Real>
LAMINA_COLD void blend(const float* from_memory, float* to_memory, std::size_t count, double tau) {
  const Real* const from = engine::numbers_at<Real>(from_memory);
  Real* const to = engine::numbers_at<Real>(to_memory);
  for (std::size_t i = 0; i < count; ++i)
    to[i] = static_cast<Real>((1 - tau) * static_cast<double>(to[i]) +
                              tau * static_cast<double>(from[i]));
}

/// Moves parameters towards the parameters of another model: to = (1 - tau) to + tau from. The
/// array from_of has, for each parameter of `to`, the index of the parameter of `from`; it is null
/// if both models have the same program. The parameters in the list `copied`, whose indices must be
/// in ascending order, are copied instead. Parameters that both models share are not changed.
LAMINA_API_COLD void copy_arrays(const parameter_memory& to, const parameter_memory& from,
                                 const int* from_of, double tau, const int* copied,
                                 int copied_count);

#if LAMINA_DEFINES

int find_parameter(const parameter_list_view& in, std::string_view name) {
  for (int i = 0; i < in.size(); ++i)
    if (has_name(*in.program, in.program->parameters[i].variable, name)) return i;
  return -1;
}

std::vector<int> counterparts(const parameter_list_view& to, const parameter_list_view& from) {
  std::vector<int> of;
  for (int i = 0; i < to.size(); ++i) {
    const parameter_info mine = to.describe(i);
    const int k = find_parameter(from, mine.name);
    if (k < 0)
      LAMINA_THROW error(text() << "lamina: copy_parameters: expected a parameter " << mine.name
                                << " in the other model, found none");
    const parameter_info others = from.describe(k);
    if (others.shape != mine.shape || others.type != mine.type)
      LAMINA_THROW error(text() << "lamina: copy_parameters: parameter " << mine.name
                                << ": expected " << name_of(mine.type) << " "
                                << text().list(mine.shape) << ", found " << name_of(others.type)
                                << " " << text().list(others.shape));
    of.push_back(k);
  }
  return of;
}

void copy_arrays(const parameter_memory& to, const parameter_memory& from, const int* from_of,
                 double tau, const int* copied, int copied_count) {
  if (!(tau >= 0 && tau <= 1))
    LAMINA_THROW error(text() << "lamina: copy_parameters: expected a tau between 0 and 1, found "
                              << text().print("%g", tau));
  if (tau == 0) return;
  for (int i = 0, next = 0; i < to.list.size(); ++i) {
    const bool whole = tau == 1 || (next < copied_count && copied[next] == i);
    if (next < copied_count && copied[next] == i) ++next;
    const float* const source = from.array[from_of == nullptr ? i : from_of[i]];
    if (source == to.array[i]) continue;
    const dtype type = to.list.program->variables[to.list.program->parameters[i].variable].type;
    if (whole)
      std::memcpy(to.array[i], source, to.list.floats(i) * sizeof(float));
    else if (type == dtype::float64)
      blend<double>(source, to.array[i], to.list.numbers(i), tau);
    else
      blend<float>(source, to.array[i], to.list.numbers(i), tau);
  }
}

#endif  // LAMINA_DEFINES

}  // namespace detail
}}  // namespace lamina
