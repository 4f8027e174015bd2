// SPDX-License-Identifier: Apache-2.0
// Fields of samples in the order of the data layers.
#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "reader/read.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>
#include <lamina/v2/feeding.hpp>

namespace {

constexpr auto net = lamina::program([](lamina::block& main) {
  lamina::layer::data<"x", float, 2>(main);
  lamina::layer::data<"y", std::int64_t>(main);
});
using net_type = std::remove_const_t<decltype(net)>;

struct swapped {
  std::int64_t label;
  std::string title;
  std::array<float, 2> features;
};

}  // namespace

TEST_CASE("feeding puts fields into the order of the data layers and leaves others out") {
  const std::vector<std::vector<swapped>> batches{{{1, "a", {2, 3}}, {4, "b", {5, 6}}}, {}};
  using fields = lamina::v2::feeding_of<"y", "", "x">;
  const auto read = test::read(fields::applied_to<net_type>(batches));
  using sample = std::tuple<std::array<float, 2>, std::int64_t>;
  REQUIRE(read.size() == 2);
  CHECK(read[0] == std::vector<sample>{{{2, 3}, 1}, {{5, 6}, 4}});
  CHECK(read[1].empty());
}

TEST_CASE("fields that are in order already are not copied") {
  const std::vector<std::vector<std::tuple<std::array<float, 2>, std::int64_t>>> batches;
  CHECK(&lamina::v2::feeding_of<"x", "y">::applied_to<net_type>(batches) == &batches);
  CHECK(&lamina::v2::feeding_in_order::applied_to<net_type>(batches) == &batches);
}
