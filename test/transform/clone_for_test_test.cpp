// SPDX-License-Identifier: Apache-2.0
// clone_for_test: bodies in test mode, without gradients.
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
using pruned_run::outputs_of;
using pruned_run::types_of;

TEST_CASE("clone_for_test: bodies in test mode without gradients") {
  constexpr auto net = lamina::program([](block& main) {
    auto x = layer::sequence<"x", float, 2>(main);
    auto y = layer::data<"y", float, 2>(main);
    auto hidden = layer::dynamic_rnn(x, [&](auto& step) {
      auto h = step.memory(lamina::dims<3>);
      auto next = layer::tanh(layer::fc<3>(std::tuple{step.input(x), layer::dropout(h, 0.5f)}));
      step.update(h, next);
      return next;
    });
    auto kept = layer::if_else(
        layer::greater_than(layer::reduce_sum<1>(y, layer::keep_dim),
                            layer::reduce_mean<1>(y, layer::keep_dim)),
        [&](auto& yes) { return layer::dropout(yes.input(y), 0.5f); },
        [&](auto& no) { return layer::scale(no.input(y), 2); });
    return layer::mean(hidden) + layer::mean(kept);
  });
  constexpr auto plain = decltype(lamina::transform::clone_for_test(net)){};
  constexpr auto trained = lamina::with_backward<std::remove_const_t<decltype(net)>, true>{};
  constexpr auto cloned = decltype(lamina::transform::clone_for_test(trained)){};
  for (const program_view& p : {plain.view(), cloned.view()}) {
    CHECK(p.is_test);
    CHECK(count_of(p, "while_grad") == 0);
    CHECK(count_of(p, "conditional_block_grad") == 0);
    CHECK(count_of(p, "dropout") == 2);
    for (int k = 0; k < p.count.operators; ++k) {
      const lamina::operator_desc& op = p.operators[k];
      for (int a = 0; a < op.schema->attribute_count; ++a)
        if (std::string_view(op.schema->attributes[a].name) == "is_test")
          CHECK(p.attributes[op.attributes + a].number == 1);
    }
  }
  CHECK(types_of(plain.view()) == types_of(net.view()));
  CHECK(types_of(cloned.view()) == types_of(plain.view()));
  check_same(plain.view(), cloned.view(), outputs_of(plain.view()));
  const auto pruned = prune<"mean_0.tmp_0">(plain);
  check_same(plain.view(), pruned.view(), outputs_of(pruned.view()));
}
