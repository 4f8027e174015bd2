// SPDX-License-Identifier: Apache-2.0
// lamina/core/messages/nearest_word.hpp - suggests the intended spelling of a misspelt word.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lamina { inline namespace LAMINA_ABI {

/// Returns the smallest number of letters that must be changed, inserted or deleted to convert
/// `from` to `to` (the Levenshtein distance).
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

/// Returns the word of `words` that is nearest to `word`: the shortest word that begins with
/// `word`; if there is none, the first word with the smallest letter_distance. Returns "" if
/// `words` is empty.
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

/// Returns the end of a message about an unknown name, such as ", nearest are 'a' and 'b'". This
/// text lists at most three of `words`, the nearest first: words that begin with `word`, and words
/// that differ from `word` in about a third of its letters or fewer. Returns "" if there are none.
LAMINA_API_COLD std::string nearest_words(std::string_view word,
                                          const std::vector<std::string>& words);

#if LAMINA_DEFINES

std::string nearest_words(std::string_view word, const std::vector<std::string>& words) {
  constexpr std::size_t most = 3;
  std::string_view nearest[most];
  std::size_t distances[most] = {}, found = 0;
  for (const std::string& w : words) {
    const bool continues = !word.empty() && w.starts_with(word);  // "fc_0", "fc_0.tmp_0"
    const std::size_t distance = continues ? 1 : letter_distance(word, w);
    if (!continues && 3 * distance > word.size() + 2) continue;
    std::size_t at = found;
    while (at > 0 && distance < distances[at - 1]) --at;
    if (at == most) continue;
    if (found < most) ++found;
    for (std::size_t i = found - 1; i > at; --i) {
      nearest[i] = nearest[i - 1];
      distances[i] = distances[i - 1];
    }
    nearest[at] = w;
    distances[at] = distance;
  }
  std::string made = found == 0 ? "" : found == 1 ? ", nearest is " : ", nearest are ";
  for (std::size_t i = 0; i < found; ++i)
    made += (i == 0 ? "'" : i + 1 == found ? " and '" : ", '") + std::string(nearest[i]) + "'";
  return made;
}

#endif  // LAMINA_DEFINES

}}  // namespace lamina
