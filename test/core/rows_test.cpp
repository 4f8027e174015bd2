// SPDX-License-Identifier: Apache-2.0
// Row domains: which have rows, which are sequences, and their levels.
#include <catch2/catch.hpp>

#include <lamina/core/rows.hpp>

TEST_CASE("row domains know their kind, their parent and their level") {
  using lamina::at_step;
  using lamina::batch;
  using lamina::chosen;
  using lamina::once;
  using lamina::tokens;
  using words = tokens<"words">;
  using nested = tokens<"words", tokens<"sentences">>;
  STATIC_REQUIRE(!lamina::has_rows<once>);
  STATIC_REQUIRE(lamina::has_rows<batch>);
  STATIC_REQUIRE(!lamina::is_tokens<batch>);
  STATIC_REQUIRE(lamina::is_tokens<words>);
  STATIC_REQUIRE((words::lod_level == 1 && nested::lod_level == 2));
  STATIC_REQUIRE(__is_same(nested::parent, tokens<"sentences">));
  STATIC_REQUIRE(!lamina::is_tokens<chosen<words, int>>);
  STATIC_REQUIRE(__is_same(at_step<words, int>::parent, batch));
  STATIC_REQUIRE(lamina::row_domain<at_step<words, int>>);
  STATIC_REQUIRE(!lamina::row_domain<int>);
  CHECK(&lamina::domain_mark<batch> != &lamina::domain_mark<once>);
}
