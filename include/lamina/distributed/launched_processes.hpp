// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/launched_processes.hpp - counts the processes that a launcher has started.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdlib>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/distributed/task_of_shell.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// Returns the number of processes that a launcher has started together, read from the environment
/// variables of Open MPI's or MPICH's mpirun or of Slurm's srun; 1 without a launcher. It lets a
/// program that is not linked with the launcher's MPI learn that it is one of several.
LAMINA_COLD inline int launched_processes() {
  if (is_by_hand_in_task()) return 1;
  const char* const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS",
                               "SLURM_STEP_NUM_TASKS"};
  for (const char* const name : names)
    if (const char* const found = std::getenv(name); found != nullptr)
      if (const int n = std::atoi(found); n > 1) return n;
  return 1;
}

/// Called by a process that is alone according to MPI. Throws lamina::error if a launcher has
/// started several.
LAMINA_COLD inline void require_launched_alone() {
  if (const int n = launched_processes(); n > 1)
    throw error(text() << "lamina: distributed: expected " << n
                       << " processes, as the launcher started, found one: the program has another "
                          "MPI than the launcher, or srun needs --mpi (srun --mpi=list)");
}

}}}  // namespace lamina::distributed
