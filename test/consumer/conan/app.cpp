// SPDX-License-Identifier: Apache-2.0
// Evaluates a layer, and expects what the parameters say; calls zlib where the package
// has it.
#include <cmath>
#include <cstdio>
#include <vector>

#include <lamina/layers/data.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>

#if LAMINA_HAS_ZLIB
#include <zlib.h>
#endif

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  return layer::fc<3>(layer::data<"x", float, 4>(main), {.name = "y"});
});

int main() {
  const lamina::model model{net, 1};
  lamina::evaluator e{model};
  const std::vector<float> x{1, -2, 3, 0.5f};
  e.forward(lamina::feed<"x">(x));
  const auto y = e.activation<"y">();
  const auto w = model.parameter<"y.w_0">();
  for (int column = 0; column < 3; ++column) {
    float expected = 0;
    for (int row = 0; row < 4; ++row) expected += x[static_cast<std::size_t>(row)] * w(row, column);
    if (!(std::abs(y(0, column) - expected) < 1e-5f)) {
      std::printf("expected %g, found %g\n", static_cast<double>(expected),
                  static_cast<double>(y(0, column)));
      return 1;
    }
  }
#if LAMINA_HAS_ZLIB
  if (zlibVersion()[0] != ZLIB_VERSION[0]) return 1;
#endif
  std::puts("as expected");
}
