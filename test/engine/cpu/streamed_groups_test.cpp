// SPDX-License-Identifier: Apache-2.0
// Results of long pointwise groups, which may go past the caches, are those of short ones.
#include <cstring>
#include <tuple>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/engine/cpu/call_kernels.hpp>
#include <lamina/engine/cpu/machine.hpp>
#include <lamina/engine/cpu/sliced_run.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/model/batch_view.hpp>
#include <lamina/program/program.hpp>
#include <lamina/transform/clone_for_test.hpp>

namespace layer = lamina::layer;
namespace cpu = lamina::engine::cpu;

namespace {

// Rows of 1,025 floats lie in 1,040.
constexpr auto chain = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 1025>(main);
  auto y = layer::tanh(layer::scale(x, 1.5f)) * layer::sigmoid(x);
  return std::tuple{layer::relu(y - 0.25f * x), y};
});
using P = std::remove_const_t<decltype(chain)>;
using machine = cpu::machine<lamina::for_test<P>>;
constexpr int columns = 1025, stride = lamina::padded(columns);

/// Both outputs of some rows of x, row behind row.
template <class Run>
std::vector<float> outputs(const std::vector<float>& x, int first, int rows, const Run& run) {
  machine m({nullptr, nullptr, nullptr});
  const void* data[] = {x.data() + std::ptrdiff_t{first} * columns};
  lamina::batch_view<P>::dense(rows, data).feed_to(m);
  run(m);
  std::vector<float> all;
  for (const int v : {P::desc.outputs[0], P::desc.outputs[1]})
    for (int r = 0; r < rows; ++r) {
      const float* const row = m.address(v) + std::ptrdiff_t{r} * stride;
      all.insert(all.end(), row, row + columns);
    }
  return all;
}

}  // namespace

TEST_CASE("a group that writes many megabytes computes what it does for a few rows", "[threads]") {
  constexpr int rows = 2048, part = 64;
  std::vector<float> x(static_cast<std::size_t>(rows) * columns);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 4001) * 0.001f - 2.0f;
  const auto run_alone = [](machine& m) { m.run(~0ull, 0, 0); };
  const std::vector<float> whole = outputs(x, 0, rows, run_alone);
  REQUIRE(whole.size() == 2 * x.size());

  bool equal = true;
  for (int first = 0; first < rows; first += part) {
    const std::vector<float> few = outputs(x, first, part, run_alone);
    const std::size_t n = few.size() / 2, at = static_cast<std::size_t>(first) * columns;
    equal = equal && std::memcmp(whole.data() + at, few.data(), n * sizeof(float)) == 0 &&
            std::memcmp(whole.data() + x.size() + at, few.data() + n, n * sizeof(float)) == 0;
  }
  CHECK(equal);

  lamina::worker_pool pool(2);
  const std::vector<float> shared = outputs(x, 0, rows, [&](machine& m) {
    cpu::sliced_run<lamina::for_test<P>> loops(m, pool);
    m.run(~0ull, 0, 0);
  });
  CHECK(shared == whole);
}
