// SPDX-License-Identifier: Apache-2.0
// test/distributed/thread_group.hpp - a process group whose ranks are threads of one process, for
// tests without MPI.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/distributed/packet.hpp>
#include <lamina/distributed/process_group.hpp>
#include <lamina/distributed/roles.hpp>
#include <lamina/distributed/servers/sync_by_roles.hpp>

namespace test {

/// The messages between the ranks, by sender and receiver. All ranks share one mailbox.
class mailbox {
 public:
  void send(int from, int to, const void* data, std::size_t bytes, int channel = 0) {
    const std::byte* const first = static_cast<const std::byte*>(data);
    const std::lock_guard lock(mutex_);
    messages_[{from, to, channel}].emplace_back(first, first + bytes);
    arrived_.notify_all();
  }
  void post(int from, int to, std::shared_ptr<const lamina::distributed::packet> what) {
    const std::lock_guard lock(mutex_);
    packets_[to].emplace_back(from, std::move(what));
    arrived_.notify_all();
  }
  std::pair<int, std::shared_ptr<const lamina::distributed::packet>> take_packet(int to) {
    std::unique_lock lock(mutex_);
    auto& waiting = packets_[to];
    arrived_.wait(lock, [&] { return !waiting.empty() || has_failed_; });
    if (waiting.empty()) throw lamina::error(failure_);
    auto first = std::move(waiting.front());
    waiting.pop_front();
    return first;
  }
  std::int64_t add_to_number(int index, std::int64_t more) {
    const std::lock_guard lock(mutex_);
    return std::exchange(numbers_[index], numbers_[index] + more);
  }
  std::vector<std::byte> receive(int from, int to) {
    std::vector<std::byte> found;
    std::unique_lock lock(mutex_);
    bool is_there = false;
    arrived_.wait(lock, [&] {
      is_there = takes(from, to, 0, found);
      return is_there || comes_no_more(from);
    });
    if (!is_there) throw lamina::error(failure_);
    return found;
  }
  /// Takes the next message of a channel. Returns false if there is none yet.
  bool receives(int from, int to, int channel, std::vector<std::byte>& found) {
    const std::lock_guard lock(mutex_);
    if (takes(from, to, channel, found)) return true;
    if (comes_no_more(from)) throw lamina::error(failure_);
    return false;
  }
  /// Notes that a rank failed. A rank that waits for a message of the failed rank which was never
  /// sent throws this error. Ranks that wait for other ranks do not, because several ranks may fail
  /// in the same call, and each then reports its own error.
  void fail(int rank, std::string_view why) {
    const std::lock_guard lock(mutex_);
    if (!has_failed_) failure_ = "rank " + std::to_string(rank) + ": " + std::string(why);
    has_failed_ = true;
    gone_.insert(rank);
    arrived_.notify_all();
  }
  /// Notes that a rank sends no more messages.
  void end(int rank) {
    const std::lock_guard lock(mutex_);
    gone_.insert(rank);
    arrived_.notify_all();
  }

 private:
  bool comes_no_more(int from) const { return has_failed_ && gone_.contains(from); }
  bool takes(int from, int to, int channel, std::vector<std::byte>& found) {
    auto& waiting = messages_[{from, to, channel}];
    if (waiting.empty()) return false;
    found = std::move(waiting.front());
    waiting.pop_front();
    return true;
  }
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::map<std::tuple<int, int, int>, std::deque<std::vector<std::byte>>> messages_;
  std::map<int, std::deque<std::pair<int, std::shared_ptr<const lamina::distributed::packet>>>>
      packets_;
  bool has_failed_ = false;
  std::string failure_;
  std::set<int> gone_;  // ranks that failed or ended
  std::map<int, std::int64_t> numbers_;
};

class thread_group final : public lamina::distributed::process_group {
 public:
  thread_group(mailbox& mail, int rank, int size,
               const lamina::distributed::session_options& options = {})
      : process_group(rank, size, options), mail_(mail) {
    roles_ = lamina::distributed::roles_of(options, size);
  }

  std::unique_ptr<lamina::parameter_sync> make_sync(const lamina::trained_arrays& of) override {
    return lamina::distributed::sync_by_roles(*this, of);
  }
  std::shared_ptr<lamina::sharded_embedding> make_embedding(
      std::vector<lamina::embedding_table> tables, std::uint64_t seed) override {
    return lamina::distributed::embedding_by_roles(*this, std::move(tables), seed);
  }

