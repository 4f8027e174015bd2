// SPDX-License-Identifier: Apache-2.0
// The environment of each launcher tells how many processes it started.

#include <cstdlib>

#include <catch2/catch.hpp>

#include <lamina/distributed/launched_processes.hpp>

TEST_CASE("launchers say how many processes they have started") {
  CHECK(lamina::distributed::launched_processes() == 1);
  for (const char* const name :
       {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS", "SLURM_STEP_NUM_TASKS"}) {
    setenv(name, "1", 1);
    CHECK(lamina::distributed::launched_processes() == 1);
    setenv(name, "17", 1);
    CHECK(lamina::distributed::launched_processes() == 17);
    setenv(name, "nonsense", 1);
    CHECK(lamina::distributed::launched_processes() == 1);
    unsetenv(name);
  }
}
