// SPDX-License-Identifier: Apache-2.0
// lamina/model/names/cost_kind.hpp - tells whether a program has a cost that training can minimise.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

#include <lamina/core/messages/check.hpp>
#include <lamina/program/program.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The kinds of costs that a program may return: no cost, an array, or one real number.
enum class cost_kind : std::uint8_t { none, array, number };

/// Returns the kind of a program's cost. Training requires `number`.
template <program_type P>
constexpr cost_kind cost_kind_of() {
  constexpr int cost = P::desc.cost;
  if constexpr (cost < 0) {
    return cost_kind::none;
  } else {
    constexpr const variable_desc& d = P::desc.variables[cost];
    constexpr bool number =
        d.rows == 0 && d.rank == 1 && P::desc.dims[d.dims] == 1 && is_floating(d.type);
    return number ? cost_kind::number : cost_kind::array;
  }
}

}}  // namespace lamina
