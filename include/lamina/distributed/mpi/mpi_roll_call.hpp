// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/mpi/mpi_roll_call.hpp - distinguishes silent processes from those that wait.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <lamina/core/messages/text.hpp>
#include <lamina/distributed/mpi/mpi_farewell.hpp>
#include <lamina/distributed/mpi/mpi_requests.hpp>  // includes mpi.h

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// The name of each rank's host, as MPI reports it.
class mpi_hosts {
 public:
  /// Gathers the names. All ranks of the communicator must call it.
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

/// Finds the process that blocks the others. A rank that has waited too long asks all others
/// whether they wait too. A rank that waits in a call of the session answers with that call; one
/// that computes, hangs or is dead does not answer. A rank often waits for one that itself waits,
/// so the rank for which it waits is rarely the cause.
class mpi_roll_call {
 public:
  static constexpr int tag_ask = 17, tag_answer = 18;
  static constexpr double longest = 2;  // seconds in which waiting ranks answer

  /// The call in which a rank waits.
  enum class call : std::int32_t { gather, exchange, packet, number, other };
  struct answer {
    std::int64_t count = 0;  // the calls of this kind so far
    call what = call::other;
    std::int32_t is_there = 0;
  };

  /// The call in which this rank may wait as long as this object lives.
  class waiting {
   public:
    waiting(mpi_roll_call& of, call what) : of_(of), before_(of.own_) {
      of.own_ = {++of.calls_[static_cast<std::size_t>(what)], what, 1};
    }
    ~waiting() { of_.own_ = before_; }
    waiting(const waiting&) = delete;
    waiting& operator=(const waiting&) = delete;

   private:
    mpi_roll_call& of_;
    answer before_;
  };
  /// Returns the number of gathers of this rank so far.
  std::int64_t gathers() const { return calls_[static_cast<std::size_t>(call::gather)]; }
  /// Answers the ranks that have asked.
  LAMINA_COLD void reply(MPI_Comm comm) {
    answer got;
    for (int from = 0; receive(comm, tag_ask, from, got);) send(comm, from, tag_answer, own_);
  }
  /// Tells whether all messages of this rank have arrived.
  LAMINA_COLD bool have_arrived() {
    while (!sent_.empty()) {
      int done = 0;
      MPI_Test(&sent_.front().request, &done, MPI_STATUS_IGNORE);
      if (done == 0) return false;
      sent_.pop_front();
    }
    return true;
  }

  /// Returns an error text if this rank waits for ranks that have left, and empty text otherwise.
  /// Ranks that have left send nothing more; their earlier messages have arrived, or arrive within
  /// `last_messages` seconds while this rank polls. A gather needs all ranks, any other call those
  /// of `awaited`.
  LAMINA_COLD std::string text_of_leave(const std::vector<mpi_farewell::left_rank>& left,
                                        const std::vector<int>& awaited, const mpi_hosts& hosts,
                                        int rank) const {
    std::vector<int> gone;
    for (const mpi_farewell::left_rank& l : left) {
      const bool missing = own_.what == call::gather ? l.calls < own_.count : has(awaited, l.rank);
      if (missing && mpi_farewell::seconds_since(l.since) > last_messages) gone.push_back(l.rank);
    }
    if (gone.empty()) return {};
    return text() << "lamina: distributed: expected " << names_of(gone, hosts)
                  << " to take part until all processes end, found that "
                  << (gone.size() == 1 ? "it has ended its session" : "they have ended theirs")
                  << " (seen by " << names_of({rank}, hosts) << ", which waits " << name_of(own_)
                  << ")";
  }
  /// Asks all ranks, and returns a text that names the silent ones or, if all ranks wait, the calls
  /// in which they wait. `hear()` throws if another rank has reported an error first.
  template <class Hear>
  LAMINA_COLD std::string text_of_silence(MPI_Comm comm, mpi_farewell& farewell, Hear&& hear,
                                          const std::vector<int>& awaited, const mpi_hosts& hosts,
                                          int rank, double seconds) {
    std::vector<int> silent, gone;
    ask(comm);
    const auto begin = mpi_farewell::clock::now();
    do {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      hear();
      reply(comm);
      gather(comm);
      silent.clear();
      gone.clear();
      for (const mpi_farewell::left_rank& l : farewell.hear_leaves(comm)) gone.push_back(l.rank);
      for (int r = 0; r < static_cast<int>(found_.size()); ++r)
        if (r != rank && found_[static_cast<std::size_t>(r)].is_there == 0 && !has(gone, r))
          silent.push_back(r);
    } while (!silent.empty() && mpi_farewell::seconds_since(begin) < longest);
    // A rank that computes is silent too, so silent ranks for which this one waits are named alone.
    std::vector<int> blamed;
    for (const int r : silent)
      if (has(awaited, r)) blamed.push_back(r);
    if (blamed.empty()) blamed = silent;
    text t;
    if (!blamed.empty()) {
      t << "lamina: distributed: expected a word from " << names_of(blamed, hosts) << " within ";
      return t.print("%g", seconds)
             << " s, found silence (seen by " << names_of({rank}, hosts) << ")";
    }
    t << "lamina: distributed: expected that all processes make the same calls, found that each "
         "has waited for another for ";
    t.print("%g s: ", seconds) << names_of({rank}, hosts) << " " << name_of(own_);
    for (std::size_t r = 0; r < found_.size(); ++r)
      if (found_[r].is_there != 0)
        t << ", " << names_of({static_cast<int>(r)}, hosts) << " " << name_of(found_[r]);
    if (!gone.empty()) t << "; " << names_of(gone, hosts) << " has ended its session";
    return t;
  }

 private:
  static constexpr double last_messages = 0.25;

  static bool has(const std::vector<int>& ranks, int rank) {
    return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
  }
  /// "rank 1 on HOST, rank 2 on HOST".
  static std::string names_of(const std::vector<int>& ranks, const mpi_hosts& hosts) {
    text t;
    for (const int& r : ranks)
      t << (&r == ranks.data() ? "" : ", ") << "rank " << r << " on " << hosts.of(r);
    return t;
  }
  /// Asks all other ranks.
  LAMINA_COLD void ask(MPI_Comm comm) {
    int rank = 0, size = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    found_.assign(static_cast<std::size_t>(size), {});
    for (int r = 0; r < size; ++r)
      if (r != rank) send(comm, r, tag_ask, {});
  }
  /// Receives the answers that have arrived.
  LAMINA_COLD void gather(MPI_Comm comm) {
    answer got;
    for (int from = 0; receive(comm, tag_answer, from, got);)
      if (static_cast<std::size_t>(from) < found_.size())
        found_[static_cast<std::size_t>(from)] = got;
  }
  /// "in exchange 12", counted from 1.
  LAMINA_COLD static std::string name_of(const answer& a) {
    static constexpr std::string_view names[] = {"gather ", "exchange ", "packet ", "number "};
    if (a.what == call::other) return "in an exchange of gradients";
    return text() << "in " << names[static_cast<std::size_t>(a.what)] << a.count;
  }

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

  answer own_{0, call::other, 1};
  std::int64_t calls_[5] = {};     // the number of calls of each kind
  std::vector<answer> found_;      // by rank; is_there is 0 before it has answered
  std::deque<sent_message> sent_;  // a deque: MPI reads a message in place until it is sent
};

}}}  // namespace lamina::distributed
