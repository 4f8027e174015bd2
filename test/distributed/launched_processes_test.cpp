// SPDX-License-Identifier: Apache-2.0
// The environment of each launcher tells how many processes it started.

#include <cstdlib>
#include <string>

#include <catch2/catch.hpp>
#include <unistd.h>

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

using namespace lamina::distributed;

TEST_CASE("a task of Slurm, or a child of one without a terminal, is not started by hand") {
  for (const char* const name : {"LAMINA_ROLE", "OMPI_COMM_WORLD_SIZE", "MPI_LOCALNRANKS"})
    ::unsetenv(name);
  ::setenv("SLURM_STEP_NUM_TASKS", "2", 1);
  ::setenv("SLURM_PTY_PORT", "1", 1);
  // The last two are no numbers of processes.
  for (const std::string& task : {std::to_string(::getpid()), std::string("0"), std::string("x")}) {
    ::setenv("SLURM_TASK_PID", task.c_str(), 1);
    CHECK_FALSE(is_by_hand_in_task());
    CHECK(launched_processes() == 2);
    forget_task_of_shell();
    CHECK(std::getenv("SLURM_STEP_NUM_TASKS") != nullptr);
  }
  for (const char* const name : {"SLURM_STEP_NUM_TASKS", "SLURM_PTY_PORT", "SLURM_TASK_PID"})
    ::unsetenv(name);
}
