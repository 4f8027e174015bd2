// SPDX-License-Identifier: Apache-2.0
// Validation, early stopping, learning rates that a metric lowers, and learning curves. Sources:
// tensorflow/tensorflow#35634, keras-team/keras#20521, Lightning-AI/pytorch-lightning#14699.
#include <cmath>
#include <limits>

#include "train/net.hpp"

#include <lamina/model/evaluator.hpp>
#include <lamina/train/events/curves_page.hpp>
#include <lamina/train/events/early_stopping.hpp>
#include <lamina/train/events/learning_curves.hpp>
#include <lamina/train/events/reduce_on_plateau.hpp>
#include <lamina/train/fit.hpp>

namespace layer = lamina::layer;
using Catch::Contains;

namespace {

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto hidden = layer::fc<9>(x, {.act = lamina::activation::tanh, .name = "hidden"});
  auto logits = layer::fc<3>(layer::dropout(hidden, 0.2f));
  layer::accuracy(logits, label, {.name = "accuracy"});
  auto costs = layer::softmax_with_cross_entropy(logits, label, {.name = "costs"});
  return layer::mean(costs);
});
auto batches() { return test::samples(48) | test::reader::shuffle(48, 3) | test::reader::batch(8); }

}  // namespace

TEST_CASE("fit: the model has the parameters of the best pass, whatever ended the training") {
  // Every third label is wrong, so that a net that becomes sure gets worse.
  auto others = test::samples(40, 77);
  for (std::size_t i = 0; i < others.size(); i += 3) others[i].label = (others[i].label + 1) % 3;
  const auto validation = others | test::reader::batch(40);
  for (const int passes : {4, 60}) {
    test::optimizer::sgd sgd{.learning_rate = 3.f};
    lamina::model m{net, 3};
    std::vector<std::string> events;
    std::vector<double> costs;
    std::vector<std::vector<std::string>> parameters;
    lamina::learning_curves curves;
    lamina::trainer t{m, sgd, {.seed = 2}};
    t.options().on_event = [&](const lamina::event& e) {
      curves(e);
      if (e.is_end_validation()) {
        costs.push_back(e.cost);
        parameters.push_back(test::bytes_of(m));
        CHECK(e.pass + 1 == static_cast<int>(costs.size()));
        CHECK(e.samples == 40);
        CHECK(e.metric("accuracy") <= 1);
      }
      if (e.kind > lamina::event_kind::end_iteration) events.emplace_back(name_of(e.kind));
    };
    const auto result = lamina::fit(t, batches(), validation, {.passes = passes, .patience = 5});
    const auto best = std::min_element(costs.begin(), costs.end()) - costs.begin();
    CHECK(result.best_pass == best);
    CHECK(result.best.cost == costs[static_cast<std::size_t>(best)]);
    CHECK(test::bytes_of(m) == parameters[static_cast<std::size_t>(best)]);
    CHECK(result.passes == static_cast<int>(costs.size()));
    CHECK(result.stopped_early == (result.passes < passes));
    CHECK((result.passes < passes || passes == 4));
    CHECK(t.passes() == result.passes);
    if (result.stopped_early) CHECK(result.passes == best + 1 + 5);
    CHECK(events.front() == "EndPass");
    CHECK(events[1] == "TestResult");
    CHECK(events[2] == "NewBest");
    CHECK((events.back() == "EarlyStop") == result.stopped_early);
    CHECK(curves.points().size() == 2 * costs.size());
    CHECK(curves.best_pass() == static_cast<int>(best));
    CHECK(curves.stopped_early().has_value() == result.stopped_early);
    lamina::evaluator e{m};
    CHECK(e.test(validation).cost == result.best.cost);
  }
  lamina::model m{net};
  test::optimizer::sgd sgd{};
  lamina::trainer t{m, sgd};
  CHECK_THAT(test::error_of([&] { lamina::fit(t, batches(), validation, {.passes = 0}); }),
             Contains("lamina: fit: expected 1 pass or more and a patience of 0 or more, found 0"));
  t.options().on_event = [](const lamina::event& e) {
    if (e.is_end_validation()) e.stop();
  };
  CHECK(lamina::fit(t, batches(), validation).passes == 1);
}

