// SPDX-License-Identifier: Apache-2.0
// lamina/operators/random/distribution/definition.hpp - operators that generate uniform or normal
// random numbers.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/fill/definition.hpp>
#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Out = numbers that are uniformly distributed from `min` (included) to `max`. Fluid:
/// uniform_random.
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

/// Out = normally distributed numbers with mean `mean` and standard deviation `std`. Fluid:
/// gaussian_random.
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

/// Like gaussian_random, but numbers more than two standard deviations from the mean are drawn
/// again. Fluid: truncated_gaussian_random.
struct truncated_gaussian_random : gaussian_random {
  static constexpr const char* type = "truncated_gaussian_random";
};

/// Out = numbers as in uniform_random, with as many rows as Input. Fluid:
/// uniform_random_batch_size_like.
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

/// Out = numbers as in gaussian_random, with as many rows as Input. Fluid:
/// gaussian_random_batch_size_like.
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

using random_distribution_operators =
    operator_list<uniform_random, gaussian_random, truncated_gaussian_random,
                  uniform_random_batch_size_like, gaussian_random_batch_size_like>;

}}}  // namespace lamina::operators
