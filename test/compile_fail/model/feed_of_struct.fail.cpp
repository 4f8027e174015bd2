// SPDX-License-Identifier: Apache-2.0
// A feed of a whole sample.
// expect-error: static.assert.*feed: expected contiguous numbers, or a container for each sequence
// expect-fact: gets_type<.*sample>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  return layer::mean(layer::fc<1>(layer::data<"x", float, 4>(main)));
});

struct sample {
  float x[4];
};

int main() {
  lamina::model m{net};
  lamina::evaluator e{m};
  const sample s{};
#ifdef SHOULD_FAIL
  e.forward(lamina::feed<"x">(s));  // <- here
#else
  e.forward(lamina::feed<"x">(s.x));
#endif
  return e.cost() != 0;
}