TEST_CASE("early stopping: patience, the smallest change, NaN, and larger values") {
  lamina::model m{net};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  lamina::early_stopping early{m, {.patience = 2, .min_delta = 0.1}};
  CHECK_FALSE(early(nan));
  CHECK(early.number_of_best() == -1);
  CHECK_FALSE(early(1.0));
  CHECK(early.is_best());
  m.set(0, lamina::array<float>(m.get(0).shape()));
  CHECK_FALSE(early(0.95));  // by less than 0.1
  CHECK_FALSE(early.is_best());
  CHECK_FALSE(early(0.85));
  CHECK(early.number_of_best() == 3);
  m.set(0, lamina::model{net, 8}.get(0));
  CHECK_FALSE(early(nan));
  CHECK(early(0.8));
  early.restore();
  for (std::size_t i = 0; i < m.get(0).size(); ++i) CHECK(m.get(0).data()[i] == 0);
  lamina::early_stopping rising{m, {.patience = 1, .is = lamina::better::larger}};
  CHECK_FALSE(rising(0.5));
  CHECK_FALSE(rising(0.6));
  CHECK(rising(0.6));
  CHECK(test::error_of([&] { lamina::early_stopping(m, {.patience = 0}); }) ==
        "lamina: early_stopping: expected a patience of 1 or more, found 0");
  lamina::evaluator e{m};
  lamina::early_stopping misspelt{m, {.metric = "acuracy"}};
  CHECK_THAT(test::error_of([&] { misspelt(e.test(batches())); }),
             Contains("expected the name of a metric, found 'acuracy'"));
}

TEST_CASE("a learning rate: from a function, multiplied, lowered on a plateau, saved") {
  namespace schedule = lamina::schedule;
  constexpr lamina::optimizer::learning_rate constant =
      schedule::custom{[](std::int64_t step) { return 0.5 / static_cast<double>(1 + step); }};
  CHECK(constant.at(0) == 0.5f);
  CHECK(constant.at(4) == 0.1f);
  const lamina::optimizer::learning_rate warm = schedule::linear_lr_warmup{
      .learning_rate = constant, .warmup_steps = 2, .start_lr = 0, .end_lr = 1};
  CHECK(warm.at(1) == 0.5f);
  CHECK(warm.at(4) == 0.1f);
  const lamina::optimizer::learning_rate wrong =
      schedule::custom{[](std::int64_t) { return std::nan(""); }};
  CHECK_THAT(test::error_of([&] { (void)wrong.at(0); }), Contains("lamina: custom: expected"));

  test::optimizer::sgd sgd{.learning_rate = schedule::exponential_decay{0.1f, 1, 0.5f}};
  lamina::reduce_on_plateau plateau{
      {.factor = 0.5f, .patience = 2, .min_delta = 0.01, .cooldown = 1, .smallest_factor = 0.2f}};
  std::string lowered;
  for (const double cost : {1.0, 0.9, 0.895, 0.9, 0.9, 0.9, 0.9, 0.5, 0.5, 0.5, 0.5})
    lowered += plateau(cost, sgd) ? '1' : '0';
  CHECK(lowered == "00010010010");
  CHECK(sgd.learning_rate.factor == 0.2f);
  CHECK(sgd.learning_rate.at(1) == 0.2f * 0.05f);  // the schedule goes on

  const test::folder folder;
  lamina::model m{net};
  lamina::trainer t{m, sgd};
  lamina::early_stopping early{m};
  t.keep(plateau);
  t.keep(early);
  early(0.25);
  t.pass(batches());
  t.save(folder / "state");
  test::optimizer::sgd again{.learning_rate = sgd.learning_rate};
  again.learning_rate.factor = 1;
  lamina::model other{net, 5};
  lamina::reduce_on_plateau fresh{{.factor = 0.5f, .patience = 2, .min_delta = 0.01}};
  lamina::early_stopping fresh_early{other};
  lamina::trainer loaded{other, again};
  CHECK_THAT(test::error_of([&] { loaded.load(folder / "state"); }),
             Contains("call keep() for the same objects before load()"));
  loaded.keep(fresh);
  loaded.keep(fresh_early);
  loaded.load(folder / "state");
  CHECK(again.learning_rate.factor == 0.2f);
  CHECK(fresh_early.best() == 0.25);
  CHECK_FALSE(fresh(0.6, again));
  CHECK(fresh(0.6, again));  // 0.5 was the best before
  lamina::train_options options{};
  options.checkpoint.directory = (folder / "run").string();
  options.checkpoint.resume = true;
  sgd.train(m, batches(), options);
  test::optimizer::sgd unscaled{.learning_rate = 0.1f};
  options.passes = 2;
  CHECK_THAT(test::error_of([&] { unscaled.train(other, batches(), options); }),
             Contains("expected learning_rate.factor = 0.200000003 as when it was written, found "
                      "1; set it before training goes on"));
  fresh_early.restore();
  early.restore();
  CHECK(test::bytes_of(other) == test::bytes_of(m));
}

