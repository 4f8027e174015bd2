// SPDX-License-Identifier: Apache-2.0
// lamina/launch/run_command.hpp - runs commands of the operating system, and restarts them after a
// failure.
#pragma once

#include <lamina/core/config.hpp>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

namespace detail {

/// Replaces this process by the command; returns only if it cannot.
LAMINA_COLD inline void become(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& w : words) pointers.push_back(const_cast<char*>(w.c_str()));
  pointers.push_back(nullptr);
  ::execvp(pointers[0], pointers.data());
}

/// Returns the path of a command, which it searches in PATH as a shell does; empty if there is
/// none.
LAMINA_COLD inline std::string find_command(std::string_view name) {
  if (name.find('/') != name.npos)
    return ::access(std::string(name).c_str(), X_OK) == 0 ? std::string(name) : std::string();
  const char* const list = std::getenv("PATH");
  std::string_view rest = list == nullptr ? "/usr/local/bin:/usr/bin:/bin" : list;
  while (true) {
    const std::size_t end = rest.find(':');
    std::string path(rest.substr(0, end));
    path += (path.empty() ? "./" : "/") + std::string(name);
    if (::access(path.c_str(), X_OK) == 0) return path;
    if (end == rest.npos) return "";
    rest.remove_prefix(end + 1);
  }
}

/// As long as this object lives, forwards signals that would end this process to its child, so that
/// this process can clean up afterwards (for example remove a file with a password). Only one may
/// exist at a time.
class forwarded_signals {
 public:
  LAMINA_COLD forwarded_signals() {
    child = 0;
    received = 0;
    struct sigaction act = {};
    act.sa_handler = [](int signal) {
      received = signal;
      // A terminal sends SIGINT to the child too.
      if (child > 0 && signal != SIGINT) ::kill(child, signal);
    };
    for (int i = 0; i < count; ++i) {
      ::sigaction(caught[i], &act, &before_[i]);
      // A signal that is ignored, as under nohup, stays ignored.
      if (before_[i].sa_handler == SIG_IGN) ::sigaction(caught[i], &before_[i], nullptr);
    }
  }
  forwarded_signals(const forwarded_signals&) = delete;
  forwarded_signals& operator=(const forwarded_signals&) = delete;
  LAMINA_COLD ~forwarded_signals() {
    for (int i = 0; i < count; ++i) ::sigaction(caught[i], &before_[i], nullptr);
  }
  /// Sets the child. A signal that has already arrived is sent to it too.
  LAMINA_COLD static void forward_to(::pid_t its) {
    child = its;
    if (received != 0) ::kill(its, received);
  }
  static inline volatile std::sig_atomic_t child = 0, received = 0;

 private:
  static constexpr int count = 3, caught[count] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction before_[count] = {};
};

}  // namespace detail

/// Options of `run_command`.
struct command_options {
  /// The standard input of the command.
  std::string_view input = {};
  /// Whether the command reads the standard input of this process instead.
  bool keeps_input = false;
  /// Environment variables that only the command gets.
  std::vector<std::pair<std::string, std::string>> environment = {};
  /// If not null, the stderr of the command is appended here (the last 1 MiB at most).
  std::string* said = nullptr;
  /// Whether the command's stdout is handled like its stderr.
  bool all_output = false;
  /// Whether this process also writes the captured output to its own stderr, without delay.
  bool shows = true;
};

