// SPDX-License-Identifier: Apache-2.0
// launch/slurm.py starts programs by hand within a real Slurm.
#include <cstdlib>
#include <string>

#include <catch2/catch.hpp>
#include <unistd.h>

#include <lamina/distributed/launched_processes.hpp>
#include <lamina/distributed/task_of_shell.hpp>

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
