// SPDX-License-Identifier: Apache-2.0
// What a gather receives is what each rank has sent; another number of bytes is an error.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/core/messages/error.hpp>
#include <lamina/distributed/mpi/gathered_pieces.hpp>

using lamina::distributed::gathered_pieces;

namespace {

/// Gathers the texts of three ranks, as seen by rank 0, which expects `bytes` bytes of each.
std::string gathered(const std::vector<std::string>& of, std::size_t bytes) {
  std::vector<gathered_pieces> ranks(of.size());
  gathered_pieces& first = ranks[0];
  first.begin(of[0].data(), bytes, static_cast<int>(of.size()));
  std::byte* to = first.all();
  for (std::size_t r = 0; r < of.size(); ++r, to += gathered_pieces::head + bytes) {
    gathered_pieces other;
    other.begin(of[r].data(), of[r].size(), static_cast<int>(of.size()));
    // MPI copies what there is room for.
    std::memcpy(to, other.own(), gathered_pieces::head + std::min(bytes, of[r].size()));
  }
  std::string all(of.size() * bytes, ' ');
  first.copy_to(all.data());
  return all;
}

}  // namespace

TEST_CASE("pieces of all ranks are gathered in their order") {
  CHECK(gathered({"abc", "def", "ghi"}, 3) == "abcdefghi");
  CHECK(gathered({"a"}, 1) == "a");
  CHECK(gathered({"", ""}, 0) == "");
  const std::string large(100000, 'x');
  CHECK(gathered({large, large}, large.size()) == large + large);
}

TEST_CASE("a rank that gathers another number of bytes is named") {
  const auto fault = [](const std::vector<std::string>& of, std::size_t bytes) {
    try {
      gathered(of, bytes);
    } catch (const lamina::error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const std::string expected =
      "lamina: distributed: expected that all processes make the same calls, found rank ";
  CHECK(fault({"abc", "def", "gh"}, 3) ==
        expected + "2 in another call than this process, which gathers 3 bytes of each");
  CHECK(fault({"abc", "defg", "gh"}, 3) ==
        expected + "1 in another call than this process, which gathers 3 bytes of each");
  CHECK(fault({"", "d"}, 0) ==
        expected + "1 in another call than this process, which gathers 0 bytes of each");
}
