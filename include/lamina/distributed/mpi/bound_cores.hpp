// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/mpi/bound_cores.hpp - counts the cores that the threads of a process may use.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdio>
#include <string>

#if defined(__linux__)
#include <sched.h>
#include <unistd.h>
#endif

#include <lamina/core/messages/text.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// Counts the cores of this machine, and those to which this process is bound.
struct bound_cores {
  long allowed = 0, all = 0;  // 0: unknown

  /// Asks the operating system for both counts.
  LAMINA_COLD static bound_cores of_process() {
    bound_cores found;
#if defined(__linux__)
    cpu_set_t set;
    CPU_ZERO(&set);
    // sched_getaffinity fails on machines with more cores than a cpu_set_t can represent.
    if (sched_getaffinity(0, sizeof set, &set) == 0)
      found = {CPU_COUNT(&set), sysconf(_SC_NPROCESSORS_ONLN)};
#endif
    return found;
  }

  /// Returns a warning for a user whose launcher has bound a process with several threads to fewer
  /// cores than threads. It is empty if the process has enough cores or if the machine has no more.
  /// By default Open MPI binds each of two processes to one core, and each of more than two to a
  /// socket.
  LAMINA_COLD std::string note(int threads, int rank) const {
    if (allowed <= 0 || allowed >= threads || allowed >= all) return {};
    return text() << "lamina: distributed: " << threads << " threads of rank " << rank
                  << " may use " << allowed << " of " << all
                  << " cores, as their launcher says: mpirun --bind-to none, or srun "
                     "--cpus-per-task="
                  << threads;
  }
  /// Prints the note unless it is empty.
  LAMINA_COLD void report(int threads, int rank) const {
    if (const std::string said = note(threads, rank); !said.empty())
      std::fprintf(stderr, "%s\n", said.c_str());
  }
};

}}}  // namespace lamina::distributed
