// SPDX-License-Identifier: Apache-2.0
// A profile of training steps has each group of each thread once per step, within its step, in the
// order of time, and the parameters are those of a trainer, bit for bit. No time is asserted.
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <lamina/inspect/profile_steps.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/optimizer/adam.hpp>
#include <lamina/train/trainer.hpp>

namespace layer = lamina::layer;
using Catch::Contains;

namespace {

// Dropout draws by step and sample, batch_norm has moving statistics, the embedding a gradient of
// selected rows.
constexpr auto net = lamina::program([](lamina::block& main) {
  auto word = layer::data<"word", std::int64_t>(main);
  auto x = layer::data<"x", float, 8>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto e = layer::embedding<20, 8>(word, {.is_sparse = true});
  auto h = layer::batch_norm(layer::fc<16>(x + e), {.act = lamina::activation::relu});
  return layer::mean(
      layer::softmax_with_cross_entropy(layer::fc<3>(layer::dropout(h, 0.3f)), label));
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
  std::int64_t word;
  std::array<float, 8> x;
  std::int64_t label;
};
struct only_x {
  std::array<float, 8> x;
};
std::vector<sample> samples() {
  std::vector<sample> all;
  for (int i = 0; i < 7; ++i)
    all.push_back(
        {i % 3, {static_cast<float>(i), 1, 2, -1.5f, 0.25f * static_cast<float>(i)}, i % 3});
  return all;
}
const lamina::optimizer::adam plain{.learning_rate = 0.01f};
const lamina::optimizer::adam limited{.learning_rate = 0.01f,
                                      .clip = lamina::clip_by_global_norm(0.1f)};

template <class Model>
bool same_values(const Model& a, const Model& b) {
  for (int i = 0; i < Model::parameter_arrays(); ++i) {
    const auto x = a.get(i), y = b.get(i);
    if (std::memcmp(x.data(), y.data(), x.size() * sizeof *x.data()) != 0) return false;
  }
  return true;
}

/// What holds of every profile of steps.
void require_whole(const lamina::program_profile& p, int steps, int threads) {
  REQUIRE(p.threads == threads);
  REQUIRE(p.runs.size() == static_cast<std::size_t>(steps));
  for (std::size_t i = 0; i < p.runs.size(); ++i) {
    CHECK(p.runs[i].group == static_cast<int>(i));
    CHECK(p.runs[i].end >= p.runs[i].begin);
    if (i > 0) CHECK(p.runs[i].begin >= p.runs[i - 1].end);
  }
  // Each call lies in one step; the calls of a thread do not overlap. So the groups of a thread add
  // up to no more than the steps.
  std::map<int, std::int64_t> ended, sum;
  std::vector<std::int64_t> calls(p.groups.size());
  std::int64_t all = 0;
  for (const auto& t : p.times) {
    REQUIRE((t.thread >= 0 && t.thread < threads));
    REQUIRE((t.group >= 0 && static_cast<std::size_t>(t.group) < p.groups.size()));
    int within = 0;
    for (const auto& r : p.runs) within += t.begin >= r.begin && t.end <= r.end;
    CHECK(within == 1);
    CHECK((t.end >= t.begin && t.begin >= ended[t.thread]));
    ended[t.thread] = t.end;
    sum[t.thread] += t.end - t.begin;
    ++calls[static_cast<std::size_t>(t.group)];
  }
  for (const auto& r : p.runs) all += r.end - r.begin;
  CHECK(sum.size() == static_cast<std::size_t>(threads));
  for (const auto& [thread, nanoseconds] : sum) CHECK(nanoseconds <= all);
  for (std::size_t g = 0; g < p.groups.size(); ++g) CHECK(p.groups[g].calls == calls[g]);
}
std::set<std::string> phases_of(const lamina::program_profile& p) {
  std::set<std::string> all;
  for (const auto& g : p.groups)
    if (g.calls > 0) all.insert(g.phase);
  return all;
}
const lamina::profiled_group& group_with(const lamina::program_profile& p,
                                         const std::string& text) {
  for (const auto& g : p.groups)
    if (g.what == text) return g;
  throw lamina::error("no group " + text);
}

template <class Opt>
lamina::program_profile profiled(const Opt& opt, int threads) {
  const auto batch = samples();
  lamina::model a{net, 3}, b{net, 3};
  const auto p = lamina::profile_steps(a, opt, batch, {.runs = 4, .threads = threads, .seed = 5});
  lamina::trainer t{b, opt, {.threads = threads, .seed = 5}};
  for (int i = 0; i < 5; ++i) t.step(batch);
  CHECK(same_values(a, b));
  require_whole(p, 4, threads);
  return p;
}

}  // namespace

TEST_CASE("a profile of steps of one thread has forward, backward and update", "[io]") {
  const auto p = profiled(plain, 1);
  std::set<std::string> all = phases_of(p);
  CHECK(all.contains("forward"));
  CHECK(all.contains("backward"));
  CHECK(all.contains("backward + update"));
  double flops = 0;
  std::string updated;
  for (const auto& g : p.groups) {
    flops += g.flops;
    if (g.phase.find("update") != g.phase.npos && g.calls > 0) updated += g.what + "\n";
    CHECK((g.calls == 0 || g.calls == 4));
  }
  // Two layers of 7 rows: forward, the gradient of the weight, that of the input.
  CHECK(flops == 2 * 7 * (3 * 8 * 16 + 3 * 16 * 3));
  CHECK_THAT(updated, Contains("adam"));
  CHECK_THAT(p.text(), Contains("  forward\n") && Contains("  backward + update\n") &&
                           Contains("all groups; a run took"));
}

TEST_CASE("threads sum gradients and update together", "[io][threads]") {
  for (const int threads : {2, 3}) {
    const auto p = profiled(plain, threads);
    CHECK(phases_of(p) == std::set<std::string>{"forward", "backward", "update"});
    const auto& both = group_with(p, "gradients of the threads summed, parameters updated");
    CHECK(both.calls == 4 * threads);
    CHECK(both.phase == "update");
    double flops = 0;
    for (const auto& g : p.groups) flops += g.flops * static_cast<double>(g.calls) / 4;
    CHECK(flops == Approx(2 * 7 * (3 * 8 * 16 + 3 * 16 * 3)));
    CHECK_THAT(p.text(), Contains("of " + std::to_string(threads) + " threads; a run took"));
  }
}

TEST_CASE("clips by norm have groups of their own", "[io][threads]") {
  for (const int threads : {1, 2}) {
    const auto p = profiled(limited, threads);
    CHECK(group_with(p, "gradients of the threads summed").calls ==
          (threads > 1 ? 4 * threads : 0));
    CHECK(group_with(p, "norms of the gradients").calls == 4);
    CHECK(group_with(p, "updates of the parameters").calls == 4 * threads);
    CHECK(group_with(p, "gradients of the threads summed, parameters updated").calls == 0);
  }
}

TEST_CASE("more threads than samples", "[io][threads]") {
  const auto batch = std::vector<sample>{samples()[0], samples()[1]};
  lamina::model a{net, 3}, b{net, 3};
  lamina::timed_trainer t{a, plain, {.threads = 3}};
  lamina::trainer u{b, plain, {.threads = 3}};
  CHECK(t.step(batch) == u.step(batch));
  CHECK(same_values(a, b));
  const auto p = lamina::profile(t);
  std::map<int, int> groups;
  for (const auto& e : p.times) ++groups[e.thread];
  // Each thread has its part of the updates; one of them has nothing else.
  CHECK(groups.size() == 3);
  CHECK((groups[0] == 1 || groups[1] == 1 || groups[2] == 1));
}

TEST_CASE("groups of loops are timed in each iteration of a training", "[io]") {
  const std::vector<only_x> batch{{{1, 2}}, {{3, 4}}};
  lamina::model a{loop, 3}, b{loop, 3};
  lamina::timed_trainer t{a, plain};
  lamina::trainer u{b, plain};
  for (int i = 0; i < 3; ++i) CHECK(t.step(batch) == u.step(batch));
  CHECK(same_values(a, b));
  CHECK(t.steps() == 3);
  auto p = lamina::profile(t);
  REQUIRE(p.runs.size() == 3);
  std::map<std::int64_t, int> groups_by_calls;
  for (const auto& g : p.groups) ++groups_by_calls[g.calls];
  CHECK(groups_by_calls[3] > 0);
  CHECK(groups_by_calls[15] > 1);
  t.forget_times();
  p = lamina::profile(t);
  CHECK(p.runs.empty());
  CHECK(p.times.empty());
  t.step(batch);
  require_whole(lamina::profile(t), 1, 1);
}

TEST_CASE("the trace has a track for each thread", "[io][threads]") {
  const auto p = profiled(plain, 2);
  const auto trace = nlohmann::json::parse(p.trace());
  std::map<int, std::string> names;
  std::map<int, int> groups;
  int steps = 0;
  for (const auto& e : trace.at("traceEvents")) {
    const int track = e.at("tid");
    if (e.at("ph") == "M") {
      if (e.at("name") == "thread_name") names[track] = e.at("args").at("name");
      continue;
    }
    CHECK(e.at("ph") == "X");
    CHECK(e.at("dur").get<double>() >= 0);
    if (e.at("cat") == "run") {
      CHECK(track == 1);
      ++steps;
    } else {
      ++groups[track];
      CHECK_FALSE(e.at("args").at("phase").get<std::string>().empty());
    }
  }
  CHECK(steps == 4);
  CHECK(names == std::map<int, std::string>{{1, "thread 0"}, {2, "thread 1"}});
  CHECK(groups.size() == 2);
  CHECK(groups[1] + groups[2] == static_cast<int>(p.times.size()));
}

TEST_CASE("mistakes with profiles of steps", "[io]") {
  lamina::model m{net, 3};
  const lamina::model before = m.clone();
  const auto batch = samples();
  CHECK_THROWS_WITH(lamina::profile_steps(m, plain, batch, {.runs = 0}),
                    "lamina: profile_steps: expected at least one run, found 0");
  CHECK_THROWS_WITH(lamina::profile_steps(m, plain, batch, {.threads = 0}),
                    "lamina: timed_trainer: expected 1 to 256 threads, found 0");
  CHECK_THROWS_WITH(lamina::profile_steps(m, plain, std::vector<sample>{}),
                    "lamina: timed_trainer: expected a mini-batch with samples, found none");
  auto wrong = batch;
  wrong[1].label = 3;
  CHECK(same_values(m, before));
  // A step that fails leaves what a trainer's leaves: the moving statistics of its forward pass.
  CHECK_THROWS_AS(lamina::profile_steps(m, plain, wrong), lamina::error);
  lamina::model trained = before.clone();
  lamina::trainer t{trained, plain};
  CHECK_THROWS_AS(t.step(wrong), lamina::error);
  CHECK(same_values(m, trained));
}
