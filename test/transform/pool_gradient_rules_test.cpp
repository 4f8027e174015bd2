// SPDX-License-Identifier: Apache-2.0
// Second and third derivatives of pooling by the maximum are difference quotients of first
// derivatives.
#include "second_gradients.hpp"

#include <lamina/transform/pool_gradient_rules.hpp>

using lamina::block;
using namespace second_gradients;

namespace {

constexpr auto maxima = lamina::program([](block& main) {
  auto image = layer::data<"image", float, 2, 5, 4>(main);
  auto sum = layer::fill_constant<float>(main, 0);
  const auto add = [&](auto y) {
    auto [dx] = layer::gradients(layer::square(y), image);
    sum = sum + size_of_gradient(dx);
    return dx;
  };
  constexpr lamina::window apart{.stride = 2}, beside{.stride = 2, .padding = 1};
  auto h = layer::square(image);
  auto grad = add(layer::pool2d<2, apart>(h));
  add(layer::pool2d<2, beside>(h));
  add(layer::global_pool2d(h));
  auto [largest, positions] = layer::max_pool2d_with_index<2, apart>(h);
  add(largest);
  add(layer::unpool<2, apart>(largest, positions));
  add(grad);  // the third derivative
  return 0.1f * sum;
});

}  // namespace

TEST_CASE("second derivatives of pooling by the maximum are difference quotients") {
  laws::check_gradients(maxima, {}, {.rows = 1});
  check_engine(maxima);
}
