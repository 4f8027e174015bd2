// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdlib>
#include <string>

#include <catch2/catch.hpp>

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
