// SPDX-License-Identifier: Apache-2.0
// Samples that hold an image as an array of arrays, where the numbers of a sample lie one behind
// the other.
// expect-error: static.assert.*reader: a field holds what its data layer takes
// expect-fact: expects_type<.*array<float, 16
// expect-fact: gets_type<.*array<.*array<float, 4
// expect-lines: 12
#include <array>

#include <lamina/layers/data.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>
#include <lamina/reader/batch.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  return layer::mean(layer::fc<3>(layer::data<"image", float, 4, 4>(main)));
});

struct picture {
  std::array<std::array<float, 4>, 4> image;
};
struct flat {
  std::array<float, 16> image;
};

int main() {
  lamina::model m{net};
  lamina::evaluator e{m};
#ifdef SHOULD_FAIL
  e.test(std::vector<picture>(3) | lamina::reader::batch(2));  // <- here
#else
  e.test(std::vector<flat>(3) | lamina::reader::batch(2));
#endif
}
