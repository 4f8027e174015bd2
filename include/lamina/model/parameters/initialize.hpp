// SPDX-License-Identifier: Apache-2.0
// lamina/model/parameters/initialize.hpp - computes the initial values of parameters by the
// operators of the startup program.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

#include <lamina/core/numbers/random.hpp>
#include <lamina/program/program_desc.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Returns the elements [first, first + count) of the variable that a startup operator fills, in
/// row-major order. `stream` is the number of the parameter; it selects the random numbers
/// (core/numbers/random.hpp).
template <class Real>
LAMINA_COLD std::vector<Real> initial_values(const program_view& p, const operator_desc& op,
                                             std::uint64_t program_seed, std::uint64_t stream,
                                             std::size_t first, std::size_t count);
/// Returns all elements of the variable.
template <class Real>
LAMINA_COLD std::vector<Real> initial_values(const program_view& p, const operator_desc& op,
                                             std::uint64_t program_seed, std::uint64_t stream);

#if LAMINA_DEFINES

template <class Real>
std::vector<Real> initial_values(const program_view& p, const operator_desc& op,
                                 std::uint64_t program_seed, std::uint64_t stream,
                                 std::size_t first, std::size_t count) {
  std::vector<Real> values(count);
  const std::string_view type = op.schema->type;
  const auto number = [&](int attribute) {
    return static_cast<float>(p.attributes[op.attributes + attribute].number);
  };
  if (type == "fill_constant") {
    for (Real& x : values) x = static_cast<Real>(p.attributes[op.attributes + 2].number);
    return values;
  }
  if (type == "assign_value") {
    const attribute_value given = p.attributes[op.attributes + 2];
    for (std::size_t i = 0; i < count; ++i)
      values[i] = first + i < static_cast<std::size_t>(given.count)
                      ? p.reals[given.offset + static_cast<int>(first + i)]
                      : Real(0);
    return values;
  }
  const std::uint64_t own = static_cast<std::uint64_t>(p.attributes[op.attributes + 4].number);
  const std::uint64_t seed = own != 0 ? own : program_seed;
  for (std::size_t i = 0; i < count; ++i) {
    if (type == "uniform_random")
      values[i] = random_uniform_at(seed, stream, first + i, number(2), number(3));
    else if (type == "gaussian_random")
      values[i] = number(2) + number(3) * random_normal_at(seed, stream, first + i);
    else
      values[i] = number(2) + number(3) * random_truncated_normal_at(seed, stream, first + i);
  }
  return values;
}
LAMINA_INSTANCE(std::vector<float> initial_values<float>(const program_view&, const operator_desc&,
                                                         std::uint64_t, std::uint64_t, std::size_t,
                                                         std::size_t))
LAMINA_INSTANCE(std::vector<double> initial_values<double>(const program_view&,
                                                           const operator_desc&, std::uint64_t,
                                                           std::uint64_t, std::size_t, std::size_t))

template <class Real>
std::vector<Real> initial_values(const program_view& p, const operator_desc& op,
                                 std::uint64_t program_seed, std::uint64_t stream) {
  const variable_desc& v = p.variables[p.arguments[op.outputs]];
  std::size_t count = 1;
  for (int i = 0; i < v.rank; ++i) count *= static_cast<std::size_t>(p.dims[v.dims + i]);
  return initial_values<Real>(p, op, program_seed, stream, 0, count);
}
LAMINA_INSTANCE(std::vector<float> initial_values<float>(const program_view&, const operator_desc&,
                                                         std::uint64_t, std::uint64_t))
LAMINA_INSTANCE(std::vector<double> initial_values<double>(const program_view&,
                                                           const operator_desc&, std::uint64_t,
                                                           std::uint64_t))

#endif  // LAMINA_DEFINES

}}  // namespace lamina
