// SPDX-License-Identifier: Apache-2.0
// Second derivatives are difference quotients of first derivatives, of every operator that has
// them, and docs/gradients.md lists these operators.
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "second_gradients.hpp"

#include <lamina/transform/gradient_rules.hpp>

using lamina::block;
using namespace second_gradients;

namespace {

/// |d sum v f(x) / dx|^2 of a function of one variable, which has its own data layers.
template <lamina::fixed_string X, lamina::fixed_string V, class F>
constexpr auto bend(block& main, F f, double shift = 0) {
  auto x = layer::data<X, float, 2>(main);
  auto v = layer::data<V, float, 2>(main);
  auto [dx] = layer::gradients(f(layer::scale(x, 1, {.bias = shift})) * v, x);
  return size_of_gradient(dx);
}

constexpr auto functions = lamina::program([](block& main) {
  auto sum = bend<"tanh", "v1">(main, [](auto x) { return layer::tanh(x); });
  const auto add = [&](auto next) { sum = sum + next; };
  add(bend<"sigmoid", "v2">(main, [](auto x) { return layer::sigmoid(x); }));
  add(bend<"logsigmoid", "v3">(main, [](auto x) { return layer::logsigmoid(x); }));
  add(bend<"softplus", "v4">(main, [](auto x) { return layer::softplus(x); }));
  add(bend<"softsign", "v5">(
      main, [](auto x) { return layer::softsign(x); }, -0.5));
  add(bend<"tanh_shrink", "v6">(main, [](auto x) { return layer::tanh_shrink(x); }));
  add(bend<"selu", "v7">(
      main, [](auto x) { return layer::selu(x); }, -0.5));
  add(bend<"elu", "v8">(
      main, [](auto x) { return layer::elu(x, {.alpha = 1.5f}); }, -0.5));
  add(bend<"soft_relu", "v9">(main, [](auto x) { return layer::soft_relu(x); }));
  add(bend<"stanh", "v10">(main, [](auto x) { return layer::stanh(x); }));
  add(bend<"swish", "v11">(
      main, [](auto x) { return layer::swish(x, {.beta = 1.5f}); }, -0.5));
  add(bend<"pow", "v12">(main, [](auto x) { return layer::pow(x, {.factor = 2.5f}); }));
  add(bend<"exp", "v13">(main, [](auto x) { return layer::exp(x); }));
  add(bend<"log", "v14">(main, [](auto x) { return layer::log(x); }));
  add(bend<"sqrt", "v15">(main, [](auto x) { return layer::sqrt(x); }));
  add(bend<"rsqrt", "v16">(main, [](auto x) { return layer::rsqrt(x); }));
  add(bend<"square", "v17">(main, [](auto x) { return layer::square(x); }));
  add(bend<"reciprocal", "v18">(main, [](auto x) { return layer::reciprocal(x); }));
  add(bend<"sin", "v19">(main, [](auto x) { return layer::sin(x); }));
  add(bend<"cos", "v20">(main, [](auto x) { return layer::cos(x); }));
  add(bend<"asin", "v21">(main, [](auto x) { return layer::asin(x); }));
  add(bend<"acos", "v22">(main, [](auto x) { return layer::acos(x); }));
  add(bend<"gelu", "v24">(
      main, [](auto x) { return layer::gelu(x); }, -0.5));
  add(bend<"gelu_tanh", "v25">(
      main, [](auto x) { return layer::gelu(x, {.approximate = true}); }, -0.5));
  add(bend<"mish", "v26">(
      main, [](auto x) { return layer::mish(x); }, -0.5));
  add(bend<"mish_above", "v27">(
      main, [](auto x) { return layer::mish(x, {.threshold = 0.25f}); }, 0.5));
  add(bend<"atan", "v23">(main, [](auto x) { return layer::atan(x); }));
  return sum;
});

constexpr auto pieces = lamina::program([](block& main) {
  auto sum = bend<"relu", "v1">(
      main, [](auto x) { return layer::relu(x); }, -0.5);
  const auto add = [&](auto next) { sum = sum + next; };
  add(bend<"leaky_relu", "v2">(
      main, [](auto x) { return layer::leaky_relu(x); }, -0.5));
  add(bend<"relu6", "v3">(
      main, [](auto x) { return layer::relu6(x); }, 5.5));
  add(bend<"brelu", "v4">(
      main, [](auto x) { return layer::brelu(x); }, -0.5));
  add(bend<"hard_sigmoid", "v5">(main, [](auto x) { return layer::hard_sigmoid(x); }));
  add(bend<"hard_shrink", "v6">(main, [](auto x) { return layer::hard_shrink(x); }));
  add(bend<"softshrink", "v7">(main, [](auto x) { return layer::softshrink(x); }));
  add(bend<"thresholded_relu", "v8">(
      main, [](auto x) { return layer::thresholded_relu(x); }, 0.5));
  add(bend<"clip", "v9">(main, [](auto x) { return layer::clip(x, 0.3, 0.7); }));
  add(bend<"abs", "v10">(
      main, [](auto x) { return layer::abs(x); }, -0.5));
  add(bend<"dropout", "v11">(main, [](auto x) { return layer::dropout(x, 0.5f); }));
  add(bend<"steps", "v12">(main, [](auto x) {
    auto y = layer::scale(x, 4);
    return x + layer::ceil(y) + layer::floor(y) + layer::round(y) + layer::sign(y);
  }));
  return sum;
});

/// The squares of the gradients of f(x, y)^2, of two data layers.
template <class X, class Y, class F>
constexpr auto bend_two(X x, Y y, F f) {
  auto [dx, dy] = layer::gradients(layer::square(f(x, y)), x, y);
  return size_of_gradient(dx) + 0.5f * size_of_gradient(dy) +
         layer::mean(layer::reduce_sum(dx) * layer::reduce_sum(dy));
}

constexpr auto of_two = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 2, 3>(main);
  auto y = layer::data<"y", float, 2, 3>(main);
  auto w = layer::create_parameter<float, 3>(main, {.name = "w"});
  auto weight = layer::create_parameter<float, 6, 4>(main, {.name = "weight"});
  auto sum = bend_two(x, w, [](auto a, auto b) { return a * b; });
  const auto add = [&](auto next) { sum = sum + next; };
  add(bend_two(x, w, [](auto a, auto b) { return a + b; }));
  add(bend_two(x, w, [](auto a, auto b) { return a - b; }));
  add(bend_two(x, w, [](auto a, auto b) { return a / b; }));
  add(bend_two(x, y, [](auto a, auto b) { return a / b; }));
  add(bend_two(x, w, [](auto a, auto b) { return layer::elementwise_max(a * a, b); }));
  add(bend_two(x, w, [](auto a, auto b) { return layer::elementwise_min(a * a, b); }));
  add(bend_two(x, weight, [](auto a, auto b) { return layer::mul(a, b); }));
  add(bend_two(x, y, [](auto a, auto b) {
    return layer::matmul<layer::matmul_form{.transpose_y = true}>(a, b, {.alpha = 0.5f});
  }));
  add(bend_two(x, y, [](auto a, auto b) { return layer::concat<1>(std::tuple{a, b * a}); }));
  return sum;
});

