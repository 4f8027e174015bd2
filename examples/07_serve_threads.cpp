// SPDX-License-Identifier: Apache-2.0
// serve_threads - threads answer requests from a queue over one shared model
#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include <lamina/lamina.hpp>

namespace layer = lamina::layer;
namespace reader = lamina::reader;
using clock_type = std::chrono::steady_clock;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 64>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto hidden = layer::fc<128>(image, {.act = lamina::activation::relu});
  auto logits = layer::fc<10>(hidden, {.name = "output"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

struct request {
  const lamina::dataset::digits::sample* digit;
  clock_type::time_point asked;
};

// Many threads put requests in and take them out; empty and closed: there is nothing more.
class request_queue {
 public:
  void put(request r) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(r);
    changed_.notify_one();
  }
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  bool take(request& r) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return closed_ || !waiting_.empty(); });
    if (waiting_.empty()) return false;
    r = waiting_.front();
    waiting_.pop_front();
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<request> waiting_;
  bool closed_ = false;
};

int main() {
  lamina::model model{net};
  lamina::optimizer::adam{.learning_rate = 3e-3f}.train(
      model, lamina::dataset::digits::train() | reader::shuffle(2000) | reader::batch(32),
      {.passes = 10});

  struct outcome {
    int right = 0;
    std::vector<double> microseconds;
  };
  std::array<outcome, 4> outcomes;
  request_queue queue;
  std::vector<std::thread> threads;
  for (outcome& mine : outcomes)
    threads.emplace_back([&] {
      lamina::evaluator e{model};  // a thread's own: activations are not shared, parameters are
      for (request r; queue.take(r);) {
        e.forward(lamina::feed<"image">(r.digit->image));
        const auto scores = e.activation<"output">();
        const auto best = std::max_element(scores.begin(), scores.end()) - scores.begin();
        mine.right += best == r.digit->label;
        mine.microseconds.push_back(
            std::chrono::duration<double, std::micro>(clock_type::now() - r.asked).count());
      }
    });

  const auto test = lamina::dataset::digits::test();
  const std::vector<lamina::dataset::digits::sample> digits(test.begin(), test.end());
  constexpr int rounds = 20;
  for (int round = 0; round < rounds; ++round)
    for (const auto& digit : digits) queue.put({&digit, clock_type::now()});
  queue.close();
  for (std::thread& t : threads) t.join();

  int right = 0;
  std::vector<double> all;
  for (const outcome& o : outcomes) {
    right += o.right;
    all.insert(all.end(), o.microseconds.begin(), o.microseconds.end());
  }
  std::sort(all.begin(), all.end());
  const double accuracy = static_cast<double>(right) / static_cast<double>(all.size());
  std::printf("%zu requests, accuracy %.4f\n", all.size(), accuracy);
  std::printf("latency with waiting: median %.0f us, 99 %% within %.0f us\n", all[all.size() / 2],
              all[all.size() * 99 / 100]);
  return all.size() == digits.size() * rounds && accuracy >= 0.93 ? 0 : 1;
}
