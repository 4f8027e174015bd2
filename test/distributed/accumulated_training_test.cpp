// SPDX-License-Identifier: Apache-2.0
// Ranks that join the gradients of several mini-batches for one update, as threads of this process.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <stdexcept>
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

// Random numbers, moving statistics, a dense gradient and one of selected rows.
constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 5>(main);
  auto words = layer::data<"word", std::int64_t>(main);
  auto y = layer::data<"y", float>(main);
  auto row = layer::embedding<9, 5>(words, {.is_sparse = true});
  auto h = layer::batch_norm(layer::fc<7>(x + row), {.act = lamina::activation::tanh});
  return layer::mean(layer::square_error_cost(layer::fc<1>(layer::dropout(h, 0.4f)), y));
});
using model_type = lamina::model<std::remove_const_t<decltype(net)>>;
using sample = std::tuple<std::array<float, 5>, std::int64_t, float>;

std::vector<sample> samples(int count) {
  std::vector<sample> all;
  for (int i = 0; i < count; ++i) {
    std::array<float, 5> x;
    for (int k = 0; k < 5; ++k)
      x[static_cast<std::size_t>(k)] = static_cast<float>((i * 7 + k) % 11) / 5;
    all.push_back({x, i % 9, static_cast<float>(i % 3)});
  }
  return all;
}

struct found {
  std::vector<float> parameters;
  std::vector<double> costs;
  std::int64_t steps = 0;
};
std::vector<float> values_of(const model_type& m) {
  std::vector<float> all;
  for (int i = 0; i < m.parameter_arrays(); ++i) {
    const auto a = m.get(i);
    all.insert(all.end(), a.data(), a.data() + a.size());
  }
  return all;
}
template <class Opt, class Reader>
found train(const Opt& opt, const Reader& batches, lamina::train_options options) {
  model_type m{net};
  found result;
  options.on_event = [&](const lamina::event& e) {
    if (e.kind == lamina::event_kind::end_iteration) result.costs.push_back(e.cost);
  };
  result.steps = opt.train(m, batches, options).steps;
  result.parameters = values_of(m);
  return result;
}
bool same(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}
bool says(const std::string& message, const char* what) {
  return message.find(what) != message.npos;
}
void check_same(const std::map<int, found>& all, const found& expected) {
  for (const auto& [rank, one] : all) {
    INFO("rank " << rank);
    CHECK(same(one.parameters, expected.parameters));
    CHECK(one.costs == expected.costs);
    CHECK(one.steps == expected.steps);
  }
}

/// Six mini-batches per pass, so that the last update of a pass takes two where others take four.
template <class Opt>
void check_ranks(const Opt& opt) {
  const auto source = samples(24) | reader::shuffle(24, 5);
  const auto batches = source | reader::batch(4);
  std::vector<float> before;
  for (const int accumulate : {1, 3, 4}) {
    const auto options = [&](lamina::world* w, bool shards) {
      return lamina::train_options{.passes = 2,
                                   .threads = w == nullptr ? 4 : 4 / w->size(),
                                   .accumulate = accumulate,
                                   .world = w,
                                   .reads_shard = shards};
    };
    const found expected = train(opt, batches, options(nullptr, false));
    CHECK(expected.steps == 2 * ((6 + accumulate - 1) / accumulate));
    CHECK(!same(expected.parameters, before));
    before = expected.parameters;
    for (const int ranks : {1, 2, 4}) {
      INFO("accumulate " << accumulate << ", " << ranks << " ranks");
      check_same(test::results_in_ranks(
                     ranks, [&](auto& w) { return train(opt, batches, options(&w, false)); }),
                 expected);
      const int own = 4 / ranks;
      check_same(test::results_in_ranks(
                     ranks,
                     [&](auto& w) {
                       return train(opt, source | reader::shard(w, own) | reader::batch(own),
                                    options(&w, true));
                     }),
                 expected);
    }
  }
}

const optimizer::adam adam{.learning_rate = 0.01f, .clip = lamina::clip_by_global_norm(0.05f)};
const optimizer::sgd sgd{.learning_rate = 0.1f};

}  // namespace

TEST_CASE("ranks accumulate gradients to the bits of one process", "[threads]") {
  check_ranks(sgd);
}