constexpr auto rows = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 4>(main);
  auto v = layer::data<"v", float, 4>(main);
  auto y = layer::data<"y", float, 2, 3>(main);
  auto z = layer::data<"z", float, 2, 3>(main);
  auto sum = layer::fill_constant<float>(main, 0);
  const auto add = [&](auto target, auto from) {
    auto [grad] = layer::gradients(target, from);
    sum = sum + size_of_gradient(grad);
  };
  add(layer::softmax(x) * v, x);
  add(layer::softmax(y) * z, y);
  add(layer::layer_norm(x, {.epsilon = 0.01f}) * v, x);
  add(layer::layer_norm(layer::square(x), {.scale = false, .shift = false}) * v, x);
  // The third derivative.
  auto [grad] = layer::gradients(layer::layer_norm(x, {.epsilon = 0.3f}) * v, x);
  add(layer::square(grad), x);
  return 0.1f * sum;
});

constexpr auto shapes = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 2, 3>(main);
  auto sum = layer::fill_constant<float>(main, 0);
  const auto add = [&](auto y) {
    auto [dx] = layer::gradients(layer::square(y), x);
    sum = sum + size_of_gradient(dx);
  };
  auto h = layer::square(x);
  add(layer::reduce_sum<2>(h));
  add(layer::reduce_mean<1>(h));
  add(layer::reduce_sum(h));
  add(layer::mean(h));
  add(layer::scale(h, 2, {.bias = 3}));
  add(layer::reshape<3, 2>(h));
  add(layer::transpose<0, 2, 1>(h));
  add(layer::squeeze<1>(layer::unsqueeze<1>(h)));
  add(layer::flatten(h));
  add(layer::slice<layer::along<1, 0, 1>>(h));
  add(layer::pad<0, 0, 0, 1, 1, 0>(h, 2));
  add(layer::expand<1, 2, 1>(h));
  return sum;
});

