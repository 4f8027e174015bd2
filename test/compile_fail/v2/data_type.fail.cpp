// SPDX-License-Identifier: Apache-2.0
// An element type where a data layer of v2 has a type of data_type.
// expect-error: static.assert.*layer::data: expected a type of data_type
// expect-fact: gets_type<float>
// expect-lines: 12
#include <lamina/v2.hpp>

namespace paddle = lamina::v2;
namespace layer = paddle::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
#ifdef SHOULD_FAIL
  auto x = layer::data<"x", float>(main);  // <- here
#else
  auto x = layer::data<"x", paddle::data_type::dense_vector<1>>(main);
#endif
  return layer::mean(layer::fc<1>(x));
});
static_assert(net.view().count.data == 1);
