// SPDX-License-Identifier: Apache-2.0
// Heads, floats and what is behind them; shards are copied out of arrays and back.

#include <cstddef>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/core/messages/error.hpp>
#include <lamina/distributed/servers/server_packet.hpp>

using namespace lamina::distributed;

TEST_CASE("a packet of a server has a head, floats and a rest") {
  const auto made =
      new_packet({.kind = packet_kind::totals, .has = 1, .weight = 0.1, .floats = 16});
  for (int k = 0; k < 16; ++k) floats_of(*made)[k] = static_cast<float>(k);
  made->add(7);
  const packet& got = *made;
  CHECK(head_of(got).kind == packet_kind::totals);
  CHECK(head_of(got).weight == 0.1);
  CHECK(floats_of(got)[15] == 15);
  CHECK(behind_floats(got, 16).read<int>() == 7);
  CHECK_THROWS_WITH(behind_floats(got, 32),
                    "lamina: distributed: expected a message of 32 numbers, found 16");
  packet cut;
  cut.add(made->data(), 100);
  CHECK_THROWS_AS(behind_floats(cut, 16), lamina::error);
}

TEST_CASE("a shard is copied out of arrays and back") {
  std::vector<float> first(32, 1.0f), second(48, 2.0f), copy(48);
  float* const arrays[] = {first.data(), nullptr, second.data()};
  const std::vector<server_shards::range> shard = {{0, 16, 32}, {2, 0, 32}};
  copy_from(shard, arrays, copy.data());
  CHECK(copy[15] == 1);
  CHECK(copy[16] == 2);
  for (float& c : copy) c += 5;
  copy_to(shard, arrays, copy.data());
  CHECK(first[15] == 1);
  CHECK(first[16] == 6);
  CHECK(second[31] == 7);
  CHECK(second[32] == 2);
}

TEST_CASE("weights lie in larger structures") {
  struct facts {
    float weight;
    int other;
  };
  const facts all[] = {{0.25f, 1}, {0.75f, 2}};
  CHECK(weight_at({&all[0].weight, sizeof(facts), 2, 1}, 1, false) == 0.75);
  const double wide[] = {0.1, 0.2};
  CHECK(weight_at({wide, sizeof(double), 2, 1}, 1, true) == 0.2);
}
