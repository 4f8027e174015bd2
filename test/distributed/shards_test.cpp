// SPDX-License-Identifier: Apache-2.0
// Ranks that each read their shard of the mini-batches, as threads of this process.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "distributed/thread_group.hpp"
#include "io/temporary_folder.hpp"
#include <catch2/catch.hpp>

#include <lamina/lamina.hpp>

namespace {

namespace layer = lamina::layer;
namespace optimizer = lamina::optimizer;
namespace reader = lamina::reader;

// Rows of two kinds in the cost, random numbers, statistics, and gradients of selected rows.
constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 5>(main);
  auto words = layer::sequence<"word", std::int64_t>(main);
  auto y = layer::data<"y", float>(main);
  auto rows = layer::embedding<9, 5>(words, {.is_sparse = true});
  auto h = layer::batch_norm(layer::fc<7>(x + layer::sequence_pool(rows)),
                             {.act = lamina::activation::tanh});
  auto cost = layer::mean(layer::square_error_cost(layer::fc<1>(layer::dropout(h, 0.4f)), y));
  return cost + layer::mean(layer::square(rows));
});
using model_type = lamina::model<std::remove_const_t<decltype(net)>>;
using sample = std::tuple<std::array<float, 5>, std::vector<std::int64_t>, float>;

std::vector<sample> samples(int count) {
  std::vector<sample> all;
  for (int i = 0; i < count; ++i) {
    std::array<float, 5> x;
    for (int k = 0; k < 5; ++k)
      x[static_cast<std::size_t>(k)] = static_cast<float>((i * 7 + k) % 11) / 5;
    // Sequences of one length, so that all ranks divide a mini-batch at the same samples.
    all.push_back({x, {i % 9, (i + 4) % 9}, static_cast<float>(i % 3)});
  }
  return all;
}

