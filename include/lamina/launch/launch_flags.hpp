// SPDX-License-Identifier: Apache-2.0
// lamina/launch/launch_flags.hpp - reads the launcher's flags of a command line.
#pragma once

#include <lamina/core/config.hpp>

#include <charconv>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/launch/job.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// The request of a command line to the launcher.
struct launch_flags {
  /// The job: the given options, changed by flags; arguments are those of the program.
  job what;
  /// Whether to print what would be submitted instead of submitting it.
  bool dry_run = false;
};

/// Reads `--launch BACKEND`, `--dry-run`, `-n N` (or `--trainers N`), `--parameter-servers N`,
/// `--cpus N`, `--memory SIZE`, `--image IMAGE`, `--base-image IMAGE`, `--build yes|no|auto`,
/// `--name NAME`, `--namespace NAME`, `--kind KIND`, `--retries N`, `--deadline SECONDS`,
/// `--restart-on-failure`, each with a value as `--flag value` or `--flag=value`, in any order. All
/// other arguments, and everything after `--`, belong to the program and are appended to the
/// arguments of the job. Throws lamina::error for a flag without a value and for an invalid number.
LAMINA_COLD inline launch_flags read_launch_flags(int argc, const char* const* argv, job given) {
  launch_flags found{std::move(given)};
  job& j = found.what;
  const auto number = [](std::string_view flag, std::string_view letters) {
    int value = 0;
    const char* const end = letters.data() + letters.size();
    const auto [stop, status] = std::from_chars(letters.data(), end, value);
    if (status != std::errc{} || stop != end) detail::bad_option(flag, "a whole number", letters);
    return value;
  };
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--") {
      for (++i; i < argc; ++i) j.arguments.emplace_back(argv[i]);
      break;
    }
    if (word == "--dry-run") {
      found.dry_run = true;
      continue;
    }
    if (word == "--restart-on-failure") {
      j.restart_on_failure = true;
      continue;
    }
    const std::string_view flag = word.starts_with("--") ? word.substr(0, word.find('=')) : word;
    std::string* const letters = flag == "--launch"       ? &j.backend
                                 : flag == "--memory"     ? &j.memory
                                 : flag == "--image"      ? &j.image
                                 : flag == "--name"       ? &j.name
                                 : flag == "--namespace"  ? &j.name_space
                                 : flag == "--kind"       ? &j.kind
                                 : flag == "--build"      ? &j.build
                                 : flag == "--base-image" ? &j.base_image
                                                          : nullptr;
    int* const count = flag == "-n" || flag == "--trainers" ? &j.trainers
                       : flag == "--parameter-servers"      ? &j.parameter_servers
                       : flag == "--cpus"                   ? &j.cpus
                       : flag == "--retries"                ? &j.retries
                       : flag == "--deadline"               ? &j.deadline
                                                            : nullptr;
    if (letters == nullptr && count == nullptr) {
      j.arguments.emplace_back(word);
      continue;
    }
    std::string_view value;
    if (flag.size() < word.size())
      value = word.substr(flag.size() + 1);
    else if (i + 1 < argc)
      value = argv[++i];
    else
      detail::bad_option(flag, "a value", "");
    if (letters != nullptr)
      *letters = value;
    else
      *count = number(flag, value);
  }
  return found;
}

}}}  // namespace lamina::distributed
