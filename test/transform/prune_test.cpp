// SPDX-License-Identifier: Apache-2.0
// prune keeps what some variables need: through loops, branches and gradients.
#include <algorithm>

#include "executor/shared_executor.hpp"
#include "transform/pruned_run.hpp"
#include <catch2/catch.hpp>
#include <laws/gradient_check.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/operators/control/array/layer.hpp>
#include <lamina/operators/control/rnn/layer_dynamic.hpp>
#include <lamina/operators/control/rnn/layer_static.hpp>
#include <lamina/transform/clone_for_test.hpp>
#include <lamina/transform/prune.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::program_view;
using lamina::transform::prune;
using pruned_run::check_same;
using pruned_run::count_of;
using pruned_run::names;
using pruned_run::outputs_of;
using pruned_run::types_of;

using integer = std::int64_t;

namespace {

constexpr auto constant(block& main, integer value) {
  return layer::fill_constant<integer>(main, static_cast<double>(value));
}

// The variables in a slot of the first operator of a type.
names slot_of(const program_view& p, std::string_view type, std::string_view slot) {
  names found;
  for (int k = 0; k < p.count.operators && found.empty(); ++k) {
    const lamina::operator_desc& op = p.operators[k];
    if (op.schema->type != type) continue;
    for (int out = 0; out < 2; ++out) {
      const lamina::slot_desc* slots = out == 0 ? op.schema->inputs : op.schema->outputs;
      const int count = out == 0 ? op.schema->input_count : op.schema->output_count;
      for (int s = 0, at = out == 0 ? op.inputs : op.outputs; s < count; ++s) {
        const int n = slots[s].duplicable ? p.arguments[at++] : 1;
        for (int i = 0; i < n; ++i, ++at)
          if (slots[s].name == slot) found.push_back(lamina::variable_name(p, p.arguments[at]));
      }
    }
  }
  return found;
}

// a needs b of the iteration before, which b's own past makes; c needs nothing of them.
constexpr auto three = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 2>(main);
  auto a = layer::scale(x, 1), b = layer::scale(x, 2), c = layer::scale(x, 3);
  auto i = constant(main, 0), end = constant(main, 4);
  auto going = layer::less_than(i, end);
  layer::while_loop(going, [&](block&) {
    a = layer::tanh(a + b);
    c = layer::fc<2>(c, {.param = {.name = "of_c"}, .bias = false});
    b = layer::fc<2>(b, {.param = {.name = "of_b"}, .bias = false});
    layer::increment(i);
    layer::less_than(i, end, going);
  });
  return std::tuple{layer::mean(layer::scale(a, 1, {.name = "a"})),
                    layer::scale(b, 1, {.name = "b"}), layer::scale(c, 1, {.name = "c"})};
});

}  // namespace

TEST_CASE("prune: of what a loop carries only what is needed") {
  const auto a = prune<"a">(three);
  const auto b = prune<"b">(three);
  const auto c = prune<"c">(three);
  check_same(three.view(), a.view(), outputs_of(a.view()));
  check_same(three.view(), b.view(), outputs_of(b.view()));
  check_same(three.view(), c.view(), outputs_of(c.view()));
  CHECK(count_of(three.view(), "mul") == 2);
  CHECK(count_of(a.view(), "mul") == 1);
  CHECK(count_of(a.view(), "tanh") == 1);
  CHECK(count_of(b.view(), "mul") == 1);
  CHECK(count_of(b.view(), "tanh") == 0);
  const names read = slot_of(c.view(), "while", "X");
  CHECK(std::count(read.begin(), read.end(), "of_c") == 1);
  CHECK(std::count(read.begin(), read.end(), "of_b") == 0);
  // What c carries, the number and the condition.
  CHECK(slot_of(three.view(), "while", "Out").size() == 5);
  CHECK(slot_of(a.view(), "while", "Out").size() == 4);
  CHECK(slot_of(c.view(), "while", "Out").size() == 3);
}

TEST_CASE("prune: to all outputs it changes nothing; a loop that nobody needs goes") {
  const auto all = prune<"mean_0.tmp_0", "b", "c">(three);
  CHECK(types_of(all.view()) == types_of(three.view()));
  CHECK(slot_of(all.view(), "while", "X") == slot_of(three.view(), "while", "X"));
  CHECK(slot_of(all.view(), "while", "Out") == slot_of(three.view(), "while", "Out"));
  const auto none = prune<"x">(three);
  CHECK(types_of(none.view()) == names{"data"});
}

