// SPDX-License-Identifier: Apache-2.0
// expect-error: lamina: train: an embedding with is_sparse has gradients of rows
// expect-fact: at_line<23>
// The shortest path of includes to a header makes the shortest message.
// clang-format off
#include <lamina/program/program.hpp>
// clang-format on

#include <lamina/layers/layers.hpp>
#include <lamina/optimizer/decayed_adagrad.hpp>
#include <lamina/optimizer/minimize.hpp>

namespace layer = lamina::layer;

struct record {
  constexpr void operator()(lamina::block& main) const {
    auto id = layer::data<"id", std::int64_t>(main);
#ifdef SHOULD_FAIL
    constexpr bool sparse = true;
#else
    constexpr bool sparse = false;
#endif
    lamina::optimizer::decayed_adagrad{}.minimize(
        layer::mean(layer::embedding<9, 4>(id, {.is_sparse = sparse})));
  }
};

constexpr auto net = lamina::program(record{});  // <- here

int main() { return net.desc.count.operators > 0 ? 0 : 1; }
