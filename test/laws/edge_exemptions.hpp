// SPDX-License-Identifier: Apache-2.0
// laws/edge_exemptions.hpp - which operators are not run with which edge values, and why: the one
// table of them. An exemption holds for every program with the operator, in that run alone.
#pragma once

#include <string_view>

#include <lamina/program/program_desc.hpp>

namespace lamina::law {

/// The runs of a law with edge values among its floating feeds.
enum edge_run : unsigned {
  small_values = 1,     // 0, -0, denormal numbers, 1e-30, ties
  large_values = 2,     // 1e20 and -1e20
  infinite_values = 4,  // both infinities
  nan_values = 8,
  offset_values = 16,  // equal rows of integers above 1e7
  no_rows = 32
};

struct edge_exemption {
  const char* type;  // of the operator
  unsigned runs;     // of edge_run
  const char* reason;
};

inline constexpr const char* order_of_sums = "order of sums";

inline constexpr edge_exemption edge_exemptions[] = {
    {"", 0, ""},
};

/// Why a program is not run with these edge values; null where it is.
inline const char* edge_exempt(const program_view& p, edge_run run) {
  for (int i = 0; i < p.count.operators; ++i)
    for (const edge_exemption& e : edge_exemptions)
      if ((e.runs & run) != 0 && std::string_view(p.operators[i].schema->type) == e.type)
        return e.reason;
  return nullptr;
}

}  // namespace lamina::law
