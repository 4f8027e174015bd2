// SPDX-License-Identifier: Apache-2.0
// Models whose tables parameter servers own: bits, checkpoints, errors. Ranks are threads.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "distributed/thread_group.hpp"
#include <catch2/catch.hpp>

#include <lamina/lamina.hpp>

namespace {

namespace layer = lamina::layer;
namespace optimizer = lamina::optimizer;
using lamina::event_kind;
using lamina::distributed::session_options;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto words = layer::sequence<"words", std::int64_t>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto rows = layer::embedding<50, 37>(words, {.param = {.name = "table"}, .is_distributed = true});
  auto whole = layer::embedding<50, 5>(words, {.is_sparse = true});
  auto logits = layer::fc<3>(
      layer::concat(std::tuple{layer::sequence_pool(rows), layer::sequence_pool(whole)}));
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});
constexpr auto in_double = lamina::program([](lamina::block& main) {
  auto words = layer::sequence<"words", std::int64_t>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto rows = layer::embedding<50, 11, double>(words, {.is_distributed = true});
  auto logits = layer::fc<3>(layer::sequence_pool(rows));
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});
/// The gradient of a row is the number of its look-ups, divided by the elements that are read.
constexpr auto counts = lamina::program([](lamina::block& main) {
  auto word = layer::data<"word", std::int64_t>(main);
  return layer::mean(layer::embedding<3, 4>(
      word, {.param = {.name = "table", .initializer = lamina::init::constant(0)},
             .padding_idx = 1,
             .is_distributed = true}));
});

auto samples() {
  std::vector<std::tuple<std::vector<std::int64_t>, std::int64_t>> all;
  for (std::int64_t i = 0; i < 40; ++i) {
    auto& s = all.emplace_back();
    // Ids that a sample has twice, and samples without any.
    for (std::int64_t k = 0; k < i % 6; ++k) std::get<0>(s).push_back((i * 31 + k % 3 * 17) % 50);
    std::get<1>(s) = i % 3;
  }
  return all;
}
// The last mini-batch has one sample.
auto batches() { return samples() | lamina::reader::batch(13); }

/// A folder that is empty at first and removed in the end.
struct folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / "lamina_divide_tables";
  folder() { std::filesystem::remove_all(path), std::filesystem::create_directories(path); }
  ~folder() { std::filesystem::remove_all(path); }
};
template <class Model>
auto numbers_of(const Model& m) {
  std::vector<typename Model::real> all;
  for (int i = 0; i < m.parameter_arrays(); ++i)
    for (const auto x : m.get(i)) all.push_back(x);
  return all;
}
template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}
/// The parameters of a file of model::save().
std::vector<float> numbers_in(const std::string& path) {
  lamina::model whole{net};
  whole.load(path);
  return numbers_of(whole);
}
/// Runs f(world) in some trainers and servers; no rank may fail.
template <class F>
void in_roles(int trainers, const session_options& options, F f) {
  const int servers = options.parameter_servers > 0 ? options.parameter_servers : 0;
  const std::map<int, std::string> errors = test::errors_of(trainers + servers, f, options);
  for (const auto& [rank, what] : errors) FAIL_CHECK("rank " << rank << ": " << what);
}

template <class Opt>
void require_same_bits(const Opt& opt, std::initializer_list<std::pair<int, int>> roles) {
  const folder made;
  const std::string path = made.path / "model";
  for (const auto& [trainers, servers] : roles) {
    CAPTURE(trainers, servers);
    lamina::model one{net};
    opt.train(one, batches(), {.passes = 3, .threads = 2 * trainers});
    in_roles(trainers, {.parameter_servers = servers}, [&](test::thread_group& w) {
      lamina::model m{net, w};
      const lamina::train_options options{.passes = 1, .threads = 2, .world = &w};
      opt.train(m, batches(), options);
      lamina::train_options more = options;
      more.passes = 2;
      opt.train(m, batches(), more);  // goes on with the same moments
      m.save(path);
    });
    CHECK(same(numbers_in(path), numbers_of(one)));
  }
}

}  // namespace

