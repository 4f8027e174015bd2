// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/launch/started_words.hpp - escapes a program's arguments for mpirun and srun.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <lamina/core/error.hpp>
#include <lamina/core/text.hpp>
#include <lamina/distributed/launch/shell_word.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// Returns the command by which mpirun (Open MPI, MPICH) or srun starts `program` with `arguments`.
/// All of them take a lone `:` anywhere as the separator between two programs; they pass on all
/// other words after the program unchanged. Arguments that contain a lone `:` are therefore joined
/// into one word, which a shell in the process splits again. Throws lamina::error if that word is
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

}}}  // namespace lamina::distributed
