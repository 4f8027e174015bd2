// SPDX-License-Identifier: Apache-2.0
// A profile has every group of every run, and its trace is what Perfetto reads. No time is
// asserted.
#include <array>
#include <map>
#include <string>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <lamina/inspect/profile.hpp>
#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using Catch::Contains;

namespace {

// A name that JSON cannot hold as it is.
constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 8>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto h = layer::fc<16>(x, {.act = lamina::activation::relu, .name = "a \"b\"\\\n\x01"});
  return layer::mean(layer::softmax_with_cross_entropy(layer::fc<3>(h), label));
});
constexpr auto loop = lamina::program([](lamina::block& main) {
  auto h = layer::scale(layer::data<"x", float, 8>(main), 1);
  auto i = layer::fill_constant<std::int64_t>(main, 0);
  auto n = layer::fill_constant<std::int64_t>(main, 5);
  auto going = layer::less_than(i, n);
  layer::while_loop(going, [&](lamina::block&) {
    h = layer::tanh(layer::fc<8>(h));
    layer::increment(i);
    layer::less_than(i, n, going);
  });
  return layer::mean(h);
});

struct sample {
  std::array<float, 8> x;
  std::int64_t label;
};
struct only_x {
  std::array<float, 8> x;
};

}  // namespace

TEST_CASE("a profile has each group of each run, in order and inside of its run") {
  const lamina::model m{net};
  const std::vector<sample> batch{{{1, 2}, 0}, {{3, 4}, 2}, {{5, 6}, 1}};
  const auto check = [&](const lamina::program_profile& p) {
    REQUIRE(p.runs.size() == 4);
    REQUIRE(p.times.size() == 4 * p.groups.size());
    for (const auto& g : p.groups) CHECK(g.calls == 4);
    double sum = 0;
    for (std::size_t i = 0; i < p.times.size(); ++i) {
      const auto& run = p.runs[i / p.groups.size()];
      CHECK(p.times[i].begin >= (i == 0 ? run.begin : p.times[i - 1].end));
      CHECK((p.times[i].end >= p.times[i].begin && p.times[i].end <= run.end));
      sum += static_cast<double>(p.times[i].end - p.times[i].begin) * 1e-9;
    }
    CHECK(sum <= p.seconds());
    double flops = 0;
    for (const auto& g : p.groups) flops += g.flops;
    return flops;
  };
  const auto forward = lamina::profile(m, batch, {.runs = 4});
  CHECK(check(forward) == 2 * 3 * (8 * 16 + 16 * 3));
  const auto both = lamina::profile_gradients(m, batch, {.runs = 4});
  CHECK(check(both) == 2 * 3 * (2 * 8 * 16 + 3 * 16 * 3));
  CHECK_THAT(both.text(), Contains("GFLOP/s") && Contains("gemm_dw") && Contains("all groups"));
  CHECK_THROWS_WITH(lamina::profile(m, batch, {.runs = 0}),
                    "lamina: profile: expected at least one run, found 0");
}

TEST_CASE("groups of a loop are timed in each iteration") {
  const lamina::model m{loop};
  const std::vector<only_x> batch{{{1, 2}}, {{3, 4}}};
  const auto p = lamina::profile(m, batch, {.runs = 2});
  std::map<std::int64_t, int> groups_by_calls;
  for (const auto& g : p.groups) ++groups_by_calls[g.calls];
  CHECK(groups_by_calls[2] > 0);
  CHECK(groups_by_calls[10] > 0);
  // The groups outside, those of five iterations, and the loop itself, whose groups are timed.
  CHECK(groups_by_calls.size() == 3);
  CHECK(groups_by_calls[0] == 1);
}

TEST_CASE("the trace is JSON with one complete event for each run and group") {
  const lamina::model m{net};
  const std::vector<sample> batch{{{1, 2}, 0}};
  const auto p = lamina::profile(m, batch, {.runs = 3});
  const auto trace = nlohmann::json::parse(p.trace());
  int runs = 0, groups = 0;
  bool named = false;
  for (const auto& e : trace.at("traceEvents")) {
    if (e.at("ph") == "M") continue;
    CHECK(e.at("ph") == "X");
    CHECK(e.at("pid") == 1);
    CHECK(e.at("tid") == 1);
    CHECK(e.at("ts").get<double>() >= 0);
    CHECK(e.at("dur").get<double>() >= 0);
    ++(e.at("cat") == "run" ? runs : groups);
    const std::string name = e.at("name");
    named = named || name.find("a \"b\"\\\n\x01") != name.npos;
  }
  CHECK(runs == 3);
  CHECK(groups == static_cast<int>(p.times.size()));
  CHECK(named);
}
