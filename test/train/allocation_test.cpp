// SPDX-License-Identifier: Apache-2.0
// In a steady state forward, backward and update ask for no memory.
#include <atomic>
#include <cstdlib>
#include <new>

#include "train/net.hpp"

namespace {

std::atomic<bool> counting = false;
std::atomic<long> allocations = 0;

void* counted(std::size_t size, std::size_t alignment = 0) noexcept {
  if (counting.load(std::memory_order_relaxed)) ++allocations;
  if (size == 0) size = 1;
  void* p = alignment == 0
                ? std::malloc(size)
                : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  return p;
}
void* counted_or_throw(std::size_t size, std::size_t alignment = 0) {
  if (void* p = counted(size, alignment)) return p;
  throw std::bad_alloc();
}

}  // namespace

// Not inline, for g++ warns where it sees malloc behind one and not free behind the other.
LAMINA_NOINLINE void* operator new(std::size_t size) { return counted_or_throw(size); }
LAMINA_NOINLINE void* operator new[](std::size_t size) { return counted_or_throw(size); }
LAMINA_NOINLINE void* operator new(std::size_t size, std::align_val_t a) {
  return counted_or_throw(size, static_cast<std::size_t>(a));
}
LAMINA_NOINLINE void* operator new[](std::size_t size, std::align_val_t a) {
  return counted_or_throw(size, static_cast<std::size_t>(a));
}
LAMINA_NOINLINE void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return counted(size);
}
LAMINA_NOINLINE void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return counted(size);
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

namespace layer = lamina::layer;

namespace {

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto hidden = layer::fc<40>(x, {.act = lamina::activation::relu});
  auto logits = layer::fc<3>(layer::dropout(hidden, 0.2f), {.name = "output"});
  layer::accuracy(logits, label, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

constexpr auto images = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  constexpr lamina::window around{.padding = 1};
  auto seen = layer::conv2d<5, 2, around>(layer::reshape<1, 2, 3>(x));
  auto kept = layer::pool2d<2>(layer::batch_norm(seen, {.act = lamina::activation::relu}));
  auto logits = layer::fc<3>(layer::conv2d<4, 1, lamina::window{.stride = 2}>(kept));
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

// Filters that an evaluator keeps transformed.
constexpr auto filters = lamina::program([](lamina::block& main) {
  constexpr lamina::window around{.padding = 1};
  auto x = layer::data<"x", float, 1, 4, 4>(main);
  return layer::conv2d<12, 3, around>(layer::conv2d<12, 3, around>(x));
});

// Rows of a table that are updated alone.
constexpr auto rows = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto e = layer::embedding<7, 5>(label, {.is_sparse = true});
  return layer::mean(layer::softmax_with_cross_entropy(layer::fc<3>(std::tuple{x, e}), label));
});

// How often `call` asks for memory.
template <class Call>
long allocations_of(Call&& call) {
  allocations = 0;
  counting = true;
  call();
  counting = false;
  return allocations;
}

template <class Opt, class P = std::remove_const_t<decltype(net)>>
long allocations_of_steps(const Opt& opt, int threads, P program = {net}) {
  lamina::model m{program};
  lamina::cpu_trainer<P, Opt> t(opt, m, threads);
  lamina::feeder<P> feed;
  const auto large = test::samples(32), small = test::samples(20);
  const auto step = [&](const std::vector<test::sample>& samples) {
    feed.fill(samples);
    t.step(feed.view());
  };
  step(large);
  return allocations_of([&] {
    for (int i = 0; i < 5; ++i) {
      step(large);
      step(small);
    }
  });
}

}  // namespace

TEST_CASE("the counter counts") {
  CHECK(allocations_of([] {
          std::vector<float> v(1000);
          v.resize(static_cast<std::size_t>(2000 + v[0]));
        }) == 2);
  CHECK(allocations_of([] { lamina::engine::aligned_buffer b(100); }) >= 1);
}

