// SPDX-License-Identifier: Apache-2.0
// lamina/model/require_cost.hpp - refuses to train a program that has nothing to minimise.
#pragma once

#include <lamina/core/check.hpp>
#include <lamina/program/program.hpp>

namespace lamina::detail {

/// Whether the program returns a cost, which is one number; an error where it does not.
template <class P>
consteval bool require_cost() {
  constexpr int cost = P::desc.cost;
  static_assert(cost >= 0, "lamina: train: the program returns no cost");
  if constexpr (cost >= 0) {
    constexpr const variable_desc& d = P::desc.variables[cost];
    constexpr bool number = d.rows == 0 && d.rank == 1 && P::desc.dims[d.dims] == 1;
    static_assert(check<number, gets_type<typename P::result>>,
                  "lamina: train: the cost is one number; take its mean over the batch first");
    return number;
  }
  return false;
}

}  // namespace lamina::detail
