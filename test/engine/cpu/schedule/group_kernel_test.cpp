// SPDX-License-Identifier: Apache-2.0
// Results of long pointwise groups, which may go past the caches, are those of short ones.
#include <cstring>
#include <tuple>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/engine/cpu/schedule/group_kernel.hpp>
#include <lamina/engine/cpu/schedule/machine.hpp>
#include <lamina/engine/cpu/schedule/parallel_run.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/model/feeding/batch_view.hpp>
#include <lamina/program/program.hpp>
#include <lamina/transform/clone_for_test.hpp>

namespace cpu = lamina::engine::cpu;
namespace layer = lamina::layer;

namespace {

// Rows of 1,025 numbers lie in 1,040.
template <class Real>
constexpr auto chain = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", Real, 1025>(main);
  auto y = layer::tanh(layer::scale(x, Real(1.5))) * layer::sigmoid(x);
  return std::tuple{layer::relu(y - Real(0.25) * x), y};
});

template <class Real>
using program_in = std::remove_cvref_t<decltype(chain<Real>)>;

template <class Real>
using machine_in = cpu::machine<lamina::for_test<program_in<Real>>>;

constexpr int columns = 1025, stride = lamina::padded(columns);

/// Both outputs of some rows of x, row behind row.
template <class Real, class Run>
std::vector<Real> outputs(const std::vector<Real>& x, int first, int rows, const Run& run) {
  using P = program_in<Real>;
  machine_in<Real> m({nullptr, nullptr, nullptr});
  const void* data[] = {x.data() + std::ptrdiff_t{first} * columns};
  lamina::batch_view<P>::dense(rows, data).feed_to(m);
  run(m);
  std::vector<Real> all;
  for (const int v : {P::desc.outputs[0], P::desc.outputs[1]})
    for (int r = 0; r < rows; ++r) {
      const Real* const row =
          lamina::engine::numbers_at<Real>(m.address(v)) + std::ptrdiff_t{r} * stride;
      all.insert(all.end(), row, row + columns);
    }
  return all;
}

}  // namespace

TEMPLATE_TEST_CASE("a group that writes many megabytes computes what it does for a few rows",
                   "[threads]", float, double) {
  constexpr int rows = 2048, part = 64;
  std::vector<TestType> x(static_cast<std::size_t>(rows) * columns);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<TestType>(i % 4001) * TestType(0.001) - TestType(2);
  const auto run_alone = [](auto& m) { m.run(~0ull, 0, 0); };
  const std::vector<TestType> whole = outputs(x, 0, rows, run_alone);
  REQUIRE(whole.size() == 2 * x.size());

  bool equal = true;
  for (int first = 0; first < rows; first += part) {
    const std::vector<TestType> few = outputs(x, first, part, run_alone);
    const std::size_t n = few.size() / 2, at = static_cast<std::size_t>(first) * columns;
    equal = equal && std::memcmp(whole.data() + at, few.data(), n * sizeof(TestType)) == 0 &&
            std::memcmp(whole.data() + x.size() + at, few.data() + n, n * sizeof(TestType)) == 0;
  }
  CHECK(equal);

  lamina::worker_pool pool(2);
  const std::vector<TestType> shared = outputs(x, 0, rows, [&](auto& m) {
    cpu::parallel_run<lamina::for_test<program_in<TestType>>> loops(m, pool);
    m.run(~0ull, 0, 0);
  });
  CHECK(shared == whole);
}
