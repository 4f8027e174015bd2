// SPDX-License-Identifier: Apache-2.0
// lamina/launch/started_words.hpp - escapes a program's arguments for mpirun and srun.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/launch/shell_word.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

namespace detail {

/// Whether mpirun or srun reads a word although it is an argument of the program: all of them take
/// a lone `:` as the separator between two programs, and mpirun of Open MPI looks for options of
/// its parameters (`-mca`, `-gmca`, `-am`, `-tune`) in all words.
LAMINA_COLD inline bool launchers_read(std::string_view word) {
  if (word == ":") return true;
  if (!word.starts_with('-')) return false;
  word.remove_prefix(word.starts_with("--") ? 2 : 1);
  return word == "mca" || word == "gmca" || word == "am" || word == "tune";
}

}  // namespace detail

/// Returns the command by which mpirun (Open MPI, MPICH) or srun starts `program` with `arguments`.
/// If they would read one of the arguments, all are joined into one word, which a shell in the
/// process splits again. Throws lamina::error if that word is longer than the 128 KiB that Linux
/// allows.
LAMINA_COLD inline std::vector<std::string> started_words(
    const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  if (std::none_of(arguments.begin(), arguments.end(), detail::launchers_read)) return words;
  std::string script = "exec";
  for (const std::string& w : words) script += " " + shell_word(w);
  constexpr std::size_t longest = 128 * 1024 - 1;
  if (script.size() > longest)
    throw error(
        text() << "lamina: launch: arguments: expected at most " << longest
               << " bytes beside a word that launchers read (':', -mca, -gmca, -am, -tune), found "
               << script.size());
  return {"/bin/sh", "-c", script};
}

}}}  // namespace lamina::distributed
