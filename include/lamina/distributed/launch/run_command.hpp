// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/launch/run_command.hpp - runs a command of the system with text as its input.
#pragma once

#include <lamina/core/config.hpp>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <lamina/core/error.hpp>
#include <lamina/core/text.hpp>

namespace lamina::inline LAMINA_ABI::distributed {

namespace detail {

/// Becomes the command; returns only if it cannot.
LAMINA_COLD inline void become(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& w : words) pointers.push_back(const_cast<char*>(w.c_str()));
  pointers.push_back(nullptr);
  ::execvp(pointers[0], pointers.data());
}

}  // namespace detail

/// Runs a command, which is found by PATH, gives it `input` and returns its exit code, or 128 and
/// its signal. No shell reads the words. Throws lamina::error if there is no such command.
LAMINA_COLD inline int run_command(const std::vector<std::string>& words, std::string_view input) {
  int to[2], failed[2];
  if (::pipe2(to, O_CLOEXEC) != 0) throw error("lamina: launch: expected a pipe, found none");
  if (::pipe2(failed, O_CLOEXEC) != 0) {
    ::close(to[0]), ::close(to[1]);
    throw error("lamina: launch: expected a pipe, found none");
  }
  const ::pid_t child = ::fork();
  if (child == 0) {
    ::dup2(to[0], 0);
    detail::become(words);
    const int why = errno;
    [[maybe_unused]] const ::ssize_t told = ::write(failed[1], &why, sizeof why);
    ::_exit(127);
  }
  ::close(to[0]), ::close(failed[1]);
  int why = child < 0 ? errno : 0;
  if (child > 0) {
    const ::ssize_t told = ::read(failed[0], &why, sizeof why);
    if (told != sizeof why) why = 0;
  }
  // A command that reads nothing does not end this process by a signal.
  void (*const before)(int) = std::signal(SIGPIPE, SIG_IGN);
  while (why == 0 && !input.empty()) {
    const ::ssize_t written = ::write(to[1], input.data(), input.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) break;
    input.remove_prefix(static_cast<std::size_t>(written));
  }
  std::signal(SIGPIPE, before);
  ::close(to[1]), ::close(failed[0]);
  int status = 0;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (why != 0)
    throw error(text() << "lamina: launch: expected the command " << words[0] << ", found none ("
                       << std::strerror(why) << ")");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace lamina::inline LAMINA_ABI::distributed