/// Runs a command, which is searched in PATH, and returns its exit code, or 128 plus the number of
/// the signal that ended it. No shell interprets the arguments. A signal that would end this
/// process ends the command first; then this function returns. Throws lamina::error if the command
/// does not exist.
LAMINA_COLD inline int run_command(const std::vector<std::string>& words,
                                   const command_options& options) {
  int to[2], failed[2], from[2] = {-1, -1};
  if (::pipe2(to, O_CLOEXEC) != 0) throw error("lamina: launch: expected a pipe, found none");
  if (::pipe2(failed, O_CLOEXEC) != 0) {
    ::close(to[0]), ::close(to[1]);
    throw error("lamina: launch: expected a pipe, found none");
  }
  if (options.said != nullptr && ::pipe2(from, O_CLOEXEC) != 0) {
    for (const int file : {to[0], to[1], failed[0], failed[1]}) ::close(file);
    throw error("lamina: launch: expected a pipe, found none");
  }
  const detail::forwarded_signals forwarding;
  const ::pid_t child = ::fork();
  if (child == 0) {
    if (!options.keeps_input) ::dup2(to[0], 0);
    if (from[1] >= 0) ::dup2(from[1], 2);
    if (options.all_output) ::dup2(2, 1);
    for (const auto& [name, value] : options.environment) ::setenv(name.c_str(), value.c_str(), 1);
    detail::become(words);
    const int why = errno;
    [[maybe_unused]] const ::ssize_t told = ::write(failed[1], &why, sizeof why);
    ::_exit(127);
  }
  ::close(to[0]), ::close(failed[1]);
  if (from[1] >= 0) ::close(from[1]);
  int why = child < 0 ? errno : 0;
  if (child > 0) {
    detail::forwarded_signals::forward_to(child);
    ::ssize_t told = 0;
    do {
      told = ::read(failed[0], &why, sizeof why);
    } while (told < 0 && errno == EINTR);
    if (told != sizeof why) why = 0;
  }
  ::close(failed[0]);
  // If the command does not read its input, SIGPIPE must not end this process.
  void (*const before)(int) = std::signal(SIGPIPE, SIG_IGN);
  ::fcntl(to[1], F_SETFL, O_NONBLOCK);
  int status = 0;
  bool is_over = false;
  std::string_view input = why == 0 ? options.input : std::string_view();
  if (input.empty()) ::close(to[1]), to[1] = -1;
  while (why == 0 && (to[1] >= 0 || from[0] >= 0)) {
    ::pollfd ready[2] = {{to[1], POLLOUT, 0}, {from[0], POLLIN, 0}};
    const int events = ::poll(ready, 2, 200);
    if (events < 0) continue;  // a signal has interrupted the wait
    // A background process of the command may keep its stderr open after the command has ended.
    if (events == 0 && (is_over = ::waitpid(child, &status, WNOHANG) == child)) break;
    if (to[1] >= 0 && ready[0].revents != 0) {
      const ::ssize_t written = ::write(to[1], input.data(), input.size());
      if (written > 0) input.remove_prefix(static_cast<std::size_t>(written));
      const bool is_broken = written < 0 && errno != EINTR && errno != EAGAIN;
      if (is_broken || input.empty()) ::close(to[1]), to[1] = -1;
    }
    if (from[0] >= 0 && ready[1].revents != 0) {
      char bytes[4096];
      const ::ssize_t count = ::read(from[0], bytes, sizeof bytes);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) {
        ::close(from[0]), from[0] = -1;
        continue;
      }
      const auto size = static_cast<std::size_t>(count);
      if (options.shows) {
        [[maybe_unused]] const ::ssize_t shown = ::write(2, bytes, size);
      }
      constexpr std::size_t most = std::size_t{1} << 20;
      if (options.said->size() > most) options.said->erase(0, most / 2);
      options.said->append(bytes, size);
    }
  }
  if (to[1] >= 0) ::close(to[1]);
  if (from[0] >= 0) ::close(from[0]);
  std::signal(SIGPIPE, before);
  while (child > 0 && !is_over && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (why != 0)
    throw error(text() << "lamina: launch: expected the command " << words[0] << ", found none ("
                       << std::strerror(why) << ")");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Does the same with a text as the command's input.
LAMINA_COLD inline int run_command(const std::vector<std::string>& words, std::string_view input) {
  return run_command(words, {.input = input});
}

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
