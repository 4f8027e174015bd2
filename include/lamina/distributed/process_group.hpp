// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/process_group.hpp - processes that exchange bytes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <lamina/distributed/session_options.hpp>
#include <lamina/train/world.hpp>

namespace lamina::inline LAMINA_ABI::distributed {

/// A world whose processes exchange bytes. All of them must call gather() and exchange() equally
/// often and in the same order. These functions throw lamina::error if another rank has failed,
/// with that rank's message, or if it sends nothing for too long.
class process_group : public world {
 public:
  /// Bytes to or from another rank.
  struct message {
    int peer;
    void* data;
    std::size_t bytes;
  };

  /// Collects `bytes` bytes of each rank, in the order of the ranks: bytes [r * bytes, (r + 1) *
  /// bytes) of `all` are those of rank r. `mine` may lie within `all`.
  virtual void gather(const void* mine, std::size_t bytes, void* all) = 0;
  LAMINA_COLD std::int64_t add_up(std::int64_t mine) override {
    std::vector<std::int64_t> all(static_cast<std::size_t>(size_));
    gather(&mine, sizeof mine, all.data());
    std::int64_t sum = 0;
    for (const std::int64_t one : all) sum += one;
    return sum;
  }
  /// Sends and receives; returns when all is done. Between two ranks, messages arrive in the order
  /// in which they were sent, and have the sizes that the receiver expects.
  virtual void exchange(std::span<const message> sends, std::span<const message> receives) = 0;

  /// Starts to send and to receive, and returns the number of this exchange; the caller computes
  /// on. The memory of the messages must stay until poll() returns true or drop() returns. On each
  /// of the `channels` channels, all ranks must start their exchanges in the same order; the
  /// channels do not wait for each other, nor for exchange() and gather().
  virtual int start(int channel, std::span<const message> sends,
                    std::span<const message> receives) = 0;
  static constexpr int channels = 3;
  /// Whether exchange `number` is done. It takes part in the transport of all exchanges, so a
  /// process that computes must call it now and then. Once it has returned true, the number is that
  /// of a later exchange.
  virtual bool poll(int number) = 0;
  /// Called between polls by a process that has nothing else to do. Throws as exchange() does.
  virtual void wait_awhile() = 0;
  /// Gives up all exchanges that were started. Returns when their memory is not written any more.
  virtual void drop() noexcept = 0;

  /// The size of a bucket of gradients in bytes; 0: processes exchange gradients when all are
  /// there.
  std::size_t bucket_bytes() const { return bucket_bytes_; }

 protected:
  process_group(int rank, int size, const session_options& options = {})
      : world(rank, size), bucket_bytes_(options.bucket_bytes) {}

 private:
  std::size_t bucket_bytes_;
};

}  // namespace lamina::inline LAMINA_ABI::distributed
