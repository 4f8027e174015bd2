// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/launched_processes.hpp - detects how this process was started: by a launcher,
// as one of several processes, or by hand in a shell within Slurm.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// Tells whether a user has started this process by hand in a shell that is a task of Slurm, as
/// `srun --pty` and salloc start one. Such a process inherits the variables of the task but is not
/// the task. The task is another process, which owns the user's terminal.
LAMINA_COLD inline bool is_by_hand_in_task() {
  for (const char* const name : {"LAMINA_ROLE", "OMPI_COMM_WORLD_SIZE", "MPI_LOCALNRANKS"})
    if (std::getenv(name) != nullptr) return false;
  const char* const task = std::getenv("SLURM_TASK_PID");
  if (task == nullptr || std::getenv("SLURM_PTY_PORT") == nullptr) return false;
  const long number = std::atol(task);
  if (number <= 0 || number == static_cast<long>(::getpid())) return false;
  std::ifstream file("/proc/" + std::to_string(number) + "/stat");
  std::string line;
  std::getline(file, line);
  // "pid (name) state parent group session terminal ...": the name may contain any characters.
  const std::size_t end = line.rfind(')');
  if (end == line.npos) return false;
  std::string_view rest = std::string_view(line).substr(end + 1);
  for (int field = 0; field < 5; ++field) {
    rest.remove_prefix((std::min)(rest.find_first_not_of(' '), rest.size()));
    if (field < 4) rest.remove_prefix((std::min)(rest.find(' '), rest.size()));
  }
  return !rest.empty() && !rest.starts_with("0 ");
}

/// Removes the variables by which MPI, and launchers that this process starts, would take it for
/// the Slurm task of its shell.
LAMINA_COLD inline void forget_task_of_shell() {
  if (!is_by_hand_in_task()) return;
  std::vector<std::string> names;
  for (char** v = environ; v != nullptr && *v != nullptr; ++v) {
    const std::string_view name = std::string_view(*v).substr(0, std::string_view(*v).find('='));
    for (const std::string_view prefix :
         {"PMI_", "PMI2_", "PMIX_", "SLURM_PMI", "SLURM_STEP", "SLURM_PROCID", "SLURM_LOCALID",
          "SLURM_NODEID", "SLURM_TASK_PID", "SLURM_PTY_", "SLURM_GTIDS", "SLURM_SRUN_COMM",
          "SLURM_LAUNCH_NODE", "SLURM_MPI_TYPE"})
      if (name.starts_with(prefix)) {
        names.emplace_back(name);
        break;
      }
  }
  for (const std::string& name : names) ::unsetenv(name.c_str());
}

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
