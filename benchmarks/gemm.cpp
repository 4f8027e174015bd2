// SPDX-License-Identifier: Apache-2.0
// lamina/benchmarks/gemm.cpp - measures the GFLOP/s of matrix products in float and in double with
// one thread, and the peak GFLOP/s of this machine.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <new>

#include <benchmark/benchmark.h>

#include <lamina/engine/cpu/gemm/gemm.hpp>
#include <lamina/engine/cpu/gemm/gemm_row_major.hpp>

namespace cpu = lamina::engine::cpu;
using lamina::padded;

namespace {

struct aligned_free {
  void operator()(void* p) const { ::operator delete (p, std::align_val_t{64}); }
};
template <class Real>
using array = std::unique_ptr<Real, aligned_free>;

template <class Real>
array<Real> numbers(std::ptrdiff_t n) {
  const auto bytes = static_cast<std::size_t>(n > 0 ? n : 1) * sizeof(Real);
  array<Real> data(static_cast<Real*>(::operator new (bytes, std::align_val_t{64})));
  for (std::ptrdiff_t i = 0; i < n; ++i)
    data.get()[i] = Real(0.01) * static_cast<Real>(i % 13) - Real(0.05);
  return data;
}

constexpr int roof_chains = 10;

// Computes ten independent chains of multiply-adds in registers, without access to memory.
template <class Real>
double multiply_adds(int rounds) {
  using vector = cpu::vector_in<Real>;
  vector sums[roof_chains];
  LAMINA_UNROLL for (int i = 0; i < roof_chains; ++i) sums[i] = vector(static_cast<Real>(i));
  const vector factor(Real(0.999));
  const vector term(Real(0.001));
  for (int k = 0; k < rounds; ++k) {
    LAMINA_UNROLL for (int i = 0; i < roof_chains; ++i) {
      sums[i] = cpu::fused_multiply_add(sums[i], factor, term);
    }
  }
  LAMINA_UNROLL for (int i = 1; i < roof_chains; ++i) sums[0] += sums[i];
  benchmark::DoNotOptimize(sums[0]);
  return 2.0 * rounds * roof_chains * cpu::lanes_in<Real>;
}

// Returns the peak GFLOP/s, measured at the same moment as the product, because the clock rate and
// the load of other virtual machines change within seconds.
template <class Real>
double roof_now() {
  double best = 0;
  for (int i = 0; i < 5; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const double flops = multiply_adds<Real>(100000);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    best = std::max(best, flops / took.count());
  }
  return best;
}

template <class Real>
void report(benchmark::State& state, double flops) {
  const double peak = roof_now<Real>();
  const double work = flops * static_cast<double>(state.iterations());
  state.counters["GFLOP/s"] = benchmark::Counter(work * 1e-9, benchmark::Counter::kIsRate);
  state.counters["of_peak"] = benchmark::Counter(work / peak, benchmark::Counter::kIsRate);
}

struct sizes {
  explicit sizes(const benchmark::State& state)
      : m(static_cast<int>(state.range(0))),
        k(static_cast<int>(state.range(1))),
        n(static_cast<int>(state.range(2))) {}
  double flops() const { return 2.0 * m * k * n; }
  int m;
  int k;
  int n;
};

template <class Real>
void peak(benchmark::State& state) {
  double flops = 0;
  for (auto _ : state) flops = multiply_adds<Real>(10000);
  report<Real>(state, flops);
}

template <class Real>
void forward(benchmark::State& state) {
  const sizes s(state);
  const auto a = numbers<Real>(static_cast<std::ptrdiff_t>(s.m) * s.k);
  const auto w = numbers<Real>(cpu::panels_floats(s.k, s.n));
  const auto y = numbers<Real>(static_cast<std::ptrdiff_t>(s.m) * padded(s.n));
  const auto scratch = numbers<Real>(cpu::gemm_scratch_floats<Real>(s.m, s.k, s.n));
  for (auto _ : state) {
    cpu::gemm(s.m, s.k, s.n, a.get(), s.k, w.get(), padded(s.n), &cpu::store_tile<Real>, y.get(),
              scratch.get());
    benchmark::ClobberMemory();
  }
  report<Real>(state, s.flops());
}

template <class Real>
void input_gradient(benchmark::State& state) {
  const sizes s(state);
  const auto dy = numbers<Real>(static_cast<std::ptrdiff_t>(s.m) * padded(s.n));
  const auto w = numbers<Real>(cpu::panels_floats(s.k, s.n));
  const auto dx = numbers<Real>(static_cast<std::ptrdiff_t>(s.m) * padded(s.k));
  const auto scratch = numbers<Real>(cpu::gemm_dx_scratch_floats<Real>(s.m, s.k, s.n));
  for (auto _ : state) {
    cpu::gemm_dx(s.m, s.k, s.n, dy.get(), padded(s.n), w.get(), padded(s.k), &cpu::store_tile<Real>,
                 dx.get(), scratch.get());
    benchmark::ClobberMemory();
  }
  report<Real>(state, s.flops());
}

template <class Real>
void weight_gradient(benchmark::State& state) {
  const sizes s(state);
  const auto x = numbers<Real>(static_cast<std::ptrdiff_t>(s.m) * s.k);
  const auto dy = numbers<Real>(static_cast<std::ptrdiff_t>(s.m) * padded(s.n));
  const auto dw = numbers<Real>(cpu::panels_floats(s.k, s.n));
  const auto scratch = numbers<Real>(cpu::gemm_dw_scratch_floats<Real>(s.m, s.k, s.n));
  for (auto _ : state) {
    cpu::gemm_dw(s.m, s.k, s.n, x.get(), s.k, dy.get(), padded(s.n), &cpu::store_tile<Real>,
                 dw.get(), scratch.get());
    benchmark::ClobberMemory();
  }
  report<Real>(state, s.flops());
}

template <class Real>
void row_major(benchmark::State& state) {
  const sizes s(state);
  const auto a = numbers<Real>(static_cast<std::ptrdiff_t>(s.m) * s.k);
  const auto b = numbers<Real>(static_cast<std::ptrdiff_t>(s.k) * s.n);
  const auto c = numbers<Real>(static_cast<std::ptrdiff_t>(s.m) * s.n);
  const auto scratch = numbers<Real>(cpu::gemm_row_major_scratch_floats<Real>(s.m, s.k, s.n));
  for (auto _ : state) {
    cpu::gemm_row_major(s.m, s.k, s.n, Real(1), {a.get(), s.k}, {b.get(), s.n}, c.get(), s.n, false,
                        scratch.get());
    benchmark::ClobberMemory();
  }
  report<Real>(state, s.flops());
}

void shapes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"M", "K", "N"});
  for (int edge : {32, 64, 128, 256, 512, 1024, 2048}) b->Args({edge, edge, edge});
  b->Args({128, 784, 128})->Args({64, 784, 128})->Args({128, 128, 64})->Args({64, 128, 64});
  b->Args({64, 64, 10})->Args({64, 512, 512})->Args({1, 784, 128})->Args({1, 512, 512});
  b->Args({20, 256, 1024})->Args({32, 1024, 1024});
}

BENCHMARK_TEMPLATE(peak, float);
BENCHMARK_TEMPLATE(peak, double);
BENCHMARK_TEMPLATE(forward, float)->Apply(shapes);
BENCHMARK_TEMPLATE(forward, double)->Apply(shapes);
BENCHMARK_TEMPLATE(input_gradient, float)->Apply(shapes);
BENCHMARK_TEMPLATE(input_gradient, double)->Apply(shapes);
BENCHMARK_TEMPLATE(weight_gradient, float)->Apply(shapes);
BENCHMARK_TEMPLATE(weight_gradient, double)->Apply(shapes);
BENCHMARK_TEMPLATE(row_major, float)->Apply(shapes);
BENCHMARK_TEMPLATE(row_major, double)->Apply(shapes);

}  // namespace