TEST_CASE("ranks accumulate gradients, and limit the norm of their sum", "[threads]") {
  check_ranks(adam);
}

TEST_CASE("accumulated gradients of ranks: parts and ranks without samples", "[threads]") {
  // The last mini-batch has two samples for four parts, and the one before has three.
  auto all = samples(13);
  std::vector<std::vector<sample>> batches;
  for (const std::size_t size : {4u, 1u, 3u, 3u, 2u}) {
    batches.emplace_back(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(size));
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(size));
  }
  const found expected = train(sgd, batches, {.passes = 2, .threads = 4, .accumulate = 2});
  for (const int ranks : {2, 4})
    check_same(test::results_in_ranks(
                   ranks,
                   [&](auto& w) {
                     return train(
                         sgd, batches,
                         {.passes = 2, .threads = 4 / ranks, .accumulate = 2, .world = &w});
                   }),
               expected);
  // Shards of different length: rank 1 has none.
  const auto shards = test::results_in_ranks(3, [&](test::thread_group& w) {
    auto mine = samples(20);
    if (w.rank() == 0) mine.resize(2);
    if (w.rank() == 1) mine.clear();
    if (w.rank() == 2) mine.erase(mine.begin(), mine.begin() + 15);
    return train(sgd, mine | reader::batch(2),
                 {.passes = 2, .accumulate = 2, .world = &w, .reads_shard = true});
  });
  CHECK(shards.at(0).steps == 4);
  check_same(shards, shards.at(0));
}

TEST_CASE("ranks call backward() and update() apart", "[threads]") {
  const auto run = [](lamina::world* w, int threads) {
    model_type m{net};
    lamina::trainer t{m, adam, {.threads = threads, .world = w}};
    found result;
    const auto all = samples(20);
    for (int k = 0; k < 5; ++k) {
      const std::vector<sample> batch(all.begin() + 4 * k, all.begin() + 4 * k + 4);
      result.costs.push_back(static_cast<double>(t.backward(batch)));
      if (k == 0 || k == 3) t.update();  // one mini-batch, then three
    }
    CHECK(t.pending() == 1);
    result.costs.push_back(static_cast<double>(t.step(samples(4))));  // with those that wait
    CHECK(t.pending() == 0);
    result.steps = t.steps();
    result.parameters = values_of(m);
    return result;
  };
  const found expected = run(nullptr, 4);
  CHECK(expected.steps == 3);
  for (const int ranks : {2, 4})
    check_same(test::results_in_ranks(ranks, [&](auto& w) { return run(&w, 4 / ranks); }),
               expected);
}

TEST_CASE("an update of one mini-batch has the bits of a step, in ranks too", "[threads]") {
  const auto batches = samples(24) | reader::batch(8);
  const found expected = train(sgd, batches, {.threads = 2});
  check_same(
      test::results_in_ranks(2,
                             [&](test::thread_group& w) {
                               model_type m{net};
                               lamina::trainer t{m, sgd, {.world = &w}};
                               found result;
                               for (auto&& batch : reader::begin_pass(batches)) {
                                 result.costs.push_back(static_cast<double>(t.backward(batch)));
                                 t.update();
                               }
                               result.parameters = values_of(m);
                               result.steps = t.steps();
                               return result;
                             }),
      expected);
}

TEST_CASE("gradients travel once per update", "[threads]") {
  const auto sent = [](int accumulate) {
    std::size_t bytes = 0;
    test::in_ranks(2, [&](test::thread_group& w) {
      train(sgd, samples(24) | reader::batch(4), {.accumulate = accumulate, .world = &w});
      if (w.rank() == 1) bytes = w.sent;  // rank 0 sends the first parameters too
    });
    return bytes;
  };
  const std::size_t once = sent(6), always = sent(1);
  CHECK(once * 5 < always);
}

