// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/mpi/mpi_session.hpp - the processes of a distributed training, connected by
// MPI.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/distributed/launched_processes.hpp>
#include <lamina/distributed/mpi/bound_cores.hpp>
#include <lamina/distributed/mpi/gathered_pieces.hpp>
#include <lamina/distributed/mpi/mpi_begin.hpp>
#include <lamina/distributed/mpi/mpi_end.hpp>
#include <lamina/distributed/mpi/mpi_exit.hpp>
#include <lamina/distributed/mpi/mpi_farewell.hpp>
#include <lamina/distributed/mpi/mpi_numbers.hpp>
#include <lamina/distributed/mpi/mpi_packets.hpp>
#include <lamina/distributed/mpi/mpi_requests.hpp>  // includes mpi.h
#include <lamina/distributed/mpi/mpi_roll_call.hpp>
#include <lamina/distributed/packet.hpp>
#include <lamina/distributed/process_group.hpp>
#include <lamina/distributed/servers/sync_by_roles.hpp>
#include <lamina/distributed/session_options.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// All processes that a launcher of MPI (mpirun, mpiexec, srun) has started together; one process
/// if there is no launcher. Make one session at the beginning of main, and let it live longer than
/// the trainers:
///
///   int main(int argc, char** argv) {
///     lamina::distributed::session world{argc, argv};
///     ...
///     adam.train(model, reader, {.world = &world});
///
/// A program that has begun MPI itself must also end MPI, after its last session. Each session has
/// a separate communicator.
///
/// Only one thread of the program may use a session. If a rank fails, the others stop with its
/// message. If a rank sends nothing for `patience` seconds, they stop with an error that names it.
class mpi_session : public process_group {
 public:
  /// All processes must call it. Throws lamina::error in every process if the options do not fit
  /// (agreed_roles), or if the launcher belongs to another MPI than the one the program is linked
  /// with.
  LAMINA_COLD mpi_session(int& argc, char**& argv, const session_options& options = {})
      : mpi_session(mpi_begin(argc, argv, options.communication_thread), options) {
    // The delegated constructor has finished, so the destructor ends MPI after these errors.
    if (size_ == 1) require_launched_alone();
    roles_ = agreed_roles(*this, options_);
  }
  mpi_session(const mpi_session&) = delete;
  mpi_session& operator=(const mpi_session&) = delete;

  /// Ends MPI, if this session has begun it, when all processes end their sessions. After an error
  /// in any process, waits up to three seconds for them: if one does not end its session, ends all
  /// processes with exit code 75; otherwise MPI ends when they exit, with one code (mpi_exit).
  ~mpi_session() {
    int ended = 0;
    MPI_Finalized(&ended);
    if (ended != 0) return;
    if (std::uncaught_exceptions() > unwinding_) fail("an exception ended the process");
    if (!has_failed_) end_packets();
    // mpi_abort() does not return, so a handler in main cannot print the reason.
    if (has_failed_ && !farewell_.all_leave(comm_, [this] { return packets_.have_arrived(); }))
      mpi_abort(reason_, exit_again);
    numbers_.free();  // all processes have reached this point
    if (!has_failed_) MPI_Comm_free(&comm_);
    if (is_owner_ && !(has_failed_ && mpi_exit::keep(!has_heard_))) mpi_finalize();
    farewell_.let_others_print();
    // The program continues to use MPI, which may still write to the memory of a gather() that has
    // failed.
    static std::vector<std::vector<std::byte>> kept;
    if (!is_owner_ && has_failed_) kept.push_back(gathered_.take());
  }

  std::string host(int rank) const override { return hosts_.of(rank); }

  std::unique_ptr<parameter_sync> make_sync(const trained_arrays& of) override {
    if (rank_ == 0) bound_cores::of_process().report(of.threads, rank_);
    return sync_by_roles(*this, of);
  }
  std::shared_ptr<sharded_embedding> make_embedding(std::vector<embedding_table> tables,
                                                    std::uint64_t seed) override {
    return embedding_by_roles(*this, std::move(tables), seed);
  }

