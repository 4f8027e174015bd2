// SPDX-License-Identifier: Apache-2.0
// image.py looks at what is copied.
#include <string>
#include <utility>

#include <catch2/catch.hpp>

#include <lamina/core/messages/error.hpp>
#include <lamina/launch/image_context.hpp>

using Catch::Matchers::Contains;
using namespace lamina::distributed;

TEST_CASE("files have a place in the image") {
  using place = std::pair<std::string, std::string>;
  const auto read = [](const char* entry) { return detail::read_image_file(entry); };
  CHECK(read("data/a.txt") == place{"data/a.txt", "/app/data/a.txt"});
  CHECK(read("./data/") == place{"./data/", "/app/data"});
  CHECK(read("/srv/a") == place{"/srv/a", "/srv/a"});
  CHECK(read("../a:b/../c") == place{"../a", "/app/c"});
  CHECK(read("a:/srv//b/") == place{"a", "/srv/b"});
  for (const char* const wrong : {"", ":", "a:", ":b", "../a", "a:../b", "a:/", "a:/.."})
    CHECK_THROWS_WITH(read(wrong), Contains("files: expected"));
}

TEST_CASE("a program is started by the launcher of its own MPI") {
  const elf_needs open_mpi{.libraries = {"libmpi.so.40"}}, mpich{.libraries = {"libmpich.so.12"}};
  for (const char* const kind : {"Job", "JobSet"}) {
    CHECK_NOTHROW(require_mpi_of_kind({.kind = kind}, mpich));
    CHECK_THROWS_WITH(
        require_mpi_of_kind({.kind = kind}, open_mpi),
        Contains("expected a program that is linked with MPICH") && Contains("found Open MPI"));
  }
  for (const char* const kind : {"MPIJob", "TrainJob"}) {
    CHECK_NOTHROW(require_mpi_of_kind({.kind = kind}, open_mpi));
    CHECK_NOTHROW(require_mpi_of_kind({.kind = kind}, {}));
    CHECK_THROWS_AS(require_mpi_of_kind({.kind = kind}, mpich), lamina::error);
  }
}
