// SPDX-License-Identifier: Apache-2.0
// lamina/core/arrays/sort_stably.hpp - a stable sort of positions. It replaces std::stable_sort,
// because newer versions of clang warn about a deprecated function that std::stable_sort calls in
// libstdc++ 12.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <vector>

namespace lamina { inline namespace LAMINA_ABI {

/// Sorts positions by `before(a, b)`, a strict weak order. Of two equivalent positions the smaller
/// comes first; this makes the sort stable if the positions are in ascending order before.
template <class Position, class Before>
void sort_stably(std::vector<Position>& positions, const Before& before) {
  std::sort(positions.begin(), positions.end(),
            [&](Position a, Position b) { return before(a, b) || (a < b && !before(b, a)); });
}

}}  // namespace lamina
