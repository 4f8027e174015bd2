// SPDX-License-Identifier: Apache-2.0
// The tables of a program that processes can divide, and why others cannot be divided.

#include <cstdint>
#include <tuple>

#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/model/sharded/distributed_tables.hpp>

namespace {

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
  auto word = layer::data<"word", std::int64_t>(main);
  auto user = layer::data<"user", std::int64_t>(main);
  auto a = layer::embedding<9, 4>(word, {.param = {.name = "a"}, .is_sparse = true});
  auto b = layer::embedding<9, 4>(word, {.param = {.name = "b"}, .is_distributed = true});
  auto c = layer::embedding<9, 4>(
      user, {.param = {.name = "b"}, .padding_idx = -1, .is_distributed = true});
  auto d = layer::embedding<7, 4>(user, {.param = {.name = "d"}, .is_distributed = true});
  return layer::mean(a + b + c + d + x);
});
constexpr auto others = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
  auto word = layer::data<"word", std::int64_t>(main);
  auto made = layer::cast<std::int64_t>(layer::data<"number", float>(main));
  auto a = layer::embedding<9, 4>(made, {.param = {.name = "a"}, .is_distributed = true});
  auto b = layer::embedding<9, 4>(word, {.param = {.name = "b"}, .is_distributed = true});
  auto c = layer::embedding<9, 4>(word, {.param = {.name = "b"}});
  return layer::mean(a + b + c + x);
});
// The table is variable 2, and 2 is the number of arrays that are put side by side.
constexpr auto joined = lamina::program([](lamina::block& main) {
  auto word = layer::data<"word", std::int64_t>(main);
  auto other = layer::data<"other", std::int64_t>(main);
  auto a = layer::embedding<9, 4>(word, {.is_distributed = true});
  auto b = layer::embedding<9, 4>(other);
  return layer::mean(layer::concat(std::tuple{a, b}));
});
constexpr auto without = lamina::program([](lamina::block& main) {
  auto word = layer::data<"word", std::int64_t>(main);
  return layer::mean(layer::embedding<9, 4>(word, {.is_sparse = true}));
});

template <class P>
constexpr auto& tables(const P&) {
  return lamina::distributed_tables<P>::all;
}

}  // namespace

TEST_CASE("look-ups with is_distributed name their tables and data layers") {
  STATIC_REQUIRE(lamina::has_distributed_tables<decltype(net)>);
  constexpr auto& all = tables(net);
  STATIC_REQUIRE(all.tables == 2);
  STATIC_REQUIRE(all.lookups == 3);
  STATIC_REQUIRE(all.table_of[0] == -1);
  STATIC_REQUIRE(all.parameter[0] == 1);
  STATIC_REQUIRE(all.parameter[1] == 2);
  STATIC_REQUIRE(all.of[0].table == 0);
  STATIC_REQUIRE(all.of[0].layer == 1);
  STATIC_REQUIRE(all.of[0].padding == -1);
  STATIC_REQUIRE(all.of[1].table == 0);
  STATIC_REQUIRE(all.of[1].layer == 2);
  STATIC_REQUIRE(all.of[1].padding == 8);
  STATIC_REQUIRE(all.of[2].table == 1);
  STATIC_REQUIRE(all.reason[0] == lamina::undividable::none);
  STATIC_REQUIRE_FALSE(lamina::has_distributed_tables<decltype(without)>);
}

TEST_CASE("ids that a program computes and other readers are found") {
  constexpr auto& all = tables(others);
  STATIC_REQUIRE(all.tables == 2);
  STATIC_REQUIRE(all.reason[0] == lamina::undividable::made_ids);
  STATIC_REQUIRE(all.reason[1] == lamina::undividable::other_reader);
}

TEST_CASE("the number of the inputs of a concat is no reader of a table") {
  constexpr auto& all = tables(joined);
  STATIC_REQUIRE(all.tables == 1);
  STATIC_REQUIRE(all.reason[0] == lamina::undividable::none);
}
