// SPDX-License-Identifier: Apache-2.0
// Programs that differ in anything that is computed have different checksums.

#include <set>

#include <catch2/catch.hpp>

#include <lamina/lamina.hpp>
#include <lamina/train/checkpoints/program_checksum.hpp>

namespace {

namespace layer = lamina::layer;

template <int Width, int Negative>
constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
  return layer::mean(layer::leaky_relu(layer::fc<Width>(x), {.alpha = 0.25f * Negative}));
});
constexpr auto twin = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
  return layer::mean(layer::leaky_relu(layer::fc<3>(x), {.alpha = 0.25f}));
});

template <class P>
std::uint64_t checksum_of(const P&) {
  return lamina::program_checksum<P>;
}

}  // namespace

TEST_CASE("a program's checksum tells programs apart") {
  CHECK(checksum_of(net<3, 1>) == checksum_of(twin));
  const std::set<std::uint64_t> all{checksum_of(net<3, 1>), checksum_of(net<4, 1>),
                                    checksum_of(net<3, 2>)};
  CHECK(all.size() == 3);
}
