// SPDX-License-Identifier: Apache-2.0
// A parameter shared across models with another shape.
// expect-error: static.assert.*model: parameters that models share have one shape and type
// expect-fact: named<'p', 'r', 'o', 'j'>
// expect-fact: expects<8, 4>
// expect-fact: gets<6, 4>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/model/model.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>

namespace layer = lamina::layer;

template <int Width>
constexpr auto tower = lamina::program([](lamina::block& main) {
  auto text = layer::data<"text", float, Width>(main);
  return layer::fc<4>(text, {.param = {.name = "proj"}, .bias = false});
});

int main() {
  lamina::model ranker{tower<8>};
#ifdef SHOULD_FAIL
  lamina::model server{tower<6>, lamina::share_parameters_of(ranker)};  // <- here
#else
  lamina::model server{tower<8>, lamina::share_parameters_of(ranker)};
#endif
  return server.parameter_arrays() == 0;
}
