// SPDX-License-Identifier: Apache-2.0
// Ranks, as threads of this process, that take chunks from a queue while they train.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "distributed/thread_group.hpp"
#include "io/temporary_folder.hpp"
#include <catch2/catch.hpp>

#include <lamina/distributed/single_session.hpp>
#include <lamina/distributed/task_queue.hpp>
#include <lamina/lamina.hpp>
#include <lamina/model/parameters/tensor_file.hpp>

namespace {

namespace layer = lamina::layer;
namespace optimizer = lamina::optimizer;
namespace reader = lamina::reader;
using lamina::distributed::task_queue;
using lamina::distributed::task_queue_options;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2>(main);
  auto y = layer::data<"y", float>(main);
  return layer::mean(layer::square_error_cost(layer::fc<1>(x), y));
});
using sample = std::tuple<std::array<float, 2>, float>;

std::vector<std::string> names(int count) {
  std::vector<std::string> all;
  for (int i = 0; i < count; ++i) all.push_back("chunk-" + std::to_string(i));
  return all;
}
int number_of(const std::string& name) { return std::stoi(name.substr(6)); }

/// The samples of a chunk, other ones in each.
std::vector<sample> samples_of(const std::string& name, int count) {
  std::vector<sample> all;
  for (int i = 0; i < count; ++i) {
    const float v = static_cast<float>(number_of(name) * 100 + i);
    all.push_back({{v / 1000, 1 - v / 2000}, v / 3000});
  }
  return all;
}

/// The chunks that ranks have opened, in their order, by rank.
class openings {
 public:
  void add(int rank, const std::string& name) {
    const std::lock_guard lock(mutex_);
    by_rank[rank].push_back(number_of(name));
  }
  std::vector<int> sorted() const {
    std::vector<int> all;
    for (const auto& [rank, some] : by_rank) all.insert(all.end(), some.begin(), some.end());
    std::sort(all.begin(), all.end());
    return all;
  }
  std::map<int, std::vector<int>> by_rank;

 private:
  std::mutex mutex_;
};
std::vector<int> each(int chunks, int times) {
  std::vector<int> all;
  for (int c = 0; c < chunks; ++c) all.insert(all.end(), static_cast<std::size_t>(times), c);
  return all;
}

/// Trains on chunks of 3 to 5 samples in mini-batches of 2.
lamina::train_result train(lamina::distributed::process_group& w, int chunks, openings& opened,
                           lamina::train_options options, const task_queue_options& order = {}) {
  task_queue queue(w, names(chunks), order);
  const auto source = reader::tasks(queue, [&](const std::string& name) {
    opened.add(w.rank(), name);
    return samples_of(name, 3 + number_of(name) % 3);
  });
  options.world = &w;
  options.reads_shard = true;
  options.tasks = &queue;
  lamina::model m{net};
  return optimizer::sgd{.learning_rate = 0.001f}.train(m, source | reader::batch(2), options);
}
int samples_in(int chunks) {
  int all = 0;
  for (int c = 0; c < chunks; ++c) all += 3 + c % 3;
  return all;
}

std::string message_of(const auto& f) {
  try {
    f();
  } catch (const lamina::error& e) {
    return e.what();
  }
  return "none";
}
bool has(const std::string& text, const std::string& part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
  return text.find(part) != std::string::npos;
}
struct alone {
  int argc = 0;
  char** argv = nullptr;
  lamina::distributed::single_session world{argc, argv};
};

}  // namespace

TEST_CASE("each chunk is read once in each pass", "[threads]") {
  for (const int ranks : {1, 3, 7})
    for (const int chunks : {1, 5, 20}) {
      INFO(ranks << " ranks, " << chunks << " chunks");
      openings opened;
      std::mutex mutex;
      test::in_ranks(ranks, [&](test::thread_group& w) {
        const auto result = train(w, chunks, opened, {.passes = 3});
        const std::lock_guard lock(mutex);
        CHECK(result.samples == 3 * samples_in(chunks));
      });
      CHECK(opened.sorted() == each(chunks, 3));
    }
}

