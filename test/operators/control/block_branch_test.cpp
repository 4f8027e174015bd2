// SPDX-License-Identifier: Apache-2.0
// Branches: if_else, cond, switch_case and conditional_block, their gradients and the engine.

#include "executor/run_program.hpp"
#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>
#include <laws/block_gradient_law.hpp>
#include <laws/recorded_pieces.hpp>
#include <laws/sequence_law.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/operators/control/block/layer_conditional.hpp>
#include <lamina/operators/control/block/layer_while.hpp>
#include <lamina/operators/control/rnn/layer_dynamic.hpp>
#include <lamina/operators/control/split_merge/layer.hpp>

namespace layer = lamina::layer;
using executed::returned_by;
using executed::values_of;
using lamina::block;
using lamina::lod_tensor;
using pieces::cost_of;
using pieces::pooled;
using pieces::positive;
using pieces::sum_of_squares;

using integer = std::int64_t;

using values = std::vector<double>;

namespace {

lod_tensor column(const std::vector<float>& of) { return lamina::tensor({of.size(), 1}, of); }

constexpr auto constant(block& main, integer value) {
  return layer::fill_constant<integer>(main, static_cast<double>(value));
}

constexpr auto real(block& main, double value) { return layer::fill_constant<float>(main, value); }

// |x| by rows, and how many rows each side had.
constexpr auto magnitude = lamina::program([](block& main) {
  auto x = layer::data<"x", float>(main);
  return layer::if_else(
      positive(x), [&](auto& yes) { return layer::scale(yes.input(x), 1); },
      [&](auto& no) { return -no.input(x); });
});

constexpr auto two_nets = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto key = layer::data<"key", float>(main);
  auto h = layer::tanh(layer::fc<4>(x));
  auto [y, z] = layer::if_else(
      positive(key),
      [&](auto& yes) {
        auto in = yes.input(h);
        return std::tuple{layer::fc<2>(in), in * in};
      },
      [&](auto& no) {
        auto in = no.input(h);
        return std::tuple{layer::tanh(layer::fc<2>(no.input(x))), layer::sin(in)};
      });
  return std::tuple{sum_of_squares(y) + sum_of_squares(z * h), y};
});

lamina::feed_map keys(const std::vector<float>& of) { return {{"key", column(of)}}; }

const laws::gradient_options four_rows{.rows = 4, .constant = {"key"}};

}  // namespace

TEST_CASE("if_else merges rows in their order: mixed, all true, all false, no rows") {
  CHECK(values_of(returned_by<double>(magnitude, {{"x", column({3, -1, -4, 1, -5})}})[0]) ==
        values{3, 1, 4, 1, 5});
  CHECK(values_of(returned_by<double>(magnitude, {{"x", column({3, 1})}})[0]) == values{3, 1});
  CHECK(values_of(returned_by<double>(magnitude, {{"x", column({-3, -1})}})[0]) == values{3, 1});
  const auto none = returned_by<double>(magnitude, {{"x", column({})}})[0];
  CHECK(none.shape() == lamina::tensor_shape{0, 1});
}

TEST_CASE("each row of an if_else alone is that of the batch") {
  constexpr auto net = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 3>(main);
    auto key = layer::data<"key", float>(main);
    return layer::if_else(
        positive(key), [&](auto& yes) { return layer::fc<2>(yes.input(x)); },
        [&](auto& no) { return layer::fc<2>(no.input(x)); });
  });
  const lod_tensor x(
      lamina::tensor({4, 3}, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 0, 1}));
  laws::check_each_sample_alone(net, {{"x", x}, {"key", column({1, -1, -1, 1})}});
}

TEST_CASE("gradient: if_else, mixed, all true and all false") {
  laws::check_block_gradients(two_nets, keys({1, -1, -1, 1}), four_rows);
  laws::check_block_gradients(two_nets, keys({1, 1, 1, 1}), four_rows);
  laws::check_block_gradients(two_nets, keys({-1, -1, -1, -1}), four_rows);
}

