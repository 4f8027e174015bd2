// SPDX-License-Identifier: Apache-2.0
// test/transform/pruned_run.hpp - runs a program and its pruned form, and compares them.
#pragma once

#include <algorithm>

#include "executor/shared_executor.hpp"
#include <catch2/catch.hpp>
#include <laws/gradient_check.hpp>

#include <lamina/transform/clone_for_test.hpp>
#include <lamina/transform/prune.hpp>

namespace pruned_run {

using lamina::program_view;

using names = std::vector<std::string>;

inline int count_of(const program_view& p, std::string_view type) {
  int n = 0;
  for (int k = 0; k < p.count.operators; ++k) n += p.operators[k].schema->type == type;
  return n;
}

inline names types_of(const program_view& p) {
  names all;
  for (int k = 0; k < p.count.operators; ++k) all.push_back(p.operators[k].schema->type);
  return all;
}

// Every variable that is read was written before, fed or a parameter; no argument is without use.
inline void check_whole(const program_view& p) {
  std::vector<bool> known(static_cast<std::size_t>(p.count.variables), false);
  for (int v = 0; v < p.count.variables; ++v)
    known[static_cast<std::size_t>(v)] = p.variables[v].kind == lamina::variable_kind::parameter ||
                                         p.variables[v].kind == lamina::variable_kind::tensor_array;
  const auto each = [&](const lamina::operator_desc& op, bool out, auto f) {
    const lamina::slot_desc* slots = out ? op.schema->outputs : op.schema->inputs;
    for (int s = 0, at = out ? op.outputs : op.inputs;
         s < (out ? op.schema->output_count : op.schema->input_count); ++s)
      for (int n = slots[s].duplicable ? p.arguments[at++] : 1; n > 0; --n, ++at)
        if (p.arguments[at] >= 0) f(static_cast<std::size_t>(p.arguments[at]));
  };
  for (int k = 0; k < p.count.operators; ++k) {
    INFO("operator " << k << ", " << p.operators[k].schema->type);
    each(p.operators[k], false, [&](std::size_t v) {
      INFO("reads " << lamina::variable_name(p, static_cast<int>(v)));
      CHECK(known[v]);
    });
    const bool runs = lamina::sub_block_of(p, p.operators[k]) >= 0;
    each(p.operators[k], true, [&](std::size_t v) {
      INFO("writes " << lamina::variable_name(p, static_cast<int>(v)));
      CHECK((!runs || known[v] || p.variables[v].kind == lamina::variable_kind::step_scopes));
      known[v] = true;
    });
  }
}

// The values of variables of two programs for the same random feeds and parameters.
inline void check_same(const program_view& whole, const program_view& part, const names& of,
                       lamina::feed_map feed = {}) {
  lamina::basic_executor<double> executor;
  lamina::scope scope;
  executor.run_startup(whole, scope, 3);
  const laws::gradient_options options{.rows = 3, .lengths = {{2, 0, 3}}};
  for (int i = 0; i < whole.count.data; ++i) {
    const std::string name = lamina::variable_name(whole, whole.data[i]);
    if (feed.find(name) == feed.end())
      feed[name] = laws::random_value(whole, whole.data[i], options);
  }
  const auto expected = executor.run(whole, scope, feed, of);
  const auto found = executor.run(part, scope, feed, of);
  for (std::size_t i = 0; i < of.size(); ++i) {
    INFO(of[i]);
    REQUIRE(found[i].shape() == expected[i].shape());
    const auto a = found[i].cast<double>(), b = expected[i].cast<double>();
    CHECK(std::equal(a.begin(), a.end(), b.begin()));
  }
  check_whole(part);
}

inline names outputs_of(const program_view& p) {
  names all;
  for (int i = 0; i < p.count.outputs; ++i) all.push_back(lamina::variable_name(p, p.outputs[i]));
  return all;
}

}  // namespace pruned_run
