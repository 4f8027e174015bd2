// SPDX-License-Identifier: Apache-2.0
// launcher.py and slurm.py give such words to mpirun and to srun.
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/core/error.hpp>
#include <lamina/distributed/launch/started_words.hpp>

using lamina::distributed::started_words;
using words = std::vector<std::string>;

TEST_CASE("a lone colon is hidden in a word for a shell, and all other words stay") {
  CHECK(started_words("p", {}) == words{"p"});
  CHECK(started_words("p", {"a:", "::", "--", "", "it's"}) ==
        words{"p", "a:", "::", "--", "", "it's"});
  CHECK(started_words("my p", {"a", ":", ""}) == words{"/bin/sh", "-c", "exec 'my p' a : ''"});
  CHECK(started_words("p", {std::string(200000, 'a')}).size() == 2);
  CHECK_THROWS_AS(started_words("p", {":", std::string(200000, 'a')}), lamina::error);
}
