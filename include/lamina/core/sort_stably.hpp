// SPDX-License-Identifier: Apache-2.0
// lamina/core/sort_stably.hpp - sorts positions and keeps the order of equal ones.
// It replaces std::stable_sort, which in libstdc++ 12 allocates memory with a function that newer
// clangs warn of.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <vector>

namespace lamina::inline LAMINA_ABI {

/// Sorts increasing positions by `before(a, b)`, a strict weak order; of two equal positions the
/// smaller one stays first.
template <class Position, class Before>
void sort_stably(std::vector<Position>& positions, const Before& before) {
  std::sort(positions.begin(), positions.end(),
            [&](Position a, Position b) { return before(a, b) || (a < b && !before(b, a)); });
}

}  // namespace lamina::inline LAMINA_ABI