TEST_CASE("the order of the chunks depends on seed and pass") {
  const auto order = [](const task_queue_options& options, int passes) {
    openings opened;
    alone one;
    train(one.world, 20, opened, {.passes = passes}, options);
    return opened.by_rank[0];
  };
  const auto first = order({.seed = 1}, 1), both = order({.seed = 1}, 2);
  CHECK(first == order({.seed = 1}, 1));
  CHECK(first != order({.seed = 2}, 1));
  CHECK(first != each(20, 1));
  CHECK(std::vector<int>(both.begin(), both.begin() + 20) == first);
  CHECK(std::vector<int>(both.begin() + 20, both.end()) != first);
  CHECK(order({.shuffles = false}, 1) == each(20, 1));
}

TEST_CASE("a slow rank takes fewer chunks", "[threads]") {
  for (const int servers : {0, 1}) {
    openings opened;
    std::mutex mutex;
    test::in_ranks(2 + servers,
                   [&](test::thread_group& w) {
                     task_queue queue(w, names(40));
                     const auto source = reader::tasks(queue, [&](const std::string& name) {
                       opened.add(w.rank(), name);
                       if (w.rank() == 0)
                         std::this_thread::sleep_for(std::chrono::milliseconds(20));
                       return samples_of(name, 4);
                     });
                     if (servers == 0) {  // without training
                       queue.begin(0, "");
                       for ([[maybe_unused]] auto&& s : reader::begin_pass(source)) {
                         std::this_thread::sleep_for(std::chrono::microseconds(100));
                         queue.use(1);
                       }
                       const bool all_are = queue.finished() == std::string(40, '1');
                       const std::lock_guard lock(mutex);
                       CHECK(all_are);
                       return;
                     }
                     lamina::model m{net};
                     optimizer::sgd{.learning_rate = 0.001f}.train(
                         m, source | reader::batch(4),
                         {.world = &w, .reads_shard = true, .tasks = &queue});
                   },
                   {.parameter_servers = servers, .staleness = servers * 100});
    CHECK(opened.sorted() == each(40, 1));
    CHECK(opened.by_rank[0].size() < 15);
  }
}

TEST_CASE("a chunk is finished when no sample waits") {
  alone one;
  task_queue queue(one.world, names(4), {.shuffles = false});
  const auto source =
      reader::tasks(queue, [](const std::string& name) { return samples_of(name, 4); });
  const auto finished = [&](const auto& batches, int passes) {
    std::vector<std::string> all;
    queue.begin(passes, "");
    for (auto&& b : reader::begin_pass(batches, static_cast<std::uint64_t>(passes))) {
      queue.use(static_cast<std::int64_t>(b.size()));
      all.push_back(queue.finished());
    }
    return all;
  };
  using list = std::vector<std::string>;
  CHECK(finished(source | reader::batch(4), 0) == list{"1000", "1100", "1110", "1111"});
  CHECK(finished(source | reader::batch(6), 1) == list{"1000", "1110", "1111"});
  // Samples of two chunks wait in the buffer.
  CHECK(finished(source | reader::shuffle(8) | reader::batch(4), 2) ==
        list{"0000", "1100", "1100", "1111"});
  // The last three samples are not used.
  CHECK(finished(source | reader::batch(13, true), 3) == list{"1110"});
  // Chunks without samples.
  queue.begin(4, "0100");
  const auto empty = reader::tasks(queue, [](const std::string& name) {
    return samples_of(name, number_of(name) == 3 ? 2 : 0);
  });
  int count = 0;
  for ([[maybe_unused]] auto&& s : reader::begin_pass(empty, 4)) {
    queue.use(1);
    ++count;
  }
  CHECK(count == 2);
  CHECK(queue.finished() == "1111");
}

