// SPDX-License-Identifier: Apache-2.0
// Exceptions leave objects usable: each allocation of a forward pass, a training step, a save, a
// load and a pass of a reader fails in turn; the same object answers afterwards, and rightly.
// Sources: microsoft/onnxruntime#14437, ginkgo-project/ginkgo#1963.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <tuple>
#include <vector>

#include "../io/temporary_folder.hpp"
#include <catch2/catch.hpp>

#include <lamina/io/npz.hpp>
#include <lamina/io/parameter_tar.hpp>
#include <lamina/io/safetensors.hpp>
#include <lamina/lamina.hpp>

namespace {

long until_failure = 0;  // 0: no allocation fails; n: the n-th does
bool has_failed = false;

void* allocated(std::size_t bytes, std::size_t alignment) {
  if (__atomic_load_n(&until_failure, __ATOMIC_RELAXED) > 0 &&
      __atomic_sub_fetch(&until_failure, 1, __ATOMIC_RELAXED) == 0) {
    has_failed = true;
    throw std::bad_alloc();
  }
  void* const p = alignment <= 16
                      ? std::malloc(bytes + 1)
                      : std::aligned_alloc(alignment, (bytes / alignment + 1) * alignment);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

}  // namespace

LAMINA_NOINLINE void* operator new(std::size_t n) { return allocated(n, 16); }
LAMINA_NOINLINE void* operator new[](std::size_t n) { return allocated(n, 16); }
LAMINA_NOINLINE void* operator new(std::size_t n, std::align_val_t a) {
  return allocated(n, std::size_t(a));
}
LAMINA_NOINLINE void* operator new[](std::size_t n, std::align_val_t a) {
  return allocated(n, std::size_t(a));
}
LAMINA_NOINLINE void* operator new(std::size_t n, const std::nothrow_t&) noexcept {
  try {
    return allocated(n, 16);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
LAMINA_NOINLINE void* operator new[](std::size_t n, const std::nothrow_t& how) noexcept {
  return operator new(n, how);
}
LAMINA_NOINLINE void operator delete(void* p) noexcept { std::free(p); }
LAMINA_NOINLINE void operator delete[](void* p) noexcept { std::free(p); }
LAMINA_NOINLINE void operator delete(void* p, std::size_t) noexcept { std::free(p); }
LAMINA_NOINLINE void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
LAMINA_NOINLINE void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
LAMINA_NOINLINE void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
LAMINA_NOINLINE void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
  std::free(p);
}
LAMINA_NOINLINE void operator delete[](void* p, std::size_t, std::align_val_t) noexcept {
  std::free(p);
}

namespace {

namespace layer = lamina::layer;
namespace reader = lamina::reader;

/// Whether `attempt` was stopped by its n-th allocation.
template <class F>
bool fails_at(int n, F&& attempt) {
  has_failed = false;
  until_failure = n;
  try {
    attempt();
  } catch (const std::bad_alloc&) {
    until_failure = 0;
    return true;
  } catch (...) {
    until_failure = 0;
    throw;
  }
  until_failure = 0;
  return has_failed;  // what was caught inside counts too
}
#ifdef LAMINA_TEST_EVERY_PLACE
constexpr int apart = 1;
#else
constexpr int apart = 5;
#endif
/// Calls `round(fails)` with an attempt's allocations failing in turn until none is left: the first
/// ones all, later ones `apart` places apart, which meets each kind of a loop's allocations in one
/// of its iterations. `fails(attempt)` tells whether one failed. Returns how many did.
template <class Round>
int each_allocation(Round&& round) {
  int failures = 0;
  for (int n = 1;; n += n < 24 ? 1 : apart, ++failures) {
    bool failed = false;
    round([&](auto&& attempt) { return failed = fails_at(n, attempt); });
    if (!failed) return failures;
    REQUIRE(n < 20000);
  }
}

constexpr auto images = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 2, 6, 6>(main);
  auto label = layer::data<"label", std::int64_t, 1>(main);
  auto h = layer::batch_norm(layer::conv2d<4, 3>(image), {.act = lamina::activation::relu});
  auto pooled = layer::pool2d<2, lamina::window{.stride = 2}>(h);
  auto y =
      layer::fc<3>(layer::dropout(pooled, 0.2f), {.act = lamina::activation::softmax, .name = "y"});
  return layer::mean(layer::cross_entropy(y, label));
});
struct picture {
  std::array<float, 72> image;
  std::int64_t label;
};
std::vector<picture> pictures(int count) {
  std::vector<picture> all(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    for (int k = 0; k < 72; ++k)
      all[static_cast<std::size_t>(i)].image[static_cast<std::size_t>(k)] =
          static_cast<float>((i * 7 + k * 3) % 11) * 0.1f;
    all[static_cast<std::size_t>(i)].label = i % 3;
  }
  return all;
}

constexpr auto sentences = lamina::program([](lamina::block& main) {
  auto word = layer::sequence<"word", std::int64_t>(main);
  auto label = layer::data<"label", std::int64_t, 1>(main);
  auto h = layer::embedding<50, 8>(word, {.is_sparse = true});
  auto state = std::get<0>(layer::dynamic_lstm<96>(layer::fc<96>(h)));
  auto last = layer::sequence_last_step(state);
  auto y = layer::fc<3>(last, {.act = lamina::activation::softmax, .name = "y"});
  return layer::mean(layer::cross_entropy(y, label));
});
struct sentence {
  std::vector<std::int64_t> word;
  std::int64_t label;
};
std::vector<sentence> lines(int count) {
  std::vector<sentence> all;
  for (int i = 0; i < count; ++i) {
    sentence s{{}, i % 3};
    for (int k = 0; k <= i % 5; ++k) s.word.push_back((i * 3 + k * 5) % 50);
    all.push_back(s);
  }
  return all;
}

/// The same read word by word: a loop, whose iterations keep what their gradients read.
constexpr auto loop = lamina::program([](lamina::block& main) {
  auto word = layer::sequence<"word", std::int64_t>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto e = layer::embedding<50, 5>(word, {.is_sparse = true});
  auto states = layer::dynamic_rnn(e, [&](auto& step) {
    auto before = step.memory(lamina::dims<40>, {.value = 0.f});
    auto next = layer::tanh(layer::fc<40>(std::tuple{step.input(e), before}));
    step.update(before, next);
    return next;
  });
  auto y = layer::fc<3>(layer::sequence_last_step(states), {.name = "y"});
  return layer::mean(layer::softmax_with_cross_entropy(y, label));
});

template <class M>
std::vector<float> values_of(const M& m) {
  std::vector<float> all;
  for (int i = 0; i < M::parameter_arrays(); ++i) {
    const auto value = m.get(i);
    all.insert(all.end(), value.data(), value.data() + value.size());
  }
  return all;
}

template <class P, class Batch>
void test_forward(const P& program, const Batch& few, const Batch& many) {
  lamina::model<P> m{program, 3};
  const auto cost_of = [](auto& e, const Batch& batch) {
    return e.test(std::vector<Batch>{batch}).cost;
  };
  lamina::evaluator<P> fresh{m};
  const double of_few = cost_of(fresh, few), of_many = cost_of(fresh, many);
  const std::vector<Batch> batches{many};
  const int failures = each_allocation([&](auto fails) {
    lamina::evaluator<P> e{m};
    CHECK(cost_of(e, few) == of_few);
    double cost = of_many;
    const bool failed = fails([&] { cost = e.test(batches).cost; });
    CHECK(cost == of_many);
    if (!failed) return;
    CHECK(cost_of(e, few) == of_few);
    CHECK(cost_of(e, many) == of_many);
  });
  CHECK(failures > 1);
}

template <class P, class Batch>
void test_training(const P& program, const Batch& few, const Batch& many, int threads) {
  using adam = lamina::optimizer::adam;
  const auto step = [](auto& t, lamina::feeder<P>& feeder, const Batch& batch) {
    feeder.fill(batch);
    return t.step(feeder.view());
  };
  const auto trained = [&](auto attempt) {
    lamina::model<P> m{program, 3};
    lamina::cpu_trainer<P, adam> t({.learning_rate = 0.01f}, m, threads, 5);
    lamina::feeder<P> feeder;
    step(t, feeder, few);
    attempt([&] { step(t, feeder, many); });
    try {
      step(t, feeder, many);
    } catch (const lamina::error& e) {  // once a loop has updated what is before it
      CHECK_THAT(e.what(), Catch::Contains("in the middle of an earlier step"));
      return std::vector<float>();
    }
    step(t, feeder, few);
    return values_of(m);
  };
  const std::vector<float> wanted = trained([](auto&&) {});
  const std::vector<float> one_more = trained([](auto&& attempt) { attempt(); });
  int torn = 0;
  const int failures = each_allocation([&](auto fails) {
    bool failed = false;
    const std::vector<float> found = trained([&](auto&& attempt) { failed = fails(attempt); });
    INFO(threads << " threads, " << lamina::counts_of<P>.data << " data layers, " << wanted.size());
    if (found.empty()) {
      CHECK(failed);
      ++torn;
    } else {
      CHECK(found == (failed ? wanted : one_more));
    }
  });
  CHECK(failures > torn + 1);
  CHECK((torn == 0 || lamina::counts_of<P>.blocks > 1));
}

}  // namespace

