// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/host_bodies.hpp - runs the device's kernels on the host, body for body.
#pragma once

#include <algorithm>
#include <barrier>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <thread>
#include <type_traits>
#include <vector>

#include <lamina/core/arrays/sort_stably.hpp>
#include <lamina/engine/cuda/body/column_sums.cuh>
#include <lamina/engine/cuda/body/pointwise.cuh>
#include <lamina/engine/cuda/body/product.cuh>
#include <lamina/engine/cuda/body/tile_product.cuh>
#include <lamina/engine/cuda/device/algorithms.hpp>

namespace lamina::engine::cuda {

/// Some threads of the host as a team: each runs the body, barriers hold them together.
struct thread_team {
  static constexpr int threads = 4;
  struct meeting {
    explicit meeting(int n) : size(n), gate(n), part(static_cast<std::size_t>(n)) {}
    int size;
    std::barrier<> gate;
    std::vector<double> part;
  };
  int index, count, number;
  meeting* all;

  int rank() const { return number; }
  int size() const { return all->size; }
  template <class T, class F>
  T reduce(T x, F f) const {
    all->part[static_cast<std::size_t>(number)] = static_cast<double>(x);
    all->gate.arrive_and_wait();
    T sum = static_cast<T>(all->part[0]);
    for (int i = 1; i < all->size; ++i)
      sum = f(sum, static_cast<T>(all->part[static_cast<std::size_t>(i)]));
    all->gate.arrive_and_wait();
    return sum;
  }
  void barrier() const { all->gate.arrive_and_wait(); }
};

/// A product by plain loops.
inline void multiply_on_host(const product& p) {
  const auto at = [](const product::side& s, int batch, int row, int column) {
    return static_cast<double>(
        s.data[batch * s.batch_stride +
               (s.turned ? column * s.stride + row : row * s.stride + column)]);
  };
  for (int n = 0; n < p.batches; ++n)
    for (int i = 0; i < p.rows; ++i)
      for (int j = 0; j < p.columns; ++j) {
        double sum = 0;
        for (int k = 0; k < p.depth; ++k) sum += at(p.left, n, i, k) * at(p.right, n, k, j);
        sum *= static_cast<double>(p.alpha);
        if (p.epilogue != product_epilogue::none) sum += static_cast<double>(p.bias[j]);
        p.to[n * p.batch_stride + i * p.stride + j] = static_cast<float>(sum);
      }
}

/// Bodies in loops over memory of the host. With one thread a team is a loop; with more, tiles and
/// sums are shared as on the device.
template <int Threads>
struct host_bodies {
  static_assert(Threads == 1 || Threads == 4);
  using product_tile =
      std::conditional_t<Threads == 1, tile_shape<4, 4, 4, 4>, tile_shape<8, 8, 4, 4>>;
  using sum_tile = std::conditional_t<Threads == 1, sum_shape<1, 1>, sum_shape<2, 2>>;
  static constexpr int row_threads = Threads;

  template <class Body>
  static void cells(const typename Body::arguments& g) {
    // Several positions, so that what is left out or done twice is seen.
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 5; ++c) Body::run(g, {c, 5, r, 3});
  }
  template <class Body>
  static void teams(const typename Body::arguments& g) {
    const int count = Body::teams(g) > 2 ? 2 : Body::teams(g);
    static_assert(Body::threads == Threads || requires { Body::any_team; });
    for (int t = 0; t < count; ++t) {
      const auto memory = std::make_unique<typename Body::shared>();
      auto& shared = *memory;
      // What is read before it is written is NaN.
      static_assert(std::is_trivially_copyable_v<typename Body::shared>);
      std::memset(static_cast<void*>(&shared), 0xff, sizeof shared);
      run_team([&](const auto& team) { Body::run(g, team, shared); }, t, count);
    }
  }
  template <class Body>
  static void lines(const typename Body::arguments& a) {
    const int count = a.lines > 2 ? 2 : a.lines;
    for (int t = 0; t < count; ++t)
      run_team([&](const auto& team) { Body::run(a, team); }, t, count);
  }
  template <class Body>
  static void elements(const typename Body::arguments& a) {
    for (int begin = 0; begin < 3; ++begin)
      for (int i = begin; i < a.count; i += 3) Body::run(a, i);
  }

  // The algorithms of a library.
  template <class Key>
  static void run(const algorithm::sort_pairs<Key>& a) {
    sort(a, 0, a.count);
  }
  template <class Key>
  static void run(const algorithm::sort_lines<Key>& a) {
    for (int line = 0; line < a.lines; ++line) sort(a, line * a.n, a.n);
  }
  template <class Holds>
  static void run(const algorithm::select<Holds>& a) {
    int* end = a.chosen;
    for (int i = 0; i < a.count; ++i)
      if (Holds::run(a.of, i)) *end++ = i;
    *a.found = static_cast<int>(end - a.chosen);
  }
  template <class Body>
  static void run(const algorithm::scan_lines<Body>& a) {
    for (int line = 0; line < a.lines; ++line) {
      typename Body::value sum = 0;
      for (int k = 0; k < a.n; ++k) {
        const auto next = sum + Body::load(a.of, line, k);
        Body::store(a.of, line, k, a.exclusive ? sum : next);
        sum = next;
      }
    }
  }
  template <class Terms, class Result>
  static void run(const algorithm::sum<Terms, Result>& a) {
    double all = 0;
    for (int i = 0; i < a.count; ++i) all += a.terms(i);
    a.result(all);
  }
  template <class Number>
  static void run(const algorithm::histogram<Number>& a) {
    for (int b = 0; b < a.bins; ++b)
      a.counts[b] =
          static_cast<int>(std::count(a.numbers, a.numbers + a.count, static_cast<Number>(b)));
  }
  template <class Number>
  static void run(const algorithm::fill<Number>& a) {
    std::fill_n(a.to, a.count, a.value);
  }
  template <class Number>
  static void run(const algorithm::sequence<Number>& a) {
    std::iota(a.to, a.to + a.count, Number{0});
  }
  template <class Body>
  static void run(const algorithm::tabulate<Body>& a) {
    for (int i = 0; i < a.count; ++i) a.to[i] = Body::at(a.of, i);
  }

 private:
  /// Keys in the order of CUB: NaN with a sign first, without one last.
  template <class Algorithm>
  static void sort(const Algorithm& a, int first, int count) {
    const auto rank = [](auto x) { return x == x ? 0 : std::signbit(x) ? -1 : 1; };
    std::vector<int> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), first);
    sort_stably(order, [&](int i, int j) {
      const auto x = a.keys[i], y = a.keys[j];
      return rank(x) != rank(y) ? rank(x) < rank(y) : x < y;
    });
    for (int i = 0; i < count; ++i) {
      a.sorted_keys[first + i] = a.keys[order[static_cast<std::size_t>(i)]];
      a.sorted_numbers[first + i] = a.numbers[order[static_cast<std::size_t>(i)]];
    }
  }
  template <class Work>
  static void run_team(const Work& work, int index, int count) {
    if constexpr (Threads == 1) {
      work(serial_team{index, count});
    } else {
      static_assert(Threads == thread_team::threads);
      thread_team::meeting all(Threads);
      std::vector<std::thread> threads;
      for (int n = 0; n < Threads; ++n)
        threads.emplace_back([&, n] { work(thread_team{index, count, n, &all}); });
      for (std::thread& t : threads) t.join();
    }
  }
};

}  // namespace lamina::engine::cuda