struct found {
  std::vector<float> parameters;
  std::vector<double> costs;
  std::vector<std::int64_t> counts;
};
template <class Reader>
found train(const Reader& batches, lamina::train_options options) {
  model_type m{net};
  found result;
  options.on_event = [&](const lamina::event& e) {
    if (e.kind != lamina::event_kind::end_iteration && e.kind != lamina::event_kind::end_pass)
      return;
    result.costs.push_back(e.cost);
    result.counts.push_back(e.samples);
  };
  optimizer::adam{.learning_rate = 0.01f}.train(m, batches, options);
  for (int i = 0; i < m.parameter_arrays(); ++i) {
    const auto a = m.get(i);
    result.parameters.insert(result.parameters.end(), a.data(), a.data() + a.size());
  }
  return result;
}
bool same(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace

TEST_CASE("ranks that read shards reach the bits of one process", "[threads]") {
  const auto source = samples(32) | reader::shuffle(32, 5);
  const found expected = train(source | reader::batch(8), {.passes = 3, .threads = 4});
  for (const int ranks : {2, 4}) {
    const int own = 8 / ranks;
    const auto all = test::results_in_ranks(ranks, [&](test::thread_group& w) {
      return train(source | reader::shard(w, own) | reader::batch(own),
                   {.passes = 3, .threads = 4 / ranks, .world = &w, .reads_shard = true});
    });
    for (const auto& [rank, one] : all) {
      INFO(ranks << " ranks, rank " << rank);
      CHECK(same(one.parameters, expected.parameters));
      CHECK(one.costs == expected.costs);
      CHECK(one.counts == expected.counts);
    }
  }
}

TEST_CASE("a rank without mini-batches takes part until all are at their end", "[threads]") {
  // Rank 0 has one mini-batch, rank 1 has none, rank 2 has three, the last one shorter.
  const auto all = test::results_in_ranks(3, [&](test::thread_group& w) {
    auto mine = samples(20);
    if (w.rank() == 0) mine.resize(2);
    if (w.rank() == 1) mine.clear();
    if (w.rank() == 2) mine.erase(mine.begin(), mine.begin() + 15);
    return train(mine | reader::batch(2), {.passes = 2, .world = &w, .reads_shard = true});
  });
  for (const int rank : {1, 2}) {
    CHECK(same(all.at(rank).parameters, all.at(0).parameters));
    CHECK(all.at(rank).costs == all.at(0).costs);
  }
  CHECK(all.at(0).counts == std::vector<std::int64_t>{4, 2, 1, 7, 4, 2, 1, 7});
  // One process with the same mini-batches in turn: to rounding, but for dropout, whose draws
  // depend on the number of a row, and that is the same too.
  const auto every = samples(20);
  std::vector<std::vector<sample>> whole = {
      {every[0], every[1], every[15], every[16]}, {every[17], every[18]}, {every[19]}};
  const found expected = train(whole, {.passes = 2});
  REQUIRE(expected.costs.size() == all.at(0).costs.size());
  // Statistics of batch_norm are those of a part.
  CHECK(expected.counts == all.at(0).counts);
}

TEST_CASE("trainers that make their own steps on shards join their moving statistics",
          "[threads]") {
  const auto source = samples(32);
  const auto all =
      test::results_in_ranks(3,
                             [&](test::thread_group& w) {
                               return train(source | reader::shard(w, 4) | reader::batch(4),
                                            {.passes = 2, .world = &w, .reads_shard = true});
                             },
                             {.parameter_servers = 1, .staleness = 2});
  CHECK(same(all.at(1).parameters, all.at(0).parameters));
  CHECK(same(all.at(2).parameters, all.at(0).parameters));
}

TEST_CASE("trainers with servers read shards of any size, also one trainer, or none of a pass",
          "[threads]") {
  for (const int staleness : {0, 2}) {
    CAPTURE(staleness);
    const auto costs = [&](int trainers, int count) {
      const auto source = samples(count);
      return test::results_in_ranks(trainers + 1,
                                    [&](test::thread_group& w) {
                                      return train(source | reader::shard(w, 4) | reader::batch(4),
                                                   {.passes = 3, .world = &w, .reads_shard = true});
                                    },
                                    {.parameter_servers = 1, .staleness = staleness});
    };
    const auto alone = costs(1, 10);
    // Two mini-batches of 4 samples and one of 2 in each pass, and the end of the pass.
    CHECK(alone.at(0).counts == std::vector<std::int64_t>{4, 4, 2, 10, 4, 4, 2, 10, 4, 4, 2, 10});
    const found one = train(samples(10) | reader::batch(4), {.passes = 3});
    CHECK(alone.at(0).costs.back() == Approx(one.costs.back()));
    CHECK(same(alone.at(1).parameters, alone.at(0).parameters));
    const auto all = costs(3, 7);  // trainer 2 has no samples
    for (const int rank : {0, 1, 2, 3}) {
      CHECK(all.at(rank).parameters.size() > 0);
      CHECK(same(all.at(rank).parameters, all.at(0).parameters));
    }
    for (const int rank : {0, 1, 2}) {
      CHECK(all.at(rank).counts.back() == 7);
      CHECK(all.at(rank).costs.back() == Approx(all.at(0).costs.back()));
      CHECK(all.at(rank).costs.back() > 0);
    }
  }
}

TEST_CASE("shards that are the same samples are an error, and so are shards unannounced",
          "[threads]") {
  for (const bool announced : {true, false}) {
    std::mutex mutex;
    int refused = 0;
    test::in_ranks(2, [&](test::thread_group& w) {
      model_type m{net};
      const auto source = samples(16);
      const char* const expected =
          announced ? "expected other samples in each process" : "needs {.reads_shard = true}";
      try {
        if (announced)
          optimizer::sgd{}.train(m, source | reader::batch(4), {.world = &w, .reads_shard = true});
        else
          optimizer::sgd{}.train(m, source | reader::shard(w) | reader::batch(4), {.world = &w});
      } catch (const lamina::error& e) {
        const std::lock_guard lock(mutex);
        INFO(e.what());
        CHECK(std::string(e.what()).find(expected) != std::string::npos);
        ++refused;
      }
    });
    CHECK(refused == 2);
  }
}

TEST_CASE("a mini-batch of a shard that is an error stops the other ranks in their step",
          "[threads]") {
  for (const bool apart : {false, true}) {
    const auto errors = test::errors_of(2, [&](test::thread_group& w) {
      model_type m{net};
      const optimizer::sgd sgd;
      lamina::trainer t{m, sgd, {.world = &w, .reads_shard = true}};
      const auto all = samples(20);
      const auto step = [&](const std::vector<sample>& batch) {
        if (apart) {
          t.backward(batch);
          t.update();
        } else {
          t.step(batch);
        }
      };
      const auto first = all.begin() + 10 * w.rank();
      step({first, first + 5});
      try {
        step({first, first + (w.rank() == 1 ? 0 : 5)});
      } catch (const lamina::error&) {
        w.fail("too late");  // without effect after another failure
        throw;
      }
    });
    CHECK(errors.at(1) == "lamina: trainer: expected a mini-batch with samples, found none");
    CHECK(errors.at(0) == "rank 1: " + errors.at(1));
  }
}

TEST_CASE("a training on shards goes on in the middle of a pass", "[threads]") {
  const auto source = samples(22) | reader::shuffle(22, 5);
  const auto run = [&](test::thread_group& w, const std::string& folder, int stop_after) {
    model_type m{net};
    int steps = 0;
    optimizer::adam{.learning_rate = 0.01f}.train(
        m, source | reader::shard(w, 2) | reader::batch(2),
        {.passes = 2,
         .on_event =
             [&](const lamina::event& e) {
               if (e.kind == lamina::event_kind::end_iteration && ++steps == stop_after) e.stop();
             },
         .checkpoint = {.directory = folder, .every_batches = 1, .resume = true},
         .world = &w,
         .reads_shard = true});
    found result;
    for (int i = 0; i < m.parameter_arrays(); ++i) {
      const auto a = m.get(i);
      result.parameters.insert(result.parameters.end(), a.data(), a.data() + a.size());
    }
    return result;
  };
  const temporary_folder whole, parts;
  const auto expected =
      test::results_in_ranks(3, [&](test::thread_group& w) { return run(w, whole.path(), -1); });
  test::results_in_ranks(3, [&](test::thread_group& w) { return run(w, parts.path(), 3); });
  const auto rest =
      test::results_in_ranks(3, [&](test::thread_group& w) { return run(w, parts.path(), -1); });
  for (const auto& [rank, one] : rest) CHECK(same(one.parameters, expected.at(0).parameters));
}

// Sources: NVIDIA/Megatron-LM#7413, NVIDIA-NeMo/Megatron-Bridge#5637, bghira/SimpleTuner#2986,
// Lightning-AI/litData#251.
TEST_CASE("a training on shards does not go on in the middle of a pass with others", "[threads]") {
  // Each rank reads a file of its own.
  const auto file = [](int number) {
    auto all = samples(90);
    return std::vector<sample>(all.begin() + 10 * number, all.begin() + 10 * (number + 1));
  };
  enum class how { stops, goes_on };
  const auto run = [&](test::thread_group& w, const std::string& folder,
                       const std::vector<int>& files, how what, bool reads_shard = true) {
    model_type m{net};
    int steps = 0;
    optimizer::adam adam{.learning_rate = 0.01f};
    lamina::train_options options{.world = &w, .reads_shard = reads_shard};
    const auto mine = file(files[static_cast<std::size_t>(w.rank())]) | reader::batch(2);
    options.checkpoint = {.directory = folder, .resume = true};
    options.on_event = [&](const lamina::event& e) {
      if (e.kind == lamina::event_kind::end_iteration && ++steps == 3 && what == how::stops)
        e.stop();
    };
    adam.train(m, mine, options);
    return steps;
  };
  const auto again = [&](const std::vector<int>& first, const std::vector<int>& then,
                         bool reads_shard = true) {
    const temporary_folder folder;
    test::in_ranks(static_cast<int>(first.size()), [&](test::thread_group& w) {
      run(w, folder.path(), first, how::stops, first.size() > 1 || reads_shard);
    });
    std::atomic<int> wrong{0};
    const auto found = test::errors_of(static_cast<int>(then.size()), [&](test::thread_group& w) {
      if (run(w, folder.path(), then, how::goes_on, reads_shard) != 2) ++wrong;
    });
    CHECK(wrong == 0);
    const std::string all = found.empty() ? "" : found.begin()->second;
    // All processes say the same.
    CHECK((found.empty() || found.size() == then.size()));
    for (const auto& [rank, why] : found) CHECK(why == all);
    return all;
  };
  using Catch::Contains;
  const std::vector<int> usual{0, 1, 2, 3};
  CHECK(again(usual, usual) == "");
  // Each pair of ranks exchanged, and each rank with a new file.
  for (std::size_t a = 0; a < 4; ++a) {
    for (std::size_t b = a + 1; b < 4; ++b) {
      auto exchanged = usual;
      std::swap(exchanged[a], exchanged[b]);
      const std::string rank = std::to_string(a), other = std::to_string(b);
      CHECK_THAT(again(usual, exchanged),
                 Contains("after mini-batch 3 of pass 0: expected that rank " + rank +
                          " reads the same 6 samples as then") &&
                     Contains("found those of rank " + other));
    }
    auto replaced = usual;
    replaced[a] = 7;
    CHECK_THAT(again(usual, replaced),
               Contains("expected that rank " + std::to_string(a)) && Contains("found others"));
  }
  for (const std::vector<int>& then :
       {std::vector<int>{0}, {0, 1}, {0, 1, 2}, {0, 1, 2, 3, 4}, {1, 2, 3}})
    CHECK_THAT(
        again(usual, then),
        Contains("expected 4 processes that read their shards (.reads_shard) as then, found " +
                 std::to_string(then.size()) + " process"));
  CHECK_THAT(again({0}, {0, 1}), Contains("expected 1 process that reads its shard"));
  CHECK(again({0}, {0}) == "");
  CHECK_THAT(again({0, 1}, {0}, false),
             Contains("expected 2 processes that read their shards (.reads_shard) as then, found "
                      "processes that all read the same"));
}

TEST_CASE("all ranks go on from one checkpoint, and rank 0 renames damaged ones", "[threads]") {
  const auto source = samples(22);
  const auto run = [&](test::thread_group& w, const std::string& folder, int passes, bool resumes) {
    model_type m{net};
    return optimizer::adam{.learning_rate = 0.01f}
        .train(m, source | reader::shard(w, 2) | reader::batch(2),
               {.passes = passes,
                .checkpoint = {.directory = folder, .resume = resumes},
                .world = &w,
                .reads_shard = true})
        .steps;
  };
  const temporary_folder folder, empty;
  std::atomic<std::int64_t> steps{0};
  test::results_in_ranks(2, [&](test::thread_group& w) {
    steps = run(w, folder.path(), 2, true);
    return found{};
  });
  const std::string newest = folder.path() + "/checkpoint_" + std::to_string(steps.load());
  std::filesystem::resize_file(newest, 1000);
  std::atomic<int> went_on{0};
  test::results_in_ranks(3, [&](test::thread_group& w) {
    if (run(w, folder.path(), 2, true) > steps / 2) ++went_on;
    return found{};
  });
  CHECK(went_on == 3);
  CHECK(std::filesystem::exists(newest + ".damaged"));
  // A rank with another directory, or without one, does not wait for the others.
  for (const bool resumes : {true, false}) {
    std::mutex mutex;
    std::vector<std::string> told;
    test::results_in_ranks(2, [&](test::thread_group& w) {
      try {
        run(w, w.rank() == 0 ? folder.path() : empty.path(), 3, w.rank() == 0 || resumes);
      } catch (const lamina::error& e) {
        const std::lock_guard lock(mutex);
        told.push_back(e.what());
      }
      return found{};
    });
    CHECK(told.size() == 2);
    for (const std::string& t : told)
      CHECK_THAT(t,
                 Catch::Contains(resumes ? "expected the same newest checkpoint in each process, "
                                           "found checkpoint_"
                                         : "expected the same option checkpoint.resume"));
  }
}
