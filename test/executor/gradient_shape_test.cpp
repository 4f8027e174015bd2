// SPDX-License-Identifier: Apache-2.0
// Gradients of matrix products, reductions, and operators that move elements.
#include "shared_executor.hpp"
#include <laws/gradient_check.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::tensor;

TEST_CASE("gradient: mul keeps leading dimensions") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::data<"x", float, 2, 3>(main);
    return layer::mean(layer::square(layer::fc<4, 2>(x)));
  }));
}

TEST_CASE("gradient: matmul in all four forms and with one matrix for all") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::data<"x", float, 3, 4>(main);
    auto y = layer::data<"y", float, 4, 3>(main);
    auto plain = layer::matmul(x, y, {.alpha = 0.5f});
    auto left = layer::matmul<layer::matmul_form{.transpose_x = true}>(y, y);
    auto right = layer::matmul<layer::matmul_form{.transpose_y = true}>(x, x);
    auto both = layer::matmul<layer::matmul_form{.transpose_x = true, .transpose_y = true}>(y, x);
    return layer::mean(layer::square(plain) + left + right * both);
  }));
}

TEST_CASE("gradient: reductions over one, several and all dimensions") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::data<"x", float, 3, 4>(main);
    auto a = layer::square(layer::reduce_sum<1>(x));
    auto b = layer::square(layer::reduce_mean<-2>(x)) * layer::reduce_max<1>(x);
    auto c = layer::reduce_min<1>(x) * layer::reduce_prod<1>(x);
    return layer::mean(a + b + c) + layer::reduce_sum(layer::square(x)) +
           layer::mean(layer::reduce_mean<1, 2>(layer::square(x), layer::keep_dim));
  }));
}

TEST_CASE("gradient: cumsum in both directions") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::data<"x", float, 4>(main);
    auto a = layer::cumsum(x) * x;
    return layer::mean(a + layer::square(layer::cumsum(x, {.exclusive = true, .reverse = true})));
  }));
}

TEST_CASE("gradient: reshape, transpose, squeeze, unsqueeze, flatten") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::data<"x", float, 2, 6>(main);
    auto t = layer::transpose<0, 2, 1>(layer::reshape<3, 4>(x));
    auto u = layer::squeeze<2>(layer::unsqueeze<2>(t));
    auto f = layer::flatten(u);
    return layer::mean(layer::square(layer::fc<2>(f)) * layer::fc<2>(x));
  }));
}

TEST_CASE("gradient: concat, split, stack, slice, pad, expand") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::data<"x", float, 3>(main);
    auto y = layer::data<"y", float, 2>(main);
    auto joined = layer::concat(std::tuple{x, y, x});
    auto [a, b] = layer::split<2>(joined);
    auto piled = layer::stack<1>({a * b, a});
    auto part = layer::slice<layer::along<1, 0, 1>, layer::along<2, -3, 9>>(piled);
    auto wide = layer::expand<1, 2, 1>(part);
    return layer::mean(layer::square(layer::pad<0, 0, 0, 0, 1, 0>(wide)) * piled);
  }));
}

TEST_CASE("gradient: parts of a split that nothing reads count as zeros") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::data<"x", float, 6>(main);
    auto [a, b, c] = layer::split<3>(x);
    (void)b;
    return layer::mean(layer::square(a) * c);
  }));
}

TEST_CASE("gradient: embedding and gather add up rows that are used twice") {
  laws::check_gradients(lamina::program([](block& main) {
                          auto id = layer::data<"id", std::int64_t>(main);
                          auto e = layer::embedding<5, 3>(id, {.padding_idx = 2});
                          auto x = layer::data<"x", float, 3>(main);
                          return layer::mean(layer::square(layer::gather(x, id)) * e + e);
                        }),
                        {{"id", tensor({3, 1}, std::vector<std::int64_t>{1, 2, 1})}});
  // Selected rows: of two lookups together, and of one beside a whole gradient.
  laws::check_gradients(lamina::program([](block& main) {
                          auto id = layer::data<"id", std::int64_t>(main);
                          auto look_up = [&](std::string_view name, bool sparse) {
                            return layer::embedding<5, 3>(
                                id, {.param = {.name = name}, .is_sparse = sparse});
                          };
                          auto a = look_up("a", true) + layer::square(look_up("a", true));
                          auto b = look_up("b", true) * look_up("b", false);
                          return layer::mean(a * b + a);
                        }),
                        {{"id", tensor({3, 1}, std::vector<std::int64_t>{1, 2, 1})}});
}

TEST_CASE("gradient: top_k and dropout with a fixed seed") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::fc<5>(layer::data<"x", float, 3>(main));
    auto [values, places] = layer::topk<2>(x);
    (void)places;
    return layer::mean(layer::square(values)) + layer::mean(layer::square(layer::dropout(x, 0.4f)));
  }));
}
