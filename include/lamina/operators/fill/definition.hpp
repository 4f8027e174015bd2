// SPDX-License-Identifier: Apache-2.0
// lamina/operators/fill/definition.hpp - operators that make values from nothing: constants and
// random numbers.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina::inline LAMINA_ABI {

inline constexpr std::array<slot_desc, 0> no_slots{};

/// A variable the user feeds; computes nothing. Stands for Fluid's feed of a data layer.
struct data : operator_definition {
  static constexpr const char* type = "data";
  static constexpr auto kind = operator_kind::source;
  static constexpr auto inputs = no_slots;
  static constexpr auto outputs = slots_out;
};

/// Out[...] = value. Fluid: fill_constant.
struct fill_constant : operator_definition {
  static constexpr const char* type = "fill_constant";
  static constexpr auto inputs = no_slots;
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 4> attributes{
      {{"shape", attribute_type::long_integers},
       {"dtype", attribute_type::integer, 5},
       {"value", attribute_type::real, 0},
       {"force_cpu", attribute_type::boolean, 0}}};
  static constexpr auto host = host_rule::inputs;
};

/// Out ~ U(min, max). Fluid: uniform_random.
struct uniform_random : operator_definition {
  static constexpr const char* type = "uniform_random";
  static constexpr auto inputs = no_slots;
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 5> attributes{
      {{"shape", attribute_type::long_integers},
       {"dtype", attribute_type::integer, 5},
       {"min", attribute_type::real, -1},
       {"max", attribute_type::real, 1},
       {"seed", attribute_type::integer, 0}}};
  static constexpr bool random = true;
};

/// Out ~ N(mean, std^2). Fluid: gaussian_random.
struct gaussian_random : operator_definition {
  static constexpr const char* type = "gaussian_random";
  static constexpr auto inputs = no_slots;
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 5> attributes{
      {{"shape", attribute_type::long_integers},
       {"dtype", attribute_type::integer, 5},
       {"mean", attribute_type::real, 0},
       {"std", attribute_type::real, 1},
       {"seed", attribute_type::integer, 0}}};
  static constexpr bool random = true;
};

/// As gaussian_random, but drawn again outside of two standard deviations.
/// Fluid: truncated_gaussian_random.
struct truncated_gaussian_random : gaussian_random {
  static constexpr const char* type = "truncated_gaussian_random";
};

/// Out ~ U(min, max), with as many rows as Input. Fluid: uniform_random_batch_size_like.
struct uniform_random_batch_size_like : uniform_random {
  static constexpr const char* type = "uniform_random_batch_size_like";
  static constexpr std::array<slot_desc, 1> inputs{{{"Input"}}};
  static constexpr std::array<attribute_desc, 7> attributes{
      {{"shape", attribute_type::integers},
       {"dtype", attribute_type::integer, 5},
       {"min", attribute_type::real, -1},
       {"max", attribute_type::real, 1},
       {"seed", attribute_type::integer, 0},
       {"input_dim_idx", attribute_type::integer, 0},
       {"output_dim_idx", attribute_type::integer, 0}}};
};

/// Out ~ N(mean, std^2), with as many rows as Input. Fluid: gaussian_random_batch_size_like.
struct gaussian_random_batch_size_like : gaussian_random {
  static constexpr const char* type = "gaussian_random_batch_size_like";
  static constexpr std::array<slot_desc, 1> inputs{{{"Input"}}};
  static constexpr std::array<attribute_desc, 7> attributes{
      {{"shape", attribute_type::integers},
       {"dtype", attribute_type::integer, 5},
       {"mean", attribute_type::real, 0},
       {"std", attribute_type::real, 1},
       {"seed", attribute_type::integer, 0},
       {"input_dim_idx", attribute_type::integer, 0},
       {"output_dim_idx", attribute_type::integer, 0}}};
};

/// Out = the given values, row by row. Fluid: assign_value.
struct assign_value : operator_definition {
  static constexpr const char* type = "assign_value";
  static constexpr auto inputs = no_slots;
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 4> attributes{
      {{"shape", attribute_type::integers},
       {"dtype", attribute_type::integer, 5},
       {"fp32_values", attribute_type::reals},
       {"int32_values", attribute_type::integers}}};
};

using fill_operators =
    operator_list<data, fill_constant, uniform_random, gaussian_random, truncated_gaussian_random,
                  uniform_random_batch_size_like, gaussian_random_batch_size_like, assign_value>;

}  // namespace lamina::inline LAMINA_ABI
