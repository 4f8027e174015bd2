// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/mpi/mpi_hosts.hpp - the names of the hosts on which the ranks of MPI run.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <string>
#include <vector>

#include <lamina/distributed/mpi/mpi_requests.hpp>  // includes mpi.h

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// The name of each rank's host, as MPI reports it.
class mpi_hosts {
 public:
  /// Collects the names. All ranks of the communicator must call it.
  LAMINA_COLD void gather(MPI_Comm comm, int size) {
    char name[MPI_MAX_PROCESSOR_NAME] = {};
    int length = 0;
    MPI_Get_processor_name(name, &length);
    names_.resize(static_cast<std::size_t>(size) * sizeof name);
    MPI_Allgather(name, sizeof name, MPI_CHAR, names_.data(), sizeof name, MPI_CHAR, comm);
  }
  std::string of(int rank) const {
    return &names_[static_cast<std::size_t>(rank) * MPI_MAX_PROCESSOR_NAME];
  }

 private:
  std::vector<char> names_;  // the name of each host, ended by a zero
};

}}}  // namespace lamina::distributed
