// SPDX-License-Identifier: Apache-2.0
// One machine for batches that grow and shrink, none of a row too, where operators make rows:
// memory and scratch memory follow.

#include "laws/engine_law.hpp"
#include "laws/recorded_pieces.hpp"

#include <lamina/engine/cpu/schedule/machine.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/operators/control/rnn/layer_dynamic.hpp>
#include <lamina/operators/control/split_merge/layer.hpp>

namespace layer = lamina::layer;
using lamina::block;
using pieces::pooled;

namespace {

// Rows of a branch, of steps inside of it, and sequences of new lengths.
constexpr auto net = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 3>(main);
  auto key = layer::data<"key", float>(main);
  auto h = layer::fc<20>(x);
  auto both = layer::sequence_concat<"both">(std::tuple{h, layer::tanh(h)});
  auto y = layer::if_else(
      layer::greater_than(key, layer::scale(key, 0)),
      [&](auto& yes) {
        auto in = yes.input(both);
        return layer::dynamic_rnn(in, [&](auto& step) {
          auto m = step.memory(lamina::dims<20>);
          auto next = layer::tanh(layer::fc<20>(std::tuple{m, step.input(in)}));
          step.update(m, next);
          return next;
        });
      },
      [&](auto& no) { return layer::softmax(layer::fc<20>(no.input(both))); });
  auto flat = layer::sequence_reshape<"flat", 10>(y);
  return std::tuple{layer::reduce_sum(layer::square(pooled(flat))), flat};
});

}  // namespace

TEST_CASE("One machine for batches of any size") {
  using run_type = lamina::law::engine_run<std::remove_const_t<decltype(net)>>;
  const lamina::law::engine_law_options o;
  run_type run(o);
  const std::vector<int> wanted = run_type::looked_at();
  for (const int rows : {2, 17, 1, 0, 40, 5, 41}) {
    INFO(rows << " rows");
    run.draw(rows);
    const std::vector<lamina::lod_tensor> expected = run.run_executor<double>(wanted);
    run.run_engine(0, rows);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      INFO("variable " << lamina::variable_name(run_type::program::view(), wanted[i]));
      lamina::law::require_close(run.on_engine(wanted[i]), expected[i], o.tolerance);
    }
  }
}
