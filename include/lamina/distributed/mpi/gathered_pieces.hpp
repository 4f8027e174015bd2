// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/mpi/gathered_pieces.hpp - the memory of a gather; detects that processes
// gather different numbers of bytes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// The pieces of a gather, one per rank. Each piece begins with its number of bytes, because MPICH
/// does not report pieces of different sizes: the ranks would continue with wrong bytes.
class gathered_pieces {
 public:
  /// The size of the header of a piece.
  static constexpr std::size_t head = sizeof(std::uint64_t);

  /// Returns the bytes of a piece with its header. Throws lamina::error if MPI cannot count them.
  static int length(std::size_t bytes) {
    if ((bytes + head) >> 31 != 0)
      throw error(text() << "lamina: distributed: expected to gather less than 2 GiB of each rank, "
                            "found "
                         << bytes << " bytes");
    return static_cast<int>(bytes + head);
  }
  /// Begins a gather of `bytes` bytes per rank.
  void begin(const void* mine, std::size_t bytes, int ranks) {
    bytes_ = bytes;
    ranks_ = static_cast<std::size_t>(ranks);
    memory_.resize((ranks_ + 1) * (head + bytes));
    const std::uint64_t number = bytes;
    std::memcpy(own(), &number, sizeof number);
    if (bytes > 0) std::memcpy(own() + head, mine, bytes);
  }
  /// Returns the piece of this rank; the pieces of all ranks, all(), follow it in memory.
  std::byte* own() { return memory_.data(); }
  std::byte* all() { return own() + head + bytes_; }
  /// Copies the bytes of all pieces. Throws lamina::error if a piece has another size.
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
  /// Releases the memory to the caller; MPI may still write to it after a failure.
  std::vector<std::byte> take() { return std::move(memory_); }

 private:
  std::vector<std::byte> memory_;
  std::size_t bytes_ = 0, ranks_ = 0;
};

}}}  // namespace lamina::distributed
