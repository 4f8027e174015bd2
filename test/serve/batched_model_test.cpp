// SPDX-License-Identifier: Apache-2.0
// One model that answers many threads by mini-batches of what waits.
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <thread>
#include <vector>

#include "serve/requests.hpp"

#include <lamina/serve/batched_model.hpp>

namespace layer = lamina::layer;
namespace serve = lamina::serve;
using Catch::Contains;
using namespace std::chrono_literals;
using test::elements, test::pooled, test::request, test::scores, test::values;

namespace {

/// What an evaluator of its own computes for the request.
std::vector<float> alone(lamina::any_evaluator& e, const serve::model_request& r) {
  const auto word = elements<std::int64_t>(r.inputs[0]);
  const auto x = elements<float>(r.inputs[1]);
  e.forward({{"x", x}, {"word", word}});
  const auto sum = e.activation("sum");
  return {sum.data(), sum.data() + sum.size()};
}
/// The kernels of mini-batches of other sizes round the last bits in another way.
bool near(const std::vector<float>& a, const std::vector<float>& b) {
  bool all = a.size() == b.size();
  for (std::size_t i = 0; all && i < a.size(); ++i)
    all = std::abs(a[i] - b[i]) <= 1e-5f * (1 + std::abs(b[i]));
  return all;
}
auto soon() { return std::chrono::steady_clock::now() + 60s; }

}  // namespace

TEST_CASE("a batched model answers each of many threads with its own rows", "[threads]") {
  const lamina::any_model model = lamina::model{scores, 3};
  std::atomic<int> requests = 0, rows = 0, batches = 0;
  serve::batched_model m(model, {.workers = 2,
                                 .queue = {.waiting = 64, .rows = 16},
                                 .on_batch = [&](const serve::batch_report& r) {
                                   requests += r.requests, rows += r.rows, ++batches;
                                 }});
  constexpr int callers = 4, each = 250;
  std::atomic<int> wrong = 0, sent = 0;
  std::vector<std::thread> threads;
  for (int c = 0; c < callers; ++c)
    threads.emplace_back([&, c] {
      lamina::any_evaluator own = model.evaluator();
      for (int i = 0; i < each; ++i) {
        const serve::model_request r = request(c * each + i, 1 + i % 3);
        const serve::model_answer a = m.answer(r, soon());
        sent += 1 + i % 3;
        wrong += a.outputs.size() != 1 || a.outputs[0].shape[0] != 1 + i % 3 || a.version != 1 ||
                 !near(elements<float>(a.outputs[0]), alone(own, r));
      }
    });
  for (auto& t : threads) t.join();
  CHECK(wrong == 0);
  CHECK(requests == callers * each);
  CHECK(rows == sent);
  CHECK(batches <= requests);
  CHECK(m.waiting() == 0);
}

TEST_CASE("requests that wait are one mini-batch, and a faulty one fails alone") {
  std::vector<serve::batch_report> reports;
  const lamina::any_model model = lamina::model{scores, 3};
  serve::batched_model m(model, {.queue = {.waiting = 64, .rows = 6, .linger = 60s},
                                 .on_batch = [&](const auto& r) { reports.push_back(r); }});
  std::vector<std::string> what(3);
  std::vector<std::vector<float>> found(3);
  std::vector<std::thread> threads;
  const auto send = [&](std::size_t i, std::int64_t word) {
    threads.emplace_back([&, i, word] {
      try {
        found[i] =
            elements<float>(m.answer(request(static_cast<int>(i), 2, word), soon()).outputs[0]);
      } catch (const lamina::error& e) {
        what[i] = e.what();
      }
    });
  };
  SECTION("all are right") {
    for (std::size_t i = 0; i < 3; ++i) send(i, -1);
    for (auto& t : threads) t.join();
    REQUIRE(reports.size() == 1);
    CHECK(reports[0].requests == 3);
    CHECK(reports[0].rows == 6);
    lamina::any_evaluator own = model.evaluator();
    for (int i = 0; i < 3; ++i)
      CHECK(near(found[static_cast<std::size_t>(i)], alone(own, request(i, 2))));
  }
  SECTION("one has a word that does not exist") {
    for (std::size_t i = 0; i < 3; ++i) send(i, i == 1 ? 9 : -1);
    for (auto& t : threads) t.join();
    CHECK(found[0].size() == 8);
    CHECK_THAT(what[1], Contains("found 9"));
    CHECK(found[2].size() == 8);
    CHECK(reports.size() == 2);
  }
}