TEST_CASE("values of a training step can be read, of all threads", "[threads]") {
  const auto samples = test::samples(10);
  lamina::model a{net, 3}, b{net, 3};
  lamina::trainer one{a, test::optimizer::sgd{}, {.seed = 4}},
      three{b, test::optimizer::sgd{}, {.threads = 3, .seed = 4}};
  CHECK_THAT(test::error_of([&] { one.activation<"costs">(); }),
             Contains("lamina: trainer: expected a step before activation(), found none"));
  const double cost = static_cast<double>(one.step(samples));
  three.step(samples);
  const auto costs = one.activation<"costs">(), of_threads = three.activation<"costs">();
  const auto hidden = one.activation<"hidden">(), of_all = three.activation<"hidden">();
  REQUIRE(costs.shape(0) == 10);
  REQUIRE(of_threads.shape() == costs.shape());
  REQUIRE(of_all.shape() == hidden.shape());
  double sum = 0;
  for (std::size_t i = 0; i < 10; ++i) {
    sum += static_cast<double>(costs(i, 0));
    CHECK(of_threads(i, 0) == Approx(costs(i, 0)));
    for (std::size_t k = 0; k < 9; ++k) CHECK(of_all(i, k) == Approx(hidden(i, k)));
  }
  CHECK(sum / 10 == Approx(cost));
  CHECK_THAT(test::error_of([&] { three.activation<"accuracy">(); }),
             Contains("expected rows, or one thread: each of 3 threads has a value of its own"));
}

TEST_CASE("learning curves: CSV, and a page without anything from outside") {
  lamina::learning_curves curves;
  auto report = [copy = curves](lamina::event_kind kind, int pass, double cost,
                                double metric) mutable {
    const lamina::optimizer::metric_value values[] = {{"top \"5\", <b>", metric}};
    copy({.kind = kind, .pass = pass, .cost = cost, .metrics = values});
  };
  CHECK(curves.csv() == "pass,part,cost\n");
  CHECK_THAT(lamina::curves_page(curves).html(), Contains("0 passes"));
  report(lamina::event_kind::end_iteration, 0, 9, 9);
  for (int pass = 0; pass < 3; ++pass) {
    report(lamina::event_kind::end_pass, pass, 1.0 / (1 + pass), 0.5 + 0.1 * pass);
    report(lamina::event_kind::end_validation, pass, pass == 1 ? std::nan("") : 2.0, 0.25);
  }
  report(lamina::event_kind::new_best, 2, 2, 0.25);
  curves.add_validation(3, lamina::test_result{10, 0.125, {}});
  CHECK(curves.csv() ==
        "pass,part,cost,\"top \"\"5\"\", <b>\"\n"
        "0,training,1,0.5\n0,validation,2,0.25\n1,training,0.5,0.6\n1,validation,nan,0.25\n"
        "2,training,0.333333333,0.7\n2,validation,2,0.25\n3,validation,0.125,\n");
  const test::folder folder;
  curves.save_csv(folder / "curves.csv");
  CHECK(test::read(folder / "curves.csv") == curves.csv());
  lamina::curves_page(curves).save(folder / "curves.html");
  const std::string html = test::read(folder / "curves.html");
  CHECK_THAT(html, Contains("3 passes; best validation after pass 2."));
  CHECK_THAT(html, Contains("<h2>top &quot;5&quot;, &lt;b&gt;</h2>"));
  CHECK_THAT(html, Contains("1 values are not finite"));
  for (const char* outside : {"<script", "href=", "src=", "@import", "url("})
    CHECK(html.find(outside) == std::string::npos);
}
