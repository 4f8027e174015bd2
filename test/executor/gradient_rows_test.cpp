// SPDX-License-Identifier: Apache-2.0
// Gradients of operators over rows: softmax, norms, cosine, and of costs.
#include "shared_executor.hpp"
#include <laws/gradient_check.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::tensor;

namespace {
const lamina::feed_map three_labels{{"label", tensor({3, 1}, std::vector<std::int64_t>{2, 0, 3})}};
laws::gradient_options probabilities() {
  laws::gradient_options o;
  o.low = 0.1f;
  o.high = 0.9f;
  return o;
}
}  // namespace

TEST_CASE("gradient: softmax along the last and along an inner dimension") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::data<"x", float, 3, 4>(main);
    return layer::mean(layer::square(layer::softmax(x) * x + layer::softmax<1>(x)));
  }));
}

TEST_CASE("gradient: layer_norm with and without factor and offset") {
  laws::gradient_options options;
  options.tolerance = 1e-5;
  laws::check_gradients(lamina::program([](block& main) {
                          auto x = layer::data<"x", float, 2, 3>(main);
                          auto a = layer::layer_norm(x);
                          auto b = layer::layer_norm<2>(x, {.scale = false, .shift = false});
                          return layer::mean(a * layer::square(x) + b * x);
                        }),
                        {}, options);
}

TEST_CASE("gradient: l2_normalize and cos_sim") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::data<"x", float, 4>(main);
    auto y = layer::data<"y", float, 4>(main);
    auto n = layer::l2_normalize(x) * y;
    return layer::mean(layer::elementwise_mul<0>(n, layer::cos_sim(x, y)));
  }));
}

TEST_CASE("gradient: cross entropy of probabilities, hard and soft labels") {
  laws::check_gradients(lamina::program([](block& main) {
                          auto x = layer::data<"x", float, 4>(main);
                          auto label = layer::data<"label", std::int64_t>(main);
                          return layer::mean(layer::cross_entropy(x, label, {.ignore_index = 0}));
                        }),
                        three_labels, probabilities());
  laws::gradient_options soft = probabilities();
  soft.constant = {"target"};
  laws::check_gradients(lamina::program([](block& main) {
                          auto x = layer::data<"x", float, 4>(main);
                          auto target = layer::data<"target", float, 4>(main);
                          return layer::mean(layer::cross_entropy(layer::softmax(x), target) +
                                             layer::softmax_with_cross_entropy(x, target));
                        }),
                        {}, soft);
}

TEST_CASE("gradient: softmax_with_cross_entropy, hard, ignored and soft labels") {
  laws::check_gradients(
      lamina::program([](block& main) {
        auto x = layer::fc<4>(layer::data<"x", float, 2>(main));
        auto label = layer::data<"label", std::int64_t>(main);
        return layer::mean(layer::softmax_with_cross_entropy(x, label) +
                           layer::softmax_with_cross_entropy(x, label, {.ignore_index = 3}));
      }),
      three_labels);
}

TEST_CASE("gradient: sigmoid_cross_entropy_with_logits, normalised over what is not ignored") {
  const tensor label({3, 2}, std::vector<float>{0, 1, 0.25f, -7, 1, 0});
  laws::gradient_options options;
  options.constant = {"label"};
  laws::check_gradients(
      lamina::program([](block& main) {
        auto x = layer::fc<2>(layer::data<"x", float, 3>(main));
        auto label = layer::data<"label", float, 2>(main);
        auto plain = layer::sigmoid_cross_entropy_with_logits(x, label, {.ignore_index = -7});
        layer::layer_helper normalised(*main.builder, "normalised");
        auto out = normalised.output<decltype(x)>();
        main.builder->add_operator(lamina::schema_of<lamina::sigmoid_cross_entropy_with_logits>(),
                                   {x.id, label.id}, {out.id},
                                   main.builder->attribute_list(-7, true));
        return layer::mean(plain + out);
      }),
      {{"label", label}}, options);
}

TEST_CASE("gradient: costs of pairs") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::fc<3>(layer::data<"x", float, 3>(main));
    auto y = layer::fc<3>(layer::data<"y", float, 3>(main));
    return layer::mean(layer::huber_loss(x, y, 0.4f) + layer::square_error_cost(x, y)) +
           layer::mean(layer::smooth_l1(x, y, {.sigma = 1.5f}));
  }));
  laws::gradient_options signs;
  signs.constant = {"sign"};
  laws::check_gradients(lamina::program([](block& main) {
                          auto left = layer::fc<1>(layer::data<"x", float, 3>(main));
                          auto right = layer::fc<1>(layer::data<"y", float, 3>(main));
                          auto sign = layer::data<"sign", float, 1>(main);
                          return layer::mean(layer::margin_rank_loss(sign, left, right) +
                                             layer::rank_loss(sign, left, right));
                        }),
                        {{"sign", tensor({3, 1}, std::vector<float>{1, -1, 1})}}, signs);
}

TEST_CASE("gradient: kldiv_loss, bpr_loss and label_smooth") {
  laws::gradient_options options = probabilities();
  options.constant = {"target"};
  laws::check_gradients(lamina::program([](block& main) {
                          auto x = layer::fc<4>(layer::data<"x", float, 3>(main));
                          auto target = layer::data<"target", float, 4>(main);
                          auto label = layer::data<"label", std::int64_t>(main);
                          auto smooth = layer::label_smooth(layer::softmax(x), {.epsilon = 0.2f});
                          return layer::mean(layer::bpr_loss(x, label)) +
                                 layer::kldiv_loss(x, target) +
                                 layer::kldiv_loss<layer::reduction::batchmean>(x, target) +
                                 layer::mean(layer::square(smooth));
                        }),
                        three_labels, options);
}

TEST_CASE("gradient: prelu in its three modes, and maxout") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::data<"x", float, 4, 2>(main);
    auto a = layer::prelu(x);
    auto b = layer::prelu(x, {.mode = lamina::layer::prelu_mode::channel});
    auto c = layer::prelu(x, {.mode = lamina::layer::prelu_mode::element});
    return layer::mean(layer::square(a) + b * c);
  }));
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::data<"x", float, 4, 2, 3>(main);
    return layer::mean(layer::square(layer::maxout<2>(x)));
  }));
}