  void gather(const void* mine, std::size_t bytes, void* all) override {
    for (int r = 0; r < size_; ++r) mail_.send(rank_, r, mine, bytes);
    for (int r = 0; r < size_; ++r)
      take(r, static_cast<std::byte*>(all) + static_cast<std::size_t>(r) * bytes, bytes);
  }
  void exchange(std::span<const message> sends, std::span<const message> receives) override {
    for (const message& m : sends) {
      sent += m.bytes;
      mail_.send(rank_, m.peer, m.data, m.bytes);
    }
    for (const message& m : receives) take(m.peer, m.data, m.bytes);
  }
  void post(int to, std::shared_ptr<const lamina::distributed::packet> what) override {
    if (has_no_memory) throw std::bad_alloc();
    mail_.post(rank_, to, std::move(what));
  }
  int receive(lamina::distributed::packet& to, std::span<const int>, int) override {
    const auto [from, what] = mail_.take_packet(rank_);
    to.resize(what->size());
    std::memcpy(to.data(), what->data(), what->size());
    return from;
  }
  int share_number() override { return numbers_++; }
  std::int64_t add_to_number(int index, std::int64_t more) override {
    return mail_.add_to_number(index, more);
  }
  int start(int channel, std::span<const message> sends,
            std::span<const message> receives) override {
    for (const message& m : sends) {
      sent += m.bytes;
      mail_.send(rank_, m.peer, m.data, m.bytes, 1 + channel);
    }
    started_.push_back({1 + channel, {receives.begin(), receives.end()}});
    ++starts;
    return static_cast<int>(started_.size()) - 1;
  }
  bool poll(int number) override {
    started& s = started_[static_cast<std::size_t>(number)];
    for (; s.done < s.receives.size(); ++s.done) {
      const message& m = s.receives[s.done];
      std::vector<std::byte> found;
      if (!mail_.receives(m.peer, rank_, s.channel, found)) return false;
      write(found, m.data, m.bytes);
      ++received;
    }
    return true;
  }
  void wait_awhile() override {
    if (patience > 0 && --patience == 0) throw lamina::error("expected a word, found silence");
    std::this_thread::yield();
  }
  void drop() noexcept override { started_.clear(); }
  void fail(std::string_view why) noexcept override { mail_.fail(rank_, why); }
  std::unique_ptr<lamina::device_sums> share_device(int, void*) override;

  std::size_t sent = 0;  // the number of bytes sent in exchanges
  // The number of exchanges that ran while the caller computed, and of the messages that they
  // received.
  std::atomic<int> starts{0}, received{0};
  bool has_no_memory = false;  // allocating the memory of a packet fails
  int patience = -1;           // the number of the call of wait_awhile() that throws; -1: none

 private:
  void take(int from, void* to, std::size_t bytes) { write(mail_.receive(from, rank_), to, bytes); }
  static void write(const std::vector<std::byte>& found, void* to, std::size_t bytes) {
    if (found.size() != bytes) throw std::runtime_error("a message of another size");
    if (bytes > 0) std::memcpy(to, found.data(), bytes);
  }
  struct started {
    int channel;
    std::vector<message> receives;
    std::size_t done = 0;
  };
  mailbox& mail_;
  std::vector<started> started_;
  int numbers_ = 0;
};

/// Sums over ranks whose devices use the memory of this process.
class thread_sums final : public lamina::device_sums {
 public:
  explicit thread_sums(thread_group& group) : group_(group) {}

  void begin() override {}
  void end() override {}
  void all_reduce_sum(float* data, std::size_t count, float weight) override {
    std::vector<float> mine(data, data + count);
    for (float& x : mine) x = weight == 0 ? 0 : weight * x;
    const std::vector<float> all = gather(mine);
    std::fill_n(data, count, 0.0f);
    for (std::size_t k = 0; k < all.size(); ++k) data[k % count] += all[k];
  }
  void spread(float* data, std::size_t count) override {
    const std::vector<float> all = gather(std::vector<float>(data, data + count));
    std::copy_n(all.begin(), count, data);
  }

 private:
  std::vector<float> gather(const std::vector<float>& mine) {
    std::vector<float> all(mine.size() * static_cast<std::size_t>(group_.size()));
    group_.gather(mine.data(), mine.size() * sizeof(float), all.data());
    return all;
  }
  thread_group& group_;
};
inline std::unique_ptr<lamina::device_sums> thread_group::share_device(int, void*) {
  return std::make_unique<thread_sums>(*this);
}

/// Runs f(world) for each rank, each in a thread of its own.
inline void in_ranks(int ranks, const std::function<void(thread_group&)>& f,
                     const lamina::distributed::session_options& options = {}) {
  mailbox mail;
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r)
    threads.emplace_back([&mail, &f, &options, r, ranks] {
      {
        thread_group w(mail, r, ranks, options);
        f(w);
      }
      mail.end(r);
    });
  for (auto& t : threads) t.join();
}

/// Runs f(world) for each rank and returns the results by rank.
template <class F>
auto results_in_ranks(int ranks, F f, const lamina::distributed::session_options& options = {}) {
  std::mutex mutex;
  std::map<int, std::invoke_result_t<F&, thread_group&>> all;
  in_ranks(
      ranks,
      [&](thread_group& w) {
        auto mine = f(w);
        const std::lock_guard lock(mutex);
        all[w.rank()] = std::move(mine);
      },
      options);
  return all;
}

/// Runs f(world) for each rank and returns the messages of the errors that were thrown, by rank.
inline std::map<int, std::string> errors_of(
    int ranks, const std::function<void(thread_group&)>& f,
    const lamina::distributed::session_options& options = {}) {
  std::mutex mutex;
  std::map<int, std::string> all;
  in_ranks(
      ranks,
      [&](thread_group& w) {
        try {
          f(w);
        } catch (const std::exception& e) {
          const std::lock_guard lock(mutex);
          all[w.rank()] = e.what();
        }
      },
      options);
  return all;
}

}  // namespace test
