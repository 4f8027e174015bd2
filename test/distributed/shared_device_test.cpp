// SPDX-License-Identifier: Apache-2.0
// Ranks that are threads, each with a device whose kernels run on the host: they compute what one
// process computes on the CPU in as many parts.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "distributed/thread_group.hpp"
#include "engine/cuda/host_backend.hpp"
#include <catch2/catch.hpp>

#include <lamina/lamina.hpp>
#include <lamina/train/device/device_trainer.hpp>

namespace {

namespace layer = lamina::layer;
namespace optimizer = lamina::optimizer;
namespace reader = lamina::reader;
using backend = lamina::engine::cuda::host_backend<1>;

// Statistics, a metric, random numbers, and a cost of rows of two kinds. No bias before batch_norm,
// whose gradient is 0 but for rounding: adam divides it by itself.
constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 5>(main);
  auto words = layer::sequence<"word", std::int64_t>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto rows = layer::embedding<9, 5>(words);
  auto h = layer::dropout(
      layer::batch_norm(layer::fc<6>(x + layer::sequence_pool(rows), {.bias = false}),
                        {.act = lamina::activation::tanh}),
      0.3f);
  auto logits = layer::fc<3>(h);
  auto cost = layer::mean(layer::softmax_with_cross_entropy(logits, label));
  return std::tuple{cost + 0.1f * layer::mean(layer::square(rows)),
                    layer::accuracy(layer::softmax(logits), label)};
});
using model_type = lamina::model<std::remove_const_t<decltype(net)>>;
using program_type = std::remove_const_t<decltype(net)>;
using sample = std::tuple<std::array<float, 5>, std::vector<std::int64_t>, std::int64_t>;

std::vector<sample> samples(int count) {
  std::vector<sample> all;
  for (int i = 0; i < count; ++i) {
    std::array<float, 5> x;
    for (int k = 0; k < 5; ++k)
      x[static_cast<std::size_t>(k)] = static_cast<float>((i * 7 + k) % 11) / 5;
    all.push_back({x, {i % 9, (i + 4) % 9}, i % 3});
  }
  return all;
}

struct found {
  std::vector<float> parameters;
  std::vector<double> costs;
};
template <class Train>
found train(const Train& how) {
  model_type m{net};
  found result;
  how(m, [&](const lamina::event& e) {
    if (e.kind == lamina::event_kind::end_iteration) {
      result.costs.push_back(e.cost);
      result.costs.push_back(e.metrics[0].value);
    }
  });
  for (int i = 0; i < m.parameter_arrays(); ++i) {
    const auto a = m.get(i);
    result.parameters.insert(result.parameters.end(), a.data(), a.data() + a.size());
  }
  return result;
}
template <class Opt, class Reader>
found on_cpu(const Opt& opt, const Reader& batches, int threads) {
  return train([&](model_type& m, const auto& note) {
    opt.train(m, batches, {.passes = 2, .threads = threads, .on_event = note});
  });
}
template <class Opt, class Reader>
found on_devices(const Opt& opt, const Reader& batches, lamina::world& w, bool shards,
                 bool sync = false) {
  return train([&](model_type& m, const auto& note) {
    backend device;
    const lamina::train_options options{
        .passes = 2, .on_event = note, .world = &w, .reads_shard = shards, .sync_batch_norm = sync};
    auto mine = batches;
    lamina::detail::train_loop<program_type, lamina::device_trainer<program_type, Opt, backend>>(
        opt, m, mine, options, device, opt, m, options.seed);
  });
}
double apart(const auto& a, const auto& b) {
  if (a.size() != b.size()) return 1e30;
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    worst = (std::max)(worst, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  return worst;
}

template <class Opt>
void check(const Opt& opt) {
  const auto batches = samples(26) | reader::batch(8);
  for (const int ranks : {2, 3}) {
    const found expected = on_cpu(opt, batches, ranks);
    std::mutex mutex;
    std::vector<found> all;
    test::in_ranks(ranks, [&](test::thread_group& w) {
      found mine = on_devices(opt, batches, w, false);
      const std::lock_guard lock(mutex);
      all.push_back(std::move(mine));
    });
    for (const found& one : all) {
      CHECK(apart(one.parameters, expected.parameters) < 2e-5);
      CHECK(apart(one.costs, expected.costs) < 2e-5);
      CHECK(one.parameters == all[0].parameters);
    }
  }
}

}  // namespace