TEST_CASE("serving asks for memory once") {
  const lamina::model m{net};
  lamina::evaluator e{m};
  const std::vector<float> large(32 * 6, 0.5f), small(20 * 6, 0.5f);
  e.forward(lamina::feed<"x">(large));
  CHECK(allocations_of([&] {
          for (int i = 0; i < 5; ++i) {
            e.forward(lamina::feed<"x">(large));
            e.forward(lamina::feed<"x">(small));
          }
        }) == 0);
}

TEST_CASE("serving images asks for memory once") {
  const lamina::model m{filters};
  lamina::evaluator e{m};
  const std::vector<float> large(300 * 16, 0.5f), small(16, 0.5f);
  e.forward(lamina::feed<"x">(large));
  CHECK(allocations_of([&] {
          e.forward(lamina::feed<"x">(small));
          e.forward(lamina::feed<"x">(large));
        }) == 0);
}

TEST_CASE("gradients ask for memory once") {
  const lamina::model m{net};
  lamina::gradient_machine g{m};
  const auto large = test::samples(32), small = test::samples(20);
  g.backward(large);
  CHECK(allocations_of([&] {
          g.backward(large);
          g.backward(small);
          g.backward(large);
        }) == 0);
}

TEST_CASE("forward, backward and update ask for memory once") {
  CHECK(allocations_of_steps(test::optimizer::adam{}, 1) == 0);
  CHECK(allocations_of_steps(test::optimizer::adam{}, 2) == 0);
  CHECK(allocations_of_steps(test::optimizer::adam{.clip = lamina::clip_by_global_norm(1.f)}, 1) ==
        0);
  CHECK(allocations_of_steps(test::optimizer::lamb{}, 1) == 0);
  CHECK(allocations_of_steps(test::optimizer::sgd{}, 1, images) == 0);
  CHECK(allocations_of_steps(test::optimizer::sgd{}, 2, images) == 0);
  CHECK(allocations_of_steps(test::optimizer::adam{.lazy_mode = true}, 1, rows) == 0);
  CHECK(allocations_of_steps(test::optimizer::momentum{}, 2, rows) == 0);
}

namespace {

// A recurrence with an array, frames, and a branch in each step.
constexpr auto loops = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 3>(main);
  auto y = layer::data<"y", float, 5>(main);
  auto h = layer::dynamic_rnn(x, [&](auto& step) {
    auto before = step.memory(lamina::dims<5>);
    auto now = layer::fc<5>(std::tuple{step.input(x), before});
    auto sums = layer::reduce_sum<1>(now, layer::keep_dim);
    auto next = layer::if_else(
        layer::greater_than(sums, layer::scale(sums, 0)),
        [&](auto& yes) { return layer::tanh(yes.input(now)); },
        [&](auto& no) { return layer::sigmoid(layer::fc<5>(no.input(now))); });
    step.update(before, next);
    return next;
  });
  return layer::mean(layer::square_error_cost(layer::sequence_last_step(h), y));
});
struct ragged_sample {
  std::vector<float> x, y;
};

}  // namespace

TEST_CASE("loops, branches and ragged sequences allocate nothing in a steady state") {
  using program = std::remove_const_t<decltype(loops)>;
  const auto batch = [](std::size_t rows, std::size_t longest) {
    std::vector<ragged_sample> all;
    for (std::size_t i = 0; i < rows; ++i) {
      all.push_back({std::vector<float>(3 * (1 + i % longest)), std::vector<float>(5, 0.5f)});
      for (std::size_t k = 0; k < all[i].x.size(); ++k)
        all[i].x[k] = static_cast<float>((k * 7 + i * 5) % 11) / 11 - 0.5f;
    }
    return all;
  };
  const auto large = batch(12, 9), small = batch(7, 6);
  lamina::model m{loops};
  const lamina::optimizer::sgd sgd{.learning_rate = 0.01f};
  lamina::cpu_trainer<program, lamina::optimizer::sgd> t(sgd, m);
  lamina::feeder<program> feed;
  const auto step = [&](const std::vector<ragged_sample>& samples) {
    feed.fill(samples);
    t.step(feed.view());
  };
  // Which rows a branch takes changes with the parameters.
  for (int i = 0; i < 20; ++i) step(large), step(small);
  CHECK(allocations_of([&] {
          for (int i = 0; i < 5; ++i) step(large), step(small);
        }) == 0);
}
