// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/mpi/mpi_packets.hpp - sends and receives packets by MPI.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>

// The C++ bindings of old MPIs are not used and cause warnings.
#if !defined(OMPI_SKIP_MPICXX)
#define OMPI_SKIP_MPICXX 1
#endif
#if !defined(MPICH_SKIP_MPICXX)
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>

#include <lamina/distributed/packet.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// Sends packets in pieces and keeps them until they have arrived; finds packets that arrive. The
/// functions return error codes of MPI.
class mpi_packets {
 public:
  static constexpr int tag = 16;
  static constexpr std::size_t largest_piece = std::size_t{1} << 30;

  /// Begins to send a packet. A piece shorter than the largest one tells the receiver that it is
  /// the last.
  LAMINA_COLD int post(MPI_Comm comm, int to, std::shared_ptr<const packet> what) {
    have_arrived();
    for (std::size_t at = 0;; at += largest_piece) {
      const std::size_t bytes = (std::min)(largest_piece, what->size() - at);
      sent_.push_back({what, MPI_REQUEST_NULL});
      const int code = MPI_Isend(what->data() + at, static_cast<int>(bytes), MPI_BYTE, to, tag,
                                 comm, &sent_.back().request);
      if (code != MPI_SUCCESS || bytes < largest_piece) return code;
    }
  }
  /// Frees the packets that have arrived. Returns whether all of them have.
  LAMINA_COLD bool have_arrived() {
    while (!sent_.empty()) {
      int done = 0;
      MPI_Test(&sent_.front().request, &done, MPI_STATUS_IGNORE);
      if (done == 0) return false;
      sent_.pop_front();
    }
    return true;
  }
  /// Probes for a packet, or the next piece of one, from one rank or from any. Returns its sender
  /// in `from` (-1 if there is none) and the size of the piece in `bytes`.
  LAMINA_COLD static int probe(MPI_Comm comm, int of, int& from, std::size_t& bytes) {
    MPI_Status status;
    int found = 0;
    const int code = MPI_Iprobe(of, tag, comm, &found, &status);
    from = found != 0 ? status.MPI_SOURCE : -1;
    if (found != 0) bytes = size_of(status);
    return code;
  }

 private:
  static std::size_t size_of(const MPI_Status& status) {
    int n = 0;
    MPI_Get_count(&status, MPI_BYTE, &n);
    return static_cast<std::size_t>(n);
  }
  struct sent_packet {
    std::shared_ptr<const packet> what;
    MPI_Request request;
  };
  std::deque<sent_packet> sent_;  // the memory of a request must not move
};

}}}  // namespace lamina::distributed
