// SPDX-License-Identifier: Apache-2.0
// Gradients through loops are difference quotients.

#include "executor/shared_executor.hpp"
#include <catch2/catch.hpp>
#include <laws/block_gradient_law.hpp>
#include <laws/recorded_pieces.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/operators/control/array/layer.hpp>
#include <lamina/operators/control/block/layer_while.hpp>
#include <lamina/transform/block_gradients.hpp>

namespace layer = lamina::layer;
using lamina::block;
using pieces::sum_of_squares;

using integer = std::int64_t;

namespace {

constexpr auto constant(block& main, integer value) {
  return layer::fill_constant<integer>(main, static_cast<double>(value));
}

/// Runs body(i) for i = 0 ... times - 1.
template <class F>
constexpr void repeat(block& main, integer times, F body) {
  auto i = constant(main, 0), n = constant(main, times);
  auto going = layer::less_than(i, n);
  layer::while_loop(going, [&](block& inner) {
    body(inner, i);
    layer::increment(i);
    layer::less_than(i, n, going);
  });
}

template <integer Times>
constexpr auto recurrent = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto h = layer::data<"h", float, 4>(main);
  repeat(main, Times, [&](block&, auto&) {
    h = layer::tanh(layer::fc<4>(x) + layer::fc<4>(h, {.bias = false}));
  });
  return sum_of_squares(h);
});

}  // namespace

TEST_CASE("gradient: a recurrence with shared weights; no iteration") {
  laws::check_block_gradients(recurrent<7>);
  laws::check_block_gradients(recurrent<1>);
  laws::check_block_gradients(recurrent<0>);
}

TEST_CASE("gradient: iterations that the data decides, none too") {
  constexpr auto net = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 3>(main);
    auto limit = layer::fill_constant<float>(main, 1.5);
    auto going = layer::greater_than(layer::reduce_max(layer::abs(x)), limit);
    layer::while_loop(going, [&](block&) {
      x = layer::scale(x, 0.9f) + layer::scale(layer::tanh(layer::fc<3>(x)), 0.1f);
      layer::greater_than(layer::reduce_max(layer::abs(x)), limit, going);
    });
    return sum_of_squares(x);
  });
  laws::check_block_gradients(net, {}, {.low = 2, .high = 3});
  laws::check_block_gradients(net, {}, {.low = -1, .high = 1});
}

TEST_CASE("gradient: two carried variables swap, a third one follows") {
  laws::check_block_gradients(lamina::program([](block& main) {
    auto a = layer::data<"a", float, 3>(main);
    auto b = layer::data<"b", float, 3>(main);
    auto c = a;
    repeat(main, 5, [&](block&, auto&) {
      auto old = a;
      a = b;
      b = layer::tanh(layer::fc<3>(old)) * c;
      c = old;
    });
    return sum_of_squares(a) + sum_of_squares(b * c);
  }));
}

TEST_CASE("gradient: an alias from before the loop, a local copy, a value read behind it") {
  laws::check_block_gradients(lamina::program([](block& main) {
    auto x = layer::data<"x", float, 3>(main);
    auto h = x;
    auto last = x;
    repeat(main, 3, [&](block&, auto&) {
      auto t = h;
      t = layer::sin(t);
      last = h;
      h = t * x + h;
    });
    return sum_of_squares(h * x) + sum_of_squares(last);
  }));
}

TEST_CASE("gradient: nested loops, the inner one with 0, 1 and 2 iterations") {
  laws::check_block_gradients(lamina::program([](block& main) {
    auto x = layer::data<"x", float, 3>(main);
    auto h = x, z = layer::scale(x, 0.5f);
    repeat(main, 3, [&](block& body, auto& i) {
      auto j = constant(body, 0);
      auto inner = layer::less_than(j, i);
      auto u = layer::sin(h);
      layer::while_loop(inner, [&](block&) {
        u = layer::tanh(layer::fc<3>(u, {.param = {.name = "w"}}) + h);
        z = z * layer::cos(u) + h;  // of the outermost block, written in the inner loop only
        layer::increment(j);
        layer::less_than(j, i, inner);
      });
      h = layer::tanh(layer::fc<3>(h, {.param = {.name = "w"}})) + u * x;
    });
    return sum_of_squares(h) + sum_of_squares(z);
  }));
}

TEST_CASE("gradient: arrays, read in the other order, with a slot that is overwritten") {
  laws::check_block_gradients(lamina::program([](block& main) {
    auto x = layer::data<"x", float, 3>(main);
    auto zero = constant(main, 0), one = constant(main, 1);
    auto n = constant(main, 4);
    auto a = layer::array_write(layer::sin(x), one);
    auto h = x;
    repeat(main, 5, [&](block&, auto& i) {
      h = layer::tanh(layer::fc<3>(h)) + x;
      layer::array_write(h, i, a);                 // the second iteration overwrites a[1]
      layer::array_write(layer::cos(h), zero, a);  // every iteration overwrites a[0]
    });
    auto y = layer::array_read(a, zero);
    repeat(main, 5, [&](block&, auto& i) {
      auto back = layer::elementwise_sub(n, i);
      y = y * layer::array_read(a, back) + layer::array_read(a, one);
    });
    return sum_of_squares(y);
  }));
}

TEST_CASE("gradient: an array written and read in one loop, the index changes in between") {
  laws::check_block_gradients(lamina::program([](block& main) {
    auto x = layer::data<"x", float, 2>(main);
    auto i = constant(main, 0), n = constant(main, 6);
    auto a = layer::array_write(x, i);
    auto going = layer::less_than(i, n);
    layer::while_loop(going, [&](block&) {
      auto h = layer::array_read(a, i);
      layer::increment(i);
      layer::array_write(layer::tanh(layer::fc<2>(h)) + layer::scale(h, 0.3f), i, a);
      layer::less_than(i, n, going);
    });
    auto y = layer::array_read(a, i);
    return sum_of_squares(y) + sum_of_squares(layer::array_read(a, constant(main, 2)));
  }));
}

TEST_CASE("gradient: an array of the body, and a parameter that is used outside as well") {
  laws::check_block_gradients(lamina::program([](block& main) {
    auto x = layer::data<"x", float, 3>(main);
    auto h = layer::fc<3>(x, {.param = {.name = "w"}, .bias = false});
    repeat(main, 3, [&](block& body, auto& i) {
      auto zero = constant(body, 0);
      auto fresh = layer::array_write(h, zero);
      auto t = layer::fc<3>(layer::array_read(fresh, zero), {.param = {.name = "w"}});
      layer::array_write(t * h, i, fresh);
      h = layer::tanh(layer::array_read(fresh, i) + layer::array_read(fresh, zero));
    });
    return sum_of_squares(layer::fc<3>(h, {.param = {.name = "w"}}));
  }));
}

TEST_CASE("gradient: loops in loops in loops") {
  laws::check_block_gradients(
      lamina::program([](block& main) {
        auto x = layer::data<"x", float, 2>(main);
        auto h = x;
        repeat(main, 2, [&](block& one, auto&) {
          auto u = h * x;
          repeat(one, 2, [&](block& two, auto&) {
            auto v = u + h;
            repeat(two, 2, [&](block&, auto&) { v = layer::tanh(layer::fc<2>(v) + u) * x; });
            u = v + u;
          });
          h = layer::tanh(u);
        });
        return sum_of_squares(h);
      }),
      {}, {.low = 0.3f, .high = 1});
}
