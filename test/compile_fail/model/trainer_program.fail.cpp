// SPDX-License-Identifier: Apache-2.0
// test/compile_fail/model/trainer_program.fail.cpp - a trainer of a program without parameters.
// expect-error: static.assert.*trainer: expected a model, trainer t.model, adam., found a program
#include <lamina/layers/data.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>
#include <lamina/optimizer/sgd.hpp>
#include <lamina/train/trainer.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
  return layer::mean(layer::fc<1>(x));
});

int main() {
  lamina::model model{net};
  lamina::optimizer::sgd sgd;
#ifdef SHOULD_FAIL
  lamina::trainer t{net, sgd};  // <- here
#else
  lamina::trainer t{model, sgd};
#endif
  return t.passes();
}