TEST_CASE("exceptions leave objects usable: each allocation of a forward pass") {
  test_forward(images, pictures(2), pictures(9));
  test_forward(sentences, lines(2), lines(9));
  test_forward(loop, lines(2), lines(240));
}

TEST_CASE("exceptions leave objects usable: each allocation of a training step") {
  test_training(images, pictures(2), pictures(9), 1);
  test_training(images, pictures(4), pictures(9), 2);
  test_training(sentences, lines(2), lines(9), 1);
  test_training(sentences, lines(4), lines(9), 2);
  // Not many more than make all that keeps what iterations wrote allocate once more.
  test_training(loop, lines(2), lines(240), 1);
  test_training(loop, lines(4), lines(240), 2);
}

TEST_CASE("exceptions leave objects usable: each allocation of a save and a load") {
  using model = lamina::model<std::remove_const_t<decltype(images)>>;
  const temporary_folder folder;
  const std::string path = folder.path() + "/file";
  const model first{images, 1}, second{images, 2};
  const auto of_first = values_of(first), of_second = values_of(second);
  struct kind {
    void (*save)(const std::string&, const model&);
    void (*load)(const std::string&, model&);
  };
  const kind kinds[] = {
      {[](const std::string& to, const model& m) { m.save(to); },
       [](const std::string& from, model& m) { m.load(from); }},
      {[](const std::string& to, const model& m) { lamina::save_npz(to, m); },
       [](const std::string& from, model& m) { lamina::load_npz(from, m); }},
      {[](const std::string& to, const model& m) { lamina::save_safetensors(to, m); },
       [](const std::string& from, model& m) { lamina::load_safetensors(from, m); }},
      {[](const std::string& to, const model& m) { lamina::to_tar(to, m); },
       [](const std::string& from, model& m) { lamina::from_tar(from, m); }}};
  for (const kind& k : kinds) {
    k.save(path, first);
    const int saves = each_allocation([&](auto fails) {
      k.save(path, first);
      model found{images, 3};
      const bool failed = fails([&] { k.save(path, second); });
      k.load(path, found);
      CHECK(values_of(found) == (failed ? of_first : of_second));
      CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
    });
    CHECK(saves > 3);
    k.save(path, first);
    const int loads = each_allocation([&](auto fails) {
      model found{images, 2};
      const bool failed = fails([&] { k.load(path, found); });
      CHECK(values_of(found) == (failed ? of_second : of_first));
      k.load(path, found);
      CHECK(values_of(found) == of_first);
    });
    CHECK(loads > 3);
  }
}

