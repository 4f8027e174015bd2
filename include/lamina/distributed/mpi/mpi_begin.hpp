// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/mpi/mpi_begin.hpp - begins MPI, unless the program has begun it.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/messages/error.hpp>
#include <lamina/distributed/launched_processes.hpp>
#include <lamina/distributed/mpi/mpi_exit.hpp>
#include <lamina/distributed/mpi/mpi_requests.hpp>  // includes mpi.h

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// Begins MPI unless the program has done so, as mpi4py and PETSc do. Returns whether it has begun
/// MPI; if so, the caller must end it. Throws lamina::error if MPI has already ended, if it does
/// not allow other threads in the process, or if it allows only calls of another thread; with
/// `several`, also if it does not allow several threads to call it at once.
LAMINA_COLD inline bool mpi_begin(int& argc, char**& argv, bool several) {
  const int needed = several ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED;
  int begun = 0, ended = 0, level = MPI_THREAD_SINGLE, is_main = 1;
  MPI_Initialized(&begun);
  MPI_Finalized(&ended);
  if (ended != 0 || mpi_exit::is_pending())
    throw error(
        "lamina: distributed: expected an MPI that has not ended, found one after MPI_Finalize: "
        "make one session, or call MPI_Init_thread before the first session and MPI_Finalize after "
        "the last one");
  if (begun == 0) {
    forget_task_of_shell();
    MPI_Init_thread(&argc, &argv, needed, &level);
    if (level >= needed) return true;
    MPI_Finalize();
    throw error(several ? "lamina: distributed: expected an MPI with MPI_THREAD_MULTIPLE for "
                          "communication_thread, found one without"
                        : "lamina: distributed: expected an MPI that allows threads, found one "
                          "without");
  }
  MPI_Query_thread(&level);
  MPI_Is_thread_main(&is_main);
  if (level < MPI_THREAD_FUNNELED)
    throw error(
        "lamina: distributed: expected MPI_THREAD_FUNNELED or a higher level from the program that "
        "has begun MPI, found MPI_THREAD_SINGLE: call MPI_Init_thread(&argc, &argv, "
        "MPI_THREAD_FUNNELED, &level) instead of MPI_Init");
  if (level < needed)
    throw error(
        "lamina: distributed: expected MPI_THREAD_MULTIPLE for communication_thread from the "
        "program that has begun MPI, found a lower level");
  if (level == MPI_THREAD_FUNNELED && is_main == 0)
    throw error(
        "lamina: distributed: expected a session in the thread that has begun MPI, found another "
        "thread: MPI_THREAD_FUNNELED allows calls of the first only, MPI_THREAD_SERIALIZED of any");
  return false;
}

}}}  // namespace lamina::distributed
