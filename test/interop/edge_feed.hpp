// SPDX-License-Identifier: Apache-2.0
// Inputs at the edges of what numbers are: zeros, tiny and huge ones, infinities, NaN, ties, halves
// and limits.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace interop {

/// The numbers of one input. Their count shares no factor with the 12 labels that are repeated
/// beside them, so that each meets each.
inline std::vector<double> edge_numbers(bool in_double) {
  const double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> all{0., -0., 1e-30, -1e-30, 1e20, -1e20, infinity, -infinity, std::nan("")};
  // Halves, the last number below a half, numbers to which a half cannot be added, no more halves.
  const double below = in_double ? 0.49999999999999994 : 0.49999997f;
  for (const double x : {0.5, 1.5, 2.5, 4.5, below, 4194304.5, 4194305.5, 8388609., 16777216.})
    for (const double sign : {1., -1.}) all.push_back(sign * x);
  // Limits of layers, and where exponentials lose all digits or leave their range.
  for (const double x :
       {1., 2., 3., 6., 1e-7, 1e-3, 20., 40.5, 88.5, 104., in_double ? 720. : 1e10})
    for (const double sign : {1., -1.}) all.push_back(sign * x);
  for (const double x : {0.3, 0.4, in_double ? 1e-310 : 1e-40, in_double ? 1e200 : 3e38})
    all.push_back(x);
  while (all.size() % 2 == 0 || all.size() % 3 == 0) all.push_back(0.25);
  return all;
}
/// The numbers of which two inputs make all pairs.
inline std::vector<double> edge_pairs() {
  const double infinity = std::numeric_limits<double>::infinity();
  return {0., -0., 1, -1, 0.5, -2.5, 3, 1e-30, 1e20, -1e20, infinity, -infinity, std::nan("")};
}

/// How many kinds of rows there are.
constexpr std::size_t edge_rows = 9;
/// A number at a place of a row, made of an ordinary one: rows with one NaN or infinity, of zeros,
/// of equal numbers, of huge and of tiny ones.
inline double edge_in_row(std::size_t row, std::size_t column, std::size_t width, double ordinary) {
  const double infinity = std::numeric_limits<double>::infinity();
  const bool here = column == row * 5 % width;
  switch (row % edge_rows) {
    case 1:
      return here ? std::nan("") : ordinary;
    case 2:
      return here ? infinity : ordinary;
    case 3:
      return here ? -infinity : ordinary;
    case 4:
      return 0;
    case 5:
      return 1e20;
    case 6:
      return 0.5;
    case 7:
      return ordinary * 1e-30;
    case 8:
      return ordinary * 1e20;
    default:
      return ordinary;
  }
}

}  // namespace interop
