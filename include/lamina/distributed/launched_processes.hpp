// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/launched_processes.hpp - how many processes the launcher has started.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdlib>

#include <lamina/core/error.hpp>
#include <lamina/core/text.hpp>
#include <lamina/distributed/task_of_shell.hpp>

namespace lamina::inline LAMINA_ABI::distributed {

/// The number of processes that a launcher has started together, as the environment says: that of
/// Open MPI's or MPICH's mpirun, or of Slurm's srun. 1 without a launcher. A program that does not
/// take part in the launcher's MPI can learn here that it is one of several.
LAMINA_COLD inline int launched_processes() {
  if (is_by_hand_in_task()) return 1;
  const char* const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS",
                               "SLURM_STEP_NUM_TASKS"};
  for (const char* const name : names)
    if (const char* const found = std::getenv(name); found != nullptr)
      if (const int n = std::atoi(found); n > 1) return n;
  return 1;
}

/// Throws lamina::error, in a process that MPI says is alone, if a launcher has started several.
LAMINA_COLD inline void require_launched_alone() {
  if (const int n = launched_processes(); n > 1)
    throw error(text() << "lamina: distributed: expected " << n
                       << " processes, as the launcher started, found one: the program has another "
                          "MPI than the launcher, or srun needs --mpi (srun --mpi=list)");
}

}  // namespace lamina::inline LAMINA_ABI::distributed