TEST_CASE("a run goes on without the finished chunks, with any number of ranks", "[threads]") {
  for (const int before : {1, 3})
    for (const int after : {1, 2, 5}) {
      INFO(before << " ranks, then " << after);
      const temporary_folder folder;
      openings opened;
      const auto run = [&](int ranks, int stop_after, int passes) {
        opened.by_rank.clear();
        test::in_ranks(ranks, [&](test::thread_group& w) {
          int steps = 0;
          train(w, 12, opened,
                {.passes = passes,
                 .on_event =
                     [&](const lamina::event& e) {
                       if (e.kind == lamina::event_kind::end_iteration && ++steps == stop_after)
                         e.stop();
                     },
                 .checkpoint = {.directory = folder.path(), .every_batches = 2, .resume = true}});
        });
      };
      const int in_pass = (samples_in(12) + 2 * before - 1) / (2 * before);
      run(before, in_pass + 5, 3);  // stops in the second pass
      std::string finished;
      std::int64_t pass = 0, batch = 0, newest = -1;
      for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
        std::int64_t step = 0;
        std::string packets;
        std::int64_t p = 0, b = 0;
        for (const auto& e : lamina::read_tensor_file(file.path().string())) {
          if (e.name == "@step@") step = static_cast<std::int64_t>(e.as_number());
          if (e.name == "@pass@") p = static_cast<std::int64_t>(e.as_number());
          if (e.name == "@batch@") b = static_cast<std::int64_t>(e.as_number());
          if (e.name == "@finished@") packets = e.bytes.view();
        }
        if (step > newest) newest = step, finished = packets, pass = p, batch = b;
      }
      REQUIRE(pass == 1);
      REQUIRE(batch > 0);
      REQUIRE(finished.size() == 12);
      CHECK(std::count(finished.begin(), finished.end(), '1') >= 1);
      CHECK(std::count(finished.begin(), finished.end(), '0') >= 1);
      std::vector<int> expected = each(12, 1);  // the third pass
      for (int c = 0; c < 12; ++c)
        if (finished[static_cast<std::size_t>(c)] == '0') expected.push_back(c);
      std::sort(expected.begin(), expected.end());
      run(after, -1, 3);
      CHECK(opened.sorted() == expected);
      run(after, -1, 3);  // all passes are done
      CHECK(opened.sorted().empty());
    }
}

TEST_CASE("a run goes on where all chunks of a pass are finished") {
  const temporary_folder folder;
  openings opened;
  const auto run = [&](int stop_after) {
    alone one;
    opened.by_rank.clear();
    int steps = 0;
    return train(one.world, 2, opened,  // 7 samples
                 {.passes = 2,
                  .on_event =
                      [&](const lamina::event& e) {
                        if (e.kind == lamina::event_kind::end_iteration && ++steps == stop_after)
                          e.stop();
                      },
                  .checkpoint = {.directory = folder.path(), .every_passes = 0, .resume = true}});
  };
  run(4);
  CHECK(opened.sorted() == each(2, 1));
  const auto rest = run(-1);
  CHECK(opened.sorted() == each(2, 1));
  CHECK(rest.samples == 7);
  CHECK(rest.steps == 8);
}

TEST_CASE("checkpoints of other chunks, and of none, are errors") {
  const temporary_folder folder, without;
  alone one;
  const auto stop = [](const lamina::event& e) {
    if (e.kind == lamina::event_kind::end_iteration && e.batch == 2) e.stop();
  };
  openings opened;
  const auto options = [&](const temporary_folder& of) {
    return lamina::train_options{.on_event = stop,
                                 .checkpoint = {.directory = of.path(), .resume = true}};
  };
  train(one.world, 6, opened, options(folder));
  has(message_of([&] { train(one.world, 7, opened, options(folder)); }),
      "was written in the middle of pass 0: expected the chunks of that run in the same order, "
      "found "
      "others");
  const auto untold = [&](const temporary_folder& of) {
    lamina::model m{net};
    optimizer::sgd{.learning_rate = 0.001f}.train(m, samples_of("chunk-0", 20) | reader::batch(2),
                                                  options(of));
  };
  has(message_of([&] { untold(folder); }), "expected the task queue of that run in the options");
  untold(without);
  has(message_of([&] { train(one.world, 6, opened, options(without)); }),
      "expected finished chunks in it, because the options have .tasks, found none");

  task_queue queue(one.world, names(3));
  has(message_of([&] { queue.begin(0, "1x0"); }),
      "expected 0 or 1 for each of 3 chunks as finished chunks, found other packets");
  has(message_of([&] { queue.begin(0, "10"); }),
      "for each of 3 chunks as finished chunks, found 2");
}

