// SPDX-License-Identifier: Apache-2.0
// A directory of checkpoints, or none.
#include <filesystem>
#include <string>
#include <type_traits>

#include <catch2/catch.hpp>

#include <lamina/optimizer/train_options.hpp>
#include <lamina/train/checkpoints/checkpoint.hpp>

using lamina::optimizer::checkpoint_directory;

static_assert(std::is_convertible_v<const char*, checkpoint_directory>);
static_assert(!std::is_convertible_v<int, checkpoint_directory>);

TEST_CASE("no directory has no functions for checkpoints; each form of a path has them") {
  const checkpoint_directory none;
  CHECK(none.empty());
  CHECK(none.files() == nullptr);
  const checkpoint_directory forms[] = {"some/where", std::string("some/where"),
                                        std::filesystem::path("some") / "where"};
  for (const checkpoint_directory& d : forms) {
    CHECK(!d.empty());
    CHECK(d.string() == "some/where");
    CHECK(d.files() == &lamina::checkpoint_functions());
  }
}
