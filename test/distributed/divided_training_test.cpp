// SPDX-License-Identifier: Apache-2.0
// Models whose tables ranks divide: training, evaluation, files and refusals. Ranks are threads.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "distributed/thread_group.hpp"
#include <catch2/catch.hpp>

#include <lamina/lamina.hpp>

namespace {

namespace layer = lamina::layer;
namespace optimizer = lamina::optimizer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto words = layer::sequence<"words", std::int64_t>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto rows = layer::embedding<50, 37>(words, {.param = {.name = "table"}, .is_distributed = true});
  auto logits = layer::fc<3>(layer::sequence_pool(rows), {.name = "logits"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});
constexpr auto made_ids = lamina::program([](lamina::block& main) {
  auto word = layer::data<"word", float>(main);
  auto ids = layer::cast<std::int64_t>(word);
  return layer::mean(layer::embedding<50, 4>(ids, {.is_distributed = true}));
});
constexpr auto read_twice = lamina::program([](lamina::block& main) {
  auto word = layer::data<"word", std::int64_t>(main);
  auto rows = layer::embedding<50, 4>(word, {.param = {.name = "table"}, .is_distributed = true});
  return layer::mean(rows + layer::embedding<50, 4>(word, {.param = {.name = "table"}}));
});

auto samples() {
  std::vector<std::tuple<std::vector<std::int64_t>, std::int64_t>> all;
  for (std::int64_t i = 0; i < 40; ++i) {
    auto& s = all.emplace_back();
    for (std::int64_t k = 0; k < i % 6; ++k) std::get<0>(s).push_back((i * 31 + k * 17) % 50);
    std::get<1>(s) = i % 3;
  }
  return all;
}
auto batches() { return samples() | lamina::reader::batch(13); }

bool same(const lamina::model_of<net>& a, const lamina::model_of<net>& b) {
  for (int i = 0; i < a.parameter_arrays(); ++i)
    if (std::memcmp(a.get(i).data(), b.get(i).data(), a.get(i).size() * sizeof(float)) != 0)
      return false;
  return true;
}
/// A folder that is empty at first and removed in the end.
struct folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / "lamina_divided_training";
  folder() { std::filesystem::remove_all(path), std::filesystem::create_directories(path); }
  ~folder() { std::filesystem::remove_all(path); }
};
/// Runs f(world) in each rank and throws the first error of any; other ranks must fail too.
void all_ranks(int ranks, const std::function<void(test::thread_group&)>& f) {
  std::mutex mutex;
  std::exception_ptr first;
  test::in_ranks(ranks, [&](test::thread_group& w) {
    try {
      f(w);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!first) first = std::current_exception();
    }
  });
  if (first) std::rethrow_exception(first);
}
std::string error_of(const std::function<void(test::thread_group&)>& f) {
  try {
    all_ranks(2, f);
  } catch (const lamina::error& e) {
    return e.what();
  }
  return "";
}
bool says(const std::string& message, const char* what) {
  return message.find(what) != message.npos;
}

}  // namespace

TEST_CASE("ranks that divide a table train as one process, in several calls", "[threads]") {
  const folder made;
  const std::string path = made.path / "model";
  const optimizer::adam adam{
      .learning_rate = 0.01f, .lazy_mode = true, .regularization = lamina::l2_decay(0.01f)};
  lamina::model one{net};
  adam.train(one, batches(), {.passes = 3, .threads = 4});
  for (const int ranks : {2, 4}) {
    all_ranks(ranks, [&](test::thread_group& w) {
      lamina::model m{net, w};
      const auto options = [&](int passes) {
        return lamina::train_options{.passes = passes, .threads = 4 / ranks, .world = &w};
      };
      adam.train(m, batches(), options(1));
      adam.train(m, batches(), options(2));  // goes on with the same moments
      m.save(path);
    });
    lamina::model whole{net};
    whole.load(path);
    CHECK(same(one, whole));
  }
}

TEST_CASE("ranks that divide a table accumulate gradients as one process", "[threads]") {
  const folder made;
  const std::string path = made.path / "model";
  const optimizer::adam adam{
      .learning_rate = 0.01f, .lazy_mode = true, .regularization = lamina::l2_decay(0.01f)};
  lamina::model one{net};
  adam.train(one, batches(), {.passes = 2, .threads = 4, .accumulate = 3});  // three, then one
  for (const int ranks : {2, 4}) {
    all_ranks(ranks, [&](test::thread_group& w) {
      lamina::model m{net, w};
      adam.train(m, batches(), {.passes = 2, .threads = 4 / ranks, .accumulate = 3, .world = &w});
      m.save(path);
    });
    lamina::model whole{net};
    whole.load(path);
    CHECK(same(one, whole));
  }
}

