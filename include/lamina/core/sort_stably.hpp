// SPDX-License-Identifier: Apache-2.0
// lamina/core/sort_stably.hpp - an order of positions in which equal ones stay as they were.
// Why not std::stable_sort: that of libstdc++ 12 asks for memory by a function that newer clangs
// warn of.
#pragma once

#include <algorithm>
#include <vector>

namespace lamina {

/// Sorts increasing positions by `before(a, b)`, a strict weak order; of two equal ones the smaller
/// stays first.
template <class Position, class Before>
void sort_stably(std::vector<Position>& positions, const Before& before) {
  std::sort(positions.begin(), positions.end(),
            [&](Position a, Position b) { return before(a, b) || (a < b && !before(b, a)); });
}

}  // namespace lamina
