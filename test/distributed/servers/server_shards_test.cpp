// SPDX-License-Identifier: Apache-2.0
// Each float of a parameter and each row of a table belongs to one server.

#include <cstddef>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/core/arrays/owned_array.hpp>
#include <lamina/distributed/servers/server_shards.hpp>

using lamina::distributed::server_shards;

namespace {

struct parameters {
  std::vector<std::size_t> floats;
  std::vector<int> row_floats;  // 0: dense
};

void check_servers(const parameters& p, int servers, bool whole) {
  CAPTURE(servers, whole);
  const int count = static_cast<int>(p.floats.size());
  float gradient = 0;
  std::vector<float*> gradients, values(p.floats.size(), nullptr);
  const lamina::owned_array<bool> has_rows(p.floats.size());
  for (std::size_t i = 0; i < p.floats.size(); ++i) {
    gradients.push_back(p.row_floats[i] == 0 ? &gradient : nullptr);
    has_rows[i] = p.row_floats[i] != 0;
  }
  const server_shards shards({gradients.data(), values.data(), p.floats.data(), has_rows.get(),
                              count, whole, false, nullptr, 1, p.row_floats.data()},
                             servers);
  std::vector<std::vector<int>> owners;
  for (const std::size_t n : p.floats) owners.emplace_back(n, 0);
  for (int s = 0; s < servers; ++s) {
    std::size_t dense = 0;
    for (const auto& a : shards.of(s)) {
      dense += a.size();
      if (a.first % 16 != 0 || a.end % 16 != 0 || a.end <= a.first) FAIL("a bad range");
      for (std::size_t k = a.first; k < a.end; ++k)
        ++owners[static_cast<std::size_t>(a.parameter)][k];
    }
    CHECK(dense == shards.floats(s));
    for (const auto& t : shards.tables(s)) {
      CHECK(t.floats() == t.whole().size());
      for (std::size_t k = t.whole().first; k < t.whole().end; ++k)
        ++owners[static_cast<std::size_t>(t.parameter)][k];
    }
  }
  int wrong = 0;
  for (const auto& one : owners)
    for (const int n : one) wrong += n != 1;
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("each float belongs to one server") {
  const parameters p{{16, 4000, 32, 640, 48, 16}, {0, 0, 0, 32, 0, -1}};
  for (const int servers : {1, 2, 3, 5, 40})
    for (const bool whole : {false, true}) check_servers(p, servers, whole);
}

TEST_CASE("servers hold shards of equal size") {
  float gradient = 0;
  float* const gradients[] = {&gradient, &gradient};
  float* const values[] = {nullptr, nullptr};
  const std::size_t floats[] = {1600, 3200};
  const bool has_rows[] = {false, false};
  const int row_floats[] = {0, 0};
  const server_shards shards(
      {gradients, values, floats, has_rows, 2, false, false, nullptr, 1, row_floats}, 3);
  for (int s = 0; s < 3; ++s) CHECK(shards.floats(s) == 1600);
}
