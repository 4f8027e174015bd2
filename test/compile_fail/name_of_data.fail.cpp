// SPDX-License-Identifier: Apache-2.0
// A parameter that is called as a data layer.
// expect-error: static.assert.*name: two variables of one program need two names
// expect-fact: named<'i', 'm', 'a', 'g', 'e'>
// expect-lines: 12
#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

struct record {
  constexpr auto operator()(lamina::block& main) const {
    auto image = layer::data<"image", float, 64>(main);
#ifdef SHOULD_FAIL
    return layer::fc<8>(image, {.param = {.name = "image"}});
#else
    return layer::fc<8>(image, {.param = {.name = "images"}});
#endif
  }
};
constexpr auto net = lamina::program(record{});  // <- here

int main() { return net.parameter_count() < 0; }