TEST_CASE("trainers whose servers own the tables reach the bits of one process", "[threads]") {
  require_same_bits(optimizer::sgd{.learning_rate = 0.1f}, {{1, 1}, {2, 1}, {3, 2}});
  require_same_bits(optimizer::adam{.learning_rate = 0.01f, .lazy_mode = true}, {{2, 2}, {3, 1}});
  // All rows change in each step, also without a gradient.
  require_same_bits(
      optimizer::adam{
          .learning_rate = 0.01f, .lazy_mode = true, .regularization = lamina::l2_decay(0.01f)},
      {{2, 3}, {4, 1}});
  require_same_bits(optimizer::momentum{.learning_rate = 0.05f, .momentum = 0.9f}, {{2, 1}});
  require_same_bits(
      optimizer::sgd{.learning_rate = 0.1f, .clip = lamina::clip_by_global_norm(0.05f)},
      {{1, 1}, {2, 1}, {2, 3}});
}

TEST_CASE("trainers whose servers own the tables accumulate gradients", "[threads]") {
  const folder made;
  const std::string path = made.path / "model";
  const optimizer::adam adam{.learning_rate = 0.01f, .lazy_mode = true};
  lamina::model one{net};
  adam.train(one, batches(), {.passes = 2, .threads = 2, .accumulate = 3});
  in_roles(2, {.parameter_servers = 2}, [&](test::thread_group& w) {
    lamina::model m{net, w};
    adam.train(m, batches(), {.passes = 2, .accumulate = 3, .world = &w});
    m.save(path);
  });
  CHECK(same(numbers_in(path), numbers_of(one)));
}

TEST_CASE("a training goes on with other numbers of trainers and servers", "[threads]") {
  const folder made;
  const std::string directory = made.path / "checkpoints", model = made.path / "model";
  const optimizer::adam adam{.learning_rate = 0.01f, .lazy_mode = true};
  lamina::model one{net};
  adam.train(one, batches(), {.passes = 4, .threads = 4});
  int passes = 0;
  for (const auto& [trainers, servers] : {std::pair{4, 1}, {1, 3}, {2, 0}, {2, 2}})
    in_roles(trainers, {.parameter_servers = servers},
             [&, trainers = trainers, until = ++passes](test::thread_group& w) {
               lamina::model m{net, w};
               adam.train(m, batches(),
                          {.passes = until,
                           .threads = 4 / trainers,
                           .checkpoint = {.directory = directory,
                                          .every_batches = 3,
                                          .keep = 2,
                                          .resume = true},
                           .world = &w});
               m.save(model);
             });
  CHECK(same(numbers_in(model), numbers_of(one)));
  lamina::model alone{net};
  adam.train(alone, batches(),
             {.passes = 4, .threads = 4, .checkpoint = {.directory = directory, .resume = true}});
  CHECK(same(numbers_of(alone), numbers_of(one)));
}

TEST_CASE("trainers evaluate and save while servers serve the tables", "[threads]") {
  const folder made;
  const std::string state = made.path / "state", model = made.path / "model";
  for (const int staleness : {0, 2}) {
    CAPTURE(staleness);
    std::mutex mutex;
    std::vector<double> costs;
    in_roles(2, {.parameter_servers = 2, .staleness = staleness}, [&](test::thread_group& w) {
      lamina::model m{net, w};
      lamina::evaluator e{m};
      const double before = e.test(batches()).cost;  // of all, also the servers
      const optimizer::sgd sgd{.learning_rate = 0.1f};
      {
        lamina::trainer t{m, sgd, {.world = &w}};
        for (int pass = 0; pass < 2; ++pass) {
          t.pass(batches());
          if (!w.is_parameter_server()) e.test(batches());
          t.save(state);
          m.save(model);
        }
      }
      const double after = e.test(batches()).cost;
      const std::lock_guard lock(mutex);
      CHECK(before > after);
      costs.push_back(after);
    });
    lamina::model whole{net};
    whole.load(model);
    lamina::evaluator e{whole};
    REQUIRE(costs.size() == 4);
    for (const double cost : costs) CHECK(cost == e.test(batches()).cost);
    if (staleness > 0) continue;
    // A trainer of one process goes on with the state of the servers.
    lamina::model one{net};
    lamina::trainer t{one, optimizer::sgd{.learning_rate = 0.1f}, {.threads = 2}};
    t.load(state);
    CHECK(t.passes() == 2);
    CHECK(same(numbers_of(one), numbers_of(whole)));
    t.pass(batches());
    in_roles(2, {.parameter_servers = 1}, [&](test::thread_group& w) {
      lamina::model m{net, w};
      lamina::trainer other{m, optimizer::sgd{.learning_rate = 0.1f}, {.world = &w}};
      other.load(state);
      other.pass(batches());
      m.save(model);
    });
    CHECK(same(numbers_in(model), numbers_of(one)));
  }
}