TEST_CASE("ranks evaluate together with the rows of all", "[threads]") {
  lamina::model one{net};
  lamina::evaluator expected{one};
  const double cost = expected.test(batches()).cost;
  std::mutex mutex;
  all_ranks(3, [&](test::thread_group& w) {
    lamina::model m{net, w};
    lamina::evaluator e{m};
    const double found = e.test(batches()).cost;
    // Each rank may feed other ids.
    const std::vector<std::int64_t> words{49, w.rank(), 20};
    e.forward(lamina::feed<"words">(words));
    const std::lock_guard lock(mutex);
    CHECK(found == cost);
    expected.forward(lamina::feed<"words">(words));
    for (std::size_t c = 0; c < 3; ++c)
      CHECK(e.activation<"logits">()(0, c) == expected.activation<"logits">()(0, c));
  });
}

TEST_CASE("a trainer and its checkpoints go on with another number of ranks", "[threads]") {
  const folder made;
  const std::string saved = made.path / "trainer", model = made.path / "model";
  const std::string directory = made.path / "checkpoints";
  const optimizer::adam adam{.learning_rate = 0.01f};
  const auto options = [&](test::thread_group& w) {
    return lamina::train_options{.threads = 4 / w.size(), .world = &w};
  };
  lamina::model one{net};
  adam.train(one, batches(), {.passes = 2, .threads = 4});
  all_ranks(4, [&](test::thread_group& w) {
    lamina::model m{net, w};
    lamina::trainer t{m, adam, options(w)};
    t.pass(batches());
    t.save(saved);
  });
  all_ranks(2, [&](test::thread_group& w) {
    lamina::model m{net, w};
    lamina::trainer t{m, adam, options(w)};
    t.load(saved);
    t.pass(batches());
    m.save(model);
  });
  lamina::model whole{net};
  whole.load(model);
  CHECK(same(one, whole));
  // The same file in one process.
  lamina::model alone{net};
  lamina::trainer t{alone, adam, {.threads = 4}};
  t.load(saved);
  t.pass(batches());
  CHECK(same(one, alone));

  for (const int ranks : {4, 2, 1})
    all_ranks(ranks, [&](test::thread_group& w) {
      lamina::model m{net, w};
      lamina::train_options given = options(w);
      given.passes = ranks == 4 ? 1 : 2;
      given.checkpoint = {.directory = directory, .every_batches = 2, .keep = 2, .resume = true};
      adam.train(m, batches(), given);
      if (ranks > 1) return m.save(model);
      CHECK(same(one, m));
    });
  whole.load(model);
  CHECK(same(one, whole));
}

TEST_CASE("what needs a whole table is refused where ranks divide it", "[threads]") {
  const optimizer::sgd sgd{.learning_rate = 0.1f};
  CHECK(says(error_of([&](auto& w) {
               lamina::model m{net, w};
               sgd.train(m, batches());
             }),
             "expected .world in the options of a model whose tables processes divide"));
  CHECK(says(error_of([&](auto& w) {
               lamina::model m{net};
               sgd.train(m, batches(), {.world = &w});
             }),
             "made for 2 processes, lamina::model m{program, world}, found one for 1"));
  CHECK(says(error_of([&](auto& w) {
               lamina::model m{net, w};
               optimizer::lamb{}.train(m, batches(), {.world = &w});
             }),
             "lamb needs the norm of a whole table"));
  CHECK(says(error_of([&](auto& w) {
               lamina::model m{made_ids, w};
             }),
             "expected ids that a data layer feeds, found ids that the program computes"));
  CHECK(says(error_of([&](auto& w) {
               lamina::model m{read_twice, w};
             }),
             "table table: expected look-ups with is_distributed, found another reader"));
  const auto refused = [&](auto&& use) {
    return says(error_of([&](auto& w) {
                  lamina::model m{net, w};
                  use(m);
                }),
                "expected all rows of table table, found rows");
  };
  CHECK(refused([](auto& m) { (void)m.template parameter<"table">(); }));
  CHECK(refused([](auto& m) { (void)m.entries(); }));
  CHECK(refused([](auto& m) { (void)m.clone(); }));
  CHECK(refused([](auto& m) { lamina::gradient_machine g{m}; }));
  CHECK(refused([](auto& m) { lamina::model other{net, lamina::share_parameters_of(m)}; }));
  std::mutex mutex;
  all_ranks(2, [&](auto& w) {
    lamina::model m{net, w, 7};
    const lamina::model whole{net, 7};
    const std::lock_guard lock(mutex);
    CHECK(m.template parameter<"logits.w_0">() == whole.parameter<"logits.w_0">());
  });
  // In one process a table is whole, whatever reads it.
  all_ranks(1, [](auto& w) {
    lamina::model m{read_twice, w};
    CHECK(m.template parameter<"table">().size() == 200);
  });
}
