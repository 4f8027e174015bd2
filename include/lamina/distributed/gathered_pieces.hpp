// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/gathered_pieces.hpp - the memory of a gather, which finds out that processes
// gather different numbers of bytes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include <lamina/core/error.hpp>
#include <lamina/core/text.hpp>

namespace lamina::inline LAMINA_ABI::distributed {

/// The pieces of a gather, one of each rank. In front of each is its number of bytes, because MPICH
/// does not report that ranks gather pieces of different sizes: they would go on with other bytes.
class gathered_pieces {
 public:
  /// What a piece takes more than its bytes.
  static constexpr std::size_t head = sizeof(std::uint64_t);

  /// The bytes of a piece. Throws lamina::error for more than MPI counts.
  static int length(std::size_t bytes) {
    if ((bytes + head) >> 31 != 0)
      throw error(text() << "lamina: distributed: expected to gather less than 2 GiB of each rank, "
                            "found "
                         << bytes << " bytes");
    return static_cast<int>(bytes + head);
  }
  /// Begins a gather of `bytes` bytes of each rank.
  void begin(const void* mine, std::size_t bytes, int ranks) {
    bytes_ = bytes;
    ranks_ = static_cast<std::size_t>(ranks);
    memory_.resize((ranks_ + 1) * (head + bytes));
    const std::uint64_t number = bytes;
    std::memcpy(own(), &number, sizeof number);
    if (bytes > 0) std::memcpy(own() + head, mine, bytes);
  }
  /// The piece of this rank, and after it those of all ranks.
  std::byte* own() { return memory_.data(); }
  std::byte* all() { return own() + head + bytes_; }
  /// Copies the bytes of all pieces. Throws lamina::error for a piece of another size.
  void copy_to(void* to) {
    for (std::size_t r = 0; r < ranks_; ++r) {
      const std::byte* const piece = all() + r * (head + bytes_);
      std::uint64_t number = 0;
      std::memcpy(&number, piece, sizeof number);
      if (number != bytes_)
        throw error(text() << "lamina: distributed: expected that all processes make the same "
                              "calls, found rank "
                           << r << " in another call than this process, which gathers " << bytes_
                           << " bytes of each");
      if (bytes_ > 0) std::memcpy(static_cast<std::byte*>(to) + r * bytes_, piece + head, bytes_);
    }
  }
  /// Gives the memory away, to which MPI may still write after a failure.
  std::vector<std::byte> take() { return std::move(memory_); }

 private:
  std::vector<std::byte> memory_;
  std::size_t bytes_ = 0, ranks_ = 0;
};

}  // namespace lamina::inline LAMINA_ABI::distributed
