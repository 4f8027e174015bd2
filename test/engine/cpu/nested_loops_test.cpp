// SPDX-License-Identifier: Apache-2.0
// Steps of a recurrence that do more than products, on the engine: attention over a second
// sequence, a recurrence inside of a step, against the executor, gradients included.
#include "laws/engine_law.hpp"
#include "laws/recorded_pieces.hpp"

#include <lamina/layers/layers.hpp>
#include <lamina/operators/control/rnn/layer_dynamic.hpp>
#include <lamina/operators/control/rnn/layer_static.hpp>

namespace layer = lamina::layer;
using lamina::block;
using pieces::cost_of;
using pieces::pooled;

namespace {

// A decoder of a translation: each step weighs the source.
constexpr auto decoder = lamina::program([](block& main) {
  auto target = layer::sequence<"target", float, 4>(main);
  auto source = layer::sequence<"source", float, 4>(main);
  auto encoded = layer::tanh(layer::fc<6>(source));
  auto start = layer::sequence_last_step(encoded);
  auto out = layer::dynamic_rnn(target, [&](auto& step) {
    auto in = step.input(target);
    auto h = step.memory(start);
    auto seen = step.static_input(encoded);
    auto asked = layer::sequence_expand(layer::fc<6>(h), seen);
    auto weight = layer::sequence_softmax(layer::fc<1>(layer::tanh(asked + seen)));
    auto context = pooled(layer::elementwise_mul<0>(seen, weight));
    auto next = layer::tanh(layer::fc<6>(std::tuple{in, context, h}));
    step.update(h, next);
    return next;
  });
  return std::tuple{cost_of(pooled(out)), out};
});

// A recurrence over the whole source in each step.
constexpr auto rnn_in_a_step = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 3>(main);
  auto source = layer::sequence<"source", float, 3>(main);
  auto out = layer::dynamic_rnn(x, [&](auto& step) {
    auto in = step.input(x);
    auto seen = step.static_input(source);
    auto inner = layer::dynamic_rnn(seen, [&](auto& inside) {
      auto m = inside.memory(in);
      auto next = layer::tanh(layer::fc<3>(m) + inside.input(seen));
      inside.update(m, next);
      return next;
    });
    return in + pooled(inner);
  });
  return std::tuple{cost_of(pooled(out)), out};
});

// Sequences of new lengths in each step.
constexpr auto made_in_a_step = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 4, 2>(main);
  auto source = layer::sequence<"source", float, 2>(main);
  auto h = layer::fc<2>(source);
  auto out = layer::static_rnn(x, [&](auto& step) {
    auto m = step.memory(lamina::dims<2>);
    auto seen = layer::sequence_concat<"seen">(
        std::tuple{h, layer::elementwise_mul<0>(h, layer::sequence_expand(step.input(x), h))});
    auto next = layer::tanh(pooled(seen) + layer::fc<2>(m));
    step.update(m, next);
    return next;
  });
  return std::tuple{cost_of(out), out};
});

// Arrays of sequences that are fed, where no operator makes rows: what is read has sequences that
// are known already.
constexpr auto array_of_fed = lamina::program([](block& main) {
  auto x = layer::nested_sequence<"x", float, 2>(main);
  auto h = layer::fc<2>(x, {.act = lamina::activation::tanh});
  auto i = layer::fill_constant<std::int64_t>(main, 0),
       n = layer::fill_constant<std::int64_t>(main, 3);
  auto all = layer::array_write(h, i);
  auto going = layer::less_than(i, n);
  layer::while_loop(going, [&](block&) {
    auto next = layer::tanh(layer::fc<2>(layer::array_read(all, i)));
    layer::increment(i);
    layer::array_write(next, i, all);
    layer::less_than(i, n, going);
  });
  auto last = layer::array_read(all, i);
  return std::tuple{cost_of(pooled(pooled(last))), last};
});
constexpr auto steps_of_elements = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 3, 2>(main);
  auto out = layer::static_rnn(x, [&](auto& step) {
    auto m = step.memory(lamina::dims<2>);
    auto next = layer::sequence_reverse(layer::tanh(layer::fc<2>(std::tuple{step.input(x), m})));
    step.update(m, next);
    return next;
  });
  return std::tuple{cost_of(pooled(layer::reshape<6>(out))), out};
});

}  // namespace

TEST_CASE("Attention in a step") { lamina::law::check_engine(decoder); }
TEST_CASE("A recurrence in a step") { lamina::law::check_engine(rnn_in_a_step); }
TEST_CASE("Arrays of fed sequences") {
  lamina::law::check_engine(array_of_fed, {.batches = {1, 17, 40}});
}
TEST_CASE("Steps of the elements of fed sequences") {
  lamina::law::check_engine(steps_of_elements, {.batches = {1, 17, 40}});
}
TEST_CASE("Made sequences in a step") { lamina::law::check_engine(made_in_a_step); }
