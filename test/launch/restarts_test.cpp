// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <fstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/core/messages/error.hpp>
#include <lamina/launch/private_file.hpp>
#include <lamina/launch/restarts.hpp>

using lamina::distributed::private_folder;
using lamina::distributed::run_with_restarts;

namespace {

struct outcome {
  int code, starts;
  bool operator==(const outcome&) const = default;
};

/// Runs a script, `$n` being the number of the start, from 1.
outcome starts_of(const std::string& script, int retries) {
  const private_folder folder;
  const std::string log = folder.path() + "/log";
  const int code = run_with_restarts(
      {"sh", "-c", "echo >> \"$0\"; n=$(wc -l < \"$0\"); " + script, log}, retries);
  std::ifstream file(log);
  int lines = 0;
  for (std::string line; std::getline(file, line);) ++lines;
  return {code, lines};
}

}  // namespace

TEST_CASE("a failed command is started again, but not after wrong usage and wrong data") {
  CHECK(starts_of("exit 0", 3) == outcome{0, 1});
  CHECK(starts_of("exit 64", 3) == outcome{64, 1});
  CHECK(starts_of("exit 65", 3) == outcome{65, 1});
  CHECK(starts_of("exit 1", 0) == outcome{1, 1});
  CHECK(starts_of("exit 75", 2) == outcome{75, 3});
  CHECK(starts_of("kill -9 $$", 1) == outcome{128 + 9, 2});
  CHECK(starts_of("[ $n = 3 ] || exit 1", 5) == outcome{0, 3});
  CHECK(starts_of("[ $n = 1 ] && exit 1; exit 65", 5) == outcome{65, 2});
}

TEST_CASE("who ends the launcher ends the command, and it does not start again") {
  // The command tells its parent, which is this process, to end.
  std::signal(SIGHUP, SIG_DFL);  // nohup ignores it
  struct sigaction before = {}, after = {};
  ::sigaction(SIGTERM, nullptr, &before);
  CHECK(starts_of("kill -TERM $PPID; while :; do sleep 0.1; done", 3) == outcome{128 + SIGTERM, 1});
  CHECK(starts_of("kill -HUP $PPID; while :; do sleep 0.1; done", 3) == outcome{128 + SIGHUP, 1});
  // This process has its own answer to signals again.
  ::sigaction(SIGTERM, nullptr, &after);
  const bool is_restored = before.sa_handler == after.sa_handler;
  CHECK(is_restored);
}
