// SPDX-License-Identifier: Apache-2.0
// Gradients of one sample that is in no mini-batch.
// expect-error: static.assert.*gradient_machine: backward takes a mini-batch, a range of samples
// expect-fact: gets_type<(struct )?sample>
// expect-lines: 12
#include <span>

#include <lamina/layers/data.hpp>
#include <lamina/model/gradient_machine.hpp>
#include <lamina/operators/elementwise/binary/layer.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
  auto y = layer::data<"y", float, 1>(main);
  return layer::mean(layer::elementwise_sub(layer::fc<1>(x), y));
});

struct sample {
  float x[4];
  float y;
};

int main() {
  lamina::model m{net};
  lamina::gradient_machine g{m};
  const sample one{};
#ifdef SHOULD_FAIL
  g.backward(one);  // <- here
#else
  g.backward(std::span(&one, 1));
#endif
}
