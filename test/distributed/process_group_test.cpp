// SPDX-License-Identifier: Apache-2.0
// Ranks that are threads of this process train a net as one process with as many threads: all ways
// to update, without MPI.

#include <array>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "distributed/thread_group.hpp"
#include "io/temporary_folder.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/messages/error.hpp>
#include <lamina/distributed/process_group.hpp>
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

TEST_CASE("a trainer of several ranks saves what a trainer of threads goes on with", "[threads]") {
  const optimizer::adam adam{.learning_rate = 0.01f};
  const auto batches = samples<float>() | lamina::reader::batch(8);
  const temporary_folder folder;
  const std::string path = folder.path() + "/state";
  // Two passes by two threads; one of them by two ranks.
  model_of<float> expected{net<float>};
  lamina::trainer whole{expected, adam, {.threads = 2}};
  whole.pass(batches);
  whole.pass(batches);
  test::in_ranks(2, [&](test::thread_group& w) {
    model_of<float> m{net<float>};
    lamina::trainer t{m, adam, {.world = &w}};
    t.pass(batches);
    t.save(path);
  });
  model_of<float> found{net<float>};
  lamina::trainer rest{found, adam, {.threads = 2}};
  rest.load(path);
  rest.pass(batches);
  for (int i = 0; i < found.parameter_arrays(); ++i) {
    const auto a = expected.get(i), b = found.get(i);
    CHECK(std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
  }
}

TEST_CASE("updates with gradient machines are refused with several ranks", "[threads]") {
  std::mutex mutex;
  int refused = 0;
  test::in_ranks(2, [&](test::thread_group& w) {
    model_of<float> m{net<float>};
    const optimizer::sgd sgd{.learning_rate = 0.1f};
    lamina::trainer t{m, sgd, {.world = &w}};
    lamina::gradient_machine g{m};
    g.backward(samples<float>());
    try {
      t.update({&g});
    } catch (const lamina::error& e) {
      const std::lock_guard lock(mutex);
      refused += std::string(e.what()).find(
                     "expected one process for an update with gradient "
                     "machines") != std::string::npos;
    }
  });
  CHECK(refused == 2);
}

TEST_CASE("other samples in one rank are an error before they are trained on", "[threads]") {
  std::mutex mutex;
  int refused = 0;
  test::in_ranks(2, [&](test::thread_group& w) {
    model_of<float> m{net<float>};
    auto mine = samples<float>();
    if (w.rank() == 1) std::swap(mine[0], mine[1]);
    const auto values = [&m] {
      const auto a = m.get(0);
      return std::vector<float>(a.data(), a.data() + a.size());
    };
    const std::vector<float> before = values();
    try {
      optimizer::sgd{.learning_rate = 0.1f}.train(m, mine | lamina::reader::batch(8),
                                                  {.world = &w});
    } catch (const lamina::error& e) {
      const std::lock_guard lock(mutex);
      refused += std::string(e.what()).find("expected the same samples in each process") !=
                 std::string::npos;
      CHECK(values() == before);
    }
  });
  CHECK(refused == 2);
}

TEST_CASE("a number is added up over trainers, and a call on a server is an error", "[threads]") {
  const auto found =
      test::results_in_ranks(3,
                             [](test::thread_group& w) {
                               try {
                                 return std::to_string(w.all_reduce_sum(w.rank() + 1));
                               } catch (const lamina::error& e) {
                                 return std::string(e.what());
                               }
                             },
                             {.parameter_servers = 1});
  CHECK(found.at(0) == "3");
  CHECK(found.at(1) == "3");
  CHECK(found.at(2) ==
        "lamina: distributed: expected all_reduce_sum() of the processes that train, found a call "
        "on a "
        "parameter server: ask world.is_parameter_server()");
}

TEST_CASE("each process has the texts of all", "[threads]") {
  const auto all = test::results_in_ranks(3, [](test::thread_group& w) {
    const std::string mine(static_cast<std::size_t>(5 * (2 - w.rank())), 'a');
    return lamina::distributed::texts_of_ranks(w, w.rank() == 1 ? std::string("x\0y", 3) : mine);
  });
  REQUIRE(all.size() == 3);
  for (const auto& [rank, texts] : all)
    CHECK(texts == std::vector<std::string>{std::string(10, 'a'), std::string("x\0y", 3), ""});
  const auto none = test::results_in_ranks(
      2, [](test::thread_group& w) { return lamina::distributed::texts_of_ranks(w, ""); });
  for (const auto& [rank, texts] : none) CHECK(texts == std::vector<std::string>{"", ""});
}

namespace {

using lamina::distributed::session_options;

/// What each of three processes is told, of which the last one has other options.
std::vector<std::string> faults(const session_options& first, const session_options& last) {
  std::mutex mutex;
  std::vector<std::string> found;
  test::in_ranks(3, [&](test::thread_group& w) {
    std::string what;
    try {
      const auto roles = lamina::distributed::agreed_roles(w, w.rank() == 2 ? last : first);
      what = std::to_string(roles.trainers) + "+" + std::to_string(roles.parameter_servers);
    } catch (const lamina::error& e) {
      what = e.what();
    }
    const std::lock_guard lock(mutex);
    found.push_back(what);
  });
  return found;
}

}  // namespace

TEST_CASE("all processes have the same roles", "[threads]") {
  CHECK(faults({}, {}) == std::vector<std::string>(3, "3+0"));
  CHECK(faults({.parameter_servers = 1}, {.parameter_servers = 1}) ==
        std::vector<std::string>(3, "2+1"));
}

TEST_CASE("other options in one process are an error in all", "[threads]") {
  const session_options two{.parameter_servers = 1, .staleness = 2};
  session_options other = two;
  other.staleness = 3;
  CHECK(faults(two, other) ==
        std::vector<std::string>(3,
                                 "lamina: distributed: expected the same staleness in each "
                                 "process, found 2 in rank 0 and 3 in rank 2"));
  for (const std::string& fault : faults({}, {.parameter_servers = 1}))
    CHECK(fault.find("the same number of parameter servers in each process, found 0 in rank 0") !=
          std::string::npos);
  int own = 0, others = 0;
  for (const std::string& fault : faults({}, {.parameter_servers = 3})) {
    own += fault.find("1 or more trainers") != std::string::npos;
    others += fault.find("the same number") != std::string::npos;
  }
  CHECK(own == 1);
  CHECK(others == 2);
}