TEST_CASE("an if_else without rows has zero gradients") {
  constexpr auto backward = lamina::transform::append_backward(two_nets);
  lamina::basic_executor<double> executor;
  lamina::scope scope;
  executor.run_startup(two_nets.view(), scope);
  const auto found = executor.run(
      backward.view(), scope,
      {{"x", lamina::tensor::zeros(lamina::dtype::float32, {0, 3})}, {"key", column({})}},
      {"fc_0.w_0@GRAD", "fc_1.w_0@GRAD", "fc_2.w_0@GRAD"});
  for (const lod_tensor& t : found)
    for (const double x : values_of(t)) CHECK(x == 0);
}

TEST_CASE("gradient: an if_else in a loop, the mask changes in each iteration") {
  laws::check_block_gradients(
      lamina::program([](block& main) {
        auto x = layer::data<"x", float, 2>(main);
        auto h = x;
        auto i = constant(main, 0), n = constant(main, 4);
        auto going = layer::less_than(i, n);
        layer::while_loop(going, [&](block&) {
          h = layer::if_else(
              positive(layer::reduce_sum<1>(h, layer::keep_dim)),
              [&](auto& yes) { return layer::fc<2>(yes.input(h)) - yes.input(x); },
              [&](auto& no) { return layer::tanh(layer::fc<2>(no.input(h))) + no.input(x); });
          layer::increment(i);
          layer::less_than(i, n, going);
        });
        return std::tuple{sum_of_squares(h), h};
      }),
      {}, {.rows = 5}, true);
}

TEST_CASE("gradient: a loop in a branch, that runs or has no rows; an if_else in a branch") {
  constexpr auto net = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 2>(main);
    auto key = layer::data<"key", float>(main);
    auto inner = layer::data<"inner", float>(main);
    auto y = layer::if_else(
        positive(key),
        [&](auto& yes) {
          auto h = yes.input(x);
          auto i = constant(main, 0), n = constant(main, 3);
          auto going = layer::less_than(i, n);
          layer::while_loop(going, [&](block&) {
            h = layer::tanh(layer::fc<2>(h)) + yes.input(x);
            layer::increment(i);
            layer::less_than(i, n, going);
          });
          return h;
        },
        [&](auto& no) {
          auto z = no.input(x);
          return layer::if_else(
              positive(no.input(inner)), [&](auto& one) { return layer::fc<2>(one.input(z)); },
              [&](auto& two) { return layer::sin(two.input(z)); });
        });
    return sum_of_squares(y * x);
  });
  laws::gradient_options options{.rows = 4, .constant = {"key", "inner"}};
  const lod_tensor inner = column({1, -1, 1, -1});
  laws::check_block_gradients(net, {{"key", column({1, -1, -1, 1})}, {"inner", inner}}, options);
  laws::check_block_gradients(net, {{"key", column({-1, -1, -1, -1})}, {"inner", inner}}, options);
  laws::check_block_gradients(net, {{"key", column({1, 1, 1, 1})}, {"inner", inner}}, options);
}

TEST_CASE("if_else splits whole sequences by a mask of samples, and elements by one of elements") {
  constexpr auto net = lamina::program([](block& main) {
    auto words = layer::sequence<"words", float, 2>(main);
    auto key = layer::data<"key", float>(main);
    auto by_sample = layer::if_else(
        positive(key), [&](auto& yes) { return layer::scale(yes.input(words), 10); },
        [&](auto& no) { return layer::scale(no.input(words), -1); });
    auto by_word = layer::if_else(
        positive(layer::reduce_sum<1>(words, layer::keep_dim)),
        [&](auto& yes) { return layer::scale(yes.input(words), 10); },
        [&](auto& no) { return layer::scale(no.input(words), -1); });
    static_assert(__is_same(decltype(by_sample), decltype(words)));
    return std::tuple{by_sample, by_word};
  });
  using pair = std::array<float, 2>;
  const lod_tensor words =
      lamina::sequences<pair>({{{1, 2}, {-3, 1}}, {}, {{-5, 6}, {7, 8}, {0, -1}}, {{2, 2}}});
  const auto found = returned_by<double>(net, {{"words", words}, {"key", column({-1, 1, 1, -1})}});
  CHECK(to_string(found[0].lod()) == to_string(words.lod()));
  CHECK(to_string(found[1].lod()) == to_string(words.lod()));
  CHECK(values_of(found[0]) == values{-1, -2, 3, -1, -50, 60, 70, 80, 0, -10, -2, -2});
  CHECK(values_of(found[1]) == values{10, 20, 3, -1, -50, 60, 70, 80, 0, 1, 20, 20});
  laws::check_each_sample_alone(net, {{"words", words}, {"key", column({-1, 1, 1, -1})}});
}

