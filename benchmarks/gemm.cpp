// SPDX-License-Identifier: Apache-2.0
// lamina/benchmarks/gemm.cpp - GFLOP/s of the matrix products, one thread, beside the peak of this
// machine.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <new>

#include <benchmark/benchmark.h>

#include <lamina/engine/cpu/gemm.hpp>
#include <lamina/engine/cpu/gemm_row_major.hpp>

namespace cpu = lamina::engine::cpu;
using lamina::padded;

namespace {

struct aligned_free {
  void operator()(float* p) const { ::operator delete (p, std::align_val_t{64}); }
};
using floats = std::unique_ptr<float, aligned_free>;

floats numbers(std::ptrdiff_t n) {
  const auto bytes = static_cast<std::size_t>(n > 0 ? n : 1) * sizeof(float);
  floats data(static_cast<float*>(::operator new (bytes, std::align_val_t{64})));
  for (std::ptrdiff_t i = 0; i < n; ++i) data.get()[i] = 0.01F * static_cast<float>(i % 13) - 0.05F;
  return data;
}

constexpr int roof_chains = 10;

// Ten independent chains of multiply-adds, nothing but registers.
double multiply_adds(int rounds) {
  cpu::vector sums[roof_chains];
  LAMINA_UNROLL for (int i = 0; i < roof_chains; ++i) sums[i] = cpu::vector(static_cast<float>(i));
  const cpu::vector factor(0.999F);
  const cpu::vector term(0.001F);
  for (int k = 0; k < rounds; ++k) {
    LAMINA_UNROLL for (int i = 0; i < roof_chains; ++i) {
      sums[i] = cpu::fused_multiply_add(sums[i], factor, term);
    }
  }
  LAMINA_UNROLL for (int i = 1; i < roof_chains; ++i) sums[0] += sums[i];
  benchmark::DoNotOptimize(sums[0]);
  return 2.0 * rounds * roof_chains * cpu::lanes;
}

// The peak in the same moment: clocks and neighbours change within seconds.
double roof_now() {
  double best = 0;
  for (int i = 0; i < 5; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const double flops = multiply_adds(100000);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    best = std::max(best, flops / took.count());
  }
  return best;
}

void report(benchmark::State& state, double flops) {
  const double peak = roof_now();
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

void peak(benchmark::State& state) {
  double flops = 0;
  for (auto _ : state) flops = multiply_adds(10000);
  report(state, flops);
}

void forward(benchmark::State& state) {
  const sizes s(state);
  const auto a = numbers(static_cast<std::ptrdiff_t>(s.m) * s.k);
  const auto w = numbers(cpu::panels_floats(s.k, s.n));
  const auto y = numbers(static_cast<std::ptrdiff_t>(s.m) * padded(s.n));
  const auto scratch = numbers(cpu::gemm_scratch_floats(s.m, s.k, s.n));
  for (auto _ : state) {
    cpu::gemm(s.m, s.k, s.n, a.get(), s.k, w.get(), padded(s.n), &cpu::store_tile, y.get(),
              scratch.get());
    benchmark::ClobberMemory();
  }
  report(state, s.flops());
}

void input_gradient(benchmark::State& state) {
  const sizes s(state);
  const auto dy = numbers(static_cast<std::ptrdiff_t>(s.m) * padded(s.n));
  const auto w = numbers(cpu::panels_floats(s.k, s.n));
  const auto dx = numbers(static_cast<std::ptrdiff_t>(s.m) * padded(s.k));
  const auto scratch = numbers(cpu::gemm_dx_scratch_floats(s.m, s.k, s.n));
  for (auto _ : state) {
    cpu::gemm_dx(s.m, s.k, s.n, dy.get(), padded(s.n), w.get(), padded(s.k), &cpu::store_tile,
                 dx.get(), scratch.get());
    benchmark::ClobberMemory();
  }
  report(state, s.flops());
}

void weight_gradient(benchmark::State& state) {
  const sizes s(state);
  const auto x = numbers(static_cast<std::ptrdiff_t>(s.m) * s.k);
  const auto dy = numbers(static_cast<std::ptrdiff_t>(s.m) * padded(s.n));
  const auto dw = numbers(cpu::panels_floats(s.k, s.n));
  const auto scratch = numbers(cpu::gemm_dw_scratch_floats(s.m, s.k, s.n));
  for (auto _ : state) {
    cpu::gemm_dw(s.m, s.k, s.n, x.get(), s.k, dy.get(), padded(s.n), &cpu::store_tile, dw.get(),
                 scratch.get());
    benchmark::ClobberMemory();
  }
  report(state, s.flops());
}

void row_major(benchmark::State& state) {
  const sizes s(state);
  const auto a = numbers(static_cast<std::ptrdiff_t>(s.m) * s.k);
  const auto b = numbers(static_cast<std::ptrdiff_t>(s.k) * s.n);
  const auto c = numbers(static_cast<std::ptrdiff_t>(s.m) * s.n);
  const auto scratch = numbers(cpu::gemm_row_major_scratch_floats(s.m, s.k, s.n));
  for (auto _ : state) {
    cpu::gemm_row_major(s.m, s.k, s.n, 1.F, {a.get(), s.k}, {b.get(), s.n}, c.get(), s.n, false,
                        scratch.get());
    benchmark::ClobberMemory();
  }
  report(state, s.flops());
}

void shapes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"M", "K", "N"});
  for (int edge : {32, 64, 128, 256, 512, 1024, 2048}) b->Args({edge, edge, edge});
  b->Args({128, 784, 128})->Args({64, 784, 128})->Args({128, 128, 64})->Args({64, 128, 64});
  b->Args({64, 64, 10})->Args({64, 512, 512})->Args({1, 784, 128})->Args({1, 512, 512});
  b->Args({20, 256, 1024})->Args({32, 1024, 1024});
}

BENCHMARK(peak);
BENCHMARK(forward)->Apply(shapes);
BENCHMARK(input_gradient)->Apply(shapes);
BENCHMARK(weight_gradient)->Apply(shapes);
BENCHMARK(row_major)->Apply(shapes);

}  // namespace
