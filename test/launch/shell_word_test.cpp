// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <lamina/launch/shell_word.hpp>

using lamina::distributed::shell_word;

TEST_CASE("words of a shell are quoted where a shell would change them") {
  CHECK(shell_word("/a/b-1.x") == "/a/b-1.x");
  CHECK(shell_word("") == "''");
  CHECK(shell_word("a b") == "'a b'");
  CHECK(shell_word("$(x)`y`") == "'$(x)`y`'");
  CHECK(shell_word("it's") == "'it'\\''s'");
  CHECK(shell_word("~") == "'~'");
  CHECK(shell_word("a\nb") == "'a\nb'");
  CHECK(shell_word("a\r") == "'a'\"$(printf '\\r')\"''");
}
