// SPDX-License-Identifier: Apache-2.0
// lamina/cli/nearest_word.hpp - what a misspelt word was meant to be.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace lamina::inline LAMINA_ABI {

/// The number of letters to change, add or leave out to turn one word into the other (Levenshtein).
LAMINA_COLD inline std::size_t letter_distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t changed = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = (std::min)({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

/// The word of `words` that is nearest to `word`: the shortest of those that begin with it, or else
/// the one of the least letter_distance, the first if there are several. Empty if `words` is.
LAMINA_COLD inline std::string_view nearest_word(std::string_view word,
                                                 const std::vector<std::string_view>& words) {
  std::string_view best;
  for (const std::string_view w : words)
    if (!word.empty() && w.starts_with(word) && (best.empty() || w.size() < best.size())) best = w;
  if (!best.empty()) return best;
  std::size_t least = 0;
  for (const std::string_view w : words) {
    const std::size_t distance = letter_distance(word, w);
    if (best.data() != nullptr && distance >= least) continue;
    best = w;
    least = distance;
  }
  return best;
}

}  // namespace lamina::inline LAMINA_ABI
