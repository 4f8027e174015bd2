// SPDX-License-Identifier: Apache-2.0
// table - trains a network with a table of embeddings of ROWS x COLUMNS (default: 10,000,000 x 64).
// The table is divided among all processes that the launcher has started. Each process prints its
// memory and the time of a step. A mini-batch has 512 samples of 20 ids each, whatever the size of
// the table.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <lamina/distributed/session.hpp>
#include <lamina/lamina.hpp>

#if !defined(ROWS)
#define ROWS 10000000
#endif
#if !defined(COLUMNS)
#define COLUMNS 64
#endif

namespace {

namespace layer = lamina::layer;
namespace reader = lamina::reader;
using clock = std::chrono::steady_clock;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto words = layer::sequence<"words", std::int64_t>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto rows = layer::embedding<ROWS, COLUMNS>(words, {.is_distributed = true});
  auto logits = layer::fc<2>(layer::sequence_pool(rows));
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

/// Returns the memory of this process that is not mapped from files, in MiB.
double resident() {
  std::ifstream status("/proc/self/status");
  std::string word;
  double kibibytes = 0;
  while (status >> word)
    if (word == "RssAnon:") status >> kibibytes;
  return kibibytes / 1024;
}

auto samples(int minibatches) {
  std::vector<std::tuple<std::vector<std::int64_t>, std::int64_t>> all;
  std::uint64_t state = 1;
  const auto draw = [&](std::uint64_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::int64_t>((state >> 33) % below);
  };
  for (int i = 0; i < minibatches * 512; ++i) {
    std::vector<std::int64_t> ids(20);
    for (std::int64_t& id : ids) id = draw(ROWS);
    all.emplace_back(std::move(ids), draw(2));
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    lamina::distributed::session world{argc, argv};
    const auto minibatches = samples(30) | reader::batch(512);
    const double before = resident();
    lamina::model model{net, world};
    const double made = resident() - before;
    std::vector<double> took;
    clock::time_point begin;
    lamina::optimizer::adam{.lazy_mode = true}.train(
        model, minibatches,
        {.on_event =
             [&](const lamina::event& e) {
               if (e.kind == lamina::event_kind::begin_iteration) begin = clock::now();
               if (e.kind == lamina::event_kind::end_iteration)
                 took.push_back(
                     std::chrono::duration<double, std::milli>(clock::now() - begin).count());
             },
         .world = &world});
    std::nth_element(took.begin(), took.begin() + 15, took.end());
    constexpr double table = 1.0 * ROWS * COLUMNS * sizeof(float) / (1 << 20);
    std::printf(
        "rank %d of %d: a table of %.0f MiB; %.0f MiB (%.2f %%) at the start, %.0f MiB after "
        "%zu steps with two accumulators; %.2f ms per step\n",
        world.rank(), world.size(), table, made, 100 * made / table, resident() - before,
        took.size(), took[15]);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
