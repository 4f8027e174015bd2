// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <catch2/catch.hpp>

#include <lamina/distributed/launch/run_command.hpp>

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
