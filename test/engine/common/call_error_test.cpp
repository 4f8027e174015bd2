// SPDX-License-Identifier: Apache-2.0
// Kernels of the compiled engine: errors for bad numbers, and no allocation while they run.
#include <atomic>
#include <cstdlib>
#include <new>
#include <string>
#include <tuple>

#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/common/call_error.hpp>
#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::program;
using lamina::law::engine_law_options;
using lamina::law::engine_run;

namespace {

std::atomic<int> allocations{0};

void* counted(std::size_t size, std::size_t alignment) {
  ++allocations;
  if (size == 0) size = 1;
  void* p = alignment <= alignof(std::max_align_t)
                ? std::malloc(size)
                : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

}  // namespace

LAMINA_NOINLINE void* operator new(std::size_t size) { return counted(size, 1); }

LAMINA_NOINLINE void* operator new[](std::size_t size) { return counted(size, 1); }

LAMINA_NOINLINE void* operator new(std::size_t size, std::align_val_t a) {
  return counted(size, static_cast<std::size_t>(a));
}

LAMINA_NOINLINE void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size == 0 ? 1 : size);
}

LAMINA_NOINLINE void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size == 0 ? 1 : size);
}

LAMINA_NOINLINE void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }

LAMINA_NOINLINE void operator delete[](void* p, const std::nothrow_t&) noexcept { std::free(p); }

LAMINA_NOINLINE void operator delete(void* p) noexcept { std::free(p); }

LAMINA_NOINLINE void operator delete[](void* p) noexcept { std::free(p); }

LAMINA_NOINLINE void operator delete(void* p, std::size_t) noexcept { std::free(p); }

LAMINA_NOINLINE void operator delete[](void* p, std::size_t) noexcept { std::free(p); }

LAMINA_NOINLINE void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }

namespace {

constexpr auto labelled = program([](block& main) {
  auto x = layer::data<"x", float, 5>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  return layer::mean(layer::softmax_with_cross_entropy(x, label));
});

constexpr auto plain_labelled = program([](block& main) {
  auto x = layer::data<"x", float, 5>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  return layer::mean(layer::cross_entropy(x, label));
});

constexpr auto embedded = program([](block& main) {
  auto i = layer::data<"i", std::int64_t>(main);
  return layer::mean(layer::embedding<7, 3>(i));
});

constexpr auto gathered = program([](block& main) {
  auto x = layer::data<"x", float, 5>(main);
  auto i = layer::data<"i", std::int64_t>(main);
  return layer::mean(layer::gather(x, i));
});

constexpr auto hot = program([](block& main) {
  auto i = layer::data<"i", std::int64_t>(main);
  return layer::mean(layer::one_hot<4>(i));
});

constexpr auto lenient = program([](block& main) {
  auto i = layer::data<"i", std::int64_t>(main);
  auto y = layer::one_hot<4>(i, {.allow_out_of_range = true});
  return std::tuple{layer::mean(y), y};
});

constexpr auto divided = program([](block& main) {
  auto x = layer::data<"x", float>(main);
  auto i = layer::data<"i", std::int64_t>(main);
  auto j = layer::data<"j", std::int64_t>(main);
  return std::tuple{layer::mean(x), layer::elementwise_mod(i, j)};
});

/// Runs three rows with `bad` as the last number of feed `data`; returns what is thrown.
template <class P>
std::string error_of(P, int data, std::int64_t bad) {
  engine_run<std::remove_const_t<P>> run{engine_law_options{.low = 0.1f, .limit = 2}};
  run.draw(3);
  std::memcpy(run.feed(data).bytes.data() + 2 * sizeof bad, &bad, sizeof bad);
  try {
    run.run_engine(0, 3);
  } catch (const lamina::error& e) {
    return e.what();
  }
  return "nothing";
}

constexpr auto everything = program([](block& main) {
  auto x = layer::data<"x", float, 3, 5>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto ids = layer::data<"ids", std::int64_t, 3, 1>(main);
  auto e = layer::embedding<2, 5>(ids);
  auto n = layer::layer_norm<2>(x + e);
  auto s = layer::softmax(layer::matmul<layer::matmul_form{.transpose_y = true}>(n, n));
  auto m = layer::fc<6, 2>(layer::dropout(layer::matmul(s, n), 0.2f));
  auto t = layer::transpose<0, 2, 1>(m);
  auto j = layer::concat<1>(std::tuple{t, layer::slice<layer::along<1, 0, 2>>(t)});
  auto r = layer::reduce_max<2>(layer::expand<1, 1, 2>(j));
  auto k = layer::l2_normalize(layer::prelu(r), {.epsilon = 1e-4f});
  auto [values, indices] = layer::topk<2>(k);
  auto part = layer::accuracy(k, label);
  auto cost = layer::mean(layer::softmax_with_cross_entropy(layer::fc<4>(k), label));
  return std::tuple{cost + layer::mean(layer::cumsum(values)), part, indices};
});

}  // namespace

TEST_CASE("numbers out of range name operator, row, value and range") {
  CHECK(
      error_of(labelled, 1, 5) ==
      "lamina: layer softmax_with_cross_entropy_0, feed 'label': label in row 2: expected 0 to 4, "
      "found 5");
  CHECK(error_of(plain_labelled, 1, -1) ==
        "lamina: layer cross_entropy_0, feed 'label': label in row 2: expected 0 to 4, found -1");
  CHECK(error_of(embedded, 0, 7) ==
        "lamina: layer embedding_0, feed 'i': id in row 2: expected 0 to 6, found 7");
  CHECK(error_of(gathered, 1, 3) ==
        "lamina: layer gather_0, feed 'i': index in row 2: expected 0 to 2, found 3");
  CHECK(error_of(hot, 0, 4) ==
        "lamina: layer one_hot_0, feed 'i': number in row 2: expected 0 to 3, found 4");
  CHECK(error_of(divided, 2, 0)
            .find("lamina: layer elementwise_mod_0: expected divisors that are not 0") == 0);
  CHECK(error_of(lenient, 0, 4) == "nothing");
  CHECK(error_of(labelled, 1, 4) == "nothing");
}

TEST_CASE("the engine is that of the executor through many kernels in a row") {
  lamina::law::engine_law_options o;
  o.tolerance = 1e-4;
  lamina::law::check_engine(everything, o);
}

TEST_CASE("kernels allocate nothing while they run") {
  engine_run<std::remove_const_t<decltype(everything)>> run{engine_law_options{}};
  run.draw(17);
  run.run_engine(0, 17);
  const int before = allocations;
  for (int step = 0; step < 3; ++step) run.engine().run(~0ull, 1, static_cast<std::uint64_t>(step));
  CHECK(allocations == before);
  REQUIRE(before > 0);
}