TEST_CASE("lists of chunks that differ are an error in all ranks", "[threads]") {
  for (const int what : {0, 1, 2, 3}) {
    std::mutex mutex;
    int refused = 0;
    test::in_ranks(3, [&](test::thread_group& w) {
      const bool differs = w.rank() == 1;
      std::vector<std::string> chunks = names(3);
      if (differs && what == 0) chunks.pop_back();
      if (differs && what == 1) std::swap(chunks[0], chunks[1]);
      const task_queue_options options{.seed = differs && what == 2 ? 1u : 0u,
                                       .shuffles = !(differs && what == 3)};
      const std::string found = message_of([&] { task_queue(w, chunks, options); });
      const char* const expected[] = {
          "found another number of chunks in rank 1 than in rank 0", "found other chunks in rank 1",
          "found another seed in rank 1", "found another order in rank 1"};
      const std::lock_guard lock(mutex);
      if (has(found, expected[what])) ++refused;
    });
    CHECK(refused == 3);
  }
  std::mutex mutex;
  test::in_ranks(2, [&](test::thread_group& w) {
    task_queue queue(w, names(3));
    const std::string found = message_of([&] { queue.begin(w.rank(), ""); });
    const std::lock_guard lock(mutex);
    has(found, "found pass 0 in rank 0 and pass 1 in rank 1");
  });
  alone one;
  has(message_of([&] { task_queue(one.world, {}); }), "expected at least one chunk, found none");
}

TEST_CASE("a chunk that cannot be read is named") {
  alone one;
  for (const int where : {0, 1}) {
    task_queue queue(one.world, names(3), {.shuffles = false});
    const auto source = reader::tasks(queue, [&](const std::string& name) {
      if (where == 0 && number_of(name) == 1) throw std::runtime_error("no such file");
      return [where, name, all = samples_of(name, 4)]() -> lamina::generator<sample> {
        for (std::size_t i = 0; i < all.size(); ++i) {
          if (where == 1 && i == 2 && number_of(name) == 1)
            throw lamina::error("lamina: test: a damaged record");
          co_yield lamina::hand_over(all[i]);
        }
      };
    });
    lamina::model m{net};
    has(message_of([&] {
          optimizer::sgd{.learning_rate = 0.001f}.train(
              m, source | reader::batch(2),
              {.world = &one.world, .reads_shard = true, .tasks = &queue});
        }),
        where == 0 ? "lamina: task_queue: chunk chunk-1: no such file"
                   : "lamina: task_queue: chunk chunk-1: lamina: test: a damaged record");
  }
}

TEST_CASE("readers that the queue cannot follow are errors") {
  alone one;
  task_queue queue(one.world, names(3));
  const auto source =
      reader::tasks(queue, [](const std::string& name) { return samples_of(name, 4); });
  lamina::model m{net};
  const auto found = [&](const auto& batches, const lamina::train_options& options) {
    return message_of([&] { optimizer::sgd{}.train(m, batches, options); });
  };
  const lamina::train_options options{.world = &one.world, .reads_shard = true, .tasks = &queue};
  has(found(source | reader::batch(2), {}), "expected a training with the queue in its options");
  has(found(source | reader::batch(2), {.tasks = &queue}),
      "expected .world and .reads_shard with .tasks, found no .world");
  has(found(source | reader::batch(2), {.world = &one.world, .tasks = &queue}),
      "found no .reads_shard");
  has(found(source | reader::buffered(2) | reader::batch(2), options),
      "expected calls in the thread that has made it");
  has(found(samples_of("chunk-0", 4) | reader::batch(2), options),
      "which were 0 in rank 0 so far, found 2");
}
