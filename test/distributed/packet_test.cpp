// SPDX-License-Identifier: Apache-2.0
// Packets keep what was added to them, and their end is an error.

#include <cstdint>
#include <utility>

#include <catch2/catch.hpp>

#include <lamina/core/messages/error.hpp>
#include <lamina/distributed/packet.hpp>

using lamina::distributed::packet;
using lamina::distributed::packet_reader;

TEST_CASE("what was added to a packet is read in the same order") {
  packet l;
  CHECK(l.size() == 0);
  l.add(nullptr, 0);
  l.add(std::int32_t{7});
  const double numbers[] = {1.5, -2};
  l.add(numbers, sizeof numbers);
  for (int k = 0; k < 1000; ++k) l.add(k);
  CHECK(reinterpret_cast<std::uintptr_t>(l.data()) % 64 == 0);
  packet moved = std::move(l);
  packet_reader reader(moved);
  CHECK(reader.read<std::int32_t>() == 7);
  CHECK(reader.read<double>() == 1.5);
  CHECK(reader.read<double>() == -2);
  for (int k = 0; k < 1000; ++k)
    if (reader.read<int>() != k) FAIL(k);
  CHECK(reader.left() == 0);
  CHECK_THROWS_AS(reader.read<char>(), lamina::error);
}

TEST_CASE("a packet that shrinks and grows keeps its first bytes") {
  packet l;
  l.add(1), l.add(2), l.add(3);
  l.resize(2 * sizeof(int));
  l.add(4);
  packet_reader reader(l);
  CHECK(reader.read<int>() == 1);
  CHECK(reader.read<int>() == 2);
  CHECK(reader.read<int>() == 4);
  CHECK_THROWS_AS(packet_reader(l).take(13), lamina::error);
}
