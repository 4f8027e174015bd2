// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/mpi/mpi_end.hpp - ends MPI in all processes, in order or by abort.
#pragma once

#include <lamina/core/config.hpp>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

#include <unistd.h>

#include <lamina/distributed/mpi/mpi_requests.hpp>  // includes mpi.h

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// Tells whether a version of MPI, as MPI_Get_library_version() prints it, closes connections by
/// UCX.
inline bool closes_by_ucx(std::string_view version) {
  return version.find("MPICH") != version.npos && version.find("ch4:ucx") != version.npos;
}

/// Ends MPI. All processes must call it.
///
/// With MPICH over UCX and TCP (seen with MPICH 4.0.2 and UCX 1.13), MPI_Finalize does not return
/// in a process that still handled messages when its peer closed their connection. So no process
/// may handle messages between the time when the first process closes its connections and the time
/// when it closes its own: all processes meet at a barrier, sleep until all have left it, and then
/// close one after the other.
LAMINA_COLD inline void mpi_finalize() {
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0, rank = 0, size = 1;
  MPI_Get_library_version(version, &length);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > 1 && closes_by_ucx({version, static_cast<std::size_t>(length)})) {
    MPI_Barrier(MPI_COMM_WORLD);
    const int step = size > 100 ? 2000 / size : 20;
    std::this_thread::sleep_for(std::chrono::milliseconds(50 + step * rank));
  }
  MPI_Finalize();
}

/// Prints a reason and ends all processes with an exit code. After MPI_Abort, MPICH's launcher
/// discards output that it has not read yet, so this waits a moment first. MPI_Abort may wait for
/// ranks that do not answer, so an alarm ends this process.
[[noreturn]] LAMINA_COLD inline void mpi_abort(std::string_view why, int code) noexcept {
  std::fprintf(stderr, "%.*s\n", static_cast<int>(why.size()), why.data());
  alarm(3);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  MPI_Abort(MPI_COMM_WORLD, code);
  std::_Exit(code);
}

}}}  // namespace lamina::distributed
