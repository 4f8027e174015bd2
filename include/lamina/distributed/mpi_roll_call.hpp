// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/mpi_roll_call.hpp - tells processes that are silent from those that wait.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include <lamina/core/text.hpp>
#include <lamina/distributed/mpi_requests.hpp>  // includes mpi.h

namespace lamina::inline LAMINA_ABI::distributed {

/// A rank that has waited too long asks all others whether they wait too. Those that wait in a call
/// of the session answer with that call; one that computes, hangs or is dead does not. A rank waits
/// often for another that itself waits, so the one that it waits for is rarely the one to blame.
class mpi_roll_call {
 public:
  static constexpr int tag_ask = 17, tag_answer = 18;
  static constexpr double longest = 2;  // seconds in which ranks that wait answer

  /// What a rank waits in.
  enum class call : std::int32_t { gather, exchange, letter, number, other };
  struct answer {
    std::int64_t count = 0;  // the calls of this kind so far
    call what = call::other;
    std::int32_t is_there = 0;
  };

  /// Asks all other ranks.
  LAMINA_COLD void ask(MPI_Comm comm) {
    int rank = 0, size = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    found_.assign(static_cast<std::size_t>(size), {});
    for (int r = 0; r < size; ++r)
      if (r != rank) send(comm, r, tag_ask, {});
  }
  /// Answers the ranks that have asked.
  LAMINA_COLD void reply(MPI_Comm comm, answer mine) {
    mine.is_there = 1;
    answer got;
    for (int from = 0; receive(comm, tag_ask, from, got);) send(comm, from, tag_answer, mine);
  }
  /// Takes the answers that have arrived.
  LAMINA_COLD void collect(MPI_Comm comm) {
    answer got;
    for (int from = 0; receive(comm, tag_answer, from, got);)
      if (static_cast<std::size_t>(from) < found_.size())
        found_[static_cast<std::size_t>(from)] = got;
  }
  /// The answers by rank; is_there is 0 where there is none.
  const std::vector<answer>& answers() const { return found_; }
  /// Whether all messages of this rank have arrived.
  LAMINA_COLD bool have_arrived() {
    while (!sent_.empty()) {
      int done = 0;
      MPI_Test(&sent_.front().request, &done, MPI_STATUS_IGNORE);
      if (done == 0) return false;
      sent_.pop_front();
    }
    return true;
  }
  /// "in exchange 12", counted from 1.
  LAMINA_COLD static std::string name_of(const answer& a) {
    static constexpr std::string_view names[] = {"gather ", "exchange ", "letter ", "number "};
    if (a.what == call::other) return "in an exchange of gradients";
    return text() << "in " << names[static_cast<std::size_t>(a.what)] << a.count;
  }

 private:
  struct sent_message {
    answer what;
    MPI_Request request;
  };
  LAMINA_COLD void send(MPI_Comm comm, int to, int tag, const answer& what) {
    have_arrived();
    sent_.push_back({what, MPI_REQUEST_NULL});
    MPI_Isend(&sent_.back().what, static_cast<int>(sizeof what), MPI_BYTE, to, tag, comm,
              &sent_.back().request);
  }
  LAMINA_COLD static bool receive(MPI_Comm comm, int tag, int& from, answer& to) {
    MPI_Status status;
    int found = 0;
    if (MPI_Iprobe(MPI_ANY_SOURCE, tag, comm, &found, &status) != MPI_SUCCESS || found == 0)
      return false;
    from = status.MPI_SOURCE;
    return MPI_Recv(&to, static_cast<int>(sizeof to), MPI_BYTE, from, tag, comm,
                    MPI_STATUS_IGNORE) == MPI_SUCCESS;
  }

  std::vector<answer> found_;
  std::deque<sent_message> sent_;  // the memory of a request must not move
};

}  // namespace lamina::inline LAMINA_ABI::distributed