constexpr auto convolutions = lamina::program([](block& main) {
  auto image = layer::data<"image", float, 4, 4, 4>(main);
  auto volume = layer::data<"volume", float, 2, 3, 3, 3>(main);
  auto sum = layer::fill_constant<float>(main, 0);
  const auto add = [&](auto y, auto x) {
    auto [dx] = layer::gradients(layer::square(y), x);
    sum = sum + 0.1f * size_of_gradient(dx);
  };
  add(layer::conv2d<3, 3, lamina::window{.padding = 1}>(image), image);
  add(layer::conv2d<4, 3, lamina::window{.groups = 4}>(image), image);
  add(layer::conv2d_transpose<3, 3>(image), image);
  add(layer::conv3d<2, 2>(volume), volume);
  constexpr auto average = lamina::pooling_type::average;
  add(layer::pool2d<3, lamina::window{.stride = 2, .padding = 1}>(layer::square(image),
                                                                  {.type = average}),
      image);
  add(layer::pool3d<2>(layer::square(volume), {.type = average}), volume);
  return sum;
});

template <class... Op>
void add_names(std::set<std::string>& to, lamina::operator_list<Op...>) {
  (to.insert(Op::type), ...);
}

/// The words in backquotes of the list of a page that begins at a heading.
std::set<std::string> listed(const std::string& path, const std::string& heading) {
  std::ifstream file(path);
  std::set<std::string> found;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("## ", 0) == 0) inside = line == heading;
    if (!inside || line.rfind("| ", 0) != 0) continue;
    for (std::size_t at = 0; (at = line.find('`', at)) != line.npos;) {
      const std::size_t end = line.find('`', at + 1);
      found.insert(line.substr(at + 1, end - at - 1));
      at = end + 1;
    }
  }
  return found;
}

}  // namespace

TEST_CASE("second derivatives of functions of one variable are difference quotients") {
  laws::check_gradients(functions, {}, positive);
  laws::check_gradients(pieces, {}, positive);
  check_engine(functions);
}

TEST_CASE("second derivatives of products, quotients and shapes are difference quotients") {
  laws::check_gradients(of_two, {}, positive);
  check_engine(of_two);
  laws::check_gradients(shapes, {}, positive);
  check_engine(shapes);
}

TEST_CASE("second derivatives of functions of rows are difference quotients") {
  laws::check_gradients(rows, {}, positive);
  check_engine(rows);
}

TEST_CASE("second derivatives of convolutions are difference quotients") {
  laws::check_gradients(convolutions, {}, {.rows = 1});
  check_engine(convolutions);
}

TEST_CASE("the page of gradients lists the operators with second derivatives") {
  std::set<std::string> known;
  add_names(known, lamina::twice_differentiable_products{});
  add_names(known, lamina::twice_differentiable_convolutions{});
  add_names(known, lamina::twice_differentiable_linear{});
  add_names(known, lamina::twice_differentiable_sums{});
  add_names(known, lamina::twice_differentiable_pieces{});
  add_names(known, lamina::twice_differentiable_steps{});
  add_names(known, lamina::twice_differentiable_functions{});
  add_names(known, lamina::twice_differentiable_losses{});
  add_names(known, lamina::twice_differentiable_positions{});
  add_names(known, lamina::twice_differentiable_others{});
  CHECK(listed(LAMINA_TEST_DIR "/../docs/gradients.md", "## Second derivatives") == known);
}
