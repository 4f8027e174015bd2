// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/mpi_exit.hpp - after a failure, one exit code for all processes.
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

#include <lamina/distributed/mpi_end.hpp>
#include <lamina/distributed/mpi_requests.hpp>  // includes mpi.h

namespace lamina::inline LAMINA_ABI::distributed {

/// The exit code of a process that has ended in a failure, as the others see it.
struct known_exit {
  int code = 0;
  /// Whether the failure was in this process; otherwise it has heard of another one's.
  bool knows = false;
};

/// The exit code of the job: that of the rank that knows why it failed. Where several know, 64
/// (usage) and 65 (data) come first, which another try would have again, and then lower ranks. 0 if
/// none of them ends with another code.
inline int exit_code_of_job(const std::vector<known_exit>& ranks) {
  int found = 0;
  for (const known_exit& r : ranks) {
    if (!r.knows || r.code == 0) continue;
    if (r.code == 64 || r.code == 65) return r.code;
    if (found == 0) found = r.code;
  }
  return found;
}

/// After a failure, MPI ends when the process exits, because no process knows before that with
/// which code. Launchers make one code of those of all processes, each in its own way: mpirun of
/// Open MPI takes the first, that of MPICH all bits of all, srun the highest. So processes that
/// have heard of the failure of another one end with the code of that one.
class mpi_exit {
 public:
  /// Keeps MPI until this process exits. All ranks of MPI_COMM_WORLD must call it. Returns whether
  /// it does: where the system does not tell a code at exit (other C libraries than glibc), the
  /// caller has to end MPI.
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
  /// Whether MPI is only kept for the exit.
  static bool is_pending() { return its().is_pending; }

 private:
  using clock = std::chrono::steady_clock;
  // Not in the communicator of the session, where a rank that is later forgets what arrives.
  static constexpr int tag = 32001;
  static constexpr double longest_wait = 10;  // seconds

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
    if (is_main == 0) return;  // MPI may allow calls of that thread alone
    std::fflush(nullptr);      // the launcher ends the others when the first one has exited
    int rank = 0, size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const auto n = static_cast<std::size_t>(size), mine = static_cast<std::size_t>(rank);
    // Never freed: where a rank does not answer, MPI may still write.
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
      // A process that ends without MPI_Finalize: its launcher ends the others.
      if (std::chrono::duration<double>(clock::now() - begin).count() > longest_wait) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    // A launcher that ends the others because this one has failed does not change their codes.
    std::signal(SIGTERM, SIG_IGN);
    mpi_finalize();
    std::vector<known_exit> ranks;
    for (const auto& [code, knows] : codes) ranks.push_back({code, knows != 0});
    const int code = exit_code_of_job(ranks);
    // glibc goes on with the functions that are left, and the new code.
    if (status != 0 && code != 0 && code != status) std::exit(code);
  }
};

}  // namespace lamina::inline LAMINA_ABI::distributed
