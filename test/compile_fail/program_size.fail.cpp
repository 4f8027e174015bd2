// SPDX-License-Identifier: Apache-2.0
// A program beyond one of the limits of programs: the numbers that its attributes list.
// expect-error: static.assert.*program: more variables or operators than a program can hold
// expect-fact: expects<32768>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr float values[64 * 64] = {1, 2, 3};

#ifdef SHOULD_FAIL
constexpr int layers = 9;
#else
constexpr int layers = 7;
#endif

constexpr auto record = [](lamina::block& main) {
  auto x = layer::data<"x", float, 64>(main);
  for (int i = 0; i < layers; ++i)
    x = layer::fc<64>(x, {.param = {.initializer = lamina::init::array(values)}, .bias = false});
  return layer::mean(x);
};
constexpr auto deep = lamina::program(record);  // <- here

int main() { return deep.parameter_count() < 0; }