TEST_CASE("gradient: if_else over sequences, with one that is empty") {
  laws::check_block_gradients(
      lamina::program([](block& main) {
        auto words = layer::sequence<"words", float, 2>(main);
        auto key = layer::data<"key", float>(main);
        auto y = layer::if_else(
            positive(key), [&](auto& yes) { return layer::fc<2>(yes.input(words)); },
            [&](auto& no) { return layer::sin(no.input(words)); });
        auto pooled = layer::if_else(
            positive(key),
            [&](auto& yes) {
              return layer::sequence_pool(yes.input(y), {.type = lamina::pooling_type::sum});
            },
            [&](auto& no) {
              return layer::sequence_pool(no.input(words), {.type = lamina::pooling_type::max});
            });
        return sum_of_squares(y) + sum_of_squares(pooled);
      }),
      {{"key", column({1, -1, -1})}}, {.rows = 3, .constant = {"key"}});
}

TEST_CASE("switch_case runs the first case that holds") {
  constexpr auto net = lamina::program([](block& main) {
    auto x = layer::data<"x", float>(main);
    auto at = layer::reduce_sum(x);
    auto rate = real(main, 0.5), runs = real(main, 0);
    layer::switch_case(layer::less_than(at, real(main, 1)), [&](block&) { rate = real(main, 1); })
        .when(layer::less_than(at, real(main, 2)),
              [&](block&) {
                rate = real(main, 2);
                runs = runs + 1;
              })
        .when(layer::less_than(at, real(main, 3)), [&](block&) { rate = rate * 6; })
        .otherwise([&](block&) { runs = runs + 5; });
    return std::tuple{rate, runs};
  });
  const auto at = [&](float x) {
    const auto found = returned_by<double>(net, {{"x", column({x})}});
    return values{found[0].cast<double>().flat(0), found[1].cast<double>().flat(0)};
  };
  CHECK(at(0) == values{1, 0});
  CHECK(at(1) == values{2, 1});
  CHECK(at(2.5f) == values{3, 0});
  CHECK(at(4) == values{0.5, 5});
}

TEST_CASE("gradient: a conditional_block, run and not; what it leaves unwritten passes through") {
  constexpr auto net = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 2>(main);
    auto key = layer::data<"key", float>(main);
    auto h = layer::fc<2>(x), g = h;
    layer::conditional_block(positive(layer::reduce_sum(key)), [&](block&) {
      h = layer::tanh(layer::fc<2>(h) * g) + x;
      g = layer::sin(g);
    });
    return sum_of_squares(h) + sum_of_squares(g * x);
  });
  laws::check_block_gradients(net, keys({1, 1, 1, 1}), four_rows);
  laws::check_block_gradients(net, keys({-1, -1, -1, -1}), four_rows);
}

TEST_CASE("gradient: cond in a loop, which takes both sides; switch_case") {
  laws::check_block_gradients(lamina::program([](block& main) {
    auto x = layer::data<"x", float, 2>(main);
    auto h = x;
    auto i = constant(main, 0), n = constant(main, 4), two = constant(main, 2);
    auto going = layer::less_than(i, n);
    layer::while_loop(going, [&](block&) {
      auto even = layer::equal(layer::elementwise_mod(i, two), constant(main, 0));
      h = layer::cond(
          even, [&](block&) { return layer::tanh(layer::fc<2>(h)) + x; },
          [&](block&) { return h * layer::cos(h); });
      layer::switch_case(layer::equal(i, two), [&](block&) { h = h * h; }).otherwise([&](block&) {
        h = layer::fc<2>(h);
      });
      layer::increment(i);
      layer::less_than(i, n, going);
    });
    auto [a, b] = layer::cond(
        layer::less_than(n, i),
        [&](block&) {
          return std::tuple{h, x};
        },
        [&](block&) {
          return std::tuple{x * h, layer::scale(h, 0.5f)};
        });
    return sum_of_squares(a) + sum_of_squares(b);
  }));
}

