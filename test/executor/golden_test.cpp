// SPDX-License-Identifier: Apache-2.0
// Results and gradients of a sample of operators against another library's (make_golden.py).
#include "shared_executor.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/transform/append_backward.hpp>

namespace golden {
#include "golden.inc"
}

namespace layer = lamina::layer;
using lamina::block;
using lamina::tensor;

namespace {

constexpr auto x_of(block& main) { return layer::data<"x", float, 4>(main); }
constexpr auto target_of(block& main) { return layer::data<"target", float, 4>(main); }

template <std::size_t N>
void compare(const tensor& found, const double (&expected)[N]) {
  REQUIRE(found.size() == N);
  for (std::size_t i = 0; i < N; ++i) {
    INFO("element " << i);
    CHECK(found.as<double>().flat(i) == Approx(expected[i]).epsilon(1e-7).margin(1e-9));
  }
}

/// Runs a program that returns the mean of the squares of y, and y.
template <class P, std::size_t N, std::size_t M>
void check(const char* name, P program, const double (&y)[N], const double (&dx)[M]) {
  INFO(name);
  constexpr auto backward = decltype(lamina::transform::append_backward_to_data(program)){};
  const lamina::program_view view = backward.view();
  const lamina::feed_map all{{"x", tensor({3, 4}, golden::x)},
                             {"target", tensor({3, 4}, golden::target)},
                             {"label", tensor({3, 1}, std::vector<std::int64_t>{2, 0, 3})}};
  lamina::feed_map feed;
  for (int i = 0; i < view.count.data; ++i) {
    const std::string data = lamina::variable_name(view, view.data[i]);
    feed[data] = all.at(data);
  }
  lamina::basic_executor<double> executor;
  lamina::scope scope;
  compare(executor.run(view, scope, feed).at(1), y);
  compare(executor.run(view, scope, feed, {"x@GRAD"}).at(0), dx);
}

template <class V>
constexpr auto with_cost(V y) {
  return std::tuple{layer::mean(layer::square(y)), y};
}

/// A program of one activation.
#define GOLDEN_UNARY(name, ...)                  \
  check(#name, lamina::program([](block& main) { \
          auto x = x_of(main);                   \
          return with_cost(__VA_ARGS__);         \
        }),                                      \
        golden::name##_y, golden::name##_dx)

/// The same with a target.
#define GOLDEN_PAIR(name, ...)                   \
  check(#name, lamina::program([](block& main) { \
          auto x = x_of(main);                   \
          auto target = target_of(main);         \
          return with_cost(__VA_ARGS__);         \
        }),                                      \
        golden::name##_y, golden::name##_dx)

}  // namespace

TEST_CASE("activations agree with another library") {
  GOLDEN_UNARY(gelu, layer::gelu(x));
  GOLDEN_UNARY(elu, layer::elu(x));
  GOLDEN_UNARY(selu, layer::detail::same_shape<lamina::operators::selu>(x, "selu", ""));
  GOLDEN_UNARY(softplus, layer::softplus(x));
  GOLDEN_UNARY(softsign, layer::softsign(x));
  GOLDEN_UNARY(swish, layer::swish(x));
  GOLDEN_UNARY(logsigmoid, layer::logsigmoid(x));
  GOLDEN_UNARY(leaky_relu, layer::leaky_relu(x));
}

TEST_CASE("operators over rows agree with another library") {
  GOLDEN_UNARY(softmax, layer::softmax(x));
  GOLDEN_UNARY(layer_norm, layer::layer_norm(x, {.scale = false, .shift = false}));
  GOLDEN_UNARY(l2_normalize, layer::l2_normalize(x));
  GOLDEN_UNARY(cumsum, layer::cumsum(x));
  GOLDEN_UNARY(topk, std::get<0>(layer::topk<2>(x)));
  GOLDEN_PAIR(cos_sim, layer::cos_sim(x, target));
}

TEST_CASE("costs agree with another library") {
  GOLDEN_UNARY(cross_entropy,
               layer::softmax_with_cross_entropy(x, layer::data<"label", std::int64_t>(main)));
  GOLDEN_PAIR(soft_cross_entropy, layer::softmax_with_cross_entropy(x, target));
  GOLDEN_PAIR(sigmoid_cross_entropy, layer::sigmoid_cross_entropy_with_logits(x, target));
  GOLDEN_PAIR(huber, layer::huber_loss(x, target, 0.5f));
  GOLDEN_PAIR(smooth_l1, layer::smooth_l1(x, target));
  GOLDEN_PAIR(kldiv, layer::kldiv_loss(x, target));
}