TEST_CASE("exceptions leave objects usable: each allocation of a checkpoint") {
  using net = std::remove_const_t<decltype(images)>;
  lamina::train_options o{.passes = 1};
  const temporary_folder folder;
  const std::string directory = folder.path() + "/checkpoints";
  o.checkpoint = {.directory = directory, .resume = true};
  const auto batches = pictures(8) | reader::batch(4);
  lamina::model<net> m{images, 1};
  lamina::optimizer::momentum{}.train(m, batches, o);
  o.passes = 2;
  const int failures = each_allocation([&](auto fails) {
    lamina::model<net> again{images, 1};
    std::filesystem::remove_all(directory + "/checkpoint_4");
    if (!fails([&] { lamina::optimizer::momentum{}.train(again, batches, o); })) return;
    std::filesystem::remove_all(directory + "/checkpoint_4");
    CHECK(lamina::optimizer::momentum{}.train(again, batches, o).steps == 4);
  });
  CHECK(failures > 10);
}

TEST_CASE("exceptions leave objects usable: each allocation of a pass of a reader") {
  const std::vector<int> numbers{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9};
  const auto twice = [](int n) { return std::vector<int>(1, 2 * n); };
  auto all =
      numbers | reader::map(twice) | reader::cache() | reader::shuffle(4, 3) |
      reader::xmap([](const std::vector<int>& v) { return v; }, {.threads = 2, .buffer = 4}) |
      reader::buffered(3) | reader::batch(4);
  const auto read = [&] {
    std::vector<int> found;
    for (auto&& batch : reader::begin_pass(all, 1))
      for (const auto& v : batch) found.push_back(v[0]);
    return found;
  };
  const std::vector<int> wanted = read();
  REQUIRE(wanted.size() == numbers.size());
  const int failures = each_allocation([&](auto fails) {
    fails([&] { read(); });
    CHECK(read() == wanted);
  });
  CHECK(failures > 10);
}
