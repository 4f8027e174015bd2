// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/process_group.hpp - an interface to processes that exchange bytes; the
// exchange of texts and roles between them.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/distributed/array_reduction.hpp>
#include <lamina/distributed/packet.hpp>
#include <lamina/distributed/roles.hpp>
#include <lamina/distributed/session_options.hpp>
#include <lamina/engine/common/aligned_buffer.hpp>
#include <lamina/train/world.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// A world whose processes exchange bytes. All processes must call gather() equally often and in
/// the same order, and so must two processes that exchange() messages. These functions throw
/// lamina::error if another rank has failed, with that rank's message, or if it sends nothing for
/// too long.
class process_group : public world {
 public:
  /// A range of bytes that is sent to or received from another rank.
  struct message {
    int peer;
    void* data;
    std::size_t bytes;
  };

  /// Returns the name of a rank's host.
  virtual std::string host(int /*rank*/) const { return "localhost"; }
  /// Gathers `bytes` bytes of each rank, in the order of the ranks: bytes [r * bytes, (r + 1) *
  /// bytes) of `all` come from rank r. `mine` may lie within `all`.
  void gather(const void* mine, std::size_t bytes, void* all) override = 0;
  LAMINA_COLD std::int64_t all_reduce_sum(std::int64_t mine) override {
    if (is_parameter_server())
      throw error(
          "lamina: distributed: expected all_reduce_sum() of the processes that train, found a "
          "call on a "
          "parameter server: ask world.is_parameter_server()");
    std::vector<std::int64_t> all(static_cast<std::size_t>(trainers()));
    gather_trainers(&mine, sizeof mine, all.data());
    std::int64_t sum = 0;
    for (const std::int64_t one : all) sum += one;
    return sum;
  }
  LAMINA_COLD void gather_trainers(const void* mine, std::size_t bytes, void* all) override {
    if (parameter_servers() == 0) return gather(mine, bytes, all);
    std::byte* const to = static_cast<std::byte*>(all);
    const std::size_t me = static_cast<std::size_t>(rank_);
    if (bytes > 0) std::memmove(to + me * bytes, mine, bytes);
    std::vector<message> sends, receives;
    for (int r = 0; r < trainers(); ++r) {
      if (r == rank_) continue;
      sends.push_back({r, to + me * bytes, bytes});
      receives.push_back({r, to + static_cast<std::size_t>(r) * bytes, bytes});
    }
    if (!sends.empty()) exchange(sends, receives);
  }
  void reduce(const engine::reduction_call& call, void* array, const bool* takes_part) override {
    array_reduction<process_group>(*this, call).run(array, takes_part, reduced_);
  }
  /// Sends and receives; returns when all messages are done. Between two ranks, messages arrive in
  /// the order in which they were sent, and must have the sizes that the receiver expects.
  virtual void exchange(std::span<const message> sends, std::span<const message> receives) = 0;
  /// Sends a packet and returns at once. The group keeps the packet until it has arrived.
  virtual void post(int to, std::shared_ptr<const packet> what) = 0;
  /// Waits for a packet of any rank, stores it in `to`, and returns the rank. Between two ranks,
  /// packets arrive in the order in which they were sent. If no packet comes within `patiences`
  /// times the patience of other messages, the error names the ranks `awaited`.
  virtual int receive(packet& to, std::span<const int> awaited, int patiences = 1) = 0;

  /// Makes a counter that all ranks share, initially 0, and returns its index. All ranks must call
  /// it.
  virtual int share_number() = 0;
  /// Adds to a shared counter, and returns its previous value. A rank may call it at any time; no
  /// two calls return the same value if all of them add 1.
  virtual std::int64_t add_to_number(int index, std::int64_t more) = 0;

  const process_roles& roles() const { return roles_; }
  /// Returns the role of this process.
  process_role role() const { return roles_.of(rank_); }
  bool is_parameter_server() const { return role() == process_role::parameter_server; }
  int trainers() const final { return roles_.trainers; }
  int parameter_servers() const { return roles_.parameter_servers; }

