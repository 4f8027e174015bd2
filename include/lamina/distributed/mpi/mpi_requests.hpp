// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/mpi/mpi_requests.hpp - the pending requests of an exchange, by MPI.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

// The C++ bindings of old MPIs are not used and cause warnings.
#if !defined(OMPI_SKIP_MPICXX)
#define OMPI_SKIP_MPICXX 1
#endif
#if !defined(MPICH_SKIP_MPICXX)
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/distributed/process_group.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// Returns MPI's description of an error code.
LAMINA_COLD inline std::string mpi_message(int code) {
  char what[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, what, &length);
  return what;
}

/// Throws lamina::error if a code of MPI is an error.
LAMINA_COLD inline void require_mpi(int code, int rank) {
  if (code == MPI_SUCCESS) return;
  throw error(text() << "lamina: distributed: MPI failed in rank " << rank << ": "
                     << mpi_message(code) << " (do all processes make the same calls?)");
}

/// The requests of an exchange, receives first.
struct mpi_requests {
  std::vector<MPI_Request> all;
  std::vector<int> peers;  // the rank of each request, by receive
  bool is_open = false;
  bool is_of_caller = false;  // the caller of the session owns the memory and may free it

  /// Begins an exchange whose memory belongs to the session.
  void begin() {
    all.clear();
    peers.clear();
    is_open = true;
    is_of_caller = false;
  }
  MPI_Request* next() {
    all.push_back(MPI_REQUEST_NULL);
    return &all.back();
  }
  /// Begins an exchange of messages. Returns an error code of MPI.
  int post(MPI_Comm comm, int tag, std::span<const process_group::message> sends,
           std::span<const process_group::message> receives) {
    begin();
    is_of_caller = true;
    int code = MPI_SUCCESS;
    for (const process_group::message& m : receives)
      pieces(m, [&](std::byte* at, int bytes) {
        peers.push_back(m.peer);
        const int found = MPI_Irecv(at, bytes, MPI_BYTE, m.peer, tag, comm, next());
        if (code == MPI_SUCCESS) code = found;
      });
    for (const process_group::message& m : sends)
      pieces(m, [&](std::byte* at, int bytes) {
        const int found = MPI_Isend(at, bytes, MPI_BYTE, m.peer, tag, comm, next());
        if (code == MPI_SUCCESS) code = found;
      });
    return code;
  }

 private:
  static constexpr std::size_t largest_piece = std::size_t{1} << 30;
  template <class F>
  static void pieces(const process_group::message& m, F&& f) {
    std::byte* const data = static_cast<std::byte*>(m.data);
    for (std::size_t at = 0; at < m.bytes; at += largest_piece)
      f(data + at, static_cast<int>((std::min)(largest_piece, m.bytes - at)));
  }
};

}}}  // namespace lamina::distributed
