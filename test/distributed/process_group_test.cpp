// SPDX-License-Identifier: Apache-2.0
// Ranks that are threads of this process train a net as one process with as many threads: all ways
// to update, without MPI.

#include <array>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <tuple>
#include <vector>

#include "distributed/thread_group.hpp"
#include <catch2/catch.hpp>

#include <lamina/lamina.hpp>

namespace {

namespace layer = lamina::layer;
namespace optimizer = lamina::optimizer;

template <class T>
constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", T, 5>(main);
  auto words = layer::data<"word", std::int64_t>(main);
  auto y = layer::data<"y", T>(main);
  auto row = layer::embedding<9, 5, T>(words, {.is_sparse = true});
  auto h = layer::batch_norm(layer::fc<7>(x + row), {.act = lamina::activation::tanh});
  return layer::mean(layer::square_error_cost(layer::fc<1>(h), y));
});

template <class T>
auto samples() {
  std::vector<std::tuple<std::array<T, 5>, std::int64_t, T>> all;
  for (int i = 0; i < 22; ++i) {
    std::array<T, 5> x;
    for (int k = 0; k < 5; ++k)
      x[static_cast<std::size_t>(k)] = static_cast<T>((i * 7 + k) % 11) / 5;
    all.push_back({x, i % 9, static_cast<T>(i % 3)});
  }
  return all;
}

template <class T>
using model_of = lamina::model<std::remove_const_t<decltype(net<T>)>>;

template <class T, class Opt>
std::vector<T> parameters_after(const Opt& opt, int threads, lamina::world* w) {
  model_of<T> m{net<T>};
  opt.train(m, samples<T>() | lamina::reader::batch(8),
            {.passes = 3, .threads = threads, .world = w});
  // The state of the optimizer is that of all ranks too: a second call goes on with it.
  opt.train(m, samples<T>() | lamina::reader::batch(8), {.threads = threads, .world = w});
  std::vector<T> all;
  for (int i = 0; i < m.parameter_arrays(); ++i) {
    const auto a = m.get(i);
    all.insert(all.end(), a.data(), a.data() + a.size());
  }
  return all;
}

template <class T, class Opt>
void check(const Opt& opt) {
  const std::vector<T> expected = parameters_after<T>(opt, 4, nullptr);
  for (const int ranks : {2, 4}) {
    std::mutex mutex;
    test::in_ranks(ranks, [&](test::thread_group& w) {
      const std::vector<T> found = parameters_after<T>(opt, 4 / ranks, &w);
      const std::lock_guard lock(mutex);
      REQUIRE(found.size() == expected.size());
      CHECK(std::memcmp(found.data(), expected.data(), found.size() * sizeof(T)) == 0);
    });
  }
}

}  // namespace

TEST_CASE("ranks reach the bits of threads", "[threads]") {
  check<float>(optimizer::adam{.learning_rate = 0.01f});
  check<double>(optimizer::momentum{.learning_rate = 0.02f, .momentum = 0.9f});
}

TEST_CASE("ranks reach the bits of threads where an update needs a whole parameter or all",
          "[threads]") {
  check<float>(optimizer::lamb{.learning_rate = 0.01f});
  check<float>(optimizer::sgd{.learning_rate = 0.05f, .clip = lamina::clip_by_global_norm(0.01f)});
}
