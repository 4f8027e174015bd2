// SPDX-License-Identifier: Apache-2.0
// With sync_batch_norm ranks compute the bits of one process with as many threads, and the numbers
// of one thread. The ranks are threads of this process.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "distributed/thread_group.hpp"
#include "io/temporary_folder.hpp"
#include <catch2/catch.hpp>

#include <lamina/distributed/single_session.hpp>
#include <lamina/lamina.hpp>

namespace {

namespace layer = lamina::layer;
namespace optimizer = lamina::optimizer;
namespace reader = lamina::reader;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 1, 4, 4>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto h = layer::batch_norm(layer::conv2d<3, 3, lamina::window{.padding = 1}>(x),
                             {.act = lamina::activation::tanh});
  auto logits = layer::fc<3>(layer::batch_norm(layer::fc<5>(layer::dropout(h, 0.2f))));
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});
using model_type = lamina::model<std::remove_const_t<decltype(net)>>;
using sample = std::tuple<std::array<float, 16>, std::int64_t>;

std::vector<sample> samples(int count) {
  std::vector<sample> all;
  for (int i = 0; i < count; ++i) {
    std::array<float, 16> x;
    for (int k = 0; k < 16; ++k)
      x[static_cast<std::size_t>(k)] =
          static_cast<float>((i * 7 + k * 5 + i * k % 3) % 11) / 5 + static_cast<float>(i % 3);
    all.push_back({x, (i * 5 + i / 4) % 3});
  }
  return all;
}

struct found {
  std::vector<float> parameters;
  std::vector<double> costs;
};
template <class Reader>
found train(const Reader& batches, lamina::train_options options) {
  const optimizer::momentum opt{.learning_rate = 0.05f, .momentum = 0.9f};
  model_type m{net};
  found result;
  options.on_event = [&](const lamina::event& e) {
    if (e.kind == lamina::event_kind::end_iteration) result.costs.push_back(e.cost);
  };
  opt.train(m, batches, options);
  for (int i = 0; i < m.parameter_arrays(); ++i) {
    const auto a = m.get(i);
    result.parameters.insert(result.parameters.end(), a.data(), a.data() + a.size());
  }
  return result;
}
lamina::train_options options(int threads, lamina::world* w = nullptr) {
  return {.passes = 2, .threads = threads, .world = w, .sync_batch_norm = true};
}
double distance(const found& a, const found& b) {
  double worst = a.parameters.size() == b.parameters.size() ? 0 : 1e9;
  for (std::size_t k = 0; worst < 1e9 && k < a.parameters.size(); ++k)
    worst = std::max(worst, std::abs(static_cast<double>(a.parameters[k] - b.parameters[k])));
  return worst;
}
void check_same(const std::map<int, found>& all, const found& expected) {
  for (const auto& [rank, one] : all) {
    INFO("rank " << rank);
    CHECK(one.parameters.size() == expected.parameters.size());
    CHECK(std::memcmp(one.parameters.data(), expected.parameters.data(),
                      expected.parameters.size() * sizeof(float)) == 0);
    CHECK(one.costs == expected.costs);
  }
}
bool says(const std::string& message, const char* what) {
  return message.find(what) != message.npos;
}

}  // namespace

TEST_CASE("sync_batch_norm: ranks have the bits of as many threads", "[threads]") {
  // Mini-batches of 6 and 3 samples: with eight parts some have none, also all of a rank.
  const auto batches = samples(21) | reader::batch(6);
  const found one = train(batches, {.passes = 2});
  for (const int parts : {2, 3, 4, 8}) {
    const found expected = train(batches, options(parts));
    CHECK(distance(expected, one) < 3e-5);
    CHECK(distance(train(batches, {.passes = 2, .threads = parts}), one) > 1e-3);
    for (const int ranks : {2, 3, 4, 8}) {
      if (parts % ranks != 0) continue;
      INFO(ranks << " ranks, " << parts << " parts");
      for (const std::size_t bucket : {std::size_t{0}, std::size_t{256}})
        check_same(test::results_in_ranks(
                       ranks, [&](auto& w) { return train(batches, options(parts / ranks, &w)); },
                       {.bucket_bytes = bucket}),
                   expected);
    }
  }
  // Three threads per rank: gradients are added in another order.
  for (const auto& [rank, r] :
       test::results_in_ranks(2, [&](auto& w) { return train(batches, options(3, &w)); }))
    CHECK(distance(r, one) < 3e-5);
}

