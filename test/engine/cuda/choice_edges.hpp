// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/choice_edges.hpp - orders, running sums and choices of elements at their edges:
// NaN, infinities, zeros of both signs, equal elements, whole numbers that no float holds; all or
// none chosen. For tests on the host and for a run on a device.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <tuple>
#include <type_traits>
#include <vector>

#include "engine/cuda/train_both.hpp"

namespace test {

inline constexpr auto choice_edges = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4, 6>(main);
  auto d = layer::data<"d", double, 6>(main);
  auto n = layer::data<"n", std::int64_t, 6>(main);
  auto y = layer::data<"y", float, 50>(main);
  auto ones = layer::data<"ones", float, 3000>(main);
  auto w = layer::data<"w", float, 2, 3>(main);
  auto key = layer::data<"key", float>(main);
  auto [a, i] = layer::argsort(x);
  auto [b, j] = layer::argsort<1>(x, {.descending = true});
  auto [e, k] = layer::argsort<0>(x);
  auto [f, l] = layer::argsort(d, {.descending = true});
  auto [g, m] = layer::argsort(n);
  auto [h, o] = layer::argsort(n, {.descending = true});
  auto [p, q] = layer::topk<33>(y);
  auto [r, s] = layer::topk<50>(y);
  auto found = layer::where<"found">(layer::greater_than(w, layer::scale(w, 0.0f)));
  auto some = layer::if_else(
      layer::greater_than(key, layer::scale(key, 0.0f)),
      [&](auto& yes) { return layer::scale(yes.input(y), 2.0f); },
      [&](auto& no) { return layer::scale(no.input(y), 3.0f); });
  return std::tuple{a,
                    i,
                    b,
                    j,
                    e,
                    k,
                    f,
                    l,
                    g,
                    m,
                    h,
                    o,
                    p,
                    q,
                    r,
                    s,
                    found,
                    some,
                    layer::cumsum(ones),
                    layer::cumsum(ones, {.exclusive = true}),
                    layer::cumsum(ones, {.exclusive = true, .reverse = true}),
                    layer::cumsum<0>(n, {.reverse = true})};
});

/// How many elements of all results are others by the backend than on the CPU, bit by bit.
template <class Backend>
int wrong_edges() {
  using P = std::remove_const_t<decltype(choice_edges)>;
  using tested = lamina::for_test<P>;
  laws::note_compared("cuda", tested::view(), true);
  constexpr float infinity = std::numeric_limits<float>::infinity(),
                  nan = std::numeric_limits<float>::quiet_NaN();
  constexpr std::int64_t big = std::int64_t{1} << 53;
  const float floats[] = {nan, 1, -0.0f, infinity, 0, -nan, -infinity, 1e-40f, 1, -1, 0.0f};
  const std::int64_t wholes[] = {big + 1,
                                 1 << 24,
                                 big,
                                 (1 << 24) + 1,
                                 -1,
                                 0,
                                 -big - 1,
                                 -big,
                                 0,
                                 std::numeric_limits<std::int64_t>::min(),
                                 std::numeric_limits<std::int64_t>::max()};
  const lamina::model model{choice_edges, 3};
  lamina::engine::cpu::machine<tested> expected({model.memory(), nullptr, nullptr});
  lamina::device_machine<P, Backend> found(model, 0);
  int wrong = 0;
  // One row that is chosen, or not; several of them, all, none, or some.
  for (const auto& [rows, least] : {std::pair{1, 0}, {1, 9}, {5, 0}, {5, 9}, {5, 2}, {5, 2}}) {
    const std::size_t count = static_cast<std::size_t>(rows);
    std::vector<float> x(24 * count), y(50 * count), ones(3000 * count, 1), w(6 * count),
        key(count);
    std::vector<double> d(6 * count);
    std::vector<std::int64_t> n(6 * count);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = floats[i * i % 11];
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<float>(i * i % 17) - 8;
    for (std::size_t i = 0; i < d.size(); ++i) d[i] = static_cast<double>(floats[i * 7 % 11]);
    for (std::size_t i = 0; i < n.size(); ++i) n[i] = wholes[i * 3 % 11];
    for (int i = 0; i < rows; ++i) key[static_cast<std::size_t>(i)] = i < least ? -1.0f : 1.0f;
    for (std::size_t i = 0; i < w.size(); ++i) w[i] = i % 6 < 2 && least == 2 ? -1.0f : key[i / 6];
    lamina::batch_view<P> batch;
    batch.rows.count[lamina::batch::domain] = rows;
    const void* const data[] = {x.data(),    d.data(), n.data(),  y.data(),
                                ones.data(), w.data(), key.data()};
    for (int i = 0; i < 7; ++i) batch.data[i] = static_cast<const std::byte*>(data[i]);
    batch.feed_to(expected);
    batch.feed_to(found);
    expected.run(~0ull, 0, 0);
    found.run(~0ull, 0, 0);
    for (int o = 0; o < lamina::counts_of<P>.outputs; ++o) {
      const int v = P::view().outputs[o], of = tested::view().variables[v].rows;
      const auto &a = *expected.layout(v), &b = *found.layout(v);
      const int all = expected.rows(of);
      if (found.rows(of) != all) return 1 << 20;
      const std::size_t bytes = static_cast<std::size_t>(size_of(a.type));
      const char *const from = reinterpret_cast<const char*>(expected.address(v)),
                        *const to = reinterpret_cast<const char*>(found.address(v));
      for (int r = 0; r < all; ++r)
        for (int c = 0; c < a.columns; ++c) {
          const char *const x = from + static_cast<std::size_t>(r * a.stride + c) * bytes,
                            *const y = to + static_cast<std::size_t>(r * b.stride + c) * bytes;
          if (std::memcmp(x, y, bytes) == 0) continue;
          std::uint64_t u = 0, v = 0;
          std::memcpy(&u, x, bytes), std::memcpy(&v, y, bytes);
          if (++wrong <= 20)
            std::printf("output %d of %d rows, row %d, column %d: expected %llx, found %llx\n", o,
                        rows, r, c, static_cast<unsigned long long>(u),
                        static_cast<unsigned long long>(v));
        }
    }
  }
  return wrong;
}

}  // namespace test