  /// Starts to send and to receive, and returns the number of this exchange, while the caller
  /// continues to compute. The memory of the messages must stay until poll() returns true or drop()
  /// returns. On each of the `channels` channels, all ranks must start their exchanges in the same
  /// order; the channels do not wait for each other, nor for exchange() and gather().
  virtual int start(int channel, std::span<const message> sends,
                    std::span<const message> receives) = 0;
  static constexpr int channels = 3;
  /// Whether parameter servers serve a trainer of this process. They serve only one at a time.
  bool is_served = false;
  /// Tells whether exchange `number` is done. It also advances all other exchanges, so a process
  /// that computes must call it now and then. Once it has returned true, the number may be reused
  /// by a later exchange.
  virtual bool poll(int number) = 0;
  /// Waits a moment; an idle process calls it between polls. Throws as exchange() does.
  virtual void wait_awhile() = 0;
  /// Abandons all exchanges that were started. Returns when nothing writes to their memory any
  /// more.
  virtual void drop() noexcept = 0;

  /// Returns the size of a bucket of gradients in bytes; 0: processes exchange gradients only when
  /// all are computed.
  std::size_t bucket_bytes() const { return bucket_bytes_; }
  /// Tells whether a communication thread may call start() and poll() while another thread calls
  /// other functions.
  bool has_communication_thread() const { return has_communication_thread_; }

 protected:
  process_group(int rank, int size, const session_options& options = {})
      : world(rank, size),
        roles_{size},
        bucket_bytes_(options.bucket_bytes),
        has_communication_thread_(options.communication_thread) {}
  process_roles roles_;

 private:
  std::size_t bucket_bytes_;
  bool has_communication_thread_;
  engine::aligned_buffer reduced_;
};

/// Returns the texts of all ranks of a group, in the order of the ranks. All ranks must call it.
LAMINA_COLD inline std::vector<std::string> texts_of_ranks(process_group& group,
                                                           const std::string& mine) {
  const std::size_t ranks = static_cast<std::size_t>(group.size());
  const std::uint64_t bytes = mine.size();
  std::vector<std::uint64_t> lengths(ranks);
  group.gather(&bytes, sizeof bytes, lengths.data());
  const std::size_t longest =
      static_cast<std::size_t>(*std::max_element(lengths.begin(), lengths.end()));
  std::string padded = mine, of_all(longest * ranks, ' ');
  padded.resize(longest);
  group.gather(padded.data(), longest, of_all.data());
  std::vector<std::string> all;
  for (std::size_t r = 0; r < ranks; ++r)
    all.push_back(of_all.substr(r * longest, static_cast<std::size_t>(lengths[r])));
  return all;
}

/// Returns the roles of the processes of a group. All processes must call it. Throws lamina::error
/// in every process if the options do not fit (roles_of) or differ between processes.
LAMINA_COLD inline process_roles agreed_roles(process_group& all, const session_options& options) {
  process_roles mine{all.size()};
  std::string why;
  try {
    mine = roles_of(options, all.size());
  } catch (const error& e) {
    why = e.what();
  }
  const int numbers[] = {why.empty() ? mine.parameter_servers : -1, mine.staleness};
  constexpr const char* names[] = {"number of parameter servers", "staleness"};
  std::vector<int> found(2 * static_cast<std::size_t>(all.size()));
  all.gather(numbers, sizeof numbers, found.data());
  if (!why.empty()) throw error(why);
  for (std::size_t k = 2; k < found.size(); ++k)
    if (found[k] != found[k % 2])
      throw error(text() << "lamina: distributed: expected the same " << names[k % 2]
                         << " in each process, found " << found[k % 2] << " in rank 0 and "
                         << found[k] << " in rank " << k / 2);
  return mine;
}

}}}  // namespace lamina::distributed
