// SPDX-License-Identifier: Apache-2.0
// launcher.py and slurm.py give such words to mpirun and to srun.
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/core/messages/error.hpp>
#include <lamina/launch/started_words.hpp>

using lamina::distributed::started_words;
using words = std::vector<std::string>;

TEST_CASE("words that launchers read are hidden in a word for a shell, and all others stay") {
  CHECK(started_words("p", {}) == words{"p"});
  CHECK(started_words("p", {"a:", "::", "--", "", "it's"}) ==
        words{"p", "a:", "::", "--", "", "it's"});
  CHECK(started_words("my p", {"a", ":", ""}) == words{"/bin/sh", "-c", "exec 'my p' a : ''"});
  for (const char* const word :
       {":", "-mca", "--mca", "-gmca", "--gmca", "-am", "--am", "-tune", "--tune"}) {
    INFO(word);
    CHECK(started_words("p", {"1", word, "2", "3"}) ==
          words{"/bin/sh", "-c", std::string("exec p 1 ") + word + " 2 3"});
  }
  for (const char* const word : {"mca", "---mca", "-mcas", "-a", "am", "-", "--", "-tune=x"}) {
    INFO(word);
    CHECK(started_words("p", {word}) == words{"p", word});
  }
  CHECK(started_words("p", {std::string(200000, 'a')}).size() == 2);
  CHECK_THROWS_AS(started_words("p", {":", std::string(200000, 'a')}), lamina::error);
}
