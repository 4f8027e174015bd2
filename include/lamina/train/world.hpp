// SPDX-License-Identifier: Apache-2.0
// lamina/train/world.hpp - the processes that train one model together, as training sees them.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <span>
#include <string_view>

namespace lamina::inline LAMINA_ABI {

/// The processes of a distributed training: each is a rank from 0 to size() - 1. All of them must
/// call gather() and exchange() equally often and in the same order. These functions throw
/// lamina::error if another rank has failed, with that rank's message, or if it says nothing for
/// too long. `distributed::session` implements this with MPI.
class world {
 public:
  /// Bytes to or from another rank.
  struct message {
    int peer;
    void* data;
    std::size_t bytes;
  };

  virtual ~world() = default;
  int rank() const { return rank_; }
  int size() const { return size_; }

  /// Collects `bytes` bytes of each rank, in the order of the ranks: bytes [r * bytes, (r + 1) *
  /// bytes) of `all` are those of rank r. `mine` is not within `all`.
  virtual void gather(const void* mine, std::size_t bytes, void* all) = 0;
  /// Sends and receives; returns when all is done. Between two ranks, messages arrive in the order
  /// in which they were sent, and have the sizes that the receiver expects.
  virtual void exchange(std::span<const message> sends, std::span<const message> receives) = 0;
  /// Tells all other ranks that this one stops because of an error. Their next gather() or
  /// exchange() throws it. Only the first call has an effect.
  virtual void fail(std::string_view why) noexcept = 0;

 protected:
  world(int rank, int size) : rank_(rank), size_(size) {}
  world(const world&) = default;
  world& operator=(const world&) = default;
  int rank_, size_;
};

}  // namespace lamina::inline LAMINA_ABI
