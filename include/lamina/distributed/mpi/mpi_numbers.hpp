// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/mpi/mpi_numbers.hpp - counters that all processes add to, by one-sided MPI.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/distributed/mpi/mpi_requests.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// Counters in the memory of rank 0, each in a separate window.
class mpi_numbers {
 public:
  int size() const { return static_cast<int>(windows_.size()); }
  /// Makes a counter, initially 0. All processes must call it. Throws lamina::error if MPI cannot.
  LAMINA_COLD void add(MPI_Comm comm) {
    if (make(comm) != MPI_SUCCESS)
      throw error(
          "lamina: distributed: expected an MPI with one-sided communication between these hosts, "
          "found none; for Open MPI, the environment variable OMPI_MCA_osc=^ucx may help");
  }
  /// Begins to add `more` to a counter; `before` receives its previous value. Both must stay in
  /// memory until the request in `of` is done. Returns an error code of MPI.
  LAMINA_COLD int add_to(int index, const std::int64_t& more, std::int64_t& before,
                         mpi_requests& of) {
    of.begin();
    return MPI_Rget_accumulate(&more, 1, MPI_INT64_T, &before, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T,
                               MPI_SUM, windows_[static_cast<std::size_t>(index)], of.next());
  }
  /// Frees all windows. All processes must call it.
  LAMINA_COLD void free() {
    for (MPI_Win& w : windows_) {
      MPI_Win_unlock_all(w);
      MPI_Win_free(&w);
    }
    windows_.clear();
  }

 private:
  LAMINA_COLD int make(MPI_Comm comm) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    std::int64_t* number = nullptr;
    windows_.push_back(MPI_WIN_NULL);
    const int code = MPI_Win_allocate(rank == 0 ? sizeof *number : 0, sizeof *number, MPI_INFO_NULL,
                                      comm, &number, &windows_.back());
    if (code != MPI_SUCCESS) {
      windows_.pop_back();
      return code;
    }
    MPI_Win_set_errhandler(windows_.back(), MPI_ERRORS_RETURN);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, windows_.back());
    if (rank == 0) *number = 0;
    MPI_Win_sync(windows_.back());
    return MPI_Barrier(comm);
  }
  std::vector<MPI_Win> windows_;
};

}}}  // namespace lamina::distributed
