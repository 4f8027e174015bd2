// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/mpi/mpi_exit.hpp - makes all processes exit with one code after a failure.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include <lamina/distributed/mpi/mpi_end.hpp>
#include <lamina/distributed/mpi/mpi_requests.hpp>  // includes mpi.h

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// The exit code of a process that has failed, as the other processes receive it.
struct known_exit {
  int code = 0;
  /// Whether the failure happened in this process; false if another process has reported it.
  bool knows = false;
};

/// Returns the exit code of the job: the code of the rank in which the failure happened. If there
/// are several, the codes 64 (usage) and 65 (data), with which another try would fail again, take
/// precedence, and then lower ranks. Returns 0 if no rank ends with another code.
inline int exit_code_of_job(const std::vector<known_exit>& ranks) {
  int found = 0;
  for (const known_exit& r : ranks) {
    if (!r.knows || r.code == 0) continue;
    if (r.code == 64 || r.code == 65) return r.code;
    if (found == 0) found = r.code;
  }
  return found;
}

/// Delays MPI_Finalize to the exit of the process after a failure, because only then a process
/// knows its exit code. Launchers combine the codes of all processes in different ways: Open MPI's
/// mpirun takes the first, MPICH's the bitwise or of all, srun the highest. So processes that were
/// told of a failure exit with the code of the process that has failed.
class mpi_exit {
 public:
  /// Keeps MPI until this process exits. All ranks of MPI_COMM_WORLD must call it. Returns false if
  /// the C library does not pass the exit code to exit handlers (only glibc does); then the caller
  /// must end MPI.
  LAMINA_COLD static bool keep(bool knows) {
#ifdef __GLIBC__
    kept& k = its();
    k.knows = knows;
    k.is_pending = ::on_exit(at_exit, nullptr) == 0;
    return k.is_pending;
#else
    static_cast<void>(knows);
    return false;
#endif
  }
  /// Tells whether MPI is kept only for the exit.
  static bool is_pending() { return its().is_pending; }

 private:
  using clock = std::chrono::steady_clock;
  // Used in MPI_COMM_WORLD: in the communicator of the session, a rank that ends later may discard
  // the message.
  static constexpr int tag = 32001;
  static constexpr double longest_wait = 10;  // limit in seconds

  struct kept {
    bool knows = false, is_pending = false;
  };
  static kept& its() {
    static constinit kept one{};
    return one;
  }

  LAMINA_COLD static void at_exit(int status, void*) {
    int is_main = 0, ended = 0;
    MPI_Finalized(&ended);
    if (ended != 0) return;
    MPI_Is_thread_main(&is_main);
    if (is_main == 0) return;  // MPI may allow calls only of the main thread
    std::fflush(nullptr);      // the launcher ends all processes when the first one has exited
    int rank = 0, size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const auto n = static_cast<std::size_t>(size), mine = static_cast<std::size_t>(rank);
    // Never freed: if a rank does not answer, MPI may still write to it.
    auto& codes = *new std::vector<std::array<int, 2>>(n);
    codes[mine] = {status, its().knows ? 1 : 0};
    std::vector<MPI_Request> requests;
    for (int r = 0; r < size; ++r) {
      if (r == rank) continue;
      requests.resize(requests.size() + 2, MPI_REQUEST_NULL);
      MPI_Irecv(codes[static_cast<std::size_t>(r)].data(), 2, MPI_INT, r, tag, MPI_COMM_WORLD,
                &requests.end()[-2]);
      MPI_Isend(codes[mine].data(), 2, MPI_INT, r, tag, MPI_COMM_WORLD, &requests.end()[-1]);
    }
    int done = 0;
    for (const auto begin = clock::now();;) {
      if (MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done,
                      MPI_STATUSES_IGNORE) != MPI_SUCCESS)
        return;
      if (done != 0) break;
      // Exits without MPI_Finalize, which makes the launcher end the other processes.
      if (std::chrono::duration<double>(clock::now() - begin).count() > longest_wait) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    // The launcher may send SIGTERM because another process has failed; it must not change this
    // code.
    std::signal(SIGTERM, SIG_IGN);
    mpi_finalize();
    std::vector<known_exit> ranks;
    for (const auto& [code, knows] : codes) ranks.push_back({code, knows != 0});
    const int code = exit_code_of_job(ranks);
    // glibc continues with the remaining exit handlers and the new code.
    if (status != 0 && code != 0 && code != status) std::exit(code);
  }
};

}}}  // namespace lamina::distributed