  void gather(const void* mine, std::size_t bytes, void* all) override {
    require_running();
    const int count = gathered_pieces::length(bytes);
    const mpi_roll_call::waiting guard(roll_call_, mpi_roll_call::call::gather);
    // Not the caller's memory, because MPI may still write to it after a failure has unwound the
    // caller.
    gathered_.begin(mine, bytes, size_);
    now_.begin();
    require(MPI_Iallgather(gathered_.own(), count, MPI_BYTE, gathered_.all(), count, MPI_BYTE,
                           comm_, now_.next()));
    finish_now();
    gathered_.copy_to(all);
  }

  void exchange(std::span<const message> sends, std::span<const message> receives) override {
    require_running();
    const mpi_roll_call::waiting guard(roll_call_, mpi_roll_call::call::exchange);
    require(now_.post(comm_, tag_data, sends, receives));
    finish_now();
  }

  LAMINA_COLD void post(int to, std::shared_ptr<const packet> what) override {
    require_running();
    require(packets_.post(comm_, to, std::move(what)));
  }
  LAMINA_COLD int receive(packet& to, std::span<const int> awaited, int patiences) override {
    require_running();
    const mpi_roll_call::waiting guard(roll_call_, mpi_roll_call::call::packet);
    awaited_ = awaited;
    patiences_ = patiences;
    int from = MPI_ANY_SOURCE;
    std::size_t bytes = 0;
    // A piece that is shorter than the largest one ends the packet.
    for (std::size_t at = 0; at == 0 || bytes == mpi_packets::largest_piece; at += bytes) {
      for (waits_ = 0;; wait_awhile()) {
        require(packets_.probe(comm_, from, sender_, bytes));
        if (sender_ >= 0) break;
      }
      from = sender_;
      awaited_ = {&sender_, 1};
      patiences_ = 1;
      to.resize(at + bytes);
      const message piece{from, to.data() + at, bytes};
      // Messages of exchange() are never empty, but the last piece of a packet may be.
      if (bytes == 0) {
        require(MPI_Recv(nullptr, 0, MPI_BYTE, from, mpi_packets::tag, comm_, MPI_STATUS_IGNORE));
        break;
      }
      require(now_.post(comm_, mpi_packets::tag, {}, {&piece, 1}));
      finish_now();
    }
    awaited_ = {};
    return from;
  }

  LAMINA_COLD int share_number() override {
    require_running();
    // MPI creates the counter in collective calls that cannot report a failure, so all ranks meet
    // first.
    gather(nullptr, 0, nullptr);
    numbers_.add(comm_);
    return numbers_.size() - 1;
  }
  LAMINA_COLD std::int64_t add_to_number(int index, std::int64_t more) override {
    require_running();
    static constexpr int first[] = {0};
    const mpi_roll_call::waiting guard(roll_call_, mpi_roll_call::call::number);
    awaited_ = first;  // rank 0 owns the counter
    // Members, because MPI may still write to them after a failure has unwound the caller.
    added_[0] = more;
    require(numbers_.add_to(index, added_[0], added_[1], now_));
    finish_now();
    awaited_ = {};
    return added_[1];
  }

  int start(int channel, std::span<const message> sends,
            std::span<const message> receives) override {
    const std::lock_guard lock(started_mutex_);
    require_running();
    std::size_t n = 0;
    while (n < started_.size() && started_[n].is_open) ++n;
    if (n == started_.size()) started_.emplace_back();
    require(started_[n].post(comm_, tag_channel + channel, sends, receives));
    return static_cast<int>(n);
  }
  bool poll(int number) override {
    const std::lock_guard lock(started_mutex_);
    // After a failure, the requests do not exist any more.
    if (has_failed_ || !is_done(started_[static_cast<std::size_t>(number)])) return false;
    waits_ = 0;
    return true;
  }
  void wait_awhile() override {
    const std::uint64_t waits = ++waits_;
    if (waits % 64 == 0) std::this_thread::yield();
    if (waits % 256 != 0) return;
    hear_failure();
    if (waits % 1024 == 0) roll_call_.reply(comm_), hear_leaves();
    const auto now = clock::now();
    if (waits == 256) waits_since_ = now;
    if (std::chrono::duration<double>(now - waits_since_).count() > patiences_ * options_.patience)
      lose();
  }
  void drop() noexcept override { cancel(); }