TEST_CASE("prune: recurrences, their arrays and final states") {
  constexpr auto net = lamina::program([](block& main) {
    auto x = layer::sequence<"x", float, 2>(main);
    auto y = layer::data<"y", float, 4, 2>(main);
    auto results = layer::dynamic_rnn(x, [&](auto& step) {
      auto h = step.memory(lamina::dims<3>, {.value = 0.5f});
      auto g = step.memory(lamina::dims<3>);
      auto in = step.input(x);
      auto next = layer::tanh(layer::fc<3>(std::tuple{in, h}));
      auto more = layer::sigmoid(layer::fc<3>(in) + g);
      step.update(h, next);
      step.update(g, more);
      return std::tuple{next, more, step.last(h)};
    });
    auto hidden = std::get<0>(results), gate = std::get<1>(results);
    auto state = std::get<2>(results);
    auto turned = layer::static_rnn(y,
                                    [&](auto& step) {
                                      auto h = step.memory(state);
                                      auto next = h * layer::sin(layer::fc<3>(step.input(y)));
                                      step.update(h, next);
                                      return next;
                                    },
                                    {.reverse = true});
    return std::tuple{layer::mean(turned), layer::scale(hidden, 1, {.name = "hidden"}),
                      layer::scale(gate, 1, {.name = "gate"}),
                      layer::scale(state, 1, {.name = "state"})};
  });
  const auto hidden = prune<"hidden">(net);
  const auto gate = prune<"gate">(net);
  const auto state = prune<"state">(net);
  const auto turned = prune<"mean_0.tmp_0">(net);
  check_same(net.view(), hidden.view(), outputs_of(hidden.view()));
  check_same(net.view(), gate.view(), outputs_of(gate.view()));
  check_same(net.view(), state.view(), outputs_of(state.view()));
  check_same(net.view(), turned.view(), outputs_of(turned.view()));
  CHECK(count_of(hidden.view(), "sigmoid") == 0);
  CHECK(count_of(hidden.view(), "last_rnn_memory") == 0);
  CHECK(count_of(hidden.view(), "while") == 1);
  CHECK(count_of(gate.view(), "tanh") == 0);
  CHECK(count_of(state.view(), "array_to_lod_tensor") == 0);
  CHECK(count_of(turned.view(), "while") == 2);
  CHECK(count_of(turned.view(), "sigmoid") == 0);
}

TEST_CASE("prune: branches, in loops too, and a loop in a loop") {
  constexpr auto net = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 2>(main);
    auto y = layer::scale(x, 0.5f), z = y, w = y;
    auto o = constant(main, 0), end = constant(main, 3), two = constant(main, 2);
    auto outside = layer::less_than(o, end);
    layer::while_loop(outside, [&](block& body) {
      auto i = constant(body, 0);
      auto going = layer::less_than(i, two);
      layer::while_loop(going, [&](block&) {
        y = layer::tanh(y + x);
        layer::increment(i);
        layer::less_than(i, two, going);
      });
      layer::conditional_block(layer::equal(o, two), [&](block&) {
        z = layer::sin(y);
        w = layer::cos(w);
      });
      layer::increment(o);
      layer::less_than(o, end, outside);
    });
    auto sum = layer::reduce_sum<1>(x, layer::keep_dim);
    auto [chosen, other] = layer::if_else(
        layer::greater_than(sum, layer::scale(sum, 0)),
        [&](auto& yes) {
          return std::tuple{layer::exp(yes.input(z)), yes.input(x)};
        },
        [&](auto& no) {
          return std::tuple{no.input(x), layer::square(no.input(w))};
        });
    return std::tuple{layer::mean(y), layer::scale(chosen, 1, {.name = "chosen"}),
                      layer::scale(other, 1, {.name = "other"})};
  });
  const auto y = prune<"mean_0.tmp_0">(net);
  const auto chosen = prune<"chosen">(net);
  const auto other = prune<"other">(net);
  check_same(net.view(), y.view(), outputs_of(y.view()));
  check_same(net.view(), chosen.view(), outputs_of(chosen.view()));
  check_same(net.view(), other.view(), outputs_of(other.view()));
  CHECK(count_of(y.view(), "conditional_block") == 0);
  CHECK(count_of(y.view(), "while") == 2);
  CHECK(count_of(chosen.view(), "conditional_block") == 3);
  CHECK(count_of(chosen.view(), "cos") == 0);
  CHECK(count_of(chosen.view(), "square") == 0);
  CHECK(count_of(other.view(), "while") == 1);
  CHECK(count_of(other.view(), "tanh") == 0);
}

TEST_CASE("prune: gradients through loops, branches and overwritten slots of arrays") {
  constexpr auto backward = lamina::with_backward<std::remove_const_t<decltype(three)>, true>{};
  const auto of_x = prune<"x@GRAD">(backward);
  const auto of_b = prune<"of_b@GRAD">(backward);
  check_same(backward.view(), of_x.view(), outputs_of(of_x.view()));
  check_same(backward.view(), of_b.view(), outputs_of(of_b.view()));
  CHECK(count_of(of_b.view(), "while_grad") == 1);
  const auto cost = prune<"mean_0.tmp_0">(backward);
  CHECK(count_of(cost.view(), "while_grad") == 0);
  CHECK(types_of(cost.view()) == types_of(prune<"mean_0.tmp_0">(three).view()));

  // Slot 0 holds x, then what needs no gradient, then is read.
  constexpr auto overwritten = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 2>(main);
    auto zero = constant(main, 0);
    auto a = layer::array_write(x, zero);
    auto before = layer::array_read(a, zero);
    auto fixed = layer::stop_gradient(layer::scale(x, 2));
    layer::array_write(fixed, zero, a);
    return layer::mean(before * 3.f + layer::square(layer::array_read(a, zero)));
  });
  constexpr auto of_slots =
      lamina::with_backward<std::remove_const_t<decltype(overwritten)>, true>{};
  const auto slots = prune<"x@GRAD">(of_slots);
  CHECK(count_of(of_slots.view(), "write_to_array_grad") == 2);
  CHECK(count_of(slots.view(), "write_to_array_grad") == 2);
  check_same(of_slots.view(), slots.view(), outputs_of(slots.view()));
}