TEST_CASE("sync_batch_norm: ranks that read shards, and several mini-batches per update",
          "[threads]") {
  const auto source = samples(24) | reader::shuffle(24, 5);
  for (const int accumulate : {1, 2}) {
    const auto given = [&](int threads, lamina::world* w, bool shards) {
      lamina::train_options o = options(threads, w);
      o.accumulate = accumulate;
      o.reads_shard = shards;
      return o;
    };
    const found expected = train(source | reader::batch(4), given(4, nullptr, false));
    for (const int ranks : {2, 4}) {
      const int own = 4 / ranks;
      check_same(test::results_in_ranks(ranks,
                                        [&](auto& w) {
                                          return train(
                                              source | reader::shard(w, own) | reader::batch(own),
                                              given(own, &w, true));
                                        }),
                 expected);
    }
  }
  // Shards of different length: rank 1 has none.
  const auto shards = test::results_in_ranks(3, [&](test::thread_group& w) {
    auto mine = samples(20);
    if (w.rank() == 0) mine.resize(2);
    if (w.rank() == 1) mine.clear();
    if (w.rank() == 2) mine.erase(mine.begin(), mine.begin() + 14);
    lamina::train_options o = options(2, &w);
    o.reads_shard = true;
    return train(mine | reader::batch(2), o);
  });
  auto all = samples(20);
  all.erase(all.begin() + 2, all.begin() + 14);
  // The mini-batches of the training have 2 + 2, 2 and 2 samples.
  const std::vector<std::vector<sample>> batches{{all.begin(), all.begin() + 4},
                                                 {all.begin() + 4, all.begin() + 6},
                                                 {all.begin() + 6, all.end()}};
  check_same(shards, shards.at(0));
  // Sums of other parts are rounded otherwise: 5e-5 with clang, half of it with g++. Statistics of
  // each process alone would give more than 1e-3.
  CHECK(distance(shards.at(0), train(batches, {.passes = 2})) < 1e-4);
}

TEST_CASE("sync_batch_norm: a checkpoint goes on with other ranks", "[threads]") {
  const auto batches = samples(24) | reader::batch(4);
  const temporary_folder folder;
  const auto given = [&](lamina::world* w) {
    lamina::train_options o = options(4 / w->size(), w);
    o.checkpoint = {.directory = folder.path(), .every_batches = 1, .resume = true};
    return o;
  };
  test::results_in_ranks(2, [&](test::thread_group& w) {
    lamina::train_options o = given(&w);
    o.passes = 1;
    return train(batches, o);
  });
  const auto rest =
      test::results_in_ranks(4, [&](test::thread_group& w) { return train(batches, given(&w)); });
  const found expected = train(batches, options(4));
  for (const auto& [rank, one] : rest) {
    CHECK(one.parameters == expected.parameters);
    CHECK(one.costs.size() == 6);
  }
}

TEST_CASE("sync_batch_norm: an error in one part stops all ranks", "[threads]") {
  for (const int bad : {0, 1, 2})
    for (const std::size_t at : {std::size_t{0}, std::size_t{3}}) {
      const auto errors = test::errors_of(3, [&](test::thread_group& w) {
        auto mine = samples(8);
        for (auto& s : mine) std::get<0>(s)[0] += static_cast<float>(w.rank());
        if (w.rank() == bad) std::get<1>(mine[4 + at]) = 9;
        lamina::train_options o = options(2, &w);
        o.reads_shard = true;
        train(mine | reader::batch(4), o);
      });
      CHECK(errors.size() == 3);
      for (const auto& [rank, message] : errors) {
        INFO("rank " << rank << ": " << message);
        CHECK(says(message, "9"));
        CHECK(says(message, ("rank " + std::to_string(bad) + ": ").c_str()) == (rank != bad));
      }
    }
}

TEST_CASE("sync_batch_norm: errors of ranks", "[threads]") {
  const auto batches = samples(8) | reader::batch(4);
  const auto differing = test::errors_of(2, [&](test::thread_group& w) {
    lamina::train_options o = options(1, &w);
    o.sync_batch_norm = w.rank() == 0;
    train(batches, o);
  });
  for (const int rank : {0, 1})
    CHECK(says(differing.at(rank), "expected the same sync_batch_norm in each process"));
  for (const int staleness : {0, 2}) {
    const auto served =
        test::errors_of(3, [&](test::thread_group& w) { train(batches, options(1, &w)); },
                        {.parameter_servers = 1, .staleness = staleness});
    for (const int rank : {0, 1, 2})
      CHECK(says(served.at(rank), "sync_batch_norm: expected no parameter servers, found 1"));
  }
}

TEST_CASE("sync_batch_norm in a session without MPI", "[threads]") {
  int argc = 0;
  char** argv = nullptr;
  lamina::distributed::single_session world{argc, argv};
  const auto batches = samples(21) | reader::batch(6);
  for (const int threads : {1, 3})
    CHECK(train(batches, options(threads, &world)).parameters ==
          train(batches, options(threads)).parameters);
}
