// SPDX-License-Identifier: Apache-2.0
// A value stored in the result of a layer.
// expect-error: lamina: store: only global variables and parameters keep a value
// expect-fact: at_line<22>, lamina::named<'f', 'c', '_', '0'
// The shortest path of includes to a header makes the shortest message.
// clang-format off
#include <lamina/program/program.hpp>
// clang-format on

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;

struct record {
  constexpr auto operator()(lamina::block& main) const {
    auto x = layer::data<"x", float, 3>(main);
    auto y = layer::fc<3>(x);
    auto w = layer::create_global_var<float>(main, 0);
    layer::store(w + 1.0f, w);
    auto z = y * 2.0f;
#ifdef SHOULD_FAIL
    layer::store(z, y);
#endif
    return z;
  }
};

constexpr auto net = lamina::program(record{});  // <- here

int main() { return net.desc.count.operators > 0 ? 0 : 1; }