TEST_CASE("accumulated gradients of ranks with parameter servers", "[threads]") {
  const auto batches = samples(24) | reader::batch(4);
  const found expected = train(adam, batches, {.threads = 4, .accumulate = 4});
  const found of_sgd = train(sgd, batches, {.threads = 4, .accumulate = 4});
  const auto run = [&](const auto& opt) {
    auto all = test::results_in_ranks(3,
                                      [&](test::thread_group& w) {
                                        return train(opt, batches,
                                                     {.threads = 2, .accumulate = 4, .world = &w});
                                      },
                                      {.parameter_servers = 1});
    CHECK(same(all.at(2).parameters, all.at(0).parameters));
    all.erase(2);
    return all;
  };
  check_same(run(adam), expected);
  check_same(run(sgd), of_sgd);
  // Trainers that make their own steps.
  const auto errors = test::errors_of(
      2, [&](test::thread_group& w) { train(sgd, batches, {.accumulate = 2, .world = &w}); },
      {.parameter_servers = 1, .staleness = 2});
  CHECK(says(errors.at(0), "expected whole steps with a staleness above 0"));
  CHECK(says(errors.at(1), "rank 0: lamina: train: expected whole steps with a staleness above 0"));
}

TEST_CASE("accumulated gradients of ranks: a checkpoint goes on with other ranks", "[threads]") {
  const auto batches = samples(24) | reader::batch(4);
  const auto options = [&](lamina::world* w, const std::string& folder) {
    return lamina::train_options{
        .passes = 2,
        .threads = 4 / w->size(),
        .accumulate = 2,
        .checkpoint = {.directory = folder, .every_batches = 1, .resume = true},
        .world = w};
  };
  const temporary_folder folder;
  const found expected = train(adam, batches, {.passes = 2, .threads = 4, .accumulate = 2});
  test::results_in_ranks(2, [&](test::thread_group& w) {
    model_type m{net};
    lamina::train_options given = options(&w, folder.path());
    int mine = 0;
    given.on_event = [&](const lamina::event& e) {
      if (e.kind == lamina::event_kind::end_iteration && ++mine == 8) e.stop();
    };
    adam.train(m, batches, given);
    return found{};
  });
  const auto rest = test::results_in_ranks(
      4, [&](test::thread_group& w) { return train(adam, batches, options(&w, folder.path())); });
  for (const auto& [rank, one] : rest) {
    CHECK(same(one.parameters, expected.parameters));
    CHECK(one.costs.size() == 4);
  }
}

TEST_CASE("an error in the backward() of one rank stops the others", "[threads]") {
  // In a pass whose second mini-batch fails in rank 1, and by hand.
  const auto of_pass = test::errors_of(4, [](test::thread_group& w) {
    auto mine = samples(8);
    for (auto& one : mine) std::get<2>(one) += static_cast<float>(w.rank());
    if (w.rank() == 1) std::get<1>(mine[3]) = 9;
    train(sgd, mine | reader::batch(2), {.accumulate = 3, .world = &w, .reads_shard = true});
  });
  const auto by_hand = test::errors_of(2, [](test::thread_group& w) {
    model_type m{net};
    lamina::trainer t{m, sgd, {.world = &w}};
    auto mine = samples(4);
    t.backward(mine);
    if (w.rank() == 1) std::get<1>(mine[3]) = 9;
    try {
      t.backward(mine);
    } catch (...) {
      t.machine().drop_gradients();
      throw;
    }
    t.update();
  });
  for (const auto* const errors : {&of_pass, &by_hand}) {
    CHECK(errors->size() == (errors == &of_pass ? 4u : 2u));
    for (const auto& [rank, message] : *errors) {
      INFO("rank " << rank << ": " << message);
      CHECK(says(message, "9"));
      CHECK(says(message, "rank 1: ") == (rank != 1));
    }
  }
}

TEST_CASE("a mini-batch that fails leaves the joined gradients as they were", "[threads]") {
  model_type once{net}, again{net};
  lamina::trainer expected{once, sgd, {.threads = 2}}, t{again, sgd, {.threads = 2}};
  const auto good = samples(8);
  auto bad = samples(8);
  std::get<1>(bad[7]) = 9;
  for (int k = 0; k < 2; ++k) {
    expected.backward(good), t.backward(good);
    CHECK_THROWS_AS(t.backward(bad), lamina::error);
    if (k == 1) expected.backward(good), t.backward(good);
    expected.update(), t.update();
    for (std::size_t j = 0; j < values_of(once).size(); ++j)
      CHECK(values_of(again)[j] == Approx(values_of(once)[j]).margin(1e-6));
  }
}
