// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/mpi_all_leave.hpp - the end of a session after a failure.
#pragma once

#include <lamina/core/config.hpp>

#include <chrono>
#include <thread>
#include <vector>

#include <lamina/distributed/mpi_requests.hpp>  // includes mpi.h

namespace lamina::inline LAMINA_ABI::distributed {

/// Tells all other ranks that this one leaves, by messages with a tag. Returns whether all ranks
/// leave within three seconds, so that MPI can end in order.
LAMINA_COLD inline bool mpi_all_leave(MPI_Comm comm, int tag) {
  int rank = 0, size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  std::vector<MPI_Request> said;
  const char none = 0;
  for (int r = 0; r < size; ++r) {
    if (r == rank) continue;
    said.push_back(MPI_REQUEST_NULL);
    MPI_Isend(&none, 0, MPI_CHAR, r, tag, comm, &said.back());
  }
  int missing = size - 1;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(3);
  while (missing > 0 && std::chrono::steady_clock::now() < end) {
    MPI_Status status;
    int found = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, tag, comm, &found, &status);
    if (found == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      continue;
    }
    MPI_Recv(nullptr, 0, MPI_CHAR, status.MPI_SOURCE, tag, comm, MPI_STATUS_IGNORE);
    --missing;
  }
  return missing == 0;
}

}  // namespace lamina::inline LAMINA_ABI::distributed