TEST_CASE("devices of several ranks learn what threads learn", "[threads]") {
  check(optimizer::adam{.learning_rate = 0.01f});
  check(optimizer::momentum{
      .learning_rate = 0.02f, .momentum = 0.9f, .clip = lamina::clip_by_global_norm(0.05f)});
}

TEST_CASE("devices of ranks that read shards learn what those of whole mini-batches learn",
          "[threads]") {
  const optimizer::adam adam{.learning_rate = 0.01f};
  const auto source = samples(24);
  const found expected = on_cpu(adam, source | reader::batch(8), 2);
  std::mutex mutex;
  test::in_ranks(2, [&](test::thread_group& w) {
    const found mine = on_devices(adam, source | reader::shard(w, 4) | reader::batch(4), w, true);
    const std::lock_guard lock(mutex);
    CHECK(apart(mine.parameters, expected.parameters) < 2e-5);
    CHECK(apart(mine.costs, expected.costs) < 2e-5);
  });
}

TEST_CASE("a world without connected devices is an error", "[threads]") {
  struct other final : lamina::world {
    other() : world(0, 2) {}
    std::int64_t all_reduce_sum(std::int64_t mine) override { return 2 * mine; }
    std::unique_ptr<lamina::parameter_sync> make_sync(const lamina::trained_arrays&) override {
      return nullptr;
    }
    void fail(std::string_view) noexcept override {}
  } w;
  CHECK_THROWS_WITH(
      on_devices(optimizer::sgd{}, samples(8) | reader::batch(4), w, false),
      "lamina: train: expected a world that connects devices, lamina::distributed::nccl_session, "
      "found one that does not");
}

TEST_CASE("after set_steps, devices compare their facts again and begin with the arrays of rank 0",
          "[threads]") {
  const auto source = samples(8);
  for (const int apart : {0, 1}) {
    std::mutex mutex;
    std::vector<std::vector<float>> parameters;
    std::vector<std::string> faults;
    test::in_ranks(2, [&](test::thread_group& w) {
      model_type m{net};
      backend device;
      lamina::device_trainer<program_type, optimizer::sgd, backend> t(device, {}, m);
      t.join_world(w, false);
      lamina::feeder<program_type> feed;
      feed.fill(source);
      t.step(feed.view());
      t.copy_to_host();
      // As a checkpoint would that rank 1 has read from another file.
      for (int k = 0; w.rank() == 1 && k < 9; ++k) m.memory()[0][k] = 7;
      t.copy_to_device();
      t.set_steps(5 + apart * w.rank());
      try {
        t.step(feed.view());
        t.copy_to_host();
        const std::lock_guard lock(mutex);
        const auto first = m.get(0);
        parameters.emplace_back(first.data(), first.data() + first.size());
      } catch (const lamina::error& e) {
        const std::lock_guard lock(mutex);
        faults.emplace_back(e.what());
      }
    });
    if (apart == 0) {
      REQUIRE(parameters.size() == 2);
      CHECK(parameters[0] == parameters[1]);
    } else {
      REQUIRE(faults.size() == 2);
      for (const std::string& fault : faults)
        CHECK(
            fault ==
            "lamina: train: expected the same number of earlier steps in each process, found 5 in "
            "rank 0 and 6 in rank 1");
    }
  }
}

TEST_CASE("devices of several ranks have no statistics of the whole mini-batch", "[threads]") {
  const auto batches = samples(8) | reader::batch(4);
  const optimizer::sgd sgd{.learning_rate = 0.1f};
  const auto errors = test::results_in_ranks(2, [&](test::thread_group& w) {
    try {
      on_devices(sgd, batches, w, false, true);
    } catch (const lamina::error& e) {
      return std::string(e.what());
    }
    return std::string();
  });
  for (const auto& [rank, message] : errors)
    CHECK(message ==
          "lamina: train: sync_batch_norm: expected the CPU as place with several "
          "processes, found a device");
  // One device computes whole mini-batches.
  test::in_ranks(1, [&](test::thread_group& w) {
    CHECK(on_devices(sgd, batches, w, false, true).parameters ==
          on_devices(sgd, batches, w, false).parameters);
  });
}
