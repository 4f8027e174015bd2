// SPDX-License-Identifier: Apache-2.0
// A trainer keeps its state from step to step and from pass to pass.
#include "train/net.hpp"

#include <lamina/train/trainer.hpp>

namespace layer = lamina::layer;
using Catch::Contains;

namespace {

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto hidden = layer::fc<17>(x, {.act = lamina::activation::relu});
  auto logits = layer::fc<3>(layer::dropout(hidden, 0.3f), {.name = "output"});
  layer::accuracy(logits, label, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

const auto decay = lamina::schedule::exponential_decay{0.01f, 10, 0.9f};

auto batches() { return test::samples(50) | test::reader::shuffle(50, 3) | test::reader::batch(8); }

}  // namespace

TEST_CASE("n passes of a trainer, and n calls of train, are one train of n passes", "[threads]") {
  for (const int threads : {1, 3}) {
    test::optimizer::adam adam{.learning_rate = decay};
    lamina::model once{net}, by_passes{net}, by_calls{net}, mixed{net};
    double cost = 0;
    const auto whole = adam.train(once, batches(), {.passes = 6, .threads = threads, .seed = 9});
    lamina::trainer t{by_passes, adam, {.threads = threads, .seed = 9}};
    for (int pass = 0; pass < 6; ++pass) {
      CHECK(t.passes() == pass);
      t.pass(batches());
      cost = adam.train(by_calls, batches(), {.threads = threads, .seed = 9}).cost;
      CHECK(cost == t.cost());
    }
    CHECK(t.cost() == whole.cost);
    CHECK(t.steps() == whole.steps);
    CHECK(test::bytes_of(by_passes) == test::bytes_of(once));
    CHECK(test::bytes_of(by_calls) == test::bytes_of(once));
    for (const int passes : {2, 1, 3})
      adam.train(mixed, batches(), {.passes = passes, .threads = threads, .seed = 9});
    CHECK(test::bytes_of(mixed) == test::bytes_of(once));
  }
}

TEST_CASE("train begins anew with another optimizer, after load, and where it is told to") {
  test::optimizer::adam adam{.learning_rate = decay};
  const test::folder folder;
  lamina::model fresh{net};
  fresh.save(folder / "first");
  adam.train(fresh, batches(), {.passes = 2});
  const auto expected = test::bytes_of(fresh);
  const auto trained = [&](auto&& between) {
    lamina::model m{net};
    const std::int64_t before = adam.train(m, batches(), {.passes = 2}).steps;
    between(m);
    CHECK(before == 14);
    CHECK(adam.train(m, batches(), {.passes = 2}).steps == 14);
    return test::bytes_of(m);
  };
  const auto load = [&](auto& m) { m.load(folder / "first"); };
  CHECK(trained(load) == expected);
  CHECK(trained([&](auto& m) { m.assign(lamina::model{net}.entries(), "entries"); }) == expected);
  CHECK(trained([](auto& m) { m.forget_training(); }) != expected);  // the parameters stay
  CHECK(trained([&](auto& m) { test::optimizer::sgd{}.train(m, batches()); }) != expected);
}

TEST_CASE("a saved trainer goes on bit for bit, between passes and in the middle of one") {
  const test::folder folder;
  test::optimizer::adam adam{.learning_rate = decay};
  lamina::model whole{net}, first{net}, second{net, 99}, third{net, 98};
  lamina::trainer uninterrupted{whole, adam, {.seed = 9}};
  for (int pass = 0; pass < 4; ++pass) uninterrupted.pass(batches());
  uninterrupted.save(folder / "whole");

  lamina::trainer t{first, adam, {.seed = 9}};
  t.options().on_event = [&](const lamina::event& e) {
    if (e.is_end_iteration() && e.pass == 1 && e.batch == 2) t.save(folder / "middle");
  };
  t.pass(batches());
  t.save(folder / "between");
  t.pass(batches());

  lamina::trainer from_between{second, adam, {.seed = 9}}, from_middle{third, adam, {.seed = 9}};
  from_between.load(folder / "between");
  CHECK(from_between.passes() == 1);
  CHECK(from_between.steps() == 7);
  from_middle.load(folder / "middle");
  CHECK(from_middle.steps() == 10);
  CHECK(from_middle.pass(batches()).samples == 50 - 24);
  CHECK(test::bytes_of(third) == test::bytes_of(first));
  for (int pass = 1; pass < 4; ++pass) from_between.pass(batches());
  for (int pass = 2; pass < 4; ++pass) from_middle.pass(batches());
  for (auto* each : {&from_between, &from_middle}) {
    each->save(folder / "again");
    CHECK(test::read(folder / "again") == test::read(folder / "whole"));
  }

  // What does not fit is an error, and changes nothing.
  const auto before = test::bytes_of(second);
  lamina::trainer other_seed{second, adam, {.seed = 8}};
  CHECK_THAT(test::error_of([&] { other_seed.load(folder / "whole"); }), Contains("seed 8"));
  lamina::trainer sgd{second, test::optimizer::sgd{}, {.seed = 9}};
  CHECK_THAT(test::error_of([&] { sgd.load(folder / "whole"); }), Contains("optimizer sgd"));
  test::write(folder / "half", test::read(folder / "whole").substr(0, 999));
  CHECK_THROWS_AS(from_between.load(folder / "half"), lamina::format_error);
  CHECK(test::bytes_of(second) == before);
  lamina::trainer shorter{second, adam, {.seed = 9}};
  shorter.load(folder / "middle");
  CHECK_THAT(test::error_of([&] { shorter.pass(test::samples(50) | test::reader::batch(16)); }),
             Contains("which had read 24 samples (is the batch size another one?) by then"));
}

TEST_CASE("steps of a trainer are those of a pass, and read the optimizer each time") {
  const auto all = test::samples(24);
  const std::vector<std::vector<test::sample>> batched{{all.begin(), all.begin() + 8},
                                                       {all.begin() + 8, all.end()}};
  test::optimizer::momentum momentum{.learning_rate = 0.1f};
  lamina::model by_pass{net}, by_steps{net}, by_copy{net};
  double cost = 0;
  for (const float rate : {0.1f, 0.02f}) {
    momentum.learning_rate = rate;
    cost = momentum.train(by_pass, batched).cost;
  }
  lamina::trainer t{by_steps, momentum};
  lamina::trainer of_copy{by_copy, test::optimizer::momentum{.learning_rate = 0.1f}};
  for (const float rate : {0.1f, 0.02f}) {
    t.optimizer().learning_rate = rate;
    CHECK(static_cast<double>(momentum.learning_rate.at(0)) == static_cast<double>(rate));
    of_copy.optimizer().learning_rate = rate;
    double sum = 0;
    for (const auto& batch : batched) {
      sum += static_cast<double>(t.step(batch)) * static_cast<double>(batch.size()) / 24;
      CHECK(of_copy.step(batch) == static_cast<float>(t.cost()));
      CHECK(of_copy.metric("accuracy") == t.metric("accuracy"));
    }
    cost -= rate < 0.1f ? sum : 0;
  }
  CHECK(cost == Approx(0).margin(1e-7));
  CHECK(t.steps() == 4);
  CHECK(test::bytes_of(by_steps) == test::bytes_of(by_pass));
  CHECK(test::bytes_of(by_copy) == test::bytes_of(by_pass));
  momentum.learning_rate = -1.f;
  CHECK_THAT(test::error_of([&] { t.step(all); }), Contains("momentum: learning_rate: expected"));
  CHECK(test::error_of([&] { of_copy.step(std::vector<test::sample>{}); }) ==
        "lamina: trainer: expected a mini-batch with samples, found none");
  CHECK(test::error_of([&] { lamina::trainer(by_copy, momentum, {.passes = 2}); }) ==
        "lamina: trainer: expected options without a number of passes, as each call of pass() is "
        "one, found 2");
}

TEST_CASE("trainers of one model keep a state each, and a stopped pass is over") {
  test::optimizer::adam adam{.learning_rate = 0.01f};
  lamina::model alone{net}, shared{net};
  lamina::trainer a{alone, adam}, b{shared, adam};
  lamina::trainer c{shared, test::optimizer::sgd{.learning_rate = 0}};
  for (int pass = 0; pass < 3; ++pass) {
    a.pass(batches());
    b.pass(batches());
    c.pass(batches());
  }
  CHECK(test::bytes_of(shared) == test::bytes_of(alone));
  lamina::trainer stopped{alone, adam, {.on_event = [](const lamina::event& e) {
                            if (e.is_end_iteration() && e.batch == 1) e.stop();
                          }}};
  CHECK(stopped.pass(batches()).samples == 16);
  CHECK(stopped.stopped());
  CHECK(stopped.passes() == 1);
  CHECK(stopped.pass(batches()).steps == 4);
}
