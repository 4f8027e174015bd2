// SPDX-License-Identifier: Apache-2.0
// Processes that test on shards decide alike: fit, early_stopping, reduce_on_plateau and a test.
// Sources: Lightning-AI/pytorch-lightning#379, #5865, #19045, huggingface/transformers#17478.
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "distributed/thread_group.hpp"
#include <catch2/catch.hpp>

#include <lamina/lamina.hpp>
#include <lamina/train/events/early_stopping.hpp>
#include <lamina/train/events/process_mean.hpp>
#include <lamina/train/events/reduce_on_plateau.hpp>
#include <lamina/train/fit.hpp>

namespace {

namespace layer = lamina::layer;
namespace reader = lamina::reader;
using Catch::Contains;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
  auto y = layer::data<"y", std::int64_t>(main);
  auto logits = layer::fc<2>(layer::fc<9>(x, {.act = lamina::activation::tanh}));
  layer::accuracy(logits, y, {.name = "accuracy"});
  layer::auc(layer::softmax(logits), y, {.name = "auc"});
  layer::reduce_sum(layer::square(x), {.name = "squares"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, y));
});
using sample = std::tuple<std::array<float, 4>, std::int64_t>;

std::vector<sample> samples(int first, int count) {
  std::vector<sample> all;
  for (int i = first; i < first + count; ++i) {
    std::array<float, 4> x;
    for (int k = 0; k < 4; ++k)
      x[static_cast<std::size_t>(k)] = std::sin(static_cast<float>(i * (k + 3) * 7));
    all.push_back({x, (x[0] + 2 * std::sin(static_cast<float>(i * 13)) > 0) ? 1 : 0});
  }
  return all;
}
/// The held out samples that a rank reads: the whole, or an uneven shard, of rank 3 none.
std::vector<sample> held_out(const test::thread_group& w, bool shards) {
  const auto all = samples(100, 60);
  if (!shards) return all;
  constexpr int ends[] = {0, 11, 40, 60, 60};
  return {all.begin() + ends[w.rank()], all.begin() + ends[w.rank() + 1]};
}
template <class Model>
std::vector<float> numbers_of(const Model& m) {
  std::vector<float> all;
  for (int i = 0; i < m.parameter_arrays(); ++i) {
    const auto a = m.get(i);
    all.insert(all.end(), a.data(), a.data() + a.size());
  }
  return all;
}

struct found {
  std::vector<float> parameters;
  std::vector<double> values;
};
void check_alike(const std::map<int, found>& all) {
  for (const auto& [rank, one] : all) {
    INFO(rank);
    CHECK(one.parameters == all.at(0).parameters);
    CHECK(one.values == all.at(0).values);
  }
}

}  // namespace

TEST_CASE("a value is joined over processes by weights, and equal ones keep their bits",
          "[threads]") {
  const double third = 1.0 / 3, nan = std::numeric_limits<double>::quiet_NaN();
  const auto joined = [](std::array<double, 3> values, std::array<double, 3> weights) {
    const auto all = test::results_in_ranks(3, [&](test::thread_group& w) {
      const std::size_t r = static_cast<std::size_t>(w.rank());
      return lamina::detail::process_mean(&w, values[r], weights[r]);
    });
    CHECK((all.at(0) == all.at(1) || std::isnan(all.at(0))));
    CHECK((all.at(0) == all.at(2) || std::isnan(all.at(0))));
    return all.at(0);
  };
  CHECK(joined({third, third, third}, {1, 1, 1}) == third);
  CHECK(joined({1, 2, 6}, {1, 1, 2}) == 3.75);
  CHECK(joined({1, nan, 3}, {1, 0, 1}) == 2);
  CHECK(std::isnan(joined({1, nan, 3}, {1, 1, 1})));
  CHECK(lamina::detail::process_mean(nullptr, 5, 2) == 5);
}

TEST_CASE("a test on shards has the cost and the metrics of all samples", "[threads]") {
  lamina::model whole{net, 3};
  lamina::evaluator e{whole};
  const auto expected = e.test(samples(100, 60) | reader::batch(7));
  for (const bool shards : {false, true}) {
    const auto all = test::results_in_ranks(4, [&](test::thread_group& w) {
      lamina::model m{net, 3};
      lamina::evaluator tests{m};
      return tests.test(held_out(w, shards) | reader::batch(7), w);
    });
    for (const auto& [rank, r] : all) {
      INFO(rank << ", shards: " << shards);
      CHECK(r.samples == 60);
      CHECK(r.cost == Approx(expected.cost).epsilon(1e-6));
      for (const char* name : {"accuracy", "auc"})
        CHECK(r.metric(name) == Approx(expected.metric(name)).epsilon(1e-6));
      if (!shards) {
        CHECK(r.cost == expected.cost);
        CHECK(r.metric("squares") == expected.metric("squares"));
      }
      CHECK(r.cost == all.at(0).cost);
    }
  }
  const auto none = test::errors_of(2, [](test::thread_group& w) {
    lamina::model m{net, 3};
    lamina::evaluator{m}.test(samples(0, 0) | reader::batch(7), w);
  });
  CHECK(none.size() == 2);
  for (const auto& [rank, why] : none) CHECK_THAT(why, Contains("found none"));
}

