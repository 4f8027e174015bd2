// SPDX-License-Identifier: Apache-2.0
// Samples of five numbers for a data layer of four, in a test.
// expect-error: static.assert.*reader: a field holds what its data layer takes
// expect-fact: named<'x'>.*expects_type<std::array<float, 4.*gets_type<std::array<float, 5
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>
#include <lamina/reader/batch.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  return layer::mean(layer::fc<1>(layer::data<"x", float, 4>(main)));
});

template <int Size>
struct picture {
  std::array<float, Size> x;
};

int main() {
  lamina::model m{net};
  lamina::evaluator e{m};
#ifdef SHOULD_FAIL
  e.test(std::vector<picture<5>>(3) | lamina::reader::batch(2));  // <- here
#else
  e.test(std::vector<picture<4>>(3) | lamina::reader::batch(2));
#endif
  return 0;
}
