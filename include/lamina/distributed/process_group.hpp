// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/process_group.hpp - processes that exchange bytes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

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

 protected:
  using world::world;
};

}  // namespace lamina::inline LAMINA_ABI::distributed