TEST_CASE("no gradient of a row is lost or counted twice", "[threads]") {
  // Trainer 0 alone reads row 0, trainer 1 reads a row twice in a mini-batch, trainer 2 has no ids
  // but padding. With four samples a mini-batch, all numbers are exact.
  const std::vector<std::int64_t> words[3] = {
      {0, 0, 1, 2, 0, 1, 1, 1}, {2, 2, 2, 1, 2, 2, 1, 1}, {1, 1, 1, 1, 1, 1, 1, 1}};
  const folder made;
  const std::string path = made.path / "model";
  // With four servers, one has no row.
  for (const auto& [servers, staleness] : {std::pair{1, 3}, {2, 1}, {4, 2}, {2, 0}, {4, 0}}) {
    CAPTURE(servers, staleness);
    in_roles(3, {.parameter_servers = servers, .staleness = staleness}, [&](test::thread_group& w) {
      lamina::model m{counts, w};
      std::vector<std::tuple<std::int64_t>> mine;
      if (!w.is_parameter_server())
        for (const std::int64_t word : words[w.rank()]) mine.push_back(word);
      optimizer::sgd{.learning_rate = 1}.train(m, mine | lamina::reader::batch(4),
                                               {.passes = 5, .world = &w, .reads_shard = true});
      m.save(path);
    });
    lamina::model whole{counts};
    whole.load(path);
    const auto table = whole.parameter<"table">();
    // Five passes of 1/16 per look-up; staleness 0 divides by the samples of three trainers.
    const float each = 5.0f / 16 / (staleness == 0 ? 3 : 1);
    CHECK(table(0, 0) == Approx(-3 * each).epsilon(staleness == 0 ? 1e-5 : 0));
    CHECK(table(1, 3) == 0);
    CHECK(table(2, 2) == Approx(-6 * each).epsilon(staleness == 0 ? 1e-5 : 0));
  }
}

TEST_CASE("one trainer with its own steps trains as one process", "[threads]") {
  const folder made;
  const std::string path = made.path / "model";
  const auto check = [&](const auto& opt) {
    lamina::model one{net};
    opt.train(one, batches(), {.passes = 3, .threads = 2});
    in_roles(1, {.parameter_servers = 2, .staleness = 2}, [&](test::thread_group& w) {
      lamina::model m{net, w};
      opt.train(m, batches(), {.passes = 3, .threads = 2, .world = &w});
      m.save(path);
    });
    CHECK(same(numbers_in(path), numbers_of(one)));
  };
  check(optimizer::sgd{.learning_rate = 0.1f});
  check(optimizer::adam{.learning_rate = 0.01f, .lazy_mode = true});
  check(optimizer::adam{.learning_rate = 0.01f, .regularization = lamina::l2_decay(0.01f)});
  check(optimizer::sgd{.learning_rate = 0.1f, .clip = lamina::clip_by_global_norm(0.05f)});
}

TEST_CASE("tables in double have the bits of one process", "[threads]") {
  const folder made;
  const std::string path = made.path / "model";
  for (const auto& [trainers, staleness] : {std::pair{2, 0}, {1, 2}}) {
    CAPTURE(trainers, staleness);
    const auto check = [&, trainers = trainers, staleness = staleness](const auto& opt) {
      lamina::model one{in_double};
      opt.train(one, batches(), {.passes = 2, .threads = 2 * trainers});
      in_roles(trainers, {.parameter_servers = 2, .staleness = staleness},
               [&](test::thread_group& w) {
                 lamina::model m{in_double, w};
                 opt.train(m, batches(), {.passes = 2, .threads = 2, .world = &w});
                 m.save(path);
               });
      lamina::model whole{in_double};
      whole.load(path);
      CHECK(same(numbers_of(whole), numbers_of(one)));
    };
    check(optimizer::adam{.learning_rate = 0.01f, .lazy_mode = true});
    check(optimizer::sgd{.learning_rate = 0.1f, .clip = lamina::clip_by_global_norm(0.05f)});
  }
}