TEST_CASE("fit ends with the parameters of one pass in all processes", "[threads]") {
  for (const char* metric : {"", "accuracy"})
    for (const bool shards : {false, true}) {
      const auto all = test::results_in_ranks(4, [&](test::thread_group& w) {
        lamina::model m{net, 3};
        lamina::optimizer::adam adam{.learning_rate = 0.05f};
        lamina::trainer t{m, adam, {.world = &w}};
        const auto r = lamina::fit(
            t, samples(0, 24) | reader::batch(8), held_out(w, shards) | reader::batch(20),
            {.passes = 30,
             .patience = 6,
             .metric = metric,
             .is = *metric == 0 ? lamina::better::smaller : lamina::better::larger});
        return found{numbers_of(m), {1.0 * r.best_pass, 1.0 * r.passes, r.best.cost}};
      });
      INFO(metric << ", shards: " << shards);
      check_alike(all);
      CHECK(all.at(0).values[0] + 1 < all.at(0).values[1]);  // there was something to restore
    }
  // Each option that differs is named.
  const std::vector<std::pair<lamina::fit_options, std::string>> others{
      {{.passes = 6}, "passes in each process, found 5 in rank 0 and 6 in rank 1"},
      {{.passes = 5, .patience = 2}, "patience"},
      {{.passes = 5, .min_delta = 0.5}, "min_delta"},
      {{.passes = 5, .metric = "accuracy"}, "metric"},
      {{.passes = 5, .is = lamina::better::larger}, "is ("}};
  for (const auto& [other, name] : others) {
    const auto errors = test::errors_of(2, [&, &options = other](test::thread_group& w) {
      lamina::model m{net, 3};
      lamina::optimizer::sgd sgd{.learning_rate = 0.05f};
      lamina::trainer t{m, sgd, {.world = &w}};
      lamina::fit(t, samples(0, 24) | reader::batch(8), held_out(w, false) | reader::batch(20),
                  w.rank() == 1 ? options : lamina::fit_options{.passes = 5});
    });
    CHECK(errors.size() == 2);
    for (const auto& [rank, why] : errors)
      CHECK_THAT(why, Contains("lamina: fit: expected the same option " + name));
  }
  // One process stops in its handler: all do.
  const auto stopped = test::results_in_ranks(2, [&](test::thread_group& w) {
    lamina::model m{net, 3};
    lamina::optimizer::sgd sgd{.learning_rate = 0.05f};
    lamina::trainer t{m, sgd, {.world = &w}};
    t.options().on_event = [&](const lamina::event& e) {
      if (e.is_end_validation() && e.pass == 3 && w.rank() == 1) e.stop();
    };
    const auto r = lamina::fit(t, samples(0, 24) | reader::batch(8),
                               held_out(w, true) | reader::batch(20), {.passes = 30});
    return found{numbers_of(m), {1.0 * r.passes, r.stopped ? 1.0 : 0.0}};
  });
  check_alike(stopped);
  CHECK(stopped.at(0).values == std::vector<double>{4, 1});
}

TEST_CASE("early stopping and a plateau decide alike in a loop of the user's own", "[threads]") {
  const auto all = test::results_in_ranks(3, [&](test::thread_group& w) {
    lamina::model m{net, 3};
    lamina::optimizer::adam adam{.learning_rate = 0.05f};
    lamina::trainer t{m, adam, {.world = &w}};
    lamina::evaluator tests{m};
    lamina::early_stopping early{m, {.patience = 8, .world = &w}};
    lamina::reduce_on_plateau plateau{{.factor = 0.5f, .patience = 1, .world = &w}};
    int passes = 0;
    bool stops = false;
    for (; passes < 40 && !stops; ++passes) {
      t.pass(samples(0, 24) | reader::batch(8));
      const auto mine = tests.test(held_out(w, true) | reader::batch(20));
      plateau(mine.cost, adam);
      stops = early(mine);
    }
    early.restore();
    return found{numbers_of(m), {1.0 * passes, early.best(), 1.0 * adam.learning_rate.factor}};
  });
  check_alike(all);
  CHECK(all.at(0).values[2] < 1);
}

TEST_CASE("a rate that one process lowers alone is an error in the next step", "[threads]") {
  const auto errors = test::errors_of(3, [&](test::thread_group& w) {
    lamina::model m{net, 3};
    lamina::optimizer::adam adam{.learning_rate = 0.05f};
    lamina::trainer t{m, adam, {.world = &w}};
    lamina::reduce_on_plateau plateau{{.factor = 0.5f, .patience = 1}};
    for (int pass = 0; pass < 9; ++pass) {
      t.pass(samples(0, 24) | reader::batch(8));
      plateau(w.rank() == 2 && pass == 4 ? 100.0 : -pass, adam);
    }
  });
  CHECK(errors.size() == 3);
  for (const auto& [rank, why] : errors)
    CHECK_THAT(why, Contains("learning_rate.factor = 1") &&
                        Contains("learning_rate.factor = 0.5") && Contains("in rank 2"));
}
