// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/transpile/all_reduced_messages.hpp - writes Fluid's data-parallel training
// program (GradAllReduce).
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/distributed/transpile/transpiled_operators.hpp>
#include <lamina/io/fluid/program_message.hpp>
#include <lamina/io/fluid_training.hpp>
#include <lamina/program/operator_schema.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Returns the training program of each of `ranks` processes, as Fluid's GradAllReduce makes it:
/// the gradient of the cost is divided by the number of processes, and c_allreduce_sum sums the
/// gradient of each parameter in place, before clips, decays and updates. The sums are distributed
/// in turn over `rings` communicators. They run in the stream of the computation (use_calc_stream),
/// so Fluid's operators that wait for another stream are not needed.
inline training_messages all_reduced_messages(training_messages of, int ranks, int rings = 1) {
  using ops = detail::transpiled_operators;
  if (ranks < 1 || rings < 1)
    throw error(text() << "lamina: all_reduced_messages: expected at least one process and one "
                          "ring, found "
                       << ranks << " and " << rings);
  block_message& block = of.main.blocks.front();
  constexpr int backward = static_cast<int>(op_role::backward);
  std::vector<std::string> gradients;
  for (const operator_message& op : block.operators)
    if (ops::is_update(op)) gradients.push_back(ops::gradient_of(block, op));
  if (gradients.empty())
    throw error("lamina: all_reduced_messages: expected a program with updates, found none");
  std::vector<operator_message> made;
  const auto last_writer = [&](const std::string& name) {
    std::size_t last = block.operators.size();
    for (std::size_t k = 0; k < block.operators.size(); ++k)
      if (!ops::is_optimize(block.operators[k]) && ops::has(block.operators[k].outputs, name))
        last = k;
    return last;
  };
  std::vector<std::size_t> last;
  for (const std::string& g : gradients) last.push_back(last_writer(g));
  // Fluid assigns the rings in turn, beginning with the gradient that is computed last.
  std::vector<std::size_t> order(gradients.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return last[a] > last[b]; });
  std::vector<int> ring(gradients.size());
  for (std::size_t i = 0; i < order.size(); ++i) ring[order[i]] = static_cast<int>(i) % rings;
  for (std::size_t k = 0; k < block.operators.size(); ++k) {
    operator_message& op = block.operators[k];
    const bool is_seed = ops::role_of(op) == static_cast<int>(op_role::loss_gradient);
    const std::string seed = is_seed ? op.outputs.front().arguments.front() : "";
    made.push_back(std::move(op));
    if (is_seed) made.push_back(ops::scaled(seed, 1.0 / ranks, backward));
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      if (last[i] != k) continue;
      made.push_back(ops::made(
          "c_allreduce_sum", {{"X", {gradients[i]}}}, {{"Out", {gradients[i]}}},
          {ops::integer("ring_id", ring[i]),
           ops::integer("use_calc_stream", 1, attribute_type::boolean), ops::role(backward)}));
    }
  }
  block.operators = std::move(made);
  return of;
}

}}  // namespace lamina
