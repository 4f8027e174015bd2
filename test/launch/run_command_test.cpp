// SPDX-License-Identifier: Apache-2.0

#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/core/messages/error.hpp>
#include <lamina/launch/private_file.hpp>
#include <lamina/launch/run_command.hpp>

using lamina::distributed::run_command;

TEST_CASE("a command reads its input and its exit code comes back") {
  CHECK(run_command({"true"}, "") == 0);
  CHECK(run_command({"sh", "-c", "exit 7"}, "") == 7);
  CHECK(run_command({"sh", "-c", "test \"$(cat)\" = 'a  b'"}, "a  b\n") == 0);
  CHECK(run_command({"sh", "-c", "kill -9 $$"}, "") == 128 + 9);
  // No shell between: a word stays a word.
  CHECK(run_command({"sh", "-c", "test \"$1\" = '$(x) y'", "sh", "$(x) y"}, "") == 0);
}

TEST_CASE("more than a pipe holds is written, and a command that reads nothing is no error") {
  const std::string large(1 << 20, 'x');
  CHECK(run_command({"sh", "-c", "test $(wc -c) = 1048576"}, large) == 0);
  CHECK(run_command({"true"}, large) == 0);
}

TEST_CASE("a command that is not there is an error") {
  CHECK_THROWS_WITH(run_command({"no-such-command-of-lamina", "x"}, "input"),
                    Catch::Matchers::StartsWith("lamina: launch: expected the command "
                                                "no-such-command-of-lamina, found none ("));
}

TEST_CASE("what a command says is read while it runs, and its stdout too where that is asked for") {
  std::string said;
  CHECK(run_command({"sh", "-c", "echo out; echo error >&2; exit 3"},
                    {.said = &said, .shows = false}) == 3);
  CHECK(said == "error\n");
  said.clear();
  CHECK(run_command({"sh", "-c", "echo out; echo error >&2"},
                    {.said = &said, .all_output = true, .shows = false}) == 0);
  CHECK(said == "out\nerror\n");
  // A command that writes while it still reads does not wait for ever.
  said.clear();
  const std::string large(1 << 18, 'x');
  CHECK(run_command({"cat"}, {.input = large, .said = &said, .all_output = true, .shows = false}) ==
        0);
  CHECK(said == large);
  // The end of a long text is kept.
  said.clear();
  CHECK(run_command({"sh", "-c", "head -c 3000000 /dev/zero; echo end"},
                    {.said = &said, .all_output = true, .shows = false}) == 0);
  CHECK(said.size() < (std::size_t{1} << 21));
  CHECK(said.ends_with("end\n"));
  // What is left in the background and keeps stderr is not waited for.
  CHECK(run_command({"sh", "-c", "sleep 1000 & echo $! >&2"},
                    {.said = &(said = ""), .shows = false}) == 0);
  CHECK(run_command({"sh", "-c", "kill " + said}, "") == 0);
}

TEST_CASE("variables are those of the command alone") {
  CHECK(run_command({"sh", "-c", "test \"$LAUNCH_TEST_A\" = 'a b'"},
                    {.environment = {{"LAUNCH_TEST_A", "a b"}}}) == 0);
  CHECK(std::getenv("LAUNCH_TEST_A") == nullptr);
}

TEST_CASE("commands are found by PATH") {
  using lamina::distributed::detail::find_command;
  CHECK(find_command("sh").ends_with("/sh"));
  CHECK(find_command("/bin/sh") == "/bin/sh");
  CHECK(find_command("no-such-command-of-lamina").empty());
  CHECK(find_command("/nowhere/sh").empty());
}

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