  LAMINA_COLD void fail(std::string_view why) noexcept override {
    if (has_failed_ || size_ == 1) return;
    has_failed_ = true;
    try {
      if (reason_.empty()) reason_ = std::string(why);
      farewell_.tell(comm_, why);
    } catch (...) {
      mpi_abort(why, exit_again);
    }
  }

 private:
  using clock = mpi_farewell::clock;
  static constexpr int tag_data = 1, tag_channel = 4;  // 2 and 3 belong to mpi_farewell
  static constexpr int exit_again = 75;                // EX_TEMPFAIL: another try may succeed
  using requests = mpi_requests;

  LAMINA_COLD mpi_session(bool is_owner, const session_options& options)
      : process_group(0, 1, options),
        options_(options),
        unwinding_(std::uncaught_exceptions()),
        is_owner_(is_owner) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    // Open MPI uses this handler for nonblocking gathers, whatever their communicator.
    if (is_owner_) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
    hosts_.gather(comm_, size_);
  }

  bool is_done(requests& of) {
    int done = 0;
    require(
        MPI_Testall(static_cast<int>(of.all.size()), of.all.data(), &done, MPI_STATUSES_IGNORE));
    if (done != 0) of.is_open = false;
    return done != 0;
  }
  void require(int code) const { require_mpi(code, rank_); }
  void require_running() const {
    if (has_failed_)
      throw error(
          "lamina: distributed: expected processes that all run, found one that has failed "
          "before");
  }

  /// Waits until the current exchange of the caller is done. Throws if another rank fails or sends
  /// nothing for too long.
  void finish_now() {
    waits_ = 0;
    while (!is_done(now_)) wait_awhile();
    waits_ = 0;
  }
  /// Throws the message of a rank that has failed.
  LAMINA_COLD void hear_failure() {
    MPI_Status status;
    int found = 0;
    constexpr int tag = mpi_farewell::tag_failure;
    require(MPI_Iprobe(MPI_ANY_SOURCE, tag, comm_, &found, &status));
    if (found == 0) return;
    int n = 0;
    MPI_Get_count(&status, MPI_BYTE, &n);
    std::string why(static_cast<std::size_t>(n), ' ');
    require(MPI_Recv(why.data(), n, MPI_BYTE, status.MPI_SOURCE, tag, comm_, MPI_STATUS_IGNORE));
    has_failed_ = has_heard_ = true;
    reason_ = text() << why << " (in rank " << status.MPI_SOURCE << " on "
                     << host(status.MPI_SOURCE) << ")";
    cancel();
    throw error(reason_);
  }
  /// Calls f(request, peer) for each request that is not done; the peer of a send is -1.
  template <class F>
  void each_open(F&& f) {
    const auto in = [&](requests& of) {
      for (std::size_t k = 0; of.is_open && k < of.all.size(); ++k)
        if (of.all[k] != MPI_REQUEST_NULL) f(of.all[k], k < of.peers.size() ? of.peers[k] : -1);
    };
    in(now_);
    for (requests& of : started_) in(of);
  }
  /// Ends all exchanges after an error, because the caller will free their memory. A message that
  /// is partly received or sent cannot be cancelled, so this process waits for its end. Other ranks
  /// that do the same wait for this one, so it also receives what they send. If a rank makes no
  /// progress for three seconds, ends all processes.
  LAMINA_COLD void cancel() noexcept {
    const std::lock_guard lock(started_mutex_);
    if (!now_.is_of_caller) now_.is_open = false;
    each_open([](MPI_Request& r, int peer) {
      if (peer >= 0) MPI_Cancel(&r);
    });
    for (const auto begin = clock::now();;) {
      bool waits = false;
      each_open([&](MPI_Request& r, int) {
        int done = 0;
        MPI_Test(&r, &done, MPI_STATUS_IGNORE);
        waits = waits || done == 0;
      });
      if (!waits) break;
      if (mpi_farewell::seconds_since(begin) > mpi_farewell::longest_wait) end_caught();
      if (!farewell_.drain(comm_)) std::this_thread::yield();
    }
    now_.is_open = false;
    for (requests& of : started_) of.is_open = false;
  }
  /// Ends all processes with the reason, or with the message of the exception that is being
  /// handled.
  [[noreturn]] LAMINA_COLD void end_caught() noexcept {
    try {
      if (reason_.empty() && std::current_exception()) throw;
    } catch (const std::exception& e) {
      mpi_abort(e.what(), exit_again);
    } catch (...) {
    }
    mpi_abort(reason_.empty()
                  ? "lamina: distributed: expected that other ranks receive what this one "
                    "sends before it gives up an exchange, found that they do not"
                  : reason_,
              exit_again);
  }
  /// Returns the ranks that this one waits for, without duplicates; empty if it waits for all.
  LAMINA_COLD std::vector<int> awaited_ranks() {
    std::vector<int> all;
    const auto add = [&](int peer) {
      if (peer >= 0 && std::find(all.begin(), all.end(), peer) == all.end()) all.push_back(peer);
    };
    for (const int peer : awaited_) add(peer);
    const std::lock_guard lock(started_mutex_);
    each_open([&](MPI_Request&, int peer) { add(peer); });
    return all;
  }
  /// Throws if a rank that this one waits for has ended its session.
  LAMINA_COLD void hear_leaves() {
    const std::vector<mpi_farewell::left_rank>& left = farewell_.hear_leaves(comm_);
    if (left.empty()) return;
    const std::string why = roll_call_.text_of_leave(left, awaited_ranks(), hosts_, rank_);
    if (why.empty()) return;
    hear_failure();  // it may have reported a failure before it left
    stop(why);
  }
  /// Tells all ranks, and throws, that some ranks have sent nothing for too long.
  [[noreturn]] LAMINA_COLD void lose() {
    const double seconds = patiences_ * options_.patience;
    stop(roll_call_.text_of_silence(
        comm_, farewell_, [this] { hear_failure(); }, awaited_ranks(), hosts_, rank_, seconds));
  }
  /// Tells all ranks why the training ends, and throws the reason.
  [[noreturn]] LAMINA_COLD void stop(const std::string& why) {
    reason_ = why;
    fail(reason_);
    cancel();
    throw error(reason_);
  }

  /// Waits until all packets have arrived. If this session ends MPI, also waits until all ranks are
  /// here, because MPI_Finalize would not notice that a rank fails.
  LAMINA_COLD void end_packets() {
    try {
      for (waits_ = 0; !packets_.have_arrived() || !roll_call_.have_arrived(); wait_awhile()) {
      }
      for (bool left = !is_owner_; !left;) {
        left = farewell_.have_all_left(comm_, roll_call_.gathers());
        hear_failure();
        if (!left) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    } catch (const error& e) {
      std::fprintf(stderr, "%s\n", e.what());
      fail(e.what());
    }
  }

  session_options options_;
  int unwinding_;  // std::uncaught_exceptions() when this session began
  bool is_owner_;  // whether it has begun MPI
  std::atomic<bool> has_failed_ = false;
  bool has_heard_ = false;  // whether another rank has reported a failure
  MPI_Comm comm_ = MPI_COMM_NULL;
  mpi_hosts hosts_;
  requests now_;                          // the exchange that the caller waits for
  std::vector<requests> started_;         // exchanges that run while the caller computes
  std::mutex started_mutex_;              // protects started_ from the communication thread
  std::atomic<std::uint64_t> waits_ = 0;  // the number of waits since the last progress
  clock::time_point waits_since_{};
  gathered_pieces gathered_;
  mpi_packets packets_;
  mpi_numbers numbers_;
  std::int64_t added_[2] = {};
  int sender_ = -1;  // sender of receive()'s packet; a member, as awaited_ may refer to it
  std::span<const int> awaited_;  // ranks whose packets receive() waits for, and how long
  int patiences_ = 1;
  mpi_farewell farewell_;
  mpi_roll_call roll_call_;
  std::string reason_;  // why the training ends
};

}}}  // namespace lamina::distributed
