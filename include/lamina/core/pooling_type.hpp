// SPDX-License-Identifier: Apache-2.0
// lamina/core/pooling_type.hpp - the ways in which pooling reduces several values to one.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

namespace lamina { inline namespace LAMINA_ABI {

/// The value that a pooling layer computes from its inputs. Pooling of image windows supports only
/// average and max.
enum class pooling_type : std::uint8_t {
  average,
  sum,
  sqrt,  // the sum divided by the square root of the number of values
  max,
  last,
  first
};

}}  // namespace lamina