namespace {

constexpr auto two_nets_on_engine = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto key = layer::data<"key", float>(main);
  auto id = layer::data<"id", std::int64_t>(main);
  auto h = layer::tanh(layer::fc<4>(x));
  auto [y, z, ids] = layer::if_else(
      positive(key),
      [&](auto& yes) {
        auto in = yes.input(h);
        return std::tuple{layer::fc<2>(in), in * in, yes.input(id)};
      },
      [&](auto& no) {
        auto in = no.input(h);
        auto one = no.input(id);
        return std::tuple{layer::tanh(layer::fc<2>(no.input(x))), layer::sin(in), one + one};
      });
  return std::tuple{cost_of(y) + cost_of(z * h), y, z, ids};
});

constexpr auto of_sequences = lamina::program([](block& main) {
  auto x = layer::nested_sequence<"x", float, 3>(main);
  auto key = layer::data<"key", float>(main);
  auto h = layer::fc<3>(x);
  auto y = layer::if_else(
      positive(key), [&](auto& yes) { return layer::tanh(layer::fc<5>(yes.input(h))); },
      [&](auto& no) { return layer::square(layer::fc<5>(layer::sequence_reverse(no.input(h)))); });
  return std::tuple{cost_of(pooled(y)), y};
});

// Words by a condition of their own; each branch pools and repeats what it has.
constexpr auto of_words = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 3>(main);
  auto h = layer::fc<3>(x);
  auto y = layer::if_else(
      positive(layer::fc<1>(x)), [&](auto& yes) { return layer::tanh(yes.input(h)); },
      [&](auto& no) { return layer::fc<3>(no.input(h)); });
  return std::tuple{cost_of(pooled(y)), y};
});

constexpr auto one_side = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto w = layer::fc<2>(x);
  const auto mean = layer::mean(w);
  auto [y, z] = layer::cond(
      positive(mean),
      [&](block&) {
        return std::tuple{layer::tanh(w), layer::scale(w, 2.0f)};
      },
      [&](block&) {
        return std::tuple{layer::square(w), layer::fc<2>(w)};
      });
  return std::tuple{cost_of(y) + cost_of(layer::sin(z)), y, z};
});

constexpr auto recurrence_in_a_branch = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 3>(main);
  auto key = layer::data<"key", float>(main);
  auto h = layer::fc<3>(x);
  auto y = layer::if_else(
      positive(key),
      [&](auto& yes) {
        auto in = yes.input(h);
        return layer::dynamic_rnn(in, [&](auto& step) {
          auto m = step.memory(lamina::dims<3>);
          auto next = layer::tanh(layer::fc<3>(m) + step.input(in));
          step.update(m, next);
          return next;
        });
      },
      [&](auto& no) { return layer::sin(no.input(h)); });
  return std::tuple{cost_of(pooled(y)), y};
});

// Documents go one way or the other, with their sentences and words.
constexpr auto of_documents = lamina::program([](block& main) {
  auto words = layer::nested_sequence<"words", float, 3>(main);
  auto key = layer::data<"key", float>(main);
  auto h = layer::fc<3>(words);
  auto y = layer::if_else(
      positive(key),
      [&](auto& yes) {
        auto in = yes.input(h);
        return layer::dynamic_rnn(in, [&](auto& step) {
          auto m = step.memory(lamina::dims<3>);
          auto next = layer::tanh(layer::fc<3>(m) + layer::fc<3>(step.input(in)));
          step.update(m, next);
          return next;
        });
      },
      [&](auto& no) { return layer::sin(layer::fc<3>(no.input(h))); });
  return std::tuple{cost_of(pooled(pooled(y))), y};
});

}  // namespace

TEST_CASE("if_else on rows") { lamina::law::check_engine(two_nets_on_engine, {.limit = 9}); }

TEST_CASE("if_else on sequences") {
  lamina::law::check_engine(of_sequences);
  lamina::law::check_engine(of_words);
}

TEST_CASE("cond chooses one of two results") {
  lamina::law::check_engine(one_side, {.rows_are_alone = false});
}

TEST_CASE("dynamic_rnn in a branch") { lamina::law::check_engine(recurrence_in_a_branch); }

TEST_CASE("if_else on documents: mixed, all true, all false, none") {
  lamina::law::check_engine(of_documents);
  lamina::law::check_engine(of_documents, {.low = 0.1f});
  lamina::law::check_engine(of_documents, {.high = -0.1f});
  lamina::law::check_engine(of_documents, {.rows_are_alone = false, .batches = {0}});
}
