// SPDX-License-Identifier: Apache-2.0
// The next mini-batch is read and copied to a place while it computes another; what a user sees is
// what it is without.
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "engine/cuda/train_both.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cuda/host_backend.hpp>
#include <lamina/reader/generator.hpp>
#include <lamina/train/train.hpp>

namespace cuda = lamina::engine::cuda;
namespace layer = lamina::layer;
namespace optimizer = lamina::optimizer;

namespace {

/// Words of sentences, so that the data of mini-batches have other places and sizes.
constexpr auto sentences = lamina::program([](lamina::block& main) {
  auto word = layer::sequence<"word", std::int64_t>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto logits = layer::fc<3>(layer::sequence_pool(layer::embedding<7, 5>(word), {}));
  layer::accuracy(logits, label, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});
using program_type = std::remove_const_t<decltype(sentences)>;
using backend = cuda::host_backend<1>;
using sample = std::pair<std::vector<std::int64_t>, std::int64_t>;

/// Sample i: a sentence of 1 to 5 words and a label that belongs to its first one.
sample sample_of(int i) {
  sample s{{}, i % 7 % 3};
  for (int k = 0; k <= i * 3 % 5; ++k) s.first.push_back((i + k) % 7);
  return s;
}
/// Mini-batches of these sizes.
std::vector<std::vector<sample>> batches_of(const std::vector<int>& sizes) {
  std::vector<std::vector<sample>> all;
  int i = 0;
  for (const int n : sizes)
    for (all.emplace_back(); static_cast<int>(all.back().size()) < n; ++i)
      all.back().push_back(sample_of(i));
  return all;
}

/// What a training run shows: events as letters, costs, parameters.
struct seen {
  std::string events, calls, message;
  std::vector<double> costs;
  std::vector<float> weight;
};
lamina::train_options options_into(seen& s, int passes) {
  return {.passes = passes, .on_event = [&s](const lamina::event& e) {
            s.events += "PbfiE"[static_cast<int>(e.kind)];
            if (e.kind == lamina::event_kind::end_iteration) s.costs.push_back(e.cost);
          }};
}
template <class Trainer, class Reader>
void train_into(seen& s, lamina::model<program_type>& m, Trainer& t, Reader& batches, int passes) {
  try {
    lamina::detail::train_loop<program_type>(t, batches, options_into(s, passes));
  } catch (const std::exception& e) {
    s.message = e.what();
    if constexpr (requires { t.bring_back(); }) t.bring_back();
  }
  const auto w = m.get(1);
  s.weight.assign(w.data(), w.data() + w.size());
}
constexpr optimizer::momentum how{.learning_rate = 0.1f};
template <class Reader>
seen train_on_cpu(Reader batches, int passes = 1) {
  seen s;
  lamina::model m{sentences, 3};
  lamina::trainer<program_type, optimizer::momentum> t(how, m, 1, 11);
  train_into(s, m, t, batches, passes);
  return s;
}
template <class Reader>
seen train_at_place(Reader batches, int passes = 1, bool records = false,
                    const optimizer::momentum& opt = how) {
  seen s;
  lamina::model m{sentences, 3};
  backend b;
  b.defer();
  if (records) b.record();
  b.note_calls(&s.calls);
  lamina::device_trainer<program_type, optimizer::momentum, backend> t(b, opt, m, 11);
  train_into(s, m, t, batches, passes);
  return s;
}
void check_equal(const seen& found, const seen& expected) {
  CHECK(found.events == expected.events);
  CHECK(found.message == expected.message);
  REQUIRE(found.costs.size() == expected.costs.size());
  for (std::size_t i = 0; i < found.costs.size(); ++i)
    CHECK(found.costs[i] == Approx(expected.costs[i]).epsilon(1e-5));
  for (std::size_t i = 0; i < found.weight.size(); ++i)
    CHECK(found.weight[i] == Approx(expected.weight[i]).margin(1e-6));
}
/// Between the launch of a run and the first wait.
std::vector<std::string> after_launches(const std::string& calls) {
  std::vector<std::string> all;
  for (std::size_t i = calls.find('r'); i != std::string::npos; i = calls.find('r', i + 1))
    all.push_back(calls.substr(i + 1, calls.find('w', i) - i - 1));
  return all;
}

}  // namespace

TEST_CASE("the copy of the next mini-batch is on its way before a run is waited for") {
  const auto batches = batches_of({4, 3, 4, 4, 5});
  const seen found = train_at_place(batches, 2);
  const std::vector<std::string> after = after_launches(found.calls);
  // The first one waits once: for new memory. The last of a pass has none behind it.
  CHECK(after == std::vector<std::string>{"", "a", "a", "a", "", "a", "a", "a", "a", ""});
  // And each copy is taken by the run that it is for.
  CHECK(std::count(found.calls.begin(), found.calls.end(), 't') == 8);
  CHECK(found.calls.find("tr") != std::string::npos);
  check_equal(found, train_on_cpu(batches, 2));
}

TEST_CASE("what is recorded takes mini-batches that were copied ahead") {
  const auto batches = batches_of({4, 4, 4, 2, 4, 0, 9, 4, 2});
  check_equal(train_at_place(batches, 3, true), train_on_cpu(batches, 3));
}

TEST_CASE("limits on norms and a copy ahead are no obstacle to each other") {
  const auto batches = batches_of({4, 3, 4});
  optimizer::momentum limited = how;
  limited.clip = lamina::clip_by_global_norm(1e6f);
  check_equal(train_at_place(batches, 2, false, limited), train_on_cpu(batches, 2));
}

TEST_CASE("a reader's error arrives after the steps before it, at a place as on the CPU") {
  const auto broken = []() -> lamina::generator<std::vector<sample>> {
    const auto batches = batches_of({4, 4, 4});
    co_yield batches[0];
    co_yield batches[1];
    throw std::runtime_error("the disk is gone");
  };
  const seen found = train_at_place(broken);
  CHECK(found.events == "Pbfibfi");
  CHECK(found.message == "the disk is gone");
  check_equal(found, train_on_cpu(broken));
}

TEST_CASE("samples and labels that do not fit are told in their own step") {
  auto batches = batches_of({4, 4, 4});
  SECTION("a word out of range: known when the step is over") {
    batches[1][2].first[0] = 9;
    const seen found = train_at_place(batches), expected = train_on_cpu(batches);
    CHECK(found.events == expected.events);
    CHECK(found.message == expected.message);
    CHECK(found.message.find("found 9") != std::string::npos);
  }
  SECTION("a mini-batch that is too large for the place: known when its step begins") {
    seen s;
    lamina::model m{sentences, 3};
    backend b;
    b.limit_memory(40'000);
    lamina::device_trainer<program_type, optimizer::momentum, backend> t(b, how, m, 11);
    auto large = batches_of({4, 4, 4000});
    train_into(s, m, t, large, 1);
    CHECK(s.events == "Pbfibfib");
    CHECK(s.message.find("out of memory") != std::string::npos);
  }
}

TEST_CASE("a step on another mini-batch than the one that was copied ahead is right") {
  const auto batches = batches_of({4, 4, 4});
  lamina::feeder<program_type> feed[3];
  for (int i = 0; i < 3; ++i) feed[i].fill(batches[static_cast<std::size_t>(i)]);
  lamina::model a{sentences, 3}, b{sentences, 3};
  backend place;
  place.defer();
  lamina::trainer<program_type, optimizer::momentum> expected(how, a, 1, 11);
  lamina::device_trainer<program_type, optimizer::momentum, backend> found(place, how, b, 11);
  found.start(feed[0].view());
  found.prefetch(feed[1].view());
  CHECK(found.finish() == Approx(expected.step(feed[0].view())));
  CHECK(found.step(feed[2].view()) == Approx(expected.step(feed[2].view())));
  CHECK(found.step(feed[1].view()) == Approx(expected.step(feed[1].view())));
}
