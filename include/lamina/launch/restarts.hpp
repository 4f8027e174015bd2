// SPDX-License-Identifier: Apache-2.0
// lamina/launch/restarts.hpp - restarts a command after a failure.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdio>
#include <string>
#include <vector>

#include <unistd.h>

#include <lamina/launch/run_command.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// Runs a command, and restarts it after each failure, at most `retries` times; returns the last
/// exit code. It does not restart the command after the exit codes 64 (usage) and 65 (data),
/// because another try would fail again, nor after a signal that ends this process. Throws
/// lamina::error if the command does not exist.
LAMINA_COLD inline int run_with_restarts(const std::vector<std::string>& words, int retries) {
  for (int start = 0;; ++start) {
    const int code = run_command(words, {.input = {}, .keeps_input = true});
    if (code == 0 || code == 64 || code == 65 || start >= retries ||
        detail::forwarded_signals::received != 0)
      return code;
    std::fprintf(stderr,
                 "lamina: launch: %s ended with exit code %d and is started again (%d of %d)\n",
                 words[0].c_str(), code, start + 1, retries);
    std::fflush(stderr);
  }
}

}}}  // namespace lamina::distributed
