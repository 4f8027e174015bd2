// SPDX-License-Identifier: Apache-2.0
// Gradients of several mini-batches joined for one update are those of one larger mini-batch.
// Sources: huggingface/transformers#34191, keras-team/keras#20241, starVLA/starVLA#210.
#include "train/costs_of_rows.hpp"
#include "train/net.hpp"

#include <lamina/train/trainer.hpp>

namespace layer = lamina::layer;
using Catch::Contains;

namespace {

using words = std::vector<std::int64_t>;

/// Sentences of 0 to 12 words; no tag of the first seven is 1, so a mask by it is empty there.
template <class Sample>
std::vector<Sample> sentences(int count) {
  std::vector<Sample> all;
  for (int i = 0; i < count; ++i) {
    words word, tag;
    for (int k = 0; k < (i % 7 + i / 7) * 2 % 13; ++k) {
      word.push_back((i * 5 + k * 3) % 9);
      tag.push_back(i < 7 ? 2 : (i + k * 2) % 5);
    }
    if constexpr (std::tuple_size_v<Sample> == 3)
      all.push_back({word, tag, i % 5});
    else
      all.push_back({word, tag});
  }
  return all;
}

/// Trains on mini-batches of 28 samples at once, and of 7 samples by 4: in passes, by steps and by
/// hand. The last mini-batch of a pass is alone and short.
template <class P, class Opt, class Sample>
void check_joined(const P& program, Opt opt, const std::vector<Sample>& samples) {
  constexpr int passes = 2;
  lamina::model once{program, 3};
  const auto whole =
      opt.train(once, samples | test::reader::batch(28), {.passes = passes, .seed = 5});
  const auto parts = samples | test::reader::batch(7);
  for (const int threads : {1, 2}) {
    INFO(threads << " threads");
    lamina::model joined{program, 3};
    lamina::trainer accumulating{joined, opt, {.threads = threads, .accumulate = 4, .seed = 5}};
    lamina::train_result result;
    for (int pass = 0; pass < passes; ++pass) result = accumulating.pass(parts);
    CHECK(test::distance(joined, once) < 1e-6);
    CHECK(test::distance(joined, lamina::model{program, 3}) > 1e-3);
    CHECK(result.steps == whole.steps);
    lamina::model trained{program, 3}, by_passes{program, 3};
    const lamina::train_options options{
        .passes = passes, .threads = threads, .accumulate = 4, .seed = 5};
    const auto of_train = opt.train(trained, parts, options);
    CHECK(test::distance(trained, joined) == 0);
    CHECK(of_train.steps == whole.steps);
    CHECK(of_train.samples == whole.samples);
    const bool undefined =
        of_train.cost != of_train.cost;  // where the last mini-batch has no weight
    CHECK((undefined ? result.cost != result.cost : of_train.cost == result.cost));
    for (int pass = 0; pass < passes; ++pass)
      opt.train(by_passes, parts, {.threads = threads, .accumulate = 4, .seed = 5});
    CHECK(test::distance(by_passes, trained) == 0);
    using parts_type = typename lamina::cpu_trainer<P, Opt>::parts_type;
    if (!parts_type::accumulates_one_by_one) continue;
    lamina::model by_steps{program, 3}, by_hand{program, 3};
    lamina::trainer t{by_steps, opt, {.threads = threads, .accumulate = 4, .seed = 5}};
    lamina::trainer own{by_hand, opt, {.threads = threads, .seed = 5}};
    for (int pass = 0; pass < passes; ++pass)
      for (auto&& batch : lamina::reader::begin_pass(parts)) {
        const auto cost = t.step(batch), again = own.backward(batch);
        CHECK((again == cost || (again != again && cost != cost)));  // NaN without any weight
        if (own.pending() == 4 || batch.size() < 7) own.update();
        if (batch.size() < 7 && t.pending() > 0) t.update();
      }
    CHECK(t.steps() == result.steps);
    CHECK(test::bytes_of(by_steps) == test::bytes_of(joined));
    CHECK(test::bytes_of(by_hand) == test::bytes_of(joined));
  }
}

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto hidden = layer::dropout(layer::fc<17>(x, {.act = lamina::activation::relu}), 0.3f);
  auto logits = layer::fc<3>(hidden);
  layer::accuracy(logits, label, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

}  // namespace

TEST_CASE("accumulated gradients: a mean over samples, with dropout, a schedule and clips",
          "[threads]") {
  const auto samples = test::samples(29);
  const auto decay = lamina::schedule::exponential_decay{0.1f, 2, 0.5f};
  check_joined(net, test::optimizer::momentum{.learning_rate = decay}, samples);
  check_joined(
      net,
      test::optimizer::momentum{.learning_rate = decay, .clip = lamina::clip_by_global_norm(0.05f)},
      samples);
}

TEST_CASE("accumulated gradients: costs of words, and of sentences of different length",
          "[threads]") {
  const test::optimizer::sgd sgd{.learning_rate = 0.1f};
  using two = std::tuple<words, words>;
  using three = std::tuple<words, words, std::int64_t>;
  check_joined(test::cost_of_two_kinds, sgd, sentences<three>(29));
  check_joined(test::cost_that_is_a_sum, sgd, sentences<two>(29));
}

TEST_CASE("accumulated gradients: weighted costs, where the first weights may be 0", "[threads]") {
  const test::optimizer::sgd sgd{.learning_rate = 0.1f};
  using two = std::tuple<words, words>;
  check_joined(test::masked_cost<test::guard::means>, sgd, sentences<two>(29));
  check_joined(test::masked_cost<test::guard::clip>, sgd, sentences<two>(29));
}

TEST_CASE("accumulated gradients: those of several gradient machines make one update",
          "[threads]") {
  const auto samples = test::samples(12);
  const std::vector<test::sample> few(samples.begin(), samples.begin() + 4),
      more(samples.begin() + 4, samples.end());
  // Not adam, which would make steps of rounding: a bias before batch_norm has no gradient.
  const test::optimizer::momentum momentum{.learning_rate = 0.1f,
                                           .clip = lamina::clip_by_global_norm(0.05f)};
  constexpr auto plain = lamina::program([](lamina::block& main) {
    auto x = layer::data<"x", float, 6>(main);
    auto label = layer::data<"label", std::int64_t>(main);
    auto h = layer::batch_norm(layer::fc<5>(x), {.act = lamina::activation::tanh});
    return layer::mean(layer::softmax_with_cross_entropy(layer::fc<3>(h), label));
  });
  lamina::model together{plain, 3}, by_machines{plain, 3};
  lamina::trainer t{together, momentum}, optimizer{by_machines, momentum};
  lamina::gradient_machine a{by_machines}, b{by_machines};
  for (int step = 0; step < 3; ++step) {
    t.backward(few);
    t.backward(more);
    t.update();
    a.backward(few);
    b.backward(more);
    optimizer.update({&a, &b});
    for (const int i : {0, 1, 2, 3, 6, 7})  // all but the moving statistics, 4 and 5
      for (std::size_t k = 0; k < together.get(i).size(); ++k)
        CHECK(by_machines.get(i).data()[k] == Approx(together.get(i).data()[k]).margin(1e-6));
  }
  CHECK(optimizer.steps() == 3);
}

TEST_CASE("accumulated gradients: what would be wrong silently is an error") {
  const test::folder folder;
  const auto samples = test::samples(8);
  const auto batches = samples | test::reader::batch(4);
  test::optimizer::sgd sgd{.learning_rate = 0.1f};
  lamina::model m{net};
  lamina::trainer t{m, test::optimizer::momentum{}};
  CHECK(test::error_of([&] { t.update(); }) ==
        "lamina: trainer: expected backward() before update(), found none since the last update");
  t.backward(samples);
  CHECK(test::error_of([&] { t.pass(batches); }) ==
        "lamina: trainer: expected update() before pass(), found the gradients of 1 mini-batches "
        "that are not used yet");
  CHECK_THAT(test::error_of([&] { t.save(folder / "state"); }), Contains("update() before save()"));
  t.step(samples);  // with the gradients that wait
  CHECK(t.pending() == 0);
  CHECK(t.steps() == 1);
  t.save(folder / "state");
  t.backward(samples);
  t.load(folder / "state");
  CHECK(t.pending() == 0);
  CHECK_THAT(test::error_of([&] { lamina::trainer(m, sgd, {.accumulate = 0}); }),
             Contains("lamina: train: expected accumulate to be 1 or more, found 0"));
  CHECK_THAT(test::error_of([&] { sgd.train(m, batches, {.accumulate = -2}); }),
             Contains("lamina: train: expected accumulate to be 1 or more, found -2"));

  lamina::model two{test::cost_of_two_kinds};
  lamina::trainer of_two{two, sgd};
  const auto lines = sentences<std::tuple<words, words, std::int64_t>>(3);
  of_two.backward(lines);
  CHECK_THAT(test::error_of([&] { of_two.backward(lines); }),
             Contains("expected the option accumulate and pass(), found a second backward()"));
  of_two.update();
}
