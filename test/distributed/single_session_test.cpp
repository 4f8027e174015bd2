// SPDX-License-Identifier: Apache-2.0
// A session without MPI is one process, and refuses to be one of several.

#include <cstdlib>
#include <string>

#include <catch2/catch.hpp>

#include <lamina/distributed/single_session.hpp>

TEST_CASE("a session without MPI is a world of one") {
  int argc = 0;
  char** argv = nullptr;
  lamina::distributed::single_session world{argc, argv};
  CHECK(world.rank() == 0);
  CHECK(world.size() == 1);
  CHECK(world.host(0) == "localhost");
  const int mine = 7;
  int all = 0;
  world.gather(&mine, sizeof mine, &all);
  CHECK(all == 7);
  world.exchange({}, {});
  world.fail("nobody hears it");
}

TEST_CASE("a program without MPI under a launcher of several is refused") {
  int argc = 0;
  char** argv = nullptr;
  for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    setenv(name, "1", 1);
    CHECK_NOTHROW(lamina::distributed::single_session{argc, argv});
    setenv(name, "2", 1);
    CHECK_THROWS_WITH(lamina::distributed::single_session(argc, argv),
                      Catch::Contains("compiled with MPI") && Catch::Contains("2 processes"));
    unsetenv(name);
  }
}