TEST_CASE("a batched model gives all outputs that have rows, and refuses other options") {
  serve::batched_model m(lamina::model{scores, 3}, {.queue = {.waiting = 4, .rows = 4}});
  serve::model_request r = request(1, 2);
  r.outputs.clear();
  const serve::model_answer all = m.answer(r, soon());
  REQUIRE(all.outputs.size() == 2);
  CHECK(all.outputs[0].shape == std::vector<std::int64_t>{2, 4});
  CHECK(elements<std::int64_t>(all.outputs[1]).size() == 2);
  CHECK(all.batch_rows == 2);
  r.outputs = {"best", "sum", "best"};
  CHECK(m.answer(r, soon()).outputs[2].bytes == all.outputs[1].bytes);
  CHECK_THROWS_WITH(m.answer(request(1, 5), soon()), Contains("expected 1 to 4 samples, found 5"));
  CHECK_THROWS_WITH(serve::batched_model(lamina::model{scores, 3}, {.workers = 0}),
                    Contains("expected 1 to 256 workers, found 0"));
}

TEST_CASE("too many requests, late ones and those after the end are unavailable") {
  using reason = serve::unavailable::reason;
  const auto why = [](serve::batched_model& m, auto until) {
    try {
      m.answer(request(1, 1), until);
    } catch (const serve::unavailable& e) {
      return static_cast<int>(e.why());
    }
    return -1;
  };
  // The worker lingers until two rows wait, so the first request waits.
  serve::batched_model m(lamina::model{scores, 3},
                         {.queue = {.waiting = 1, .rows = 2, .linger = 60s}});
  CHECK(why(m, std::chrono::steady_clock::now() + 10ms) == static_cast<int>(reason::late));
  CHECK(m.waiting() == 1);
  CHECK(why(m, soon()) == static_cast<int>(reason::busy));
  m.close();
  CHECK(m.waiting() == 0);
  CHECK(why(m, soon()) == static_cast<int>(reason::stopping));
  m.close();
}

TEST_CASE("each answer is of one model while models are exchanged", "[threads]") {
  const lamina::any_model models[] = {lamina::model{scores, 3}, lamina::model{scores, 4}};
  serve::batched_model m(models[1], {.workers = 2, .queue = {.waiting = 64, .rows = 8}});
  std::atomic<bool> ends = false;
  std::atomic<int> wrong = 0, answers = 0;
  std::vector<std::thread> threads;
  for (int c = 0; c < 3; ++c)
    threads.emplace_back([&, c] {
      lamina::any_evaluator own[] = {models[0].evaluator(), models[1].evaluator()};
      for (int i = c; !ends; ++i) {
        const serve::model_request r = request(i, 1 + i % 2);
        const serve::model_answer a = m.answer(r, soon());
        wrong += !near(elements<float>(a.outputs[0]), alone(own[a.version % 2], r));
        ++answers;
      }
    });
  for (std::uint64_t v = 2; v < 40; ++v) {
    CHECK(m.exchange(models[v % 2]) == v);
    const int before = answers;
    while (answers < before + 5) std::this_thread::yield();
  }
  ends = true;
  for (auto& t : threads) t.join();
  CHECK(wrong == 0);
  CHECK(m.version() == 39);
  CHECK_THROWS_WITH(m.exchange(lamina::model{pooled, 3}),
                    Contains("expected a model with the same inputs and outputs"));
  CHECK(m.version() == 39);
}

TEST_CASE("sequences have lengths, and requests of sequences are merged") {
  const lamina::any_model model = lamina::model{pooled, 3};
  int requests = 0;
  serve::batched_model m(model, {.queue = {.waiting = 8, .rows = 4, .linger = 60s},
                                 .on_batch = [&](const auto& r) { requests = r.requests; }});
  const auto ask = [&](std::vector<std::int64_t> words, std::vector<int> lengths) {
    const auto count = static_cast<std::int64_t>(words.size());
    return elements<float>(
        m.answer({{values("words", {count, 1}, words, std::move(lengths))}, {}}, soon())
            .outputs[0]);
  };
  std::vector<float> first;
  std::thread other([&] { first = ask({1, 2, 3}, {2, 1}); });
  const std::vector<float> second = ask({4, 5, 6}, {1, 2});
  other.join();
  CHECK(requests == 2);
  lamina::any_evaluator own = model.evaluator();
  const std::vector<std::int64_t> words{1, 2, 3, 4, 5, 6};
  const std::vector<int> lengths{2, 1, 1, 2};
  own.forward({{"words", words, lengths}});
  const auto all = own.activation("sum");
  REQUIRE(first.size() + second.size() == all.size());
  CHECK(near(first, {all.data(), all.data() + 8}));
  CHECK(near(second, {all.data() + 8, all.data() + 16}));
}