TEST_CASE("asynchronous trainers learn tables and go on from checkpoints", "[threads]") {
  const folder made;
  const std::string directory = made.path / "checkpoints";
  double first = 0, last = 0;
  int passes = 1;
  for (const auto& [trainers, servers] : {std::pair{3, 2}, {2, 1}, {1, 4}})
    in_roles(trainers, {.parameter_servers = servers, .staleness = 1},
             [&, until = 5 * passes++](test::thread_group& w) {
               lamina::model m{net, w};
               const auto r = optimizer::adam{.learning_rate = 0.02f, .lazy_mode = true}.train(
                   m, batches(),
                   {.passes = until,
                    .checkpoint = {.directory = directory, .every_batches = 3, .resume = true},
                    .world = &w});
               if (w.rank() == 0) (until == 5 ? first : last) = r.cost;
             });
  CHECK(last < first);
  CHECK(last > 0);
}

TEST_CASE("an error of one rank with served tables reaches all", "[threads]") {
  const auto errors = [](const session_options& options, auto f) {
    return test::errors_of(2 + options.parameter_servers, f, options);
  };
  const optimizer::sgd sgd{.learning_rate = 0.1f};
  for (const int staleness : {0, 1}) {
    CAPTURE(staleness);
    auto found =
        errors({.parameter_servers = 2, .staleness = staleness}, [&](test::thread_group& w) {
          lamina::model m{net, w};
          lamina::train_options options{.passes = 3, .world = &w};
          options.on_event = [&](const lamina::event& e) {
            if (w.rank() == 1 && e.kind == event_kind::end_iteration && e.batch == 2)
              throw lamina::error("lamina: test: the disk is full");
          };
          sgd.train(m, batches(), options);
          // A server may see the end of the trainers first, and then the error in its next call.
          char mine = 0, all[4];
          w.gather(&mine, 1, all);
        });
    CHECK(found.size() == 4);
    for (const int rank : {0, 1})
      CHECK_THAT(found[rank], Catch::Contains("lamina: test: the disk is full"));
    // An id that the table does not have.
    found = errors({.parameter_servers = 1, .staleness = staleness}, [&](test::thread_group& w) {
      lamina::model m{net, w};
      auto wrong = samples();
      std::get<0>(wrong[20]) = {7, 50};
      sgd.train(m, wrong | lamina::reader::batch(13), {.world = &w});
      char mine = 0, all[3];
      w.gather(&mine, 1, all);
    });
    CHECK(found.size() == 3);
    for (const int rank : {0, 1}) CHECK_THAT(found[rank], Catch::Contains("50"));
  }
  // Seeds differ.
  auto found = errors({.parameter_servers = 1}, [&](test::thread_group& w) {
    lamina::model m{net, w, static_cast<std::uint64_t>(w.is_parameter_server() ? 2 : 1)};
  });
  CHECK(found.size() == 3);
  for (const auto& [rank, what] : found)
    CHECK_THAT(what, Catch::Contains("expected the same seed of the model in each process"));
  // A server cannot evaluate alone.
  found = errors({.parameter_servers = 1}, [&](test::thread_group& w) {
    lamina::model m{net, w};
    lamina::trainer t{m, sgd, {.world = &w}};
    t.pass(batches());
    lamina::evaluator e{m};
    e.test(batches());
  });
  REQUIRE(found.contains(2));
  CHECK_THAT(found.at(2), Catch::Contains("expected an evaluation with sharded tables on trainers "
                                          "only"));
  // What needs a whole table.
  found = errors({.parameter_servers = 1}, [&](test::thread_group& w) {
    lamina::model m{net, w};
    (void)m.parameter<"table">();
  });
  CHECK_THAT(found.at(0), Catch::Contains("expected all rows of table table, found no rows"));
  CHECK_THAT(found.at(2), Catch::Contains("found rows 0 to 49"));
  found = errors({.parameter_servers = 1}, [&](test::thread_group& w) {
    lamina::model m{net, w};
    optimizer::lamb{}.train(m, batches(), {.world = &w});
  });
  CHECK(found.size() == 3);
}
