// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/mpi/mpi_farewell.hpp - ends a session, in order or after a failure.
#pragma once

#include <lamina/core/config.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <lamina/distributed/mpi/mpi_requests.hpp>  // includes mpi.h

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// Lets the ranks of a communicator part. After a failure, each rank tells the others the reason.
/// Then it receives and discards the messages that they still send: a send of MPI may complete only
/// when it is received, and its memory must stay until then.
class mpi_farewell {
 public:
  static constexpr int tag_failure = 2, tag_leave = 3;
  static constexpr std::size_t longest_reason = 4000;
  static constexpr double longest_wait = 3;  // limit in seconds

  /// Tells all other ranks why this one stops.
  LAMINA_COLD void tell(MPI_Comm comm, std::string_view why) {
    reason_ = std::string(why.substr(0, longest_reason));
    send_all(comm, tag_failure, reason_);
  }
  /// Receives and discards the next message of another rank. Returns whether there was one; it may
  /// not be complete yet.
  LAMINA_COLD bool drain(MPI_Comm comm) {
    int done = 1;
    if (pending_ != MPI_REQUEST_NULL) MPI_Test(&pending_, &done, MPI_STATUS_IGNORE);
    if (done == 0) return false;
    MPI_Status status;
    int found = 0, bytes = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &found, &status);
    if (found == 0) return false;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    try {
      forgotten_.resize(static_cast<std::size_t>(bytes));
    } catch (const std::bad_alloc&) {
      return false;  // the sender then times out, and ends all processes with its reason
    }
    MPI_Irecv(forgotten_.data(), bytes, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, comm,
              &pending_);
    if (status.MPI_TAG == tag_leave) ++left_;
    return true;
  }
  /// Tells all other ranks that this one leaves without a failure, after `calls` gathers. Returns
  /// whether all ranks have said so. Until then a rank may still fail; in that case call
  /// all_leave().
  LAMINA_COLD bool have_all_left(MPI_Comm comm, std::int64_t calls) {
    leave(comm, calls);
    hear_leaves(comm);
    return left_ == others_ && have_arrived();
  }
  /// A rank that has left, and its number of gathers.
  struct left_rank {
    int rank;
    std::int64_t calls;
    std::chrono::steady_clock::time_point since;
  };
  /// Receives the messages of ranks that leave. Returns the ranks that have left so far.
  LAMINA_COLD const std::vector<left_rank>& hear_leaves(MPI_Comm comm) {
    for (int found = 1; found != 0;) {
      MPI_Status status;
      MPI_Iprobe(MPI_ANY_SOURCE, tag_leave, comm, &found, &status);
      if (found == 0) break;
      std::int64_t calls = 0;
      MPI_Recv(&calls, sizeof calls, MPI_BYTE, status.MPI_SOURCE, tag_leave, comm,
               MPI_STATUS_IGNORE);
      ++left_;
      left_ranks_.push_back({status.MPI_SOURCE, calls, clock::now()});
    }
    return left_ranks_;
  }
  /// Tells all other ranks that this one leaves. Returns whether, within three seconds, all ranks
  /// leave and all messages have arrived, including those that `more_have_arrived()` checks; then
  /// MPI can end in order.
  template <class F>
  LAMINA_COLD bool all_leave(MPI_Comm comm, F&& more_have_arrived) {
    leave(comm, 0);
    // A rank sends nothing after its leave message, so all its earlier messages have arrived with
    // it.
    for (const auto begin = clock::now(); seconds_since(begin) < longest_wait;) {
      if (drain(comm)) continue;
      if (left_ == others_ && pending_ == MPI_REQUEST_NULL && have_arrived() && more_have_arrived())
        return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }
  /// If this rank has told why it stops, waits until the others have printed that reason: when the
  /// first process ends with an error, the launcher ends all others.
  LAMINA_COLD void let_others_print() const {
    if (!reason_.empty()) std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }

  using clock = std::chrono::steady_clock;
  static double seconds_since(clock::time_point begin) {
    return std::chrono::duration<double>(clock::now() - begin).count();
  }

 private:
  /// Tells all other ranks, once, that this one leaves.
  void leave(MPI_Comm comm, std::int64_t calls) {
    if (others_ >= 0) return;
    MPI_Comm_size(comm, &others_);
    --others_;
    calls_ = calls;
    send_all(comm, tag_leave, {reinterpret_cast<const char*>(&calls_), sizeof calls_});
  }
  /// Tells whether all other ranks have received the messages of this one.
  bool have_arrived() {
    int done = 0;
    MPI_Testall(static_cast<int>(told_.size()), told_.data(), &done, MPI_STATUSES_IGNORE);
    return done != 0;
  }
  void send_all(MPI_Comm comm, int tag, std::string_view what) {
    int rank = 0, size = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int r = 0; r < size; ++r) {
      if (r == rank) continue;
      told_.push_back(MPI_REQUEST_NULL);
      MPI_Isend(what.data(), static_cast<int>(what.size()), MPI_BYTE, r, tag, comm, &told_.back());
    }
  }

  std::string reason_;      // a member, because a rank may receive it long after tell()
  std::int64_t calls_ = 0;  // a member for the same reason
  std::vector<MPI_Request> told_;
  MPI_Request pending_ = MPI_REQUEST_NULL;  // the request of drain()
  std::vector<std::byte> forgotten_;
  int left_ = 0;                       // the number of ranks that have left
  std::vector<left_rank> left_ranks_;  // ranks that left before a failure
  int others_ = -1;  // the number of other ranks; -1: none has been told that this one leaves
};

}}}  // namespace lamina::distributed
