// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/launch/started_words.hpp - a program's words as mpirun and srun pass them on.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <lamina/core/error.hpp>
#include <lamina/core/text.hpp>
#include <lamina/distributed/launch/shell_word.hpp>

namespace lamina::inline LAMINA_ABI::distributed {

/// The words by which mpirun (Open MPI, MPICH) or srun starts `program` with `arguments`. For all
/// of them a lone `:` is the end of one program and the beginning of another, wherever it is; they
/// leave all other words behind the program as they are. Arguments with a lone `:` are therefore
/// parts of one word, which a shell in the process divides. Throws lamina::error where that word is
/// longer than the 128 KiB that Linux allows.
LAMINA_COLD inline std::vector<std::string> started_words(
    const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  if (std::find(words.begin(), words.end(), ":") == words.end()) return words;
  std::string script = "exec";
  for (const std::string& w : words) script += " " + shell_word(w);
  constexpr std::size_t longest = 128 * 1024 - 1;
  if (script.size() > longest)
    throw error(text() << "lamina: launch: arguments: expected at most " << longest
                       << " bytes beside a lone ':', found " << script.size());
  return {"/bin/sh", "-c", script};
}

}  // namespace lamina::inline LAMINA_ABI::distributed
