// SPDX-License-Identifier: Apache-2.0
// lamina/launch/shell_word.hpp - quotes a word for a shell.
#pragma once

#include <lamina/core/config.hpp>

#include <string>
#include <string_view>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// Quotes a word for a shell unless it consists of plain letters. A carriage return is escaped,
/// because sbatch refuses a script that has one before a newline.
LAMINA_COLD inline std::string shell_word(std::string_view word) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+:,./-";
  if (!word.empty() && word.find_first_not_of(plain) == word.npos) return std::string(word);
  std::string quoted = "'";
  for (const char c : word)
    quoted += c == '\''   ? std::string("'\\''")
              : c == '\r' ? std::string("'\"$(printf '\\r')\"'")
                          : std::string(1, c);
  return quoted + "'";
}

}}}  // namespace lamina::distributed
